"""The implemented methods by name: the listing is what works, everything else answers UNIMPLEMENTED."""

from durable_core.services.calls import Rpc
from durable_core.services.frontend.add_search_attributes import add_search_attributes
from durable_core.services.frontend.delete_workflow_execution import delete_workflow_execution
from durable_core.services.frontend.deprecate_namespace import deprecate_namespace
from durable_core.services.frontend.describe_namespace import describe_namespace
from durable_core.services.frontend.describe_task_queue import describe_task_queue
from durable_core.services.frontend.describe_workflow_execution import describe_workflow_execution
from durable_core.services.frontend.execute_multi_operation import execute_multi_operation
from durable_core.services.frontend.get_cluster_info import get_cluster_info
from durable_core.services.frontend.get_search_attributes import get_search_attributes
from durable_core.services.frontend.get_system_info import get_system_info
from durable_core.services.frontend.get_workflow_execution_history import get_workflow_execution_history
from durable_core.services.frontend.get_workflow_execution_history_reverse import (
    get_workflow_execution_history_reverse,
)
from durable_core.services.frontend.list_namespaces import list_namespaces
from durable_core.services.frontend.list_search_attributes import list_search_attributes
from durable_core.services.frontend.list_task_queue_partitions import list_task_queue_partitions
from durable_core.services.frontend.poll_workflow_execution_update import poll_workflow_execution_update
from durable_core.services.frontend.query_workflow import abandon_query, query_workflow
from durable_core.services.frontend.record_activity_task_heartbeat import (
    record_activity_task_heartbeat,
    record_activity_task_heartbeat_by_id,
)
from durable_core.services.frontend.register_namespace import register_namespace
from durable_core.services.frontend.remove_search_attributes import remove_search_attributes
from durable_core.services.frontend.request_cancel_workflow_execution import request_cancel_workflow_execution
from durable_core.services.frontend.reset_sticky_task_queue import reset_sticky_task_queue
from durable_core.services.frontend.reset_workflow_execution import reset_workflow_execution
from durable_core.services.frontend.respond_activity_task_canceled import (
    respond_activity_task_canceled,
    respond_activity_task_canceled_by_id,
)
from durable_core.services.frontend.respond_activity_task_completed import (
    respond_activity_task_completed,
    respond_activity_task_completed_by_id,
)
from durable_core.services.frontend.respond_activity_task_failed import (
    respond_activity_task_failed,
    respond_activity_task_failed_by_id,
)
from durable_core.services.frontend.respond_query_task_completed import respond_query_task_completed
from durable_core.services.frontend.respond_workflow_task_completed import respond_workflow_task_completed
from durable_core.services.frontend.respond_workflow_task_failed import respond_workflow_task_failed
from durable_core.services.frontend.shutdown_worker import shutdown_worker
from durable_core.services.frontend.signal_with_start_workflow_execution import (
    signal_with_start_workflow_execution,
)
from durable_core.services.frontend.signal_workflow_execution import signal_workflow_execution
from durable_core.services.frontend.start_workflow_execution import start_workflow_execution
from durable_core.services.frontend.terminate_workflow_execution import terminate_workflow_execution
from durable_core.services.frontend.update_namespace import update_namespace
from durable_core.services.frontend.update_workflow_execution import update_workflow_execution
from durable_core.services.matching.poll_activity_task_queue import poll_activity_task_queue
from durable_core.services.matching.poll_workflow_task_queue import poll_workflow_task_queue
from durable_core.services.request_fields import checked

_WORKFLOW_SERVICE: dict[str, Rpc] = {
    "RegisterNamespace": Rpc(register_namespace),
    "DescribeNamespace": Rpc(describe_namespace),
    "ListNamespaces": Rpc(list_namespaces),
    "UpdateNamespace": Rpc(update_namespace),
    "DeprecateNamespace": Rpc(deprecate_namespace),
    "GetSystemInfo": Rpc(get_system_info),
    "GetClusterInfo": Rpc(get_cluster_info),
    "GetSearchAttributes": Rpc(get_search_attributes),
    "StartWorkflowExecution": Rpc(start_workflow_execution),
    "SignalWorkflowExecution": Rpc(signal_workflow_execution),
    "SignalWithStartWorkflowExecution": Rpc(signal_with_start_workflow_execution),
    "RequestCancelWorkflowExecution": Rpc(request_cancel_workflow_execution),
    "TerminateWorkflowExecution": Rpc(terminate_workflow_execution),
    "ResetWorkflowExecution": Rpc(reset_workflow_execution),
    "DeleteWorkflowExecution": Rpc(delete_workflow_execution),
    "DescribeWorkflowExecution": Rpc(describe_workflow_execution),
    "GetWorkflowExecutionHistory": Rpc(get_workflow_execution_history, waits=True),
    "GetWorkflowExecutionHistoryReverse": Rpc(get_workflow_execution_history_reverse),
    "ExecuteMultiOperation": Rpc(execute_multi_operation, waits=True),
    "UpdateWorkflowExecution": Rpc(update_workflow_execution, waits=True),
    "PollWorkflowExecutionUpdate": Rpc(poll_workflow_execution_update, waits=True),
    "QueryWorkflow": Rpc(query_workflow, waits=True, abandon=abandon_query),
    "PollWorkflowTaskQueue": Rpc(poll_workflow_task_queue, waits=True),
    "RespondWorkflowTaskCompleted": Rpc(respond_workflow_task_completed),
    "RespondWorkflowTaskFailed": Rpc(respond_workflow_task_failed),
    "RespondQueryTaskCompleted": Rpc(respond_query_task_completed),
    "DescribeTaskQueue": Rpc(describe_task_queue),
    "ListTaskQueuePartitions": Rpc(list_task_queue_partitions),
    "ResetStickyTaskQueue": Rpc(reset_sticky_task_queue),
    "ShutdownWorker": Rpc(shutdown_worker),
    "PollActivityTaskQueue": Rpc(poll_activity_task_queue, waits=True),
    "RecordActivityTaskHeartbeat": Rpc(record_activity_task_heartbeat),
    "RecordActivityTaskHeartbeatById": Rpc(record_activity_task_heartbeat_by_id),
    "RespondActivityTaskCompleted": Rpc(respond_activity_task_completed),
    "RespondActivityTaskCompletedById": Rpc(respond_activity_task_completed_by_id),
    "RespondActivityTaskFailed": Rpc(respond_activity_task_failed),
    "RespondActivityTaskFailedById": Rpc(respond_activity_task_failed_by_id),
    "RespondActivityTaskCanceled": Rpc(respond_activity_task_canceled),
    "RespondActivityTaskCanceledById": Rpc(respond_activity_task_canceled_by_id),
}

WORKFLOW_SERVICE = {name: checked(name, rpc) for name, rpc in _WORKFLOW_SERVICE.items()}

OPERATOR_SERVICE: dict[str, Rpc] = {
    "AddSearchAttributes": Rpc(add_search_attributes),
    "RemoveSearchAttributes": Rpc(remove_search_attributes),
    "ListSearchAttributes": Rpc(list_search_attributes),
}
