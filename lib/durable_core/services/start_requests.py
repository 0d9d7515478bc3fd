"""What every start shares, whoever asks for it: the checks, the defaults, and the started event's attributes."""

from dataclasses import dataclass

from google.protobuf.duration_pb2 import Duration
from temporalio.api.common.v1 import Callback, Link, Memo, Payloads, RetryPolicy, SearchAttributes
from temporalio.api.enums.v1 import ContinueAsNewInitiator, WorkflowIdConflictPolicy, WorkflowIdReusePolicy
from temporalio.api.history.v1 import WorkflowExecutionStartedEventAttributes
from temporalio.api.sdk.v1 import UserMetadata
from temporalio.api.workflowservice.v1 import StartWorkflowExecutionRequest

from durable_core.engine import checks, external, starting
from durable_core.engine.transition import Transition
from durable_core.engine.workflow_tasks import Claim
from durable_core.model import cron, limits, retry
from durable_core.model.errors import InvalidArgument, Unimplemented
from durable_core.model.namespace import Namespace
from durable_core.model.payloads import fields_size
from durable_core.model.times import duration, nanos, timestamp
from durable_core.ports.clock import Ids

_Reuse = WorkflowIdReusePolicy
_Conflict = WorkflowIdConflictPolicy


@dataclass(frozen=True, slots=True)
class Policies:
    """What to do about a closed run (`reuse`) and about an open one (`conflict`); neither is unspecified."""

    reuse: "WorkflowIdReusePolicy.ValueType"
    conflict: "WorkflowIdConflictPolicy.ValueType"


def policies(
    reuse: "WorkflowIdReusePolicy.ValueType", conflict: "WorkflowIdConflictPolicy.ValueType"
) -> Policies:
    """The policies in force; raises `InvalidArgument` for a pair that contradicts itself."""
    terminate_if_running = _Reuse.WORKFLOW_ID_REUSE_POLICY_TERMINATE_IF_RUNNING
    terminate = _Conflict.WORKFLOW_ID_CONFLICT_POLICY_TERMINATE_EXISTING
    if reuse == terminate_if_running:
        if conflict != _Conflict.WORKFLOW_ID_CONFLICT_POLICY_UNSPECIFIED:
            raise InvalidArgument(
                "Invalid WorkflowIDReusePolicy: WORKFLOW_ID_REUSE_POLICY_TERMINATE_IF_RUNNING cannot be used "
                "together with a WorkflowIDConflictPolicy"
            )
        return Policies(_Reuse.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE, terminate)
    if conflict == terminate and reuse == _Reuse.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE:
        raise InvalidArgument(
            "Invalid WorkflowIDReusePolicy: WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE cannot be used together "
            "with WorkflowIdConflictPolicy WORKFLOW_ID_CONFLICT_POLICY_TERMINATE_EXISTING"
        )
    return Policies(
        reuse or _Reuse.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
        conflict or _Conflict.WORKFLOW_ID_CONFLICT_POLICY_FAIL,
    )


def check(request: StartWorkflowExecutionRequest, namespace: Namespace) -> None:
    """Raise `InvalidArgument` for a request that no run can come from, `Unimplemented` for what is not here yet."""
    _check_names(request)
    check_values(request, namespace)


def check_values(request: StartWorkflowExecutionRequest, namespace: Namespace) -> None:
    """Everything but the names, which each method words its own way."""
    for field, value in (
        ("WorkflowExecutionTimeout", request.workflow_execution_timeout),
        ("WorkflowRunTimeout", request.workflow_run_timeout),
        ("WorkflowTaskTimeout", request.workflow_task_timeout),
        ("WorkflowStartDelay", request.workflow_start_delay),
    ):
        checked_duration(field, value)
    if request.HasField("retry_policy"):
        retry.validate(filled_retry(request))
    cron.validate(request.cron_schedule)
    if request.cron_schedule and request.HasField("workflow_start_delay"):
        raise InvalidArgument("CronSchedule and WorkflowStartDelay may not be used together.")
    check_payloads(request.input, request.memo, request.search_attributes, namespace)
    checks.check_priority(request.priority)
    check_user_metadata(request.user_metadata)
    check_links(list(request.links))
    check_callbacks(list(request.completion_callbacks))
    _refuse_later_features(request)


def _check_names(request: StartWorkflowExecutionRequest) -> None:
    if not request.workflow_id:
        raise InvalidArgument("WorkflowId is not set on request.")
    if not request.workflow_type.name:
        raise InvalidArgument("WorkflowType is not set on request.")
    if checks.too_long(request.workflow_id):
        length = len(request.workflow_id.encode())
        raise InvalidArgument(f"WorkflowId exceeds maximum allowed length ({length}/{limits.id_length_max})")
    for field, value in (
        ("RequestId", request.request_id),
        ("WorkflowType", request.workflow_type.name),
    ):
        if checks.too_long(value):
            raise InvalidArgument(f"{field} length exceeds limit.")
    checks.normalized_queue(request.task_queue, "")


def _refuse_later_features(request: StartWorkflowExecutionRequest) -> None:
    for field in ("versioning_override", "time_skipping_config", "eager_worker_deployment_options"):
        if request.HasField(field):
            raise Unimplemented(f"{field} is not supported yet.")


def checked_duration(field: str, value: Duration) -> int:
    """In ns; raises `InvalidArgument` that names the field."""
    try:
        return checks.valid_duration(value)
    except InvalidArgument as error:
        raise InvalidArgument(f"An invalid {field}Seconds is set on request. cause: {error}") from error


def check_payloads(
    payloads: Payloads, memo: Memo, search_attributes: SearchAttributes, namespace: Namespace
) -> None:
    if payloads.ByteSize() > limits.blob_bytes_max:
        raise InvalidArgument("Blob data size exceeds limit.")
    if fields_size(memo.fields) > limits.memo_bytes_max:
        raise InvalidArgument("Memo size exceeds limit.")
    checks.check_search_attributes(search_attributes, namespace)


def check_user_metadata(metadata: UserMetadata) -> None:
    if metadata.summary.ByteSize() > limits.user_metadata_summary_bytes_max:
        raise InvalidArgument(
            "invalid UserMetadata: summary payload exceeds size limit of "
            f"{limits.user_metadata_summary_bytes_max} bytes"
        )
    if metadata.details.ByteSize() > limits.user_metadata_details_bytes_max:
        raise InvalidArgument(
            "invalid UserMetadata: details payload exceeds size limit of "
            f"{limits.user_metadata_details_bytes_max} bytes"
        )


def check_links(links: list[Link]) -> None:
    if len(links) > limits.links_count_max:
        raise InvalidArgument(
            f"cannot attach more than {limits.links_count_max} links per request, got {len(links)}"
        )
    for link in links:
        _check_variant(link)
        if link.ByteSize() > limits.link_bytes_max:
            raise InvalidArgument(
                f"link exceeds allowed size of {limits.link_bytes_max}, got {link.ByteSize()}"
            )


def _check_variant(link: Link) -> None:
    """A link names what it leads to in full."""
    kind = link.WhichOneof("variant")
    if kind == "workflow_event":
        event = link.workflow_event
        for name, value in (
            ("namespace", event.namespace),
            ("workflow ID", event.workflow_id),
            ("run ID", event.run_id),
        ):
            if not value:
                raise InvalidArgument(f"workflow event link must not have an empty {name} field")
    elif kind == "batch_job" and not link.batch_job.job_id:
        raise InvalidArgument("batch job link must not have an empty job ID")
    elif kind is None:
        raise InvalidArgument("unsupported link variant")


def check_callbacks(callbacks: list[Callback]) -> None:
    """No address is configured to which callbacks may go, so each is refused, as on a Temporal server without one."""
    for callback in callbacks:
        if callback.WhichOneof("variant") != "nexus":
            raise Unimplemented("Only Nexus callbacks are known.")
        url = callback.nexus.url
        scheme, separator, _ = url.partition("://")
        if not separator or scheme not in ("http", "https"):
            raise InvalidArgument(f"invalid url: unknown scheme: {url}")
        raise InvalidArgument(f"invalid url: url does not match any configured callback address: {url}")


def filled_retry(request: StartWorkflowExecutionRequest) -> RetryPolicy:
    return retry.with_defaults(
        request.retry_policy,
        limits.workflow_retry_initial_interval,
        limits.workflow_retry_coefficient,
        limits.workflow_retry_interval_factor,
    )


def accepts_eager(request: StartWorkflowExecutionRequest) -> bool:
    """Whether the starter gets the first workflow task in the reply: it asked to, and the task is due now."""
    delayed = request.cron_schedule or nanos(request.workflow_start_delay)
    return request.request_eager_execution and not delayed


def begin(
    request: StartWorkflowExecutionRequest,
    namespace: Namespace,
    new: starting.NewRun,
    now: int,
    ids: Ids,
    *,
    eager: Claim | None = None,
    signal: external.Signal | None = None,
) -> Transition:
    """The transition that creates the run that the request asks for; the rest is as for `starting.begin`."""
    return starting.begin(
        new,
        attributes(request, namespace, new.run_id, now),
        now,
        ids,
        user_metadata=request.user_metadata if request.HasField("user_metadata") else None,
        links=request.links,
        eager=eager,
        signal=signal,
    )


def attributes(
    request: StartWorkflowExecutionRequest, namespace: Namespace, run_id: str, now: int
) -> WorkflowExecutionStartedEventAttributes:
    """The started event's attributes of a first run. Time-outs that were not given stay absent."""
    execution = checks.valid_duration(request.workflow_execution_timeout)
    run = checks.run_timeout(checks.valid_duration(request.workflow_run_timeout), execution)
    task = checks.workflow_task_timeout(checks.valid_duration(request.workflow_task_timeout), run)
    backoff = checks.valid_duration(request.workflow_start_delay)
    if request.cron_schedule:
        backoff = cron.backoff(request.cron_schedule, now, now)
    return WorkflowExecutionStartedEventAttributes(
        workflow_type=request.workflow_type,
        task_queue=checks.normalized_queue(request.task_queue, ""),
        input=request.input if request.HasField("input") else None,
        workflow_execution_timeout=duration(execution)
        if request.HasField("workflow_execution_timeout")
        else None,
        workflow_run_timeout=duration(run) if run or request.HasField("workflow_run_timeout") else None,
        workflow_task_timeout=duration(task),
        continued_failure=request.continued_failure if request.HasField("continued_failure") else None,
        last_completion_result=request.last_completion_result
        if request.HasField("last_completion_result")
        else None,
        original_execution_run_id=run_id,
        identity=request.identity,
        first_execution_run_id=run_id,
        retry_policy=filled_retry(request) if request.HasField("retry_policy") else None,
        attempt=1,
        workflow_execution_expiration_time=timestamp(now + backoff + execution) if execution else None,
        cron_schedule=request.cron_schedule,
        initiator=ContinueAsNewInitiator.CONTINUE_AS_NEW_INITIATOR_CRON_SCHEDULE
        if request.cron_schedule
        else ContinueAsNewInitiator.CONTINUE_AS_NEW_INITIATOR_UNSPECIFIED,
        first_workflow_task_backoff=duration(backoff),
        memo=request.memo if request.HasField("memo") else None,
        search_attributes=checks.typed_search_attributes(request.search_attributes, namespace)
        if request.HasField("search_attributes")
        else None,
        header=request.header if request.HasField("header") else None,
        workflow_id=request.workflow_id,
        priority=request.priority if request.HasField("priority") else None,
        eager_execution_accepted=accepts_eager(request),
    )
