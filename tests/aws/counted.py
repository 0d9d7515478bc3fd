"""Processes with the engine on a deployment's tables, and what they ask of DynamoDB, counted as AWS bills it.

What does not live here: what is counted (the tests). The queues are in memory: they are not what is counted.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from temporalio.api.common.v1 import Payload, Payloads

from durable_core.adapters.decorators.counting import Counting
from durable_core.adapters.sqlite import open_store
from durable_core.adapters.system import SystemIds
from durable_core.config import Settings
from durable_core.model import limits
from durable_core.model.ids import QueueKey
from durable_core.model.times import SECOND
from durable_core.services.calls import Call
from durable_core.services.context import Context
from durable_core.services.history_reader import HistoryReader
from durable_core.services.namespaces import Namespaces
from durable_core.services.rpcs import WORKFLOW_SERVICE
from durable_core.services.unit_of_work import UnitOfWork, UnitSettings

from .stores import Tables

SHARDS = 4_096


class Silent:
    def publish(self, topic: object) -> None:
        pass


@dataclass
class Deployment:
    """Processes by their names, each a function's environment that may own shards and cache runs."""

    tables: Tables
    counting: Counting = field(default_factory=Counting)

    def __post_init__(self) -> None:
        self._queues = open_store(None, self.tables.clock).task_queues

    def process(self, name: str) -> Context:
        store, clock, ids = self.tables.process(), self.tables.clock, SystemIds()
        self.counting.attach(store.database.connection.client)
        namespaces, reader = Namespaces(store.catalog, clock), HistoryReader(store.histories)

        def is_polled(queue: QueueKey, now: int) -> bool:
            return now - store.pollers.last_seen(queue) <= limits.sticky_poller_silence_max

        runs = UnitOfWork(
            store.executions,
            reader,
            clock,
            ids,
            Silent(),
            namespaces.retention,
            is_polled,
            lambda seconds: None,
            UnitSettings(SHARDS, name, 100, lease=SECOND, expires=True),
            lambda tasks, wake_ups: self._queues.send(tasks),
        )
        return Context(
            settings=Settings(shards=SHARDS),
            runs=runs,
            reader=reader,
            namespaces=namespaces,
            catalog=store.catalog,
            task_queues=self._queues,
            pollers=store.pollers,
            queries=store.queries,
            notifications=Silent(),
            clock=clock,
            ids=ids,
        )


def payloads(text: str) -> Payloads:
    return Payloads(payloads=[Payload(metadata={"encoding": b"json/plain"}, data=f'"{text}"'.encode())])


def calling(context: Context) -> Callable[[str, Any], Any]:
    def call(method: str, request: Any) -> Any:
        context.runs.distrust()
        rpc = WORKFLOW_SERVICE[method]
        more = (Call(deadline=1 << 62, last=True),) if rpc.waits else ()
        return rpc.function(context, request, *more)

    return call
