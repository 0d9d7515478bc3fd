"""What becomes of each field of a request: used by its function, a hint that means nothing here, or refused.

No field is ignored in silence: `HINTS` says why a field may be, and one in `REFUSED` that is set answers UNIMPLEMENTED.
A test holds that every other field is read by the code.
"""

from collections.abc import Callable
from typing import Any

from google.protobuf.message import Message
from temporalio.api.enums.v1 import WorkerVersioningMode

from durable_core.model.errors import Unimplemented
from durable_core.services.calls import Rpc

HINTS: dict[str, str] = {
    "resource_id": "for routing: every process here serves every workflow",
    "poller_group_id": "for routing: a queue is in one piece here",
    "worker_instance_key": "tells workers of one process apart; polls are told by their identity",
    "worker_control_task_queue": "for commands to workers, which are not announced as a capability",
    "worker_heartbeat": "worker heartbeats are not announced as a capability",
    "capabilities": "what a worker could do if the server asked it to; we ask for nothing",
    "control": "deprecated; the Temporal server, too, takes no notice of it",
    "security_token": "deprecated; the Temporal server, too, takes no notice of it",
    "skip_archival": "there is no archive to skip",
    "weak_consistency": "every read is consistent",
    "deployment": "deprecated in favour of deployment_options",
    "cause": "says why a worker answered as it did; the answer itself counts",
    "history_archival_uri": "there is no archive, and none is promised: the state stays disabled",
    "visibility_archival_uri": "there is no archive, and none is promised: the state stays disabled",
    "report_config": "deprecated with the worker versioning that it belongs to",
    "reason": "for a person who reads the call; nothing depends on it",
    "task_queue_types": "a worker's sticky queue and its polls end together",
}
"""Fields by name, with the reason why nothing follows from them."""

HINTS_OF: dict[tuple[str, str], str] = {
    ("PollWorkflowTaskQueue", "binary_checksum"): "recorded from the completion of the task",
    ("RespondActivityTaskCanceled", "worker_version"): "not recorded by the Temporal server either",
}
"""The same for a field of one method."""


def _is_versioned(request: Any) -> bool:
    mode = request.deployment_options.worker_versioning_mode
    return bool(mode == WorkerVersioningMode.WORKER_VERSIONING_MODE_VERSIONED)


def _is_set(field: str) -> Callable[[Any], bool]:
    def check(request: Any) -> bool:
        descriptor = request.DESCRIPTOR.fields_by_name[field]
        if descriptor.has_presence:
            return bool(request.HasField(field))
        return bool(getattr(request, field))

    return check


QUEUE_RATE_UNLIMITED = 100_000.0
"""Activities a second of a whole queue that mean no limit: the Go SDK asks for them in every poll."""


def _is_slowed(request: Any) -> bool:
    metadata = request.task_queue_metadata
    if not metadata.HasField("max_tasks_per_second"):
        return False
    return bool(metadata.max_tasks_per_second.value < QUEUE_RATE_UNLIMITED)


REFUSED: dict[str, dict[str, Callable[[Any], bool]]] = {
    "StartWorkflowExecution": {
        "propagated_nexus_serialization_context": _is_set("propagated_nexus_serialization_context")
    },
    "PollActivityTaskQueue": {
        "task_queue_metadata": _is_slowed,
        "deployment_options": _is_versioned,
    },
    "PollWorkflowTaskQueue": {"deployment_options": _is_versioned},
    "RespondWorkflowTaskCompleted": {
        "page_number": _is_set("page_number"),
        "intermediate_page": _is_set("intermediate_page"),
        "deployment_options": _is_versioned,
    },
    "RespondWorkflowTaskFailed": {"messages": _is_set("messages"), "deployment_options": _is_versioned},
    "RespondActivityTaskCompleted": {"deployment_options": _is_versioned},
    "RespondActivityTaskFailed": {"deployment_options": _is_versioned},
    "RespondActivityTaskCanceled": {"deployment_options": _is_versioned},
    "RespondActivityTaskCanceledById": {"deployment_options": _is_versioned},
}
"""Fields by method, each with the test of whether a request asks for what is not there."""


def checked(name: str, rpc: Rpc) -> Rpc:
    """The method with its refusals before it; the same where it has none."""
    refused = REFUSED.get(name)
    if refused is None:
        return rpc
    function = rpc.function

    def run(context: Any, request: Message, *call: Any) -> Any:
        for field, asks_for in refused.items():
            if asks_for(request):
                raise Unimplemented(f"{field} of {name} is not supported yet")
        return function(context, request, *call)

    run.__name__ = function.__name__
    return Rpc(run, rpc.waits, rpc.abandon)
