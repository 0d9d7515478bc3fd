"""Settings → adapters → services: the only place that knows which adapter serves which port."""

import logging
import time
from dataclasses import dataclass

from durable_core.adapters.memory import MemoryPollers, MemoryQueries
from durable_core.adapters.sqlite import Store, open_store
from durable_core.adapters.system import SystemClock, SystemIds
from durable_core.config import Settings
from durable_core.model import limits
from durable_core.model.errors import IllegalTransition, ServiceError, ShardsMismatch
from durable_core.model.ids import QueueKey
from durable_core.model.times import SECOND
from durable_core.model.versions import DEPLOYMENT_FORMAT
from durable_core.ports.catalog import Deployment
from durable_core.ports.clock import Clock, Ids
from durable_core.ports.notifications import Notifications
from durable_core.services import service_tasks
from durable_core.services.context import Context
from durable_core.services.history_reader import HistoryReader
from durable_core.services.namespaces import Namespaces
from durable_core.services.timers.fire_wake_up import fire_wake_up
from durable_core.services.unit_of_work import UnitOfWork, UnitSettings

WAKE_UPS_A_ROUND = 100
POSTPONE = 10 * SECOND

log = logging.getLogger("perdure")


@dataclass(frozen=True, slots=True)
class Embedded:
    """The whole system in one process. Its methods are what runs without being called."""

    context: Context
    store: Store

    @property
    def clock(self) -> Clock:
        return self.context.clock

    def next_due(self) -> int | None:
        """When the earliest armed wake-up is due, in ns since the epoch."""
        return self.store.wake_ups.next_due()

    def fire_due(self) -> int:
        """Fire what is due now; returns how many wake-ups that were (a bounded number each round)."""
        due = self.store.wake_ups.due(self.context.clock.now(), WAKE_UPS_A_ROUND)
        for wake_up in due:
            try:
                fire_wake_up(self.context, wake_up)
            except (IllegalTransition, ServiceError):
                # One run that cannot go on must not hold up the others: it is tried again later.
                self.store.wake_ups.postpone(wake_up, self.context.clock.now() + POSTPONE)
                log.exception("the wake-up of %s failed", wake_up.run)
        return len(due)

    def run_service_task(self) -> bool:
        """Run the next task of the history service; False when there is none."""
        return service_tasks.run_next(self.context)

    def flush(self) -> None:
        """Remove from the database what is done with."""
        self.store.flush()

    def close(self) -> None:
        self.store.close()


def embedded(
    settings: Settings, notifications: Notifications, clock: Clock | None = None, ids: Ids | None = None
) -> Embedded:
    """The embedded system on one SQLite file, or in memory.

    Raises `DatabaseInUse` (and its siblings) when the file cannot be taken, and `ShardsMismatch` when it was made
    with another number of shards.
    """
    clock = clock or SystemClock()
    ids = ids or SystemIds()
    path = None if settings.database is None else str(settings.database)
    store = open_store(path, clock, durable=settings.durable)
    wanted = Deployment(ids.unique(), settings.shards, DEPLOYMENT_FORMAT)
    stored = store.catalog.deployment(wanted)
    if stored.shards != settings.shards:
        store.close()
        raise ShardsMismatch(stored.shards, settings.shards)
    namespaces = Namespaces(store.catalog, clock)
    pollers = MemoryPollers()
    reader = HistoryReader(store.histories)

    def is_polled(queue: QueueKey, now: int) -> bool:
        return now - pollers.last_seen(queue) <= limits.sticky_poller_silence_max

    runs = UnitOfWork(
        store.executions,
        reader,
        clock,
        ids,
        notifications,
        namespaces.retention,
        is_polled,
        time.sleep,
        UnitSettings(settings.shards, stored.deployment_id, settings.runs_cached),
    )
    context = Context(
        settings=settings,
        runs=runs,
        reader=reader,
        namespaces=namespaces,
        catalog=store.catalog,
        task_queues=store.task_queues,
        pollers=pollers,
        queries=MemoryQueries(clock),
        notifications=notifications,
        clock=clock,
        ids=ids,
    )
    return Embedded(context, store)
