"""Beginning a run: from a start request, for a parent, as a retry, as the next of a cron, or as a continuation.

What differs is in the attributes of the started event; what follows is the same: the event, and the first workflow
task, now or after its back-off.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from temporalio.api.common.v1 import Link
from temporalio.api.enums.v1 import EventType
from temporalio.api.history.v1 import WorkflowExecutionStartedEventAttributes
from temporalio.api.sdk.v1 import UserMetadata

from durable_core.engine import external, workflow_tasks
from durable_core.engine.transition import Transition
from durable_core.engine.workflow_tasks import Claim
from durable_core.model.state import Core, RunState
from durable_core.model.times import nanos
from durable_core.ports.clock import Ids


@dataclass(frozen=True, slots=True)
class NewRun:
    """Where a new run belongs."""

    namespace_id: str
    namespace: str
    run_id: str
    request_id: str


def begin(
    new: NewRun,
    attributes: WorkflowExecutionStartedEventAttributes,
    now: int,
    ids: Ids,
    *,
    user_metadata: UserMetadata | None = None,
    links: Sequence[Link] = (),
    waits_for_parent: bool = False,
    eager: Claim | None = None,
    signal: external.Signal | None = None,
) -> Transition:
    """The transition that creates the run.

    `waits_for_parent`: its first workflow task is scheduled later. `eager`: the caller takes it at once.
    `signal` comes before the first workflow task.
    """
    core = Core(
        namespace_id=new.namespace_id,
        namespace=new.namespace,
        run_id=new.run_id,
        start_request_id=new.request_id,
        branch_id=new.run_id,
        waits_for_parent=waits_for_parent,
    )
    t = Transition(RunState(core), now, ids)
    t.add(
        EventType.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED,
        user_metadata=user_metadata,
        links=links,
        workflow_execution_started_event_attributes=attributes,
    )
    if signal is not None:
        external.signal(t, signal)
    if not waits_for_parent and not nanos(attributes.first_workflow_task_backoff):
        workflow_tasks.schedule(t, dispatch=eager is None)
        if eager is not None:
            workflow_tasks.start(t, eager)
    return t
