"""Whole workflows on a worker of the Python SDK.

Here live the scenarios that go through an unmodified worker; each waits for events so that its workflow tasks
fall in the same places every time. Newcomers forget that the worker's cache makes it poll a sticky queue with
a random name.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

from temporalio import activity, workflow
from temporalio.client import Client, WorkflowFailureError, WorkflowHandle
from temporalio.common import RetryPolicy
from temporalio.exceptions import ActivityError, ApplicationError, ChildWorkflowError
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

from ..environment import Environment
from . import scenario

MINUTE = timedelta(minutes=1)


@activity.defn
async def greet(name: str) -> str:
    """Greet."""
    return f"Hello {name}"


@activity.defn
async def fail_twice(key: str) -> int:
    """Fail on the first two attempts."""
    attempt = activity.info().attempt
    if attempt < 3:
        raise ApplicationError(f"attempt {attempt}", type="NotYet")
    return attempt


@activity.defn
async def wait_for_cancellation() -> None:
    """Heartbeat until cancelled."""
    while True:
        activity.heartbeat("alive")
        await asyncio.sleep(0.1)


@workflow.defn
class Hello:
    """One activity."""

    @workflow.run
    async def run(self, name: str) -> str:
        """Greet by an activity."""
        return await workflow.execute_activity(greet, name, start_to_close_timeout=MINUTE)


@workflow.defn
class Retrying:
    """An activity that succeeds at its third attempt, and one that never does."""

    @workflow.run
    async def run(self) -> str:
        """Run both."""
        policy = RetryPolicy(initial_interval=timedelta(milliseconds=100), backoff_coefficient=1.0)
        attempts = await workflow.execute_activity(
            fail_twice, "key", start_to_close_timeout=MINUTE, retry_policy=policy
        )
        try:
            once = RetryPolicy(maximum_attempts=1)
            await workflow.execute_activity(
                fail_twice, "key", start_to_close_timeout=MINUTE, retry_policy=once
            )
        except ActivityError as error:
            return f"{attempts}, {error.retry_state}, {error.cause}"
        return "unexpected"


@workflow.defn
class Signalled:
    """Signals, queries, a timer."""

    def __init__(self) -> None:
        self.names: list[str] = []

    @workflow.run
    async def run(self) -> list[str]:
        """Wait for two names, or an hour."""
        await workflow.wait_condition(lambda: len(self.names) >= 2, timeout=timedelta(hours=1))
        return self.names

    @workflow.signal
    def add(self, name: str) -> None:
        """Add a name."""
        self.names.append(name)

    @workflow.query
    def count(self) -> int:
        """How many names there are."""
        return len(self.names)


@workflow.defn
class Cancellable:
    """An activity that runs until it is cancelled."""

    @workflow.run
    async def run(self) -> str:
        """Wait for the activity's end."""
        await workflow.execute_activity(
            wait_for_cancellation,
            start_to_close_timeout=MINUTE,
            heartbeat_timeout=timedelta(seconds=10),
            cancellation_type=workflow.ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
        )
        return "unexpected"


@workflow.defn
class Counting:
    """Continue as new three times."""

    @workflow.run
    async def run(self, number: int) -> int:
        """Count down."""
        if number > 0:
            workflow.continue_as_new(number - 1)
        return number


@workflow.defn
class Parent:
    """A child that succeeds, then one that fails."""

    @workflow.run
    async def run(self, prefix: str) -> str:
        """Run both."""
        greeting = await workflow.execute_child_workflow(Hello.run, "child", id=f"{prefix}-good")
        try:
            await workflow.execute_child_workflow(Failing.run, id=f"{prefix}-bad")
        except ChildWorkflowError as error:
            return f"{greeting}, {error.retry_state}, {error.cause}"
        return "unexpected"


@workflow.defn
class Failing:
    """Fail."""

    @workflow.run
    async def run(self) -> None:
        """Fail with details."""
        raise ApplicationError("failed on purpose", "detail", type="OnPurpose", non_retryable=True)


@workflow.defn
class Local:
    """A local activity, a patch, a memo."""

    @workflow.run
    async def run(self) -> str:
        """Use what leaves markers."""
        patched = workflow.patched("patch")
        workflow.upsert_memo({"key": "value"})
        result = await workflow.execute_local_activity(greet, "local", start_to_close_timeout=MINUTE)
        return f"{result} {patched}"


WORKFLOWS = [Hello, Retrying, Signalled, Cancellable, Counting, Parent, Failing, Local]


@asynccontextmanager
async def _worker(env: Environment) -> AsyncIterator[Client]:
    client = await env.client()
    async with Worker(
        client,
        task_queue=env.queue(),
        workflows=WORKFLOWS,
        activities=[greet, fail_twice, wait_for_cancellation],
        workflow_runner=UnsandboxedWorkflowRunner(),
        identity="sdk-worker",
        build_id="build",
        max_heartbeat_throttle_interval=timedelta(seconds=0.3),
    ):
        yield client


async def _run(env: Environment, workflow_type: Any, *arguments: Any) -> None:
    async with _worker(env) as client:
        handle = await client.start_workflow(
            workflow_type, args=arguments, id=env.id(), task_queue=env.queue()
        )
        await _note_result(env, handle)
    await env.record(env.id(), handle.result_run_id or "")


async def _note_result(env: Environment, handle: WorkflowHandle[Any, Any]) -> None:
    try:
        env.note("result", await handle.result())
    except WorkflowFailureError as error:
        cause = error.cause
        env.note("failure", {"type": type(cause).__name__, "message": str(cause)})


@scenario
async def sdk_hello_activity(env: Environment) -> None:
    """The shortest workflow that people write."""
    await _run(env, Hello.run, "world")


@scenario
async def sdk_activity_retries(env: Environment) -> None:
    """Retries on the server, and what the workflow sees of a final failure."""
    await _run(env, Retrying.run)


@scenario
async def sdk_workflow_fails(env: Environment) -> None:
    """A failure with type and details."""
    await _run(env, Failing.run)


@scenario
async def sdk_children(env: Environment) -> None:
    """Children by the SDK, and their histories."""
    await _run(env, Parent.run, env.id())
    await env.record(env.id("wf-good"))
    await env.record(env.id("wf-bad"))


@scenario
async def sdk_local_activity_and_patch(env: Environment) -> None:
    """Markers as the SDK writes them."""
    await _run(env, Local.run)


@scenario
async def sdk_continue_as_new(env: Environment) -> None:
    """The client follows the chain of runs."""
    await _run(env, Counting.run, 2)
    await env.record(env.id())


@scenario
async def sdk_signals_and_queries(env: Environment) -> None:
    """Signals before and after the first task; queries between."""
    async with _worker(env) as client:
        handle = await client.start_workflow(Signalled.run, id=env.id(), task_queue=env.queue())
        await env.until_event("TIMER_STARTED")
        env.note("none yet", await handle.query(Signalled.count))
        await handle.signal(Signalled.add, "one")
        await env.until_event("WORKFLOW_TASK_COMPLETED", n=2)
        env.note("one", await handle.query(Signalled.count))
        await handle.signal(Signalled.add, "two")
        await _note_result(env, handle)
        env.note("closed", await handle.query(Signalled.count))
    await env.record()


@scenario
async def sdk_cancellation(env: Environment) -> None:
    """A cancelled workflow cancels its activity and waits for it."""
    async with _worker(env) as client:
        handle = await client.start_workflow(Cancellable.run, id=env.id(), task_queue=env.queue())
        await env.until("the activity runs", lambda: _activity_runs(env))
        await handle.cancel()
        await _note_result(env, handle)
    await env.record()


async def _activity_runs(env: Environment) -> bool:
    return any(one.HasField("last_heartbeat_time") for one in (await env.describe()).pending_activities)


@scenario
async def sdk_worker_restarts(env: Environment) -> None:
    """A second worker takes over without the first one's cache."""
    async with _worker(env) as client:
        handle = await client.start_workflow(Signalled.run, id=env.id(), task_queue=env.queue())
        await env.until_event("TIMER_STARTED")
    async with _worker(env):
        await handle.signal(Signalled.add, "one")
        await env.until_event("WORKFLOW_TASK_COMPLETED", n=2)
        await handle.signal(Signalled.add, "two")
        await _note_result(env, handle)
    await env.record()
