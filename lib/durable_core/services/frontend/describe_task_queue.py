"""DescribeTaskQueue: who polls a task queue, and what waits in it.

Rates are not measured. A queue needs nobody to make it, so any name can be asked about.
"""

from collections.abc import Sequence

from temporalio.api.common.v1 import WorkerVersionCapabilities
from temporalio.api.enums.v1 import (
    BuildIdTaskReachability,
    DescribeTaskQueueMode,
    TaskQueueKind,
    TaskQueueType,
)
from temporalio.api.taskqueue.v1 import (
    PollerInfo,
    TaskIdBlock,
    TaskQueueStats,
    TaskQueueStatus,
    TaskQueueTypeInfo,
    TaskQueueVersionInfo,
    TaskQueueVersioningInfo,
)
from temporalio.api.workflowservice.v1 import DescribeTaskQueueRequest, DescribeTaskQueueResponse

from durable_core.engine import checks
from durable_core.model import limits
from durable_core.model.errors import InvalidArgument
from durable_core.model.ids import QueueKey, QueueKind
from durable_core.model.times import NEVER, duration, timestamp
from durable_core.services.context import Context

_Type = TaskQueueType
_KINDS: dict[int, QueueKind] = {
    _Type.TASK_QUEUE_TYPE_UNSPECIFIED: QueueKind.WORKFLOW,
    _Type.TASK_QUEUE_TYPE_WORKFLOW: QueueKind.WORKFLOW,
    _Type.TASK_QUEUE_TYPE_ACTIVITY: QueueKind.ACTIVITY,
}
_UNVERSIONED = "__unversioned__"
_RATE_UNBOUNDED = 100_000.0
_PRIORITY_DEFAULT = 3


def describe_task_queue(context: Context, request: DescribeTaskQueueRequest) -> DescribeTaskQueueResponse:
    namespace = context.namespaces.named(request.namespace)
    if not request.HasField("task_queue"):
        raise InvalidArgument("taskQueue is not set")
    if request.task_queue.name.startswith(checks.RESERVED_PREFIX):
        raise InvalidArgument(f"invalid task queue partition name {request.task_queue.name}")
    name = checks.normalized_queue(request.task_queue, "").name
    if request.api_mode == DescribeTaskQueueMode.DESCRIBE_TASK_QUEUE_MODE_ENHANCED:
        return _enhanced(context, namespace.namespace_id, name, request)
    queue = _queue(namespace.namespace_id, name, request.task_queue_type)
    reply = DescribeTaskQueueResponse(pollers=_pollers(context, queue))
    if request.report_stats:
        reply.stats.CopyFrom(_stats(context, queue))
        reply.stats_by_priority_key[_PRIORITY_DEFAULT].CopyFrom(reply.stats)
    if request.include_task_queue_status:
        count = 0 if queue is None else context.task_queues.backlog(queue)
        reply.task_queue_status.CopyFrom(
            TaskQueueStatus(backlog_count_hint=count, task_id_block=TaskIdBlock())
        )
    if request.task_queue.kind != TaskQueueKind.TASK_QUEUE_KIND_STICKY:
        reply.versioning_info.CopyFrom(
            TaskQueueVersioningInfo(current_version=_UNVERSIONED, update_time=NEVER)
        )
    return reply


def _queue(namespace_id: str, name: str, task_queue_type: int) -> QueueKey | None:
    """None for a type that there are no queues of."""
    kind = _KINDS.get(task_queue_type)
    return None if kind is None else QueueKey(namespace_id, name, kind)


def _pollers(context: Context, queue: QueueKey | None) -> list[PollerInfo]:
    if queue is None:
        return []
    now = context.clock.now()
    return [
        PollerInfo(
            identity=poller.identity,
            last_access_time=timestamp(min(poller.last_access, now)),
            rate_per_second=_RATE_UNBOUNDED,
            worker_version_capabilities=WorkerVersionCapabilities(build_id=poller.build_id)
            if poller.build_id
            else None,
        )
        for poller in context.pollers.pollers(queue, now - limits.poller_history)
    ]


def _stats(context: Context, queue: QueueKey | None) -> TaskQueueStats:
    if queue is None:
        return TaskQueueStats(approximate_backlog_age=duration(0))
    since = context.task_queues.waiting_since(queue)
    return TaskQueueStats(
        approximate_backlog_count=context.task_queues.backlog(queue),
        approximate_backlog_age=duration(max(0, context.clock.now() - since) if since else 0),
    )


def _enhanced(
    context: Context, namespace_id: str, name: str, request: DescribeTaskQueueRequest
) -> DescribeTaskQueueResponse:
    """By build ID and type. All workers are unversioned, so only the build ID "" has any."""
    reply = DescribeTaskQueueResponse()
    types: Sequence[TaskQueueType.ValueType] = request.task_queue_types or (
        _Type.TASK_QUEUE_TYPE_WORKFLOW,
        _Type.TASK_QUEUE_TYPE_ACTIVITY,
    )
    for build_id in _build_ids(request):
        version: TaskQueueVersionInfo = reply.versions_info[build_id]
        for task_queue_type in types:
            queue = None if build_id else _queue(namespace_id, name, task_queue_type)
            version.types_info[task_queue_type].CopyFrom(_type_info(context, queue, request))
        if request.report_task_reachability:
            version.task_reachability = (
                BuildIdTaskReachability.BUILD_ID_TASK_REACHABILITY_UNREACHABLE
                if build_id
                else BuildIdTaskReachability.BUILD_ID_TASK_REACHABILITY_REACHABLE
            )
    return reply


def _build_ids(request: DescribeTaskQueueRequest) -> list[str]:
    if not request.HasField("versions"):
        return [""]
    asked = list(request.versions.build_ids)
    return [*asked, ""] if request.versions.unversioned else asked


def _type_info(
    context: Context, queue: QueueKey | None, request: DescribeTaskQueueRequest
) -> TaskQueueTypeInfo:
    info = TaskQueueTypeInfo()
    if request.report_pollers:
        info.pollers.extend(_pollers(context, queue))
    if request.report_stats:
        info.stats.CopyFrom(_stats(context, queue))
    return info
