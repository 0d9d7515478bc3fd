"""Activities that run out of time, and how far each time-out reaches.

Here live the four time-outs with what they leave in the history. Newcomers forget that a time-out is bounded by
what encloses it: schedule-to-close, or the run.
"""

from __future__ import annotations

from typing import Any

from ..environment import Environment
from ..raw_worker import (
    RawWorker,
    activity_scheduled,
    complete_and_record,
    pending,
    schedule_activity,
    seconds,
    seen,
)
from . import scenario


@scenario
async def activity_retry_would_exceed_schedule_to_close(env: Environment) -> None:
    """A backoff beyond the schedule-to-close time-out ends the retries at once with RETRY_STATE_TIMEOUT."""
    worker = await activity_scheduled(
        env, schedule_to_close_timeout=seconds(30), retry_policy={"initial_interval": seconds(60)}
    )
    await worker.fail_activity(await worker.activity_task())
    await complete_and_record(env, worker)


@scenario
async def activity_schedule_to_start_timeout(env: Environment) -> None:
    """Nobody polls: no started event, and no retry whatever the policy says."""
    worker = await activity_scheduled(
        env, schedule_to_start_timeout=seconds(0.5), task_queue={"name": env.queue("nobody")}
    )
    await complete_and_record(env, worker)


@scenario
async def activity_schedule_to_close_timeout_unstarted(env: Environment) -> None:
    """Schedule-to-close runs out before anybody started it."""
    worker = await activity_scheduled(
        env, schedule_to_close_timeout=seconds(0.5), task_queue={"name": env.queue("nobody")}
    )
    await complete_and_record(env, worker)


@scenario
async def activity_schedule_to_close_timeout_started(env: Environment) -> None:
    """Schedule-to-close runs out while it runs."""
    worker = await activity_scheduled(env, schedule_to_close_timeout=seconds(1))
    task = await worker.activity_task()
    await complete_and_record(env, worker)
    await env.attempt("late completion", worker.complete_activity(task))


@scenario
async def activity_schedule_to_close_timeout_between_attempts(env: Environment) -> None:
    """Schedule-to-close runs out with a failed attempt behind: its failure is the cause."""
    policy = {"initial_interval": seconds(0.1), "backoff_coefficient": 1.0}
    worker = await activity_scheduled(env, schedule_to_close_timeout=seconds(1.5), retry_policy=policy)
    await worker.fail_activity(await worker.activity_task(), message="first attempt failed")
    await worker.activity_task()
    await complete_and_record(env, worker)


@scenario
async def activity_start_to_close_timeout_last_attempt(env: Environment) -> None:
    """Start-to-close of the only attempt, with heartbeat details."""
    worker = await activity_scheduled(
        env, start_to_close_timeout=seconds(1), retry_policy={"maximum_attempts": 1}
    )
    await worker.heartbeat(await worker.activity_task(), "last words")
    await complete_and_record(env, worker)


@scenario
async def activity_start_to_close_timeout_is_retried(env: Environment) -> None:
    """Start-to-close of the first attempt starts a second one; a late answer of the first is not found."""
    policy = {"maximum_attempts": 2, "initial_interval": seconds(0.1)}
    worker = await activity_scheduled(env, start_to_close_timeout=seconds(1), retry_policy=policy)
    first = await worker.activity_task()
    second = await worker.activity_task()
    env.note("second", seen(second))
    env.note("pending", pending(await env.describe()))
    await env.attempt("late completion", worker.complete_activity(first))
    await env.attempt("late failure", worker.fail_activity(first))
    await env.attempt("late heartbeat", worker.heartbeat(first))
    await complete_and_record(env, worker)


@scenario
async def activity_heartbeat_timeout(env: Environment) -> None:
    """The heartbeat time-out of the last attempt keeps the last details."""
    worker = await activity_scheduled(env, heartbeat_timeout=seconds(1), retry_policy={"maximum_attempts": 1})
    task = await worker.activity_task()
    env.note("heartbeat reply", await worker.heartbeat(task, "last words"))
    await complete_and_record(env, worker)


@scenario
async def activity_heartbeat_timeout_is_retried_with_details(env: Environment) -> None:
    """The details of the last heartbeat go to the next attempt."""
    policy = {"maximum_attempts": 2, "initial_interval": seconds(0.1)}
    worker = await activity_scheduled(env, heartbeat_timeout=seconds(1), retry_policy=policy)
    await worker.heartbeat(await worker.activity_task(), "progress")
    second = await worker.activity_task()
    env.note("second", seen(second))
    await worker.complete_activity(second)
    await complete_and_record(env, worker)


@scenario
async def activity_timeouts_are_bounded(env: Environment) -> None:
    """Each time-out is cut to what encloses it: schedule-to-close, or the run."""
    worker = RawWorker(env)
    await env.start(workflow_run_timeout=seconds(100))
    cases: dict[str, dict[str, float]] = {
        "start to close beyond the run": {"start_to_close_timeout": 200},
        "all beyond schedule to close": {
            "schedule_to_close_timeout": 10,
            "schedule_to_start_timeout": 20,
            "start_to_close_timeout": 30,
            "heartbeat_timeout": 40,
        },
        "schedule to close beyond the run": {"schedule_to_close_timeout": 300},
        "heartbeat beyond start to close": {"start_to_close_timeout": 5, "heartbeat_timeout": 50},
        "schedule to start and start to close": {"schedule_to_start_timeout": 5, "start_to_close_timeout": 6},
    }
    commands = []
    for name, timeouts in cases.items():
        attributes: dict[str, Any] = {field: seconds(value) for field, value in timeouts.items()}
        commands.append(schedule_activity(env, name, **attributes))
    await worker.step(*commands)
    await env.record()
