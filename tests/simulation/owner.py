"""One process: the services on ports that give way, fail and forget. Several of them share one database."""

from dataclasses import dataclass
from random import Random

from durable_core.adapters.decorators import FaultyExecutions, ManualClock, at_rate
from durable_core.adapters.memory import MemoryPollers, MemoryQueries
from durable_core.adapters.sqlite import Store
from durable_core.config import Settings
from durable_core.model.times import SECOND
from durable_core.services.context import Context
from durable_core.services.history_reader import HistoryReader
from durable_core.services.namespaces import Namespaces
from durable_core.services.unit_of_work import UnitOfWork, UnitSettings
from tests.properties.world import CountedIds, Silence

from .queues import UnreliableQueues
from .scheduler import Interleaved, Scheduler

SHARDS = 2
LEASE = SECOND


@dataclass(frozen=True, slots=True)
class Faults:
    """Shares: of commits that fail somehow, of deleted tasks that come again, of turns that end in a crash."""

    commits: float = 0.1
    repeated_tasks: float = 0.1
    crashes: float = 0.003


def context(
    name: str,
    number: int,
    store: Store,
    clock: ManualClock,
    chance: Random,
    scheduler: Scheduler,
    faults: Faults,
) -> Context:
    """A process that has just begun. `number` is never used twice: it keeps the identifiers of processes apart."""
    ids = CountedIds(first=number << 24)
    executions = Interleaved(
        FaultyExecutions(store.executions, at_rate(faults.commits, chance.random)), scheduler
    )
    reader = HistoryReader(Interleaved(store.histories, scheduler))
    namespaces = Namespaces(store.catalog, clock)
    runs = UnitOfWork(
        executions,
        reader,
        clock,
        ids,
        Silence(),
        namespaces.retention,
        lambda queue, now: True,
        lambda seconds: scheduler.give_way("pause"),
        UnitSettings(SHARDS, name, runs_cached=3, lease=LEASE),
    )
    return Context(
        settings=Settings(shards=SHARDS),
        runs=runs,
        reader=reader,
        namespaces=namespaces,
        catalog=store.catalog,
        task_queues=Interleaved(
            UnreliableQueues(store.task_queues, chance, faults.repeated_tasks), scheduler
        ),
        pollers=MemoryPollers(),
        queries=MemoryQueries(clock),
        notifications=Silence(),
        clock=clock,
        ids=ids,
    )
