"""Checks that requests and commands share: durations, names, task queues, search attributes.

They raise `InvalidArgument` with the rule alone; the caller adds where the value stood.
"""

from google.protobuf.duration_pb2 import Duration
from temporalio.api.common.v1 import Priority, SearchAttributes
from temporalio.api.enums.v1 import IndexedValueType, TaskQueueKind
from temporalio.api.taskqueue.v1 import TaskQueue

from durable_core.model import limits, search_attribute_values
from durable_core.model.errors import InvalidArgument
from durable_core.model.namespace import Namespace
from durable_core.model.search_attributes import SYSTEM_TYPES
from durable_core.model.times import nanos

RESERVED_PREFIX = "/_sys/"

PREDEFINED_SEARCH_ATTRIBUTES: dict[str, "IndexedValueType.ValueType"] = {
    "TemporalChangeVersion": IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD_LIST,
    "BinaryChecksums": IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD_LIST,
    "BuildIds": IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD_LIST,
    "BatcherNamespace": IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD,
    "BatcherUser": IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD,
    "TemporalScheduledStartTime": IndexedValueType.INDEXED_VALUE_TYPE_DATETIME,
    "TemporalScheduledById": IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD,
    "TemporalSchedulePaused": IndexedValueType.INDEXED_VALUE_TYPE_BOOL,
    "TemporalNamespaceDivision": IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD,
    "TemporalPauseInfo": IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD_LIST,
    "TemporalReportedProblems": IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD_LIST,
    "TemporalWorkerDeploymentVersion": IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD,
    "TemporalWorkerDeployment": IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD,
    "TemporalWorkflowVersioningBehavior": IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD,
}


def valid_duration(value: Duration) -> int:
    """In ns, capped; raises for a negative one."""
    if value.seconds < 0 or value.nanos < 0:
        raise InvalidArgument("negative duration")
    return min(nanos(value), limits.duration_max)


def too_long(value: str) -> bool:
    return len(value.encode()) > limits.id_length_max


def normalized_queue(queue: TaskQueue, default: str) -> TaskQueue:
    """The queue as it is written to the history: its kind set, its name taken from `default` where it is missing."""
    name = queue.name or default
    if not name:
        raise InvalidArgument("missing task queue name")
    if too_long(name):
        raise InvalidArgument("taskQueue length exceeds limit")
    if name.startswith(RESERVED_PREFIX):
        raise InvalidArgument(f"task queue name cannot start with reserved prefix {RESERVED_PREFIX}")
    kind = queue.kind or TaskQueueKind.TASK_QUEUE_KIND_NORMAL
    return TaskQueue(name=name, kind=kind, normal_name=queue.normal_name)


def check_search_attributes(attributes: SearchAttributes, namespace: Namespace) -> None:
    """Each name is known to the namespace and each value is within its size."""
    fields = attributes.indexed_fields
    if len(fields) > limits.search_attributes_count_max:
        raise InvalidArgument(
            f"number of search attributes {len(fields)} exceeds limit {limits.search_attributes_count_max}"
        )
    total = 0
    for name, payload in fields.items():
        if name in SYSTEM_TYPES:
            raise InvalidArgument(f"{name} attribute can't be set in SearchAttributes")
        if name not in PREDEFINED_SEARCH_ATTRIBUTES and name not in namespace.search_attributes:
            raise InvalidArgument(
                f"Namespace {namespace.name} has no mapping defined for search attribute {name}"
            )
        kind = namespace.search_attributes.get(name) or PREDEFINED_SEARCH_ATTRIBUTES[name]
        search_attribute_values.check(name, kind, payload)
        size = len(payload.data)
        if size > limits.search_attribute_value_bytes_max:
            raise InvalidArgument(
                f"search attribute {name} value size {size} exceeds size limit "
                f"{limits.search_attribute_value_bytes_max}"
            )
        total += len(name) + size
    if total > limits.search_attributes_bytes_max:
        raise InvalidArgument(
            f"total size of search attributes {total} exceeds size limit {limits.search_attributes_bytes_max}"
        )


def typed_search_attributes(attributes: SearchAttributes, namespace: Namespace) -> SearchAttributes:
    """A copy whose payloads carry their type in the metadata, as SDKs expect it back."""
    typed = SearchAttributes()
    for name, payload in attributes.indexed_fields.items():
        kind = namespace.search_attributes.get(name) or PREDEFINED_SEARCH_ATTRIBUTES.get(name)
        target = typed.indexed_fields[name]
        target.CopyFrom(payload)
        if kind:
            words = IndexedValueType.Name(kind).removeprefix("INDEXED_VALUE_TYPE_").split("_")
            target.metadata["type"] = "".join(word.capitalize() for word in words).encode()
    return typed


def check_priority(priority: Priority) -> None:
    """Raise `InvalidArgument` for a priority that no queue knows."""
    if priority.priority_key < 0:
        raise InvalidArgument("priority key can't be negative")
    if len(priority.fairness_key) > limits.fairness_key_length_max:
        raise InvalidArgument("fairness key length exceeds limit")
    if priority.fairness_weight < 0:
        raise InvalidArgument("fairness weight can't be negative")


def run_timeout(run: int, execution: int) -> int:
    """The run's time-out in ns: not above the execution's; 0: none."""
    if not execution:
        return run
    return min(run or execution, execution)


def workflow_task_timeout(task: int, run: int) -> int:
    """The workflow task's time-out in ns: the default where there is none, within its maximum and the run's."""
    task = min(task or limits.workflow_task_timeout_default, limits.workflow_task_timeout_max)
    return min(task, run) if run else task
