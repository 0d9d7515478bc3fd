"""Tasks: what a transition leaves behind for somebody else to do, written with it and delivered at least once.

A task names what to do and carries no payload; whoever takes it looks the rest up in the run. Its validity is
checked again at the claim, so a task that comes twice, late or out of order does no harm.
"""

import msgspec

from durable_core.model.ids import QueueKey, QueueKind, RunKey


class WorkflowTask(msgspec.Struct, frozen=True, tag="w"):
    """Dispatch the workflow task with this `stamp` (unique among the run's workflow tasks and their attempts)."""

    scheduled_event_id: int
    stamp: int


class ActivityTask(msgspec.Struct, frozen=True, tag="a"):
    """Dispatch this attempt of an activity. `stamp` changes whenever an older message must no longer count."""

    scheduled_event_id: int
    attempt: int
    stamp: int


class QueryTask(msgspec.Struct, frozen=True, tag="q"):
    """Answer a query from the worker's cache or by replay. It lives in no history and may be lost with its caller."""

    query_id: str


class StartChild(msgspec.Struct, frozen=True, tag="sc"):
    initiated_event_id: int


class SignalExternal(msgspec.Struct, frozen=True, tag="se"):
    initiated_event_id: int


class CancelExternal(msgspec.Struct, frozen=True, tag="ce"):
    initiated_event_id: int


class NotifyParent(msgspec.Struct, frozen=True, tag="np"):
    """Tell the parent of a closed run how it closed."""


class ApplyParentClosePolicy(msgspec.Struct, frozen=True, tag="pc"):
    """Terminate or cancel the children that a closed run leaves behind."""


class DeleteRun(msgspec.Struct, frozen=True, tag="dr"):
    """Remove a closed run with its history."""


TaskBody = (
    WorkflowTask
    | ActivityTask
    | QueryTask
    | StartChild
    | SignalExternal
    | CancelExternal
    | NotifyParent
    | ApplyParentClosePolicy
    | DeleteRun
)


class Task(msgspec.Struct, frozen=True):
    """A task as it is stored and sent. `task_id` is 0 for tasks that are not stored (queries)."""

    task_id: int
    namespace_id: str
    workflow_id: str
    run_id: str
    queue_name: str
    queue_kind: int
    body: TaskBody

    @property
    def run(self) -> RunKey:
        return RunKey(self.namespace_id, self.workflow_id, self.run_id)

    @property
    def queue(self) -> QueueKey:
        return QueueKey(
            "" if self.queue_kind == QueueKind.SERVICE else self.namespace_id,
            self.queue_name,
            QueueKind(self.queue_kind),
        )
