"""ShutdownWorker: a worker says that it stops; its sticky queue gets no more tasks, and its polls end."""

from temporalio.api.workflowservice.v1 import ShutdownWorkerRequest, ShutdownWorkerResponse

from durable_core.model.ids import QueueKey, QueueKind
from durable_core.services.context import Context


def shutdown_worker(context: Context, request: ShutdownWorkerRequest) -> ShutdownWorkerResponse:
    namespace = context.namespaces.named(request.namespace)
    if request.sticky_task_queue:
        queue = QueueKey(namespace.namespace_id, request.sticky_task_queue, QueueKind.WORKFLOW)
        context.pollers.forget(queue)
    return ShutdownWorkerResponse()
