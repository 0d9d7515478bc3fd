"""ListTaskQueuePartitions: a task queue is one partition here, whoever serves it."""

from temporalio.api.taskqueue.v1 import TaskQueuePartitionMetadata
from temporalio.api.workflowservice.v1 import ListTaskQueuePartitionsRequest, ListTaskQueuePartitionsResponse

from durable_core.engine import checks
from durable_core.model.errors import InvalidArgument
from durable_core.services.context import Context

_OWNER = "perdure"


def list_task_queue_partitions(
    context: Context, request: ListTaskQueuePartitionsRequest
) -> ListTaskQueuePartitionsResponse:
    context.namespaces.named(request.namespace)
    if not request.HasField("task_queue"):
        raise InvalidArgument("taskQueue is not set")
    name = checks.normalized_queue(request.task_queue, "").name
    partition = TaskQueuePartitionMetadata(key=name, owner_host_name=_OWNER)
    return ListTaskQueuePartitionsResponse(
        activity_task_queue_partitions=[partition], workflow_task_queue_partitions=[partition]
    )
