"""What the commands of one completed workflow task share while they are applied.

A command that is not acceptable raises `BadCommand`; then none of the task's commands counts, and the task has failed.
"""

from dataclasses import dataclass, field

from temporalio.api.command.v1 import Command
from temporalio.api.enums.v1 import WorkflowTaskFailedCause
from temporalio.api.protocol.v1 import Message

from durable_core.engine.transition import Transition
from durable_core.model import limits
from durable_core.model.namespace import Namespace, ResolveNamespace

_Cause = WorkflowTaskFailedCause


class BadCommand(Exception):
    """The workflow task fails with this cause; `terminates`: the workflow cannot go on at all."""

    def __init__(
        self, cause: "WorkflowTaskFailedCause.ValueType", detail: str = "", *, terminates: bool = False
    ) -> None:
        name = WorkflowTaskFailedCause.Name(cause).removeprefix("WORKFLOW_TASK_FAILED_CAUSE_")
        title = "".join(part.capitalize() for part in name.split("_"))
        self.message = f"{title}: {detail}" if detail else title
        self.cause = cause
        self.terminates = terminates
        super().__init__(self.message)


@dataclass(slots=True)
class Completion:
    """`event_waits`: an event came while the worker decided, so that a closing command must be refused."""

    t: Transition
    namespace: Namespace
    resolve: ResolveNamespace
    completed_event_id: int
    identity: str
    event_waits: bool
    messages: dict[str, Message] = field(default_factory=dict)
    children: set[str] = field(default_factory=set)
    eager: list[int] = field(default_factory=list)
    wants_workflow_task: bool = False

    def own_namespace(self, name: str, cause: "WorkflowTaskFailedCause.ValueType") -> Namespace:
        """The workflow's namespace, which is all that a command may name. Raises `NamespaceNotFound`, `BadCommand`."""
        if name and self.resolve(name).namespace_id != self.namespace.namespace_id:
            raise BadCommand(cause, "cross namespace commands are not allowed")
        return self.namespace

    def refuse_closing_race(self) -> None:
        """A closing command is refused while events wait: the workflow has not seen them."""
        if self.event_waits:
            raise BadCommand(_Cause.WORKFLOW_TASK_FAILED_CAUSE_UNHANDLED_COMMAND)


def require_attributes(command: Command, field_name: str, cause: "WorkflowTaskFailedCause.ValueType") -> None:
    """A command must come with the attributes of its type."""
    if not command.HasField(field_name):  # type: ignore[arg-type]
        title = "".join(part.capitalize() for part in field_name.split("_"))
        raise BadCommand(cause, f"{title} is not set on {title.removesuffix('Attributes')}.")


def check_size(size: int, what: str, cause: "WorkflowTaskFailedCause.ValueType") -> None:
    """A payload that can never be stored ends the workflow."""
    if size > limits.blob_bytes_max:
        raise BadCommand(cause, f"{what} exceeds size limit.", terminates=True)
