"""The SQLite backend against the contracts: in a file, and in memory but for what outlives the process."""

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from durable_core.adapters.decorators import ManualClock
from durable_core.adapters.sqlite import Store, open_store

from .backend import Factory, closing
from .contracts.against_a_model import run_against_a_model
from .contracts.catalog import CatalogContract
from .contracts.claims import ClaimsContract
from .contracts.deleting import DeletingContract
from .contracts.durability import DurabilityContract
from .contracts.fencing import FencingContract
from .contracts.histories import HistoriesContract
from .contracts.sections import SectionsContract, ValuesContract
from .contracts.task_queues import TaskQueuesContract
from .contracts.transactions import PointersContract, TokensContract, TransactionsContract
from .contracts.wake_ups import WakeUpsContract

HOUR_NS = 3_600 * 1_000_000_000


class SqliteFactory:
    """One process owns the database, so its only view is the second one as well, and its outbox works at once."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._clock = ManualClock()
        self._store: Store | None = None

    def open(self) -> Store:
        if self._store is None:
            # What waiting for the disk protects from, a power cut, is nothing that a test can bring about.
            self._store = open_store(str(self._path) if self._path else None, self._clock, durable=False)
        return self._store

    def second(self) -> Store:
        return self.open()

    def reopen(self) -> Store:
        self.close()
        return self.open()

    def relay(self) -> None:
        pass

    def pass_visibility_time(self) -> None:
        self._clock.advance(HOUR_NS)

    def close(self) -> None:
        if self._store is not None:
            self._store.close()
            self._store = None


@pytest.fixture
def factory(tmp_path: Path) -> Iterator[Factory]:
    with closing(SqliteFactory(tmp_path / "perdure.db")) as opened:
        yield opened


class InMemory:
    @pytest.fixture
    def factory(self) -> Iterator[Factory]:
        with closing(SqliteFactory(None)) as opened:
            yield opened


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


class TestDeleting(DeletingContract): ...


class TestDurability(DurabilityContract): ...


class TestTransactionsInMemory(InMemory, TransactionsContract): ...


class TestTokensInMemory(InMemory, TokensContract): ...


class TestHistoriesInMemory(InMemory, HistoriesContract): ...


class TestTaskQueuesInMemory(InMemory, TaskQueuesContract): ...


class TestDeletingInMemory(InMemory, DeletingContract): ...


def test_random_transactions_do_what_a_dictionary_does(tmp_path: Path) -> None:
    numbers = count()
    run_against_a_model(lambda: SqliteFactory(tmp_path / f"{next(numbers)}.db"))
