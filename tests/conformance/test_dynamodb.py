"""The AWS backend against the contracts, on a local AWS: DynamoDB tables, their stream, and SQS queues.

Where this backend has no such port, a view of the stream stands in: the last wake-up that a run's documents emitted is
the one that is armed.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import boto3
import pytest

from durable_core.adapters.aws import dynamo_transactions, layout
from durable_core.adapters.aws.clients import Clients
from durable_core.adapters.aws.documents import emitted
from durable_core.adapters.aws.dynamo_store import DynamoStore, open_dynamo
from durable_core.adapters.aws.sqs_queues import Addresses, SqsTaskQueues
from durable_core.adapters.decorators import ManualClock
from durable_core.model.tasks import Task
from durable_core.model.times import SECOND
from durable_core.ports.catalog import Catalog
from durable_core.ports.executions import Executions
from durable_core.ports.histories import Histories
from durable_core.ports.wake_ups import WakeUp
from durable_core.schema import tables
from tests.aws.local import PREFIX, Account, Stream, create_tables, local_aws, new_account, session

from .backend import Factory, closing
from .contracts.against_a_model import run_against_a_model
from .contracts.catalog import CatalogContract
from .contracts.claims import ClaimsContract
from .contracts.deleting import DeletingContract
from .contracts.durability import DurabilityContract
from .contracts.fencing import FencingContract
from .contracts.histories import HistoriesContract
from .contracts.sections import SectionsContract, ValuesContract
from .contracts.short_lived import PollersContract, QueriesContract, ShortLived
from .contracts.task_queues import TaskQueuesContract
from .contracts.transactions import PointersContract, TokensContract, TransactionsContract
from .contracts.wake_ups import WakeUpsContract

pytestmark = pytest.mark.aws

CRAMPED_LAYOUT = {
    "SECTIONS_INLINE_MAX": 6,
    "SECTION_BACK": 5,
    "PAGE_MIN": 12,
    "PAGES_WANTED": 3,
    "TAIL_MAX": 30,
}
CRAMPED_TRANSACTIONS = {"VALUE_MAX": 60, "TASKS_MAX": 90, "CORE_MAX": 12, "CHUNK_BYTES": 16, "ITEMS_MAX": 14}
NOW = 1_700_000_000 * SECOND
SERVICE_QUEUE = f"{PREFIX}-service.fifo"


class Outbox:
    """The stream, read once for all: tasks on their way to the queues, and the wake-ups that are armed."""

    def __init__(self, account: Account) -> None:
        self._stream = Stream(account)
        self._armed: dict[tuple[str, str], WakeUp] = {}
        self._tasks: list[Task] = []

    def tasks(self) -> list[Task]:
        self._read()
        tasks, self._tasks = self._tasks, []
        return tasks

    def armed(self) -> list[WakeUp]:
        self._read()
        return sorted(self._armed.values(), key=lambda wake_up: wake_up.due)

    def _read(self) -> None:
        for record in self._stream.records():
            change = record["dynamodb"]
            name = (change["Keys"][tables.PARTITION]["S"], change["Keys"][tables.SORT]["S"])
            if record["eventName"] == "REMOVE":
                self._armed.pop(name, None)
            else:
                self._carry(name, change["NewImage"])

    def _carry(self, name: tuple[str, str], image: Mapping[str, Any]) -> None:
        tasks, wake_up = emitted(image)
        self._tasks.extend(tasks)
        if wake_up is not None:
            self._armed[name] = wake_up
        elif tables.WAKE_UP in image:
            self._armed.pop(name, None)


@dataclass(frozen=True)
class WakeUpsOfTheStream:
    outbox: Outbox

    def arm(self, wake_up: WakeUp) -> None:
        pass

    def due(self, now: int, limit: int) -> Sequence[WakeUp]:
        return [wake_up for wake_up in self.outbox.armed() if wake_up.due <= now][:limit]

    def next_due(self) -> int | None:
        return next((wake_up.due for wake_up in self.outbox.armed()), None)


@dataclass(frozen=True)
class Deployed:
    store: DynamoStore
    task_queues: SqsTaskQueues
    wake_ups: WakeUpsOfTheStream

    @property
    def executions(self) -> Executions:
        return self.store.executions

    @property
    def histories(self) -> Histories:
        return self.store.histories

    @property
    def catalog(self) -> Catalog:
        return self.store.catalog


class AwsFactory:
    """One deployment in an account of its own; each process is a store with its own caches."""

    def __init__(self, account: Account) -> None:
        create_tables(account)
        self._clients = Clients()
        attributes = {"FifoQueue": "true", "VisibilityTimeout": "30"}
        created = self._clients.sqs.create_queue(QueueName=SERVICE_QUEUE, Attributes=attributes)
        self._account = account
        self._service_queue_url: str = created["QueueUrl"]
        self.clock = ManualClock(NOW)
        self._outbox = Outbox(account)
        self._queues: list[SqsTaskQueues] = []
        self._first: Deployed | None = None

    def _process(self) -> Deployed:
        addresses = Addresses(PREFIX, self._service_queue_url)
        queues = SqsTaskQueues(self._clients, addresses, short_reads=True)
        self._queues.append(queues)
        store = open_dynamo(PREFIX, self.clock, self._account.access)
        return Deployed(store, queues, WakeUpsOfTheStream(self._outbox))

    def open(self) -> Deployed:
        if self._first is None:
            self._first = self._process()
        return self._first

    def second(self) -> Deployed:
        return self._process()

    def reopen(self) -> Deployed:
        self._first = None
        return self.open()

    def relay(self) -> None:
        self.open().task_queues.send(self._outbox.tasks())

    def pass_visibility_time(self) -> None:
        for queues in self._queues:
            queues.give_back()

    def close(self) -> None:
        pass


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with local_aws() as url:
        yield url


@pytest.fixture
def make(address: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr("pynamodb.connection.base.get_session", session)
    monkeypatch.setattr(
        "durable_core.adapters.aws.clients.Session", lambda: boto3.Session(botocore_session=session())
    )

    def made() -> AwsFactory:
        account = new_account(address)
        for name, value in account.environment.items():
            monkeypatch.setenv(name, value)
        session().set_credentials(account.number, "test")
        return AwsFactory(account)

    return made


@pytest.fixture
def factory(make: Any) -> Iterator[Factory]:
    with closing(make()) as opened:
        yield opened


@pytest.fixture
def lived(factory: AwsFactory) -> ShortLived:
    first, second = factory.open().store, factory.second().store
    return ShortLived(first.queries, second.queries, first.pollers, second.pollers, factory.clock)


class TestTransactions(TransactionsContract): ...


class TestPointers(PointersContract): ...


class TestTokens(TokensContract): ...


class TestFencing(FencingContract): ...


class TestClaims(ClaimsContract): ...


class TestSections(SectionsContract): ...


class TestValues(ValuesContract): ...


class TestHistories(HistoriesContract): ...


class TestTaskQueues(TaskQueuesContract): ...


class TestWakeUps(WakeUpsContract): ...


class TestCatalog(CatalogContract): ...


class TestQueries(QueriesContract): ...


class TestPollers(PollersContract): ...


class TestDeleting(DeletingContract): ...


class TestDurability(DurabilityContract): ...


@pytest.mark.timeout(600)
@pytest.mark.parametrize("cramped", [False, True])
def test_random_transactions_do_what_a_dictionary_does(
    make: Any, monkeypatch: pytest.MonkeyPatch, cramped: bool
) -> None:
    """Also where next to nothing fits a document, an item or a transaction."""
    if cramped:
        for name, value in CRAMPED_LAYOUT.items():
            monkeypatch.setattr(layout, name, value)
        for name, value in CRAMPED_TRANSACTIONS.items():
            monkeypatch.setattr(dynamo_transactions, name, value)
    run_against_a_model(make, examples=8, steps=25, shrinks=False)
