"""Sticky task queues: partial histories, time-outs, shutdown.

Here lives what a worker with a cache sees. Newcomers forget that the first sticky task comes only after a
completion that named the sticky queue.
"""

from __future__ import annotations

import asyncio
from typing import Any

from ..environment import Environment
from ..raw_worker import (
    RawWorker,
    complete_workflow,
    event_names,
    seconds,
    seen,
    start_timer,
)
from . import scenario


def _sticky(env: Environment, timeout: float = 10) -> dict[str, Any]:
    queue = {"name": env.queue("sticky"), "kind": "TASK_QUEUE_KIND_STICKY", "normal_name": env.queue()}
    return {"worker_task_queue": queue, "schedule_to_start_timeout": seconds(timeout)}


async def _cached(env: Environment, timeout: float = 10) -> RawWorker:
    """A workflow whose worker has polled its sticky queue and completed a task with it."""
    worker = RawWorker(env)
    await env.start()
    await worker.step(start_timer(), sticky_attributes=_sticky(env, timeout))
    return worker


async def _sticky_task(env: Environment, worker: RawWorker, signal: str = "signal") -> Any:
    """Poll the sticky queue, then signal: the server sends sticky tasks only to where somebody has polled."""
    poll = asyncio.create_task(worker.workflow_task(env.queue("sticky"), sticky_of=env.queue()))
    await asyncio.sleep(0.3)
    await env.signal(signal)
    return await poll


@scenario
async def sticky_task_brings_a_partial_history(env: Environment) -> None:
    """Only what is new since the last started event."""
    worker = await _cached(env)
    env.note("description", (await env.describe()).execution_config)
    task = await _sticky_task(env, worker)
    env.note("sticky task", seen(task))
    await worker.complete(task, sticky_attributes=_sticky(env))
    task = await _sticky_task(env, worker, "again")
    env.note("second sticky task", event_names(task))
    await worker.complete(task, complete_workflow())
    await env.record()


@scenario
async def sticky_task_times_out_to_the_normal_queue(env: Environment) -> None:
    """Nobody takes it in time: TimedOut with schedule-to-start, then the normal queue with the full history."""
    worker = await _cached(env, 1)
    await _wait_for_sticky_poller(env, worker)
    await env.signal()
    task = await worker.workflow_task()
    env.note("normal task", seen(task))
    await worker.complete(task, complete_workflow())
    await env.record()


async def _wait_for_sticky_poller(env: Environment, worker: RawWorker) -> None:
    """One sticky task taken, so that the server knows of a live sticky worker."""
    task = await _sticky_task(env, worker, "first")
    await worker.complete(task, sticky_attributes=_sticky(env, 1))


@scenario
async def sticky_queue_is_left_when_a_completion_names_none(env: Environment) -> None:
    """The next task goes to the normal queue, with the full history."""
    worker = await _cached(env)
    await worker.complete(await _sticky_task(env, worker))
    await env.signal("again")
    task = await worker.workflow_task()
    env.note("task", event_names(task))
    await worker.complete(task, complete_workflow())
    await env.record()


@scenario
async def sticky_queue_is_left_after_a_failed_task(env: Environment) -> None:
    """The next attempt goes to the normal queue."""
    worker = await _cached(env)
    await worker.fail(await _sticky_task(env, worker), "WORKFLOW_WORKER_UNHANDLED_FAILURE")
    task = await worker.workflow_task()
    env.note("task", seen(task))
    await worker.complete(task, complete_workflow())
    await env.record()


@scenario
async def sticky_queue_is_left_after_shutdown(env: Environment) -> None:
    """ShutdownWorker sends waiting and future sticky tasks to the normal queue."""
    worker = await _cached(env)
    await worker.complete(await _sticky_task(env, worker), sticky_attributes=_sticky(env))
    shutdown = env.call(
        "ShutdownWorker", sticky_task_queue=env.queue("sticky"), identity="worker", reason="end"
    )
    await env.attempt("shutdown", shutdown)
    await env.signal("after the shutdown")
    task = await worker.workflow_task()
    env.note("task", event_names(task))
    await worker.complete(task, complete_workflow())
    await env.record()


@scenario
async def sticky_queue_is_reset(env: Environment) -> None:
    """ResetStickyTaskQueue."""
    worker = await _cached(env)
    reset = env.call("ResetStickyTaskQueue", execution={"workflow_id": env.id()})
    await env.attempt("reset", reset)
    await env.attempt("unknown", env.call("ResetStickyTaskQueue", execution={"workflow_id": "no-such"}))
    await env.signal()
    task = await worker.workflow_task()
    env.note("task", event_names(task))
    await worker.complete(task, complete_workflow())
    await env.attempt("closed", env.call("ResetStickyTaskQueue", execution={"workflow_id": env.id()}))
    await env.record()


@scenario
async def sticky_worker_is_gone_before_it_ever_polled(env: Environment) -> None:
    """Nobody has polled the sticky queue: the task goes to the normal queue at once, but is written as sticky."""
    worker = await _cached(env)
    await env.signal()
    task = await worker.workflow_task()
    env.note("task", seen(task))
    await worker.complete(task, complete_workflow())
    await env.record()


@scenario
async def sticky_query_brings_no_history(env: Environment) -> None:
    """A direct query of a cached workflow goes to its sticky queue, without any history."""
    worker = await _cached(env)
    await worker.complete(await _sticky_task(env, worker), sticky_attributes=_sticky(env))
    query = {"query_type": "state"}
    call = env.call("QueryWorkflow", execution={"workflow_id": env.id()}, query=query)
    asked = asyncio.create_task(env.attempt("answered", call))
    task = await worker.workflow_task(env.queue("sticky"), sticky_of=env.queue())
    env.note("task", seen(task))
    answer: dict[str, Any] = {
        "completed_type": "QUERY_RESULT_TYPE_ANSWERED",
        "query_result": {"payloads": []},
    }
    await env.call("RespondQueryTaskCompleted", task_token=task.task_token, **answer)
    await asked


@scenario
async def sticky_task_times_out_while_it_runs(env: Environment) -> None:
    """Start-to-close of a sticky task: the next one goes to the normal queue, as a first attempt."""
    worker = RawWorker(env)
    await env.start(workflow_task_timeout=seconds(1))
    await worker.step(start_timer(), sticky_attributes=_sticky(env))
    await _sticky_task(env, worker)
    task = await worker.workflow_task()
    env.note("task", seen(task))
    await worker.complete(task, complete_workflow())
    await env.record()
