"""What a workload did, seen from its calls of the API: starts, activities, timers, signals, and so on.

What does not live here: what anybody charges for them. A newcomer's trap: only calls that succeeded count, and
activities are counted where a workflow schedules them, for they may be started without a poll of their own.
"""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message
from temporalio.api.common.v1 import Payload
from temporalio.api.enums.v1 import CommandType
from temporalio.api.workflowservice.v1 import (
    ExecuteMultiOperationResponse,
    PollActivityTaskQueueResponse,
    RespondActivityTaskCompletedRequest,
    RespondWorkflowTaskCompletedRequest,
    StartWorkflowExecutionRequest,
    StartWorkflowExecutionResponse,
)

GIGABYTE = 1e9

_BY_COMMAND = {
    CommandType.COMMAND_TYPE_SCHEDULE_ACTIVITY_TASK: "activities_scheduled",
    CommandType.COMMAND_TYPE_START_TIMER: "timers_started",
    CommandType.COMMAND_TYPE_START_CHILD_WORKFLOW_EXECUTION: "children_initiated",
    CommandType.COMMAND_TYPE_SIGNAL_EXTERNAL_WORKFLOW_EXECUTION: "signals",
    CommandType.COMMAND_TYPE_UPSERT_WORKFLOW_SEARCH_ATTRIBUTES: "search_attribute_upserts",
    CommandType.COMMAND_TYPE_CONTINUE_AS_NEW_WORKFLOW_EXECUTION: "workflows_started",
}
_BY_METHOD = {
    "SignalWorkflowExecution": "signals",
    "SignalWithStartWorkflowExecution": "signals",
    "QueryWorkflow": "queries",
    "UpdateWorkflowExecution": "updates",
    "RecordActivityTaskHeartbeat": "heartbeats",
    "RecordActivityTaskHeartbeatById": "heartbeats",
}


def facts_of(method: str, request: bytes, response: bytes) -> Counter[str]:
    """The facts of one successful call; `method` is its name without the service."""
    facts: Counter[str] = Counter()
    match method:
        case "StartWorkflowExecution":
            started = StartWorkflowExecutionResponse.FromString(response).started
            facts["workflows_started"] = int(started)
            facts.update(_written(StartWorkflowExecutionRequest.FromString(request)))
        case "RespondWorkflowTaskCompleted":
            facts.update(_completion(RespondWorkflowTaskCompletedRequest.FromString(request)))
        case "RespondActivityTaskCompleted":
            facts.update(_written(RespondActivityTaskCompletedRequest.FromString(request)))
        case "PollActivityTaskQueue":
            attempt = PollActivityTaskQueueResponse.FromString(response).attempt
            facts["activity_retries"] = int(attempt > 1)
        case "ExecuteMultiOperation":
            facts.update(_together(ExecuteMultiOperationResponse.FromString(response)))
        case _:
            if method in _BY_METHOD:
                facts[_BY_METHOD[method]] = 1
    return +facts


def _together(response: ExecuteMultiOperationResponse) -> Counter[str]:
    """A start and an update that were made in one."""
    facts: Counter[str] = Counter()
    for each in response.responses:
        facts["workflows_started"] += int(each.start_workflow.started)
        facts["updates"] += int(each.HasField("update_workflow"))
    return facts


def _completion(request: RespondWorkflowTaskCompletedRequest) -> Counter[str]:
    facts = _written(request)
    for command in request.commands:
        if (fact := _BY_COMMAND.get(command.command_type)) is not None:
            facts[fact] += 1
        if command.command_type == CommandType.COMMAND_TYPE_START_CHILD_WORKFLOW_EXECUTION:
            # The service starts it, and no caller does.
            facts["workflows_started"] += 1
    marker = CommandType.COMMAND_TYPE_RECORD_MARKER
    facts["marker_tasks"] = int(any(command.command_type == marker for command in request.commands))
    return facts


def _written(message: Message) -> Counter[str]:
    # A Counter adds numbers of any kind; its type knows whole ones only.
    written: Any = Counter({"payload_gigabytes": sum(_payload_bytes(message)) / GIGABYTE})
    found: Counter[str] = written
    return found


def _payload_bytes(message: Message) -> Iterator[int]:
    if isinstance(message, Payload):
        yield message.ByteSize()
        return
    for field, value in message.ListFields():
        if field.type == FieldDescriptor.TYPE_MESSAGE:
            for each in _messages(value):
                yield from _payload_bytes(each)


def _messages(value: Any) -> Iterator[Message]:
    if isinstance(value, Message):
        yield value
    elif hasattr(value, "values"):
        yield from (each for each in value.values() if isinstance(each, Message))
    else:
        yield from value
