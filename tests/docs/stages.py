"""Which area of the API each method belongs to, and in which stage of the project the area comes.

What does not live here: whether a method is implemented. That is asked of the method table, never written down.
The one thing a newcomer gets wrong: a new version of the API package may bring methods; each must be named here, or the
documents would be silent about it. A test says which are missing.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Area:
    """Methods that a reader looks for together. Those of the operator service are in `operator`."""

    title: str
    stage: int
    methods: tuple[str, ...]
    operator: tuple[str, ...] = ()


STAGES = {
    1: "what applications, workers and the command line use every day",
    2: "the newer and rarer parts",
    3: "a second region",
}


def _names(text: str) -> tuple[str, ...]:
    return tuple(text.split())


AREAS = (
    Area(
        "Workflow executions",
        1,
        _names(
            """StartWorkflowExecution SignalWorkflowExecution SignalWithStartWorkflowExecution
            UpdateWorkflowExecution PollWorkflowExecutionUpdate ExecuteMultiOperation QueryWorkflow
            RequestCancelWorkflowExecution TerminateWorkflowExecution ResetWorkflowExecution
            DeleteWorkflowExecution DescribeWorkflowExecution GetWorkflowExecutionHistory
            GetWorkflowExecutionHistoryReverse"""
        ),
    ),
    Area(
        "Workers",
        1,
        _names(
            """PollWorkflowTaskQueue RespondWorkflowTaskCompleted RespondWorkflowTaskFailed
            RespondQueryTaskCompleted ResetStickyTaskQueue ShutdownWorker PollActivityTaskQueue
            RecordActivityTaskHeartbeat RecordActivityTaskHeartbeatById RespondActivityTaskCompleted
            RespondActivityTaskCompletedById RespondActivityTaskFailed RespondActivityTaskFailedById
            RespondActivityTaskCanceled RespondActivityTaskCanceledById"""
        ),
    ),
    Area(
        "Namespaces",
        1,
        _names("RegisterNamespace DescribeNamespace ListNamespaces UpdateNamespace DeprecateNamespace"),
        ("DeleteNamespace",),
    ),
    Area("Cluster and system", 1, _names("GetSystemInfo GetClusterInfo")),
    Area(
        "Search attributes",
        1,
        ("GetSearchAttributes",),
        _names("AddSearchAttributes RemoveSearchAttributes ListSearchAttributes"),
    ),
    Area(
        "Visibility",
        1,
        _names(
            """ListWorkflowExecutions CountWorkflowExecutions ScanWorkflowExecutions
            ListOpenWorkflowExecutions ListClosedWorkflowExecutions"""
        ),
    ),
    Area("Task queues", 1, _names("DescribeTaskQueue ListTaskQueuePartitions")),
    Area(
        "Schedules",
        1,
        _names(
            """CreateSchedule DescribeSchedule UpdateSchedule PatchSchedule ListScheduleMatchingTimes
            DeleteSchedule ListSchedules CountSchedules"""
        ),
    ),
    Area(
        "Batch operations",
        1,
        _names("StartBatchOperation StopBatchOperation DescribeBatchOperation ListBatchOperations"),
    ),
    Area(
        "Worker versioning and deployments",
        2,
        _names(
            """UpdateWorkerBuildIdCompatibility GetWorkerBuildIdCompatibility UpdateWorkerVersioningRules
            GetWorkerVersioningRules GetWorkerTaskReachability DescribeDeployment ListDeployments
            GetDeploymentReachability GetCurrentDeployment SetCurrentDeployment CreateWorkerDeployment
            DescribeWorkerDeployment ListWorkerDeployments DeleteWorkerDeployment SetWorkerDeploymentManager
            CreateWorkerDeploymentVersion DescribeWorkerDeploymentVersion DeleteWorkerDeploymentVersion
            SetWorkerDeploymentCurrentVersion SetWorkerDeploymentRampingVersion
            UpdateWorkerDeploymentVersionMetadata UpdateWorkerDeploymentVersionComputeConfig
            ValidateWorkerDeploymentVersionComputeConfig"""
        ),
    ),
    Area(
        "Nexus",
        2,
        _names(
            """PollNexusTaskQueue RespondNexusTaskCompleted RespondNexusTaskFailed StartNexusOperationExecution
            DescribeNexusOperationExecution PollNexusOperationExecution ListNexusOperationExecutions
            CountNexusOperationExecutions RequestCancelNexusOperationExecution
            TerminateNexusOperationExecution DeleteNexusOperationExecution"""
        ),
        _names(
            """GetNexusEndpoint CreateNexusEndpoint UpdateNexusEndpoint DeleteNexusEndpoint
            ListNexusEndpoints"""
        ),
    ),
    Area(
        "Standalone activities",
        2,
        _names(
            """StartActivityExecution DescribeActivityExecution PollActivityExecution ListActivityExecutions
            CountActivityExecutions RequestCancelActivityExecution TerminateActivityExecution
            DeleteActivityExecution PauseActivityExecution ResetActivityExecution UnpauseActivityExecution
            UpdateActivityExecutionOptions"""
        ),
    ),
    Area(
        "Pausing, options, rules",
        2,
        _names(
            """PauseActivity UnpauseActivity ResetActivity UpdateActivityOptions PauseWorkflowExecution
            UnpauseWorkflowExecution UpdateWorkflowExecutionOptions CreateWorkflowRule DescribeWorkflowRule
            DeleteWorkflowRule ListWorkflowRules TriggerWorkflowRule"""
        ),
    ),
    Area(
        "Managing workers and queues",
        2,
        _names(
            """RecordWorkerHeartbeat ListWorkers CountWorkers DescribeWorker FetchWorkerConfig
            UpdateWorkerConfig UpdateTaskQueueConfig"""
        ),
    ),
    Area(
        "Archival and time skipping",
        2,
        _names("ListArchivedWorkflowExecutions PollWorkflowExecutionTimeSkipping"),
    ),
    Area(
        "Remote clusters",
        3,
        (),
        _names("AddOrUpdateRemoteCluster RemoveRemoteCluster ListClusters"),
    ),
)
