"""Commands as a worker might send them: mostly sensible ones, drawn at random.

The names are few, so that commands meet: a timer is cancelled that runs, an activity's ID comes twice.
"""

from google.protobuf.duration_pb2 import Duration
from hypothesis import strategies as st
from temporalio.api.command.v1 import Command
from temporalio.api.common.v1 import ActivityType, Payload, WorkflowType
from temporalio.api.enums.v1 import CommandType, ParentClosePolicy
from temporalio.api.failure.v1 import Failure
from temporalio.api.taskqueue.v1 import TaskQueue

from durable_core.model.state import RunState

from .world import QUEUE, retried

WORKFLOW_IDS = ("a", "b", "c")
CHILD_IDS = ("kid-1", "kid-2", "a")
SECONDS = st.integers(0, 20).map(lambda seconds: Duration(seconds=seconds))
POSITIVE_SECONDS = st.integers(1, 20).map(lambda seconds: Duration(seconds=seconds))


def start_timer(timer_id: str, after: Duration) -> Command:
    command = Command(command_type=CommandType.COMMAND_TYPE_START_TIMER)
    command.start_timer_command_attributes.timer_id = timer_id
    command.start_timer_command_attributes.start_to_fire_timeout.CopyFrom(after)
    return command


def cancel_timer(timer_id: str) -> Command:
    command = Command(command_type=CommandType.COMMAND_TYPE_CANCEL_TIMER)
    command.cancel_timer_command_attributes.timer_id = timer_id
    return command


def schedule_activity(
    activity_id: str,
    start_to_close: Duration,
    schedule_to_close: Duration | None = None,
    heartbeat: Duration | None = None,
    attempts: int = 0,
    *,
    eager: bool = False,
) -> Command:
    command = Command(command_type=CommandType.COMMAND_TYPE_SCHEDULE_ACTIVITY_TASK)
    attributes = command.schedule_activity_task_command_attributes
    attributes.activity_id = activity_id
    attributes.activity_type.CopyFrom(ActivityType(name="Act"))
    attributes.task_queue.CopyFrom(TaskQueue(name=QUEUE))
    attributes.start_to_close_timeout.CopyFrom(start_to_close)
    if schedule_to_close is not None:
        attributes.schedule_to_close_timeout.CopyFrom(schedule_to_close)
    if heartbeat is not None:
        attributes.heartbeat_timeout.CopyFrom(heartbeat)
    attributes.retry_policy.CopyFrom(retried(attempts))
    attributes.request_eager_execution = eager
    return command


def cancel_activity(scheduled_event_id: int) -> Command:
    command = Command(command_type=CommandType.COMMAND_TYPE_REQUEST_CANCEL_ACTIVITY_TASK)
    command.request_cancel_activity_task_command_attributes.scheduled_event_id = scheduled_event_id
    return command


def start_child(workflow_id: str, policy: "ParentClosePolicy.ValueType", run_timeout: Duration) -> Command:
    command = Command(command_type=CommandType.COMMAND_TYPE_START_CHILD_WORKFLOW_EXECUTION)
    attributes = command.start_child_workflow_execution_command_attributes
    attributes.workflow_id = workflow_id
    attributes.workflow_type.CopyFrom(WorkflowType(name="Kid"))
    attributes.parent_close_policy = policy
    attributes.workflow_run_timeout.CopyFrom(run_timeout)
    return command


def signal_external(workflow_id: str) -> Command:
    command = Command(command_type=CommandType.COMMAND_TYPE_SIGNAL_EXTERNAL_WORKFLOW_EXECUTION)
    attributes = command.signal_external_workflow_execution_command_attributes
    attributes.execution.workflow_id = workflow_id
    attributes.signal_name = "news"
    return command


def cancel_external(workflow_id: str) -> Command:
    command = Command(command_type=CommandType.COMMAND_TYPE_REQUEST_CANCEL_EXTERNAL_WORKFLOW_EXECUTION)
    command.request_cancel_external_workflow_execution_command_attributes.workflow_id = workflow_id
    return command


def marker() -> Command:
    command = Command(command_type=CommandType.COMMAND_TYPE_RECORD_MARKER)
    command.record_marker_command_attributes.marker_name = "mark"
    return command


def upsert(value: str) -> Command:
    command = Command(command_type=CommandType.COMMAND_TYPE_UPSERT_WORKFLOW_SEARCH_ATTRIBUTES)
    fields = command.upsert_workflow_search_attributes_command_attributes.search_attributes.indexed_fields
    fields["BatcherUser"].CopyFrom(Payload(metadata={"encoding": b"json/plain"}, data=value.encode()))
    return command


def modify_memo(value: bytes) -> Command:
    command = Command(command_type=CommandType.COMMAND_TYPE_MODIFY_WORKFLOW_PROPERTIES)
    fields = command.modify_workflow_properties_command_attributes.upserted_memo.fields
    fields["note"].CopyFrom(Payload(metadata={"encoding": b"json/plain"}, data=value))
    return command


def complete_workflow() -> Command:
    command = Command(command_type=CommandType.COMMAND_TYPE_COMPLETE_WORKFLOW_EXECUTION)
    command.complete_workflow_execution_command_attributes.SetInParent()
    return command


def fail_workflow() -> Command:
    command = Command(command_type=CommandType.COMMAND_TYPE_FAIL_WORKFLOW_EXECUTION)
    command.fail_workflow_execution_command_attributes.failure.CopyFrom(Failure(message="no"))
    return command


def cancel_workflow() -> Command:
    command = Command(command_type=CommandType.COMMAND_TYPE_CANCEL_WORKFLOW_EXECUTION)
    command.cancel_workflow_execution_command_attributes.SetInParent()
    return command


def continue_as_new(backoff: Duration) -> Command:
    command = Command(command_type=CommandType.COMMAND_TYPE_CONTINUE_AS_NEW_WORKFLOW_EXECUTION)
    attributes = command.continue_as_new_workflow_execution_command_attributes
    attributes.backoff_start_interval.CopyFrom(backoff)
    return command


def going_on(state: RunState) -> "st.SearchStrategy[Command]":
    """A command after which the workflow runs on, with a liking for what the state knows of."""
    timers = st.sampled_from([*(timer.timer_id for timer in state.timers.values()), "t1", "t2", "t3"])
    activities = st.sampled_from([*(info.scheduled_event_id for info in state.activities.values()), 5, 7])
    return st.one_of(
        st.builds(start_timer, st.sampled_from(("t1", "t2", "t3")), SECONDS),
        st.builds(cancel_timer, timers),
        st.builds(
            schedule_activity,
            st.sampled_from(("x", "y", "z")),
            POSITIVE_SECONDS,
            st.none() | POSITIVE_SECONDS,
            st.none() | POSITIVE_SECONDS,
            st.integers(0, 3),
            eager=st.booleans(),
        ),
        st.builds(cancel_activity, activities),
        st.builds(
            start_child, st.sampled_from(CHILD_IDS), st.sampled_from(ParentClosePolicy.values()), SECONDS
        ),
        st.builds(signal_external, st.sampled_from((*WORKFLOW_IDS, "kid-1", "nobody"))),
        st.builds(cancel_external, st.sampled_from((*WORKFLOW_IDS, "kid-1", "nobody"))),
        st.builds(marker),
        st.builds(upsert, st.sampled_from(('"me"', "null"))),
        st.builds(modify_memo, st.sampled_from((b'"note"', b"null"))),
    )


def closing() -> "st.SearchStrategy[Command]":
    return st.one_of(
        st.builds(complete_workflow),
        st.builds(fail_workflow),
        st.builds(cancel_workflow),
        st.builds(continue_as_new, SECONDS),
    )
