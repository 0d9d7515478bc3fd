"""Activities as a client sees them: retries, time-outs, heartbeats, cancellation, completion elsewhere."""

import asyncio
from datetime import timedelta

import pytest
from temporalio.api.enums.v1 import EventType
from temporalio.client import Client, WorkflowFailureError, WorkflowHandle
from temporalio.exceptions import (
    ActivityError,
    ApplicationError,
    CancelledError,
    RetryState,
    TimeoutError,
    TimeoutType,
)
from temporalio.service import RPCError, RPCStatusCode
from temporalio.worker import Worker

from tests.sdk.samples.greetings import (
    TASK_TOKENS,
    Call,
    CallWorkflow,
    CancellingWorkflow,
    GreetingWorkflow,
    LingeringLocalWorkflow,
    LocalWorkflow,
    WideWorkflow,
    always_fail,
    complete_elsewhere,
    die_with_heartbeats,
    double,
    fail_until_told_delay,
    greet,
    greet_on_third_attempt,
    hand_out_token,
    heartbeat_until_cancelled,
    heartbeat_until_cancelled_and_rethrow,
    linger,
    sleep_forever,
)
from tests.sdk.waiting import event_names, events, eventually, only

pytestmark = pytest.mark.asyncio

ACTIVITIES = [
    always_fail,
    complete_elsewhere,
    die_with_heartbeats,
    double,
    fail_until_told_delay,
    greet,
    greet_on_third_attempt,
    hand_out_token,
    heartbeat_until_cancelled,
    heartbeat_until_cancelled_and_rethrow,
    linger,
    sleep_forever,
]
WORKFLOWS = [
    CallWorkflow,
    CancellingWorkflow,
    GreetingWorkflow,
    LingeringLocalWorkflow,
    LocalWorkflow,
    WideWorkflow,
]


def worker(client: Client, task_queue: str) -> Worker:
    return Worker(
        client,
        task_queue=task_queue,
        workflows=WORKFLOWS,
        activities=ACTIVITIES,
        max_heartbeat_throttle_interval=timedelta(milliseconds=100),
        default_heartbeat_throttle_interval=timedelta(milliseconds=100),
    )


async def call(client: Client, unique: str, what: Call) -> WorkflowHandle:
    return await client.start_workflow(CallWorkflow.run, what, id=unique, task_queue=unique)


async def failure_of(handle: WorkflowHandle) -> ActivityError:
    """The activity's error that failed the workflow."""
    with pytest.raises(WorkflowFailureError) as caught:
        await handle.result()
    assert isinstance(caught.value.cause, ActivityError)
    return caught.value.cause


async def test_an_activity_s_result_is_the_workflow_s(client, unique):
    async with worker(client, unique):
        handle = await client.start_workflow(GreetingWorkflow.run, "Ada", id=unique, task_queue=unique)
        assert await handle.result() == "Hello, Ada!"
    assert await event_names(handle) == [
        "WorkflowExecutionStarted",
        "WorkflowTaskScheduled",
        "WorkflowTaskStarted",
        "WorkflowTaskCompleted",
        "ActivityTaskScheduled",
        "ActivityTaskStarted",
        "ActivityTaskCompleted",
        "WorkflowTaskScheduled",
        "WorkflowTaskStarted",
        "WorkflowTaskCompleted",
        "WorkflowExecutionCompleted",
    ]


async def test_a_failing_activity_is_retried_until_it_succeeds(client, unique):
    async with worker(client, unique):
        handle = await call(client, unique, Call("greet_on_third_attempt", "Ada"))
        assert await handle.result() == "Hello, Ada, on attempt 3!"
    started = (
        await only(handle, EventType.EVENT_TYPE_ACTIVITY_TASK_STARTED)
    ).activity_task_started_event_attributes
    assert started.attempt == 3
    assert started.last_failure.message == "attempt 2 fails"


async def test_attempts_end_at_their_maximum(client, unique):
    async with worker(client, unique):
        error = await failure_of(
            await call(client, unique, Call("always_fail", "no luck", maximum_attempts=2))
        )
    assert error.retry_state == RetryState.MAXIMUM_ATTEMPTS_REACHED
    assert isinstance(error.cause, ApplicationError)
    assert (error.cause.message, error.cause.type) == ("no luck", "Hopeless")
    assert list(error.cause.details) == [{"attempt": 2}]


async def test_a_non_retryable_type_fails_at_once(client, unique):
    async with worker(client, unique):
        error = await failure_of(
            await call(client, unique, Call("always_fail", "never again", non_retryable_types=["Hopeless"]))
        )
    assert error.retry_state == RetryState.NON_RETRYABLE_FAILURE
    assert isinstance(error.cause, ApplicationError)
    assert list(error.cause.details) == [{"attempt": 1}]


async def test_the_activity_may_name_the_delay_of_its_next_attempt(client, unique):
    async with worker(client, unique):
        handle = await call(client, unique, Call("fail_until_told_delay"))
        assert await handle.result() == "attempt 2"


async def test_an_unknown_activity_is_retried_and_shown_as_pending(client, unique):
    async def is_retried(handle: WorkflowHandle) -> bool:
        pending = (await handle.describe()).raw_description.pending_activities
        return (
            bool(pending) and pending[0].attempt >= 2 and "not registered" in pending[0].last_failure.message
        )

    async with worker(client, unique):
        handle = await call(client, unique, Call("nobody_wrote_this"))
        await eventually(lambda: is_retried(handle))
        await handle.terminate()


async def test_an_attempt_that_runs_too_long_times_out(client, unique):
    async with worker(client, unique):
        handle = await call(client, unique, Call("sleep_forever", start_to_close_ms=200, maximum_attempts=1))
        error = await failure_of(handle)
    assert isinstance(error.cause, TimeoutError)
    assert error.cause.type == TimeoutType.START_TO_CLOSE


async def test_a_task_that_nobody_takes_times_out(client, unique):
    async with worker(client, unique):
        handle = await call(
            client, unique, Call("greet", task_queue=f"{unique}-deserted", schedule_to_start_ms=200)
        )
        error = await failure_of(handle)
    assert isinstance(error.cause, TimeoutError)
    assert error.cause.type == TimeoutType.SCHEDULE_TO_START


async def test_retries_end_with_the_time_for_all_attempts(client, unique):
    async with worker(client, unique):
        handle = await call(client, unique, Call("always_fail", "too slow", schedule_to_close_ms=400))
        error = await failure_of(handle)
    assert error.retry_state in {RetryState.TIMEOUT, RetryState.NON_RETRYABLE_FAILURE}


async def test_a_silent_activity_is_retried_with_its_last_heartbeat(client, unique):
    async with worker(client, unique):
        handle = await call(client, unique, Call("die_with_heartbeats", heartbeat_ms=500))
        assert await handle.result() == "resumed at ['page', 7]"


async def test_a_heartbeating_activity_learns_of_its_cancellation(client, unique):
    async with worker(client, unique):
        handle = await client.start_workflow(
            CancellingWorkflow.run, "heartbeat_until_cancelled", id=unique, task_queue=unique
        )
        await eventually(lambda: has_heartbeat(handle))
        await handle.signal(CancellingWorkflow.cancel_activity)
        assert await handle.result() == "cleaned up"


async def test_an_activity_that_gives_in_is_cancelled(client, unique):
    async with worker(client, unique):
        handle = await client.start_workflow(
            CancellingWorkflow.run, "heartbeat_until_cancelled_and_rethrow", id=unique, task_queue=unique
        )
        await eventually(lambda: has_started(handle))
        await handle.signal(CancellingWorkflow.cancel_activity)
        assert await handle.result() == "CancelledError"
    assert "ActivityTaskCanceled" in await event_names(handle)


async def has_started(handle: WorkflowHandle) -> bool:
    pending = (await handle.describe()).raw_description.pending_activities
    return bool(pending) and pending[0].HasField("last_started_time")


async def has_heartbeat(handle: WorkflowHandle) -> bool:
    pending = (await handle.describe()).raw_description.pending_activities
    return bool(pending) and pending[0].HasField("heartbeat_details")


async def activity_id(handle: WorkflowHandle) -> str:
    return (await handle.describe()).raw_description.pending_activities[0].activity_id


async def test_an_activity_is_completed_by_its_id_from_elsewhere(client, unique):
    async with worker(client, unique):
        handle = await call(client, unique, Call("complete_elsewhere", start_to_close_ms=30_000))
        await eventually(lambda: has_started(handle))
        elsewhere = client.get_async_activity_handle(
            workflow_id=unique, run_id=handle.first_execution_run_id, activity_id=await activity_id(handle)
        )
        await elsewhere.heartbeat("half-way")
        await eventually(lambda: has_heartbeat(handle))
        await elsewhere.complete("done elsewhere")
        assert await handle.result() == "done elsewhere"


async def test_an_activity_is_failed_by_its_id_from_elsewhere(client, unique):
    async with worker(client, unique):
        handle = await call(client, unique, Call("complete_elsewhere", start_to_close_ms=30_000))
        await eventually(lambda: has_started(handle))
        elsewhere = client.get_async_activity_handle(
            workflow_id=unique, run_id=handle.first_execution_run_id, activity_id=await activity_id(handle)
        )
        await elsewhere.fail(ApplicationError("lost elsewhere", non_retryable=True))
        error = await failure_of(handle)
    assert isinstance(error.cause, ApplicationError)
    assert error.cause.message == "lost elsewhere"


async def test_an_activity_is_completed_by_its_task_token(client, unique):
    async with worker(client, unique):
        handle = await call(client, unique, Call("hand_out_token", unique, start_to_close_ms=30_000))

        async def is_handed_out() -> bool:
            return unique in TASK_TOKENS

        await eventually(is_handed_out)
        elsewhere = client.get_async_activity_handle(task_token=TASK_TOKENS.pop(unique))
        await elsewhere.complete("done by token")
        assert await handle.result() == "done by token"
        with pytest.raises(RPCError) as caught:
            await elsewhere.complete("again")
    assert caught.value.status == RPCStatusCode.NOT_FOUND


async def test_a_local_activity_may_outlast_the_workflow_task(client, unique):
    async with worker(client, unique):
        handle = await client.start_workflow(
            LingeringLocalWorkflow.run, 2500, id=unique, task_queue=unique, task_timeout=timedelta(seconds=1)
        )
        assert await handle.result() == "lingered"
    assert "WorkflowTaskTimedOut" not in await event_names(handle)


async def test_large_arguments_and_results_go_through(client, unique):
    text = "x" * 700_000
    async with worker(client, unique):
        handle = await call(client, unique, Call("double", text))
        assert await handle.result() == text + text


async def test_local_activities_leave_markers_and_no_tasks(client, unique):
    async with worker(client, unique):
        handle = await client.start_workflow(LocalWorkflow.run, "Ada", id=unique, task_queue=unique)
        assert await handle.result() == ["Hello, Ada!", "Hello, Ada, on attempt 3!"]
    names = await event_names(handle)
    assert names.count("MarkerRecorded") == 2
    assert "ActivityTaskScheduled" not in names


async def test_fifty_activities_run_side_by_side(client, unique):
    async with worker(client, unique):
        handle = await client.start_workflow(WideWorkflow.run, 50, id=unique, task_queue=unique)
        assert await handle.result() == [f"Hello, {number}!" for number in range(50)]
    ids = [event.event_id for event in await events(handle)]
    assert ids == list(range(1, len(ids) + 1))


async def test_many_workflows_at_once_each_get_their_own_result(client, unique):
    async with worker(client, unique):
        handles = await asyncio.gather(
            *(
                client.start_workflow(GreetingWorkflow.run, str(n), id=f"{unique}-{n}", task_queue=unique)
                for n in range(20)
            )
        )
        results = await asyncio.gather(*(handle.result() for handle in handles))
    assert results == [f"Hello, {n}!" for n in range(20)]


async def test_cancelling_the_workflow_cancels_its_activity(client, unique):
    async with worker(client, unique):
        handle = await call(
            client,
            unique,
            Call("heartbeat_until_cancelled_and_rethrow", heartbeat_ms=5000, start_to_close_ms=30_000),
        )
        await eventually(lambda: has_started(handle))
        await handle.cancel()
        with pytest.raises(WorkflowFailureError) as caught:
            await handle.result()
    assert isinstance(caught.value.cause, CancelledError)
