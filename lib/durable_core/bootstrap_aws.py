"""Settings → adapters → services for a function on AWS, once a process: warm environments use what the first call made.

What does not live here: the embedded system (`bootstrap`), and what reads the stream (`bootstrap_stream`), which needs
no engine and starts faster without it.
A newcomer's trap: an environment owns the shards it wrote to and caches their runs, so it is a process with a name of
its own, and two of them never share one.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import Protocol

from google.protobuf.duration_pb2 import Duration
from temporalio.api.workflowservice.v1 import RegisterNamespaceRequest

from durable_core.adapters.aws import fast_path
from durable_core.adapters.aws.answering import Answering
from durable_core.adapters.aws.clients import Clients
from durable_core.adapters.aws.coming_again import ComingAgain
from durable_core.adapters.aws.due import DueWakeUps
from durable_core.adapters.aws.dynamo_store import open_dynamo
from durable_core.adapters.aws.notifications import CountedNotifications
from durable_core.adapters.aws.sqs_queues import Addresses, SqsTaskQueues
from durable_core.adapters.aws.wake_ups import SqsWakeUps, TimerAddresses
from durable_core.adapters.system import SystemClock, SystemIds
from durable_core.config import AwsSettings, Settings
from durable_core.model import limits
from durable_core.model.errors import NamespaceAlreadyExists, ShardsMismatch
from durable_core.model.ids import QueueKey
from durable_core.model.times import SECOND
from durable_core.model.versions import DEPLOYMENT_FORMAT
from durable_core.ports.catalog import Catalog, Deployment
from durable_core.ports.clock import Clock, Ids
from durable_core.ports.executions import Executions
from durable_core.ports.histories import Histories
from durable_core.ports.queries import Queries
from durable_core.ports.task_queues import Pollers
from durable_core.services.context import Context
from durable_core.services.frontend.register_namespace import register_namespace
from durable_core.services.history_reader import HistoryReader
from durable_core.services.namespaces import Namespaces
from durable_core.services.timers.fire_wake_up import fire_wake_up, is_awaited
from durable_core.services.unit_of_work import UnitOfWork, UnitSettings

DEFAULT_NAMESPACE = "default"
LEASE = 1 * SECOND
"""How long a shard that we wrote to is taken to be ours still."""
RUNS_CACHED = 500
Pause = Callable[[float], None]
DAY_SECONDS = 24 * 3600


class Store(Protocol):
    """What keeps the data: DynamoDB, or whatever else holds the same contracts."""

    @property
    def executions(self) -> Executions: ...

    @property
    def histories(self) -> Histories: ...

    @property
    def catalog(self) -> Catalog: ...

    @property
    def queries(self) -> Queries: ...

    @property
    def pollers(self) -> Pollers: ...


@dataclass(frozen=True, slots=True)
class Outside:
    """What a process has of the world besides its store; `pause` waits that many seconds."""

    clients: Clients
    hasty_clients: Clients
    clock: Clock
    ids: Ids
    pause: Pause


@dataclass(frozen=True, slots=True)
class Deployed:
    """What the functions call."""

    context: Context
    answering: Answering
    due: DueWakeUps
    tally: "Tally"
    coming_again: ComingAgain


class Tally:
    """What happened since it was last taken, by the name of the metric that counts it."""

    def __init__(self, notifications: CountedNotifications, pause: Pause) -> None:
        self._notifications = notifications
        self._pause = pause
        self._conflicts = 0

    def pause_after_conflict(self, seconds: float) -> None:
        """The unit of work rests between two tries, and only then."""
        self._conflicts += 1
        self._pause(seconds)

    def take(self) -> dict[str, int]:
        conflicts, self._conflicts = self._conflicts, 0
        counts = {"WorkflowsCompleted": self._notifications.take_closed(), "Conflicts": conflicts}
        return {name: count for name, count in counts.items() if count}


def the_world() -> Outside:
    clients = Clients()
    hasty = clients.with_bounds(fast_path.READ_SECONDS, fast_path.ATTEMPTS)
    return Outside(clients, hasty, SystemClock(), SystemIds(), time.sleep)


@cache
def deployed(settings: AwsSettings) -> Deployed:
    """This process' parts. Raises `ShardsMismatch` when the deployment has another number of shards."""
    outside = the_world()
    return assemble(settings, open_dynamo(settings.prefix, outside.clock), outside)


def assemble(settings: AwsSettings, store: Store, outside: Outside) -> Deployed:
    clock, ids = outside.clock, outside.ids
    wanted = Deployment(ids.unique(), settings.shards, DEPLOYMENT_FORMAT)
    stored = store.catalog.deployment(wanted)
    if stored.shards != settings.shards:
        raise ShardsMismatch(stored.shards, settings.shards)
    queues = SqsTaskQueues(outside.clients, Addresses.of(settings))
    namespaces = Namespaces(store.catalog, clock)
    notifications = CountedNotifications()
    tally = Tally(notifications, outside.pause)
    context = Context(
        settings=Settings(shards=settings.shards, runs_cached=RUNS_CACHED),
        runs=_runs(settings, store, outside, namespaces, notifications, tally),
        reader=HistoryReader(store.histories),
        namespaces=namespaces,
        catalog=store.catalog,
        task_queues=queues,
        pollers=store.pollers,
        queries=store.queries,
        notifications=notifications,
        clock=clock,
        ids=ids,
    )
    if stored.deployment_id == wanted.deployment_id:
        _register_default_namespace(context, settings.default_retention_days)
    wake_ups = SqsWakeUps(outside.clients, clock, TimerAddresses.of(settings))
    due = DueWakeUps(
        partial(fire_wake_up, context), partial(is_awaited, context), wake_ups, clock, outside.pause
    )
    answering = Answering(context, queues, outside.pause)
    return Deployed(context, answering, due, tally, ComingAgain(outside.clients))


def _runs(
    settings: AwsSettings,
    store: Store,
    outside: Outside,
    namespaces: Namespaces,
    notifications: CountedNotifications,
    tally: Tally,
) -> UnitOfWork:
    pollers = store.pollers

    def is_polled(queue: QueueKey, now: int) -> bool:
        return now - pollers.last_seen(queue) <= limits.sticky_poller_silence_max

    hasty = fast_path.FastPath(
        SqsTaskQueues(outside.hasty_clients, Addresses.of(settings)),
        SqsWakeUps(outside.hasty_clients, outside.clock, TimerAddresses.of(settings)),
        outside.clock,
    )
    return UnitOfWork(
        store.executions,
        HistoryReader(store.histories),
        outside.clock,
        outside.ids,
        notifications,
        namespaces.retention,
        is_polled,
        tally.pause_after_conflict,
        UnitSettings(settings.shards, outside.ids.unique(), RUNS_CACHED, lease=LEASE, expires=True),
        hasty.dispatch if settings.fast_path else None,
    )


def _register_default_namespace(context: Context, retention_days: int) -> None:
    """A new deployment has the namespace that every client takes when it is told none."""
    retention = Duration(seconds=retention_days * DAY_SECONDS)
    request = RegisterNamespaceRequest(
        namespace=DEFAULT_NAMESPACE, workflow_execution_retention_period=retention
    )
    try:
        register_namespace(context, request)
    except NamespaceAlreadyExists:
        return
