"""Cancelling activities: before they start, while they run, between attempts.

Here lives the workflow's request and what the activity makes of it. Newcomers forget that a request before
the start cancels at once, without any worker.
"""

from __future__ import annotations

from typing import Any

from ..environment import Environment
from ..raw_worker import (
    RawWorker,
    activity_scheduled,
    command,
    complete_and_record,
    payloads,
    pending,
    schedule_activity,
    seconds,
    seen,
)
from . import scenario

SCHEDULED_EVENT_ID = 5


async def _request_cancel(env: Environment, worker: RawWorker) -> None:
    """Wake the workflow, which asks for the cancellation of its activity."""
    await env.signal()
    await worker.step(command("REQUEST_CANCEL_ACTIVITY_TASK", scheduled_event_id=SCHEDULED_EVENT_ID))


@scenario
async def activity_cancelled_before_it_starts(env: Environment) -> None:
    """Requested and cancelled in one transition; a new task follows."""
    worker = await activity_scheduled(env, task_queue={"name": env.queue("nobody")})
    await _request_cancel(env, worker)
    await complete_and_record(env, worker)


@scenario
async def activity_cancelled_in_the_task_that_schedules_it(env: Environment) -> None:
    """Schedule and cancel in one completion."""
    worker = RawWorker(env)
    await env.start()
    await worker.step(
        schedule_activity(env),
        command("REQUEST_CANCEL_ACTIVITY_TASK", scheduled_event_id=SCHEDULED_EVENT_ID),
    )
    await complete_and_record(env, worker)


@scenario
async def activity_cancelled_while_it_runs(env: Environment) -> None:
    """The heartbeat tells it; it answers with its details."""
    worker = await activity_scheduled(env)
    task = await worker.activity_task()
    env.note("heartbeat before", await worker.heartbeat(task))
    canceled = env.call("RespondActivityTaskCanceled", task_token=task.task_token, details=payloads("x"))
    await env.attempt("cancelled without a request", canceled)
    await _request_cancel(env, worker)
    env.note("pending", pending(await env.describe()))
    env.note("heartbeat after", await worker.heartbeat(task))
    canceled = env.call(
        "RespondActivityTaskCanceled",
        task_token=task.task_token,
        details=payloads("cleaned up"),
        identity="worker",
    )
    await env.attempt("cancelled", canceled)
    await complete_and_record(env, worker)


@scenario
async def activity_cancelled_by_id(env: Environment) -> None:
    """Heartbeat and answer by ID."""
    worker = await activity_scheduled(env)
    await worker.activity_task()
    await _request_cancel(env, worker)
    by_id: dict[str, Any] = {"workflow_id": env.id(), "activity_id": "activity"}
    await env.attempt("heartbeat", env.call("RecordActivityTaskHeartbeatById", **by_id))
    await env.attempt(
        "cancelled", env.call("RespondActivityTaskCanceledById", details=payloads("x"), **by_id)
    )
    await complete_and_record(env, worker)


@scenario
async def activity_completes_in_spite_of_a_cancel_request(env: Environment) -> None:
    """The activity may ignore the request."""
    worker = await activity_scheduled(env)
    task = await worker.activity_task()
    await _request_cancel(env, worker)
    await worker.complete_activity(task)
    await complete_and_record(env, worker)


@scenario
async def activity_fails_after_a_cancel_request(env: Environment) -> None:
    """It is not retried; the retry state says why."""
    worker = await activity_scheduled(env, retry_policy={"maximum_attempts": 5})
    task = await worker.activity_task()
    await _request_cancel(env, worker)
    await worker.fail_activity(task)
    await complete_and_record(env, worker)


@scenario
async def activity_times_out_after_a_cancel_request(env: Environment) -> None:
    """Nor is it retried after a time-out."""
    worker = await activity_scheduled(
        env, start_to_close_timeout=seconds(2), retry_policy={"maximum_attempts": 5}
    )
    await worker.activity_task()
    await _request_cancel(env, worker)
    await complete_and_record(env, worker)


@scenario
async def activity_cancelled_between_attempts(env: Environment) -> None:
    """While it backs off: cancelled at once, with the last failure left behind."""
    worker = await activity_scheduled(env, retry_policy={"initial_interval": seconds(1000)})
    task = await worker.activity_task()
    await worker.heartbeat(task, "last beat")
    await worker.fail_activity(task)
    await _request_cancel(env, worker)
    await complete_and_record(env, worker)


@scenario
async def activity_cancelled_twice(env: Environment) -> None:
    """A second request writes its event or not; both in one task, and in a later one."""
    worker = await activity_scheduled(env)
    task = await worker.activity_task()
    await env.signal()
    workflow_task = await worker.workflow_task()
    request = command("REQUEST_CANCEL_ACTIVITY_TASK", scheduled_event_id=SCHEDULED_EVENT_ID)
    await env.attempt("twice in one task", worker.complete(workflow_task, request, request))
    await env.signal()
    workflow_task = await worker.workflow_task()
    await env.attempt("in a later task", worker.complete(workflow_task, request))
    await worker.complete_activity(task)
    await complete_and_record(env, worker)


@scenario
async def activity_cancel_requested_after_it_completed(env: Environment) -> None:
    """The completion is still buffered when the request comes; and when the activity is long gone."""
    worker = await activity_scheduled(env)
    task = await worker.activity_task()
    await env.signal()
    workflow_task = await worker.workflow_task()
    await worker.complete_activity(task)
    request = command("REQUEST_CANCEL_ACTIVITY_TASK", scheduled_event_id=SCHEDULED_EVENT_ID)
    await env.attempt("while buffered", worker.complete(workflow_task, request))
    task = await worker.workflow_task()
    env.note("next task", seen(task))
    await env.attempt("after completion", worker.complete(task, request))
    await env.record()
