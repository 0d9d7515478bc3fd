"""What a service function gets besides its request: the ports, and what is built on them."""

from dataclasses import dataclass

from durable_core.config import Settings
from durable_core.ports.catalog import Catalog
from durable_core.ports.clock import Clock, Ids
from durable_core.ports.notifications import Notifications
from durable_core.ports.queries import Queries
from durable_core.ports.task_queues import Pollers, TaskQueues
from durable_core.services.history_reader import HistoryReader
from durable_core.services.namespaces import Namespaces
from durable_core.services.unit_of_work import UnitOfWork


@dataclass(frozen=True, slots=True)
class Context:
    settings: Settings
    runs: UnitOfWork
    reader: HistoryReader
    namespaces: Namespaces
    catalog: Catalog
    task_queues: TaskQueues
    pollers: Pollers
    queries: Queries
    notifications: Notifications
    clock: Clock
    ids: Ids
