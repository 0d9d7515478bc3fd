"""The fast path: right after a commit its writer sends the tasks itself, so that they need not wait for the stream.

Best effort: what is not sent here, the relay sends. What is sent twice counts once (see `sqs_queues`).
A newcomer's trap: the caller waits for us, so we give up soon and never raise.
"""

import logging
from collections.abc import Sequence

from durable_core.adapters.aws.sqs_queues import Rejected, SqsTaskQueues
from durable_core.model.errors import Unavailable
from durable_core.model.tasks import Task

READ_SECONDS = 1.5
ATTEMPTS = 1

log = logging.getLogger("perdure")


class FastPath:
    """`queues` are to have clients of their own, with `READ_SECONDS` and `ATTEMPTS`."""

    def __init__(self, queues: SqsTaskQueues) -> None:
        self._queues = queues

    def dispatch(self, tasks: Sequence[Task]) -> None:
        try:
            self._queues.send(tasks)
        except (Unavailable, Rejected) as error:
            log.warning("the fast path failed, the relay will do it: %s", error)
