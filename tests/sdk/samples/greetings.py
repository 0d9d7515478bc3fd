"""Activities that fail, linger, heartbeat or end elsewhere, and the workflows that call them."""

import asyncio
from dataclasses import dataclass
from datetime import timedelta

from temporalio import activity, workflow
from temporalio.common import RetryPolicy
from temporalio.exceptions import ActivityError, ApplicationError

SHORT = timedelta(seconds=10)
QUICK_RETRIES = RetryPolicy(initial_interval=timedelta(milliseconds=50), backoff_coefficient=1.0)


@activity.defn
async def greet(name: str) -> str:
    return f"Hello, {name}!"


@activity.defn
async def greet_on_third_attempt(name: str) -> str:
    attempt = activity.info().attempt
    if attempt < 3:
        raise ApplicationError(f"attempt {attempt} fails", type="NotYet")
    return f"Hello, {name}, on attempt {attempt}!"


@activity.defn
async def always_fail(message: str) -> str:
    raise ApplicationError(message, {"attempt": activity.info().attempt}, type="Hopeless")


@activity.defn
async def fail_until_told_delay(_: str) -> str:
    attempt = activity.info().attempt
    if attempt == 1:
        raise ApplicationError("later", next_retry_delay=timedelta(milliseconds=100))
    return f"attempt {attempt}"


@activity.defn
async def sleep_forever(_: str) -> str:
    await asyncio.sleep(3600)
    return "never"


@activity.defn
async def die_with_heartbeats(_: str) -> str:
    """Falls silent on its first attempt; the second goes on from the details of the last heartbeat."""
    info = activity.info()
    if info.attempt == 1:
        activity.heartbeat("page", 7)
        await asyncio.sleep(3600)
    return f"resumed at {info.heartbeat_details}"


@activity.defn
async def heartbeat_until_cancelled(_: str) -> str:
    count = 0
    try:
        while True:
            activity.heartbeat(count)
            count += 1
            await asyncio.sleep(0.05)
    except asyncio.CancelledError:
        return "cleaned up"


@activity.defn
async def heartbeat_until_cancelled_and_rethrow(_: str) -> str:
    while True:
        activity.heartbeat()
        await asyncio.sleep(0.05)


@activity.defn
async def complete_elsewhere(_: str) -> str:
    activity.raise_complete_async()


TASK_TOKENS: dict[str, bytes] = {}


@activity.defn
async def hand_out_token(name: str) -> str:
    """Leaves its task token where whoever completes it finds it."""
    TASK_TOKENS[name] = activity.info().task_token
    activity.raise_complete_async()


@activity.defn
async def double(text: str) -> str:
    return text + text


@activity.defn
async def linger(milliseconds: int) -> str:
    await asyncio.sleep(milliseconds / 1000)
    return "lingered"


@workflow.defn
class GreetingWorkflow:
    @workflow.run
    async def run(self, name: str) -> str:
        return await workflow.execute_activity(greet, name, start_to_close_timeout=SHORT)


@dataclass
class Call:
    """Which activity to call, and how patiently."""

    activity: str
    argument: str = ""
    maximum_attempts: int = 0
    start_to_close_ms: int = 10_000
    schedule_to_start_ms: int | None = None
    schedule_to_close_ms: int | None = None
    heartbeat_ms: int | None = None
    non_retryable_types: list[str] | None = None
    task_queue: str | None = None


def _milliseconds(value: int | None) -> timedelta | None:
    return None if value is None else timedelta(milliseconds=value)


@workflow.defn
class CallWorkflow:
    @workflow.run
    async def run(self, call: Call) -> str:
        retries = RetryPolicy(
            initial_interval=timedelta(milliseconds=50),
            backoff_coefficient=1.0,
            maximum_attempts=call.maximum_attempts,
            non_retryable_error_types=call.non_retryable_types,
        )
        result: str = await workflow.execute_activity(
            call.activity,
            call.argument,
            task_queue=call.task_queue,
            start_to_close_timeout=_milliseconds(call.start_to_close_ms),
            schedule_to_start_timeout=_milliseconds(call.schedule_to_start_ms),
            schedule_to_close_timeout=_milliseconds(call.schedule_to_close_ms),
            heartbeat_timeout=_milliseconds(call.heartbeat_ms),
            retry_policy=retries,
            result_type=str,
        )
        return result


@workflow.defn
class CancellingWorkflow:
    """Asks its activity to cancel as soon as it is told to, and says what came of it."""

    def __init__(self) -> None:
        self._cancel = False

    @workflow.run
    async def run(self, activity_name: str) -> str:
        running = workflow.start_activity(
            activity_name,
            "",
            start_to_close_timeout=timedelta(seconds=30),
            heartbeat_timeout=timedelta(seconds=5),
            cancellation_type=workflow.ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
            result_type=str,
        )
        await workflow.wait_condition(lambda: self._cancel)
        running.cancel()
        try:
            result: str = await running
        except ActivityError as error:
            return type(error.cause).__name__
        return result

    @workflow.signal
    def cancel_activity(self) -> None:
        self._cancel = True


@workflow.defn
class LocalWorkflow:
    @workflow.run
    async def run(self, name: str) -> list[str]:
        first = await workflow.execute_local_activity(greet, name, start_to_close_timeout=SHORT)
        second = await workflow.execute_local_activity(
            greet_on_third_attempt, name, start_to_close_timeout=SHORT, retry_policy=QUICK_RETRIES
        )
        return [first, second]


@workflow.defn
class LingeringLocalWorkflow:
    """Its local activity takes longer than a workflow task may."""

    @workflow.run
    async def run(self, milliseconds: int) -> str:
        return await workflow.execute_local_activity(linger, milliseconds, start_to_close_timeout=SHORT)


@workflow.defn
class WideWorkflow:
    @workflow.run
    async def run(self, count: int) -> list[str]:
        calls = [
            workflow.execute_activity(greet, str(number), start_to_close_timeout=SHORT)
            for number in range(count)
        ]
        return list(await asyncio.gather(*calls))
