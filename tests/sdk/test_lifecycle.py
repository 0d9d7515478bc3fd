"""How workflows start, end, and go on in another run."""

from datetime import timedelta

import pytest
from temporalio.api.enums.v1 import EventType, IndexedValueType
from temporalio.api.namespace.v1 import NamespaceConfig
from temporalio.api.operatorservice.v1 import AddSearchAttributesRequest, ListSearchAttributesRequest
from temporalio.api.workflowservice.v1 import UpdateNamespaceRequest
from temporalio.client import (
    Client,
    WorkflowContinuedAsNewError,
    WorkflowExecutionStatus,
    WorkflowFailureError,
)
from temporalio.common import (
    RetryPolicy,
    SearchAttributeKey,
    SearchAttributePair,
    TypedSearchAttributes,
    WorkflowIDConflictPolicy,
    WorkflowIDReusePolicy,
)
from temporalio.exceptions import (
    ApplicationError,
    CancelledError,
    TerminatedError,
    TimeoutError,
    WorkflowAlreadyStartedError,
)
from temporalio.service import RPCError, RPCStatusCode
from temporalio.worker import Worker

from tests.sdk.samples.conversations import (
    COLOUR,
    NUMBER,
    AttributesWorkflow,
    CleaningWorkflow,
    ConversationWorkflow,
    CountdownWorkflow,
    CronWorkflow,
    FailingWorkflow,
    StubbornWorkflow,
    TimerWorkflow,
)
from tests.sdk.waiting import event_names, events, eventually, later, only

pytestmark = pytest.mark.asyncio

WORKFLOWS = [
    AttributesWorkflow,
    CleaningWorkflow,
    ConversationWorkflow,
    CountdownWorkflow,
    CronWorkflow,
    FailingWorkflow,
    StubbornWorkflow,
    TimerWorkflow,
]


def worker(client: Client, task_queue: str) -> Worker:
    return Worker(client, task_queue=task_queue, workflows=WORKFLOWS)


async def test_continue_as_new_runs_on_under_the_same_id(client, unique):
    async with worker(client, unique):
        handle = await client.start_workflow(
            CountdownWorkflow.run, args=[3, 1], id=unique, task_queue=unique, memo={"kept": True}
        )
        assert await handle.result() == 4
        first = client.get_workflow_handle(unique, run_id=handle.first_execution_run_id)
        with pytest.raises(WorkflowContinuedAsNewError) as caught:
            await first.result(follow_runs=False)
        last = await client.get_workflow_handle(unique).describe()
    assert (await first.describe()).status == WorkflowExecutionStatus.CONTINUED_AS_NEW
    assert caught.value.new_execution_run_id != handle.first_execution_run_id
    assert await last.memo() == {"kept": True}


async def test_a_cancelled_workflow_cleans_up_first(client, unique):
    async with worker(client, unique):
        handle = await client.start_workflow(CleaningWorkflow.run, id=unique, task_queue=unique)
        assert await handle.query(CleaningWorkflow.state) == "running"
        await handle.cancel()
        with pytest.raises(WorkflowFailureError) as caught:
            await handle.result()
        assert isinstance(caught.value.cause, CancelledError)
        assert await handle.query(CleaningWorkflow.state) == "clean"
    assert (await handle.describe()).status == WorkflowExecutionStatus.CANCELED
    names = await event_names(handle)
    assert names.count("WorkflowExecutionCancelRequested") == 1
    assert names[-1] == "WorkflowExecutionCanceled"


async def test_a_workflow_may_complete_in_spite_of_a_cancel_request(client, unique):
    async with worker(client, unique):
        handle = await client.start_workflow(StubbornWorkflow.run, id=unique, task_queue=unique)
        await handle.cancel()
        assert await handle.result() == "no"


async def test_termination_needs_no_worker_and_keeps_its_reason(client, unique):
    handle = await client.start_workflow(ConversationWorkflow.run, id=unique, task_queue=unique)
    await handle.terminate("detail", reason="enough")
    with pytest.raises(WorkflowFailureError) as caught:
        await handle.result()
    assert isinstance(caught.value.cause, TerminatedError)
    assert caught.value.cause.message == "enough"
    terminated = await only(handle, EventType.EVENT_TYPE_WORKFLOW_EXECUTION_TERMINATED)
    assert terminated.workflow_execution_terminated_event_attributes.details.payloads[0].data == b'"detail"'
    with pytest.raises(RPCError, match="workflow execution already completed"):
        await handle.terminate()


async def test_the_execution_time_out_ends_a_workflow(client, unique):
    async with worker(client, unique):
        handle = await client.start_workflow(
            ConversationWorkflow.run,
            id=unique,
            task_queue=unique,
            execution_timeout=timedelta(seconds=1),
        )
        with pytest.raises(WorkflowFailureError) as caught:
            await handle.result()
    assert isinstance(caught.value.cause, TimeoutError)
    assert (await handle.describe()).status == WorkflowExecutionStatus.TIMED_OUT


async def test_the_run_time_out_ends_a_workflow_without_a_worker(client, unique):
    handle = await client.start_workflow(
        ConversationWorkflow.run, id=unique, task_queue=unique, run_timeout=timedelta(seconds=1)
    )
    with pytest.raises(WorkflowFailureError) as caught:
        await handle.result()
    assert isinstance(caught.value.cause, TimeoutError)


async def test_a_failed_workflow_is_retried_as_its_policy_says(client, unique):
    async with worker(client, unique):
        handle = await client.start_workflow(
            FailingWorkflow.run,
            id=unique,
            task_queue=unique,
            retry_policy=RetryPolicy(initial_interval=timedelta(milliseconds=100), backoff_coefficient=1.0),
        )
        assert await handle.result() == 3
        first = client.get_workflow_handle(unique, run_id=handle.first_execution_run_id)
        assert (await first.describe()).status == WorkflowExecutionStatus.FAILED


async def test_without_a_retry_policy_the_failure_is_the_result(client, unique):
    async with worker(client, unique):
        handle = await client.start_workflow(FailingWorkflow.run, id=unique, task_queue=unique)
        with pytest.raises(WorkflowFailureError) as caught:
            await handle.result()
    assert isinstance(caught.value.cause, ApplicationError)
    assert caught.value.cause.type == "RunFailed"


async def test_a_cron_workflow_hands_its_result_to_the_next_run(client, unique):
    async def has_run_twice() -> bool:
        current = client.get_workflow_handle(unique)
        started = (await events(current))[0].workflow_execution_started_event_attributes
        payloads = started.last_completion_result.payloads
        return bool(payloads) and int(payloads[0].data) >= 2

    async with worker(client, unique):
        handle = await client.start_workflow(
            CronWorkflow.run, id=unique, task_queue=unique, cron_schedule="@every 1s"
        )
        await eventually(has_run_twice)
        await client.get_workflow_handle(unique).terminate()
        first = client.get_workflow_handle(unique, run_id=handle.first_execution_run_id)
    assert (await first.describe()).status == WorkflowExecutionStatus.COMPLETED
    completed = await only(first, EventType.EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED)
    attributes = completed.workflow_execution_completed_event_attributes
    assert attributes.result.payloads[0].data == b"1"
    assert attributes.new_execution_run_id not in {"", handle.first_execution_run_id}


async def test_a_delayed_start_waits_its_time(client, unique):
    async with worker(client, unique):
        handle = await client.start_workflow(
            TimerWorkflow.run, 1, id=unique, task_queue=unique, start_delay=timedelta(milliseconds=600)
        )
        await handle.result()
    started, task = (await events(handle))[:2]
    assert task.event_time.ToNanoseconds() - started.event_time.ToNanoseconds() >= 600_000_000


async def test_an_open_id_cannot_be_started_again(client, unique):
    await client.start_workflow(ConversationWorkflow.run, id=unique, task_queue=unique)
    with pytest.raises(WorkflowAlreadyStartedError) as caught:
        await client.start_workflow(ConversationWorkflow.run, id=unique, task_queue=unique)
    assert caught.value.workflow_id == unique
    await client.get_workflow_handle(unique).terminate()


async def test_a_conflict_may_be_answered_with_the_open_run(client, unique):
    first = await client.start_workflow(ConversationWorkflow.run, id=unique, task_queue=unique)
    second = await client.start_workflow(
        ConversationWorkflow.run,
        id=unique,
        task_queue=unique,
        id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
    )
    assert second.first_execution_run_id == first.first_execution_run_id
    await first.terminate()


async def test_a_conflict_may_end_the_open_run(client, unique):
    first = await client.start_workflow(ConversationWorkflow.run, id=unique, task_queue=unique)
    second = await client.start_workflow(
        ConversationWorkflow.run,
        id=unique,
        task_queue=unique,
        id_conflict_policy=WorkflowIDConflictPolicy.TERMINATE_EXISTING,
    )
    old = client.get_workflow_handle(unique, run_id=first.first_execution_run_id)
    assert (await old.describe()).status == WorkflowExecutionStatus.TERMINATED
    assert (await second.describe()).status == WorkflowExecutionStatus.RUNNING
    await second.terminate()


async def test_a_closed_id_may_be_used_again_unless_that_is_refused(client, unique):
    for _ in range(2):
        handle = await client.start_workflow(ConversationWorkflow.run, id=unique, task_queue=unique)
        await handle.terminate()
    with pytest.raises(WorkflowAlreadyStartedError):
        await client.start_workflow(
            ConversationWorkflow.run,
            id=unique,
            task_queue=unique,
            id_reuse_policy=WorkflowIDReusePolicy.REJECT_DUPLICATE,
        )


async def test_describe_reads_back_what_the_start_said(client, unique):
    handle = await client.start_workflow(
        ConversationWorkflow.run,
        id=unique,
        task_queue=unique,
        memo={"owner": "Ada", "tags": ["a", "b"]},
        execution_timeout=timedelta(hours=2),
        run_timeout=timedelta(hours=1),
        task_timeout=timedelta(seconds=7),
        static_summary="a summary",
        static_details="the details",
    )
    description = await handle.describe()
    assert (description.id, description.run_id) == (unique, handle.first_execution_run_id)
    assert (description.workflow_type, description.task_queue) == ("ConversationWorkflow", unique)
    assert description.status == WorkflowExecutionStatus.RUNNING
    assert await description.memo() == {"owner": "Ada", "tags": ["a", "b"]}
    assert await description.static_summary() == "a summary"
    assert await description.static_details() == "the details"
    config = description.raw_description.execution_config
    assert config.workflow_execution_timeout.ToTimedelta() == timedelta(hours=2)
    assert config.workflow_run_timeout.ToTimedelta() == timedelta(hours=1)
    assert config.default_workflow_task_timeout.ToTimedelta() == timedelta(seconds=7)
    assert description.history_length == 2
    await handle.terminate()


async def add_search_attributes(client: Client) -> None:
    """Give two of the namespace's ready-made columns the names that the samples use."""
    aliases = {"Keyword09": COLOUR.name, "Int03": NUMBER.name}
    config = NamespaceConfig(custom_search_attribute_aliases=aliases)
    await client.workflow_service.update_namespace(UpdateNamespaceRequest(namespace="default", config=config))


async def test_memo_and_search_attributes_are_what_start_and_upserts_made_them(client, unique):
    async def can_start() -> bool:
        try:
            await client.start_workflow(
                AttributesWorkflow.run,
                id=unique,
                task_queue=unique,
                memo={"given": 1},
                search_attributes=TypedSearchAttributes(
                    [SearchAttributePair(COLOUR, "red"), SearchAttributePair(NUMBER, 5)]
                ),
            )
        except RPCError as error:
            if error.status != RPCStatusCode.INVALID_ARGUMENT:
                raise
            return False
        return True

    await add_search_attributes(client)
    await eventually(can_start)  # a new search attribute may take a moment to be known everywhere
    handle = client.get_workflow_handle(unique)
    given = (await handle.describe()).typed_search_attributes
    assert (given.get(COLOUR), given.get(NUMBER)) == ("red", 5)
    async with worker(client, unique):
        await handle.result()
    description = await handle.describe()
    assert await description.memo() == {"given": 1, "added": {"by": "workflow"}}
    assert description.typed_search_attributes.get(COLOUR) == "green"
    assert description.typed_search_attributes.get(NUMBER) is None


async def test_an_unknown_search_attribute_is_refused(client, unique):
    nobody_defined_this = SearchAttributeKey.for_keyword("NobodyDefinedThis")
    with pytest.raises(RPCError, match="NobodyDefinedThis") as caught:
        await client.start_workflow(
            ConversationWorkflow.run,
            id=unique,
            task_queue=unique,
            search_attributes=TypedSearchAttributes([SearchAttributePair(nobody_defined_this, "x")]),
        )
    assert caught.value.status == RPCStatusCode.INVALID_ARGUMENT


async def test_an_unknown_namespace_is_not_found(client, target, unique):
    elsewhere = await Client.connect(target, namespace="nowhere-at-all")
    with pytest.raises(RPCError, match="nowhere-at-all") as caught:
        await elsewhere.start_workflow(ConversationWorkflow.run, id=unique, task_queue=unique)
    assert caught.value.status == RPCStatusCode.NOT_FOUND


async def test_search_attributes_are_added_by_the_operator_service(client):
    name = "SdkTestAddedByOperator"
    keyword = IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD
    try:
        await client.operator_service.add_search_attributes(
            AddSearchAttributesRequest(namespace="default", search_attributes={name: keyword})
        )
    except RPCError as error:
        if error.status != RPCStatusCode.ALREADY_EXISTS:
            raise
    listed = await client.operator_service.list_search_attributes(
        ListSearchAttributesRequest(namespace="default")
    )
    assert listed.custom_attributes[name] == keyword


@later
async def test_started_workflows_can_be_listed(client, unique):
    async def is_listed() -> bool:
        found = [run async for run in client.list_workflows(f"WorkflowId = '{unique}'")]
        return [run.status for run in found] == [WorkflowExecutionStatus.TERMINATED]

    handle = await client.start_workflow(ConversationWorkflow.run, id=unique, task_queue=unique)
    await handle.terminate()
    await eventually(is_listed)
