"""What a contract needs to know of a backend."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from durable_core.ports.catalog import Catalog
from durable_core.ports.executions import Executions
from durable_core.ports.histories import Histories
from durable_core.ports.task_queues import TaskQueues
from durable_core.ports.wake_ups import WakeUps


class Backend(Protocol):
    """One process' view of a deployment."""

    @property
    def executions(self) -> Executions: ...

    @property
    def histories(self) -> Histories: ...

    @property
    def task_queues(self) -> TaskQueues: ...

    @property
    def wake_ups(self) -> WakeUps: ...

    @property
    def catalog(self) -> Catalog: ...


class Factory(Protocol):
    """Gives views of one deployment that is empty at first."""

    def open(self) -> Backend:
        """The view of the first process; the same object until it is reopened."""

    def second(self) -> Backend:
        """The view of another process on the same data. A backend for one process gives the first one's."""

    def reopen(self) -> Backend:
        """The first process ends in good order and another takes its place."""

    def relay(self) -> None:
        """Let the outbox carry what was committed to the queues."""

    def pass_visibility_time(self) -> None:
        """Let the visibility time of all tasks received so far go by."""

    def close(self) -> None: ...


@contextmanager
def closing(factory: Factory) -> Iterator[Factory]:
    try:
        yield factory
    finally:
        factory.close()
