"""The process' AWS clients for queues and schedules: made when they are first used, and kept while the process lives.

What does not live here: DynamoDB's client, which pynamodb makes.
A newcomer's trap: a long poll needs a client of its own. One that waits 25 s for an answer would also make a caller
wait that long for a send that hangs.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any

from boto3.session import Session
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from durable_core.model.errors import Unavailable

CONNECT_SECONDS = 2
READ_SECONDS = 5
ATTEMPTS = 3
LONG_POLL_SECONDS_MAX = 20
"""SQS's own limit."""
LONG_POLL_READ_SECONDS = LONG_POLL_SECONDS_MAX + 5


class Clients:
    """Region, credentials and endpoint come from where boto3 looks for them."""

    def __init__(
        self,
        read_seconds: float = READ_SECONDS,
        attempts: int = ATTEMPTS,
        session: Session | None = None,
    ) -> None:
        """How long an answer may take, and how often a call is tried; long polls have their own.

        A second client of one session costs a tenth of the first, for it has read the service's description already.
        """
        self._read_seconds = read_seconds
        self._attempts = attempts
        self._given_session = session

    def with_bounds(self, read_seconds: float, attempts: int) -> "Clients":
        """Clients of the same session that give up sooner or later."""
        return Clients(read_seconds, attempts, self._session)

    @cached_property
    def sqs(self) -> Any:
        """For everything that answers at once."""
        return self._create("sqs", self._read_seconds, self._attempts)

    @cached_property
    def sqs_long_polls(self) -> Any:
        """For long polls: one attempt, for whoever polls comes again anyway."""
        return self._create("sqs", LONG_POLL_READ_SECONDS, 1)

    @cached_property
    def scheduler(self) -> Any:
        return self._create("scheduler", self._read_seconds, self._attempts)

    @cached_property
    def _session(self) -> Session:
        return self._given_session or Session()

    def _create(self, service: str, read_seconds: float, attempts: int) -> Any:
        config = Config(
            connect_timeout=CONNECT_SECONDS,
            read_timeout=read_seconds,
            retries={"mode": "standard", "total_max_attempts": attempts},
        )
        return self._session.client(service, config=config)


@contextmanager
def unavailable(action: str) -> Iterator[None]:
    """Turns what is left of AWS's errors into `Unavailable`, which callers and event sources try again."""
    try:
        yield
    except (BotoCoreError, ClientError) as error:
        raise Unavailable(f"{action}: {error}") from error


def code_of(error: ClientError) -> str:
    """The error's code without the service's prefix: `QueueDoesNotExist`, `ConflictException`."""
    code: str = error.response.get("Error", {}).get("Code", "")
    return code.rpartition(".")[2]
