"""Queries: direct, along with a task, on closed runs, refused.

Here lives QueryWorkflow with the worker's side of it. Newcomers forget that a query waits for a first
workflow task.
"""

from __future__ import annotations

import asyncio
from typing import Any

import grpc

from ..environment import Environment
from ..raw_worker import (
    RawWorker,
    complete_workflow,
    fail_workflow,
    payloads,
    seen,
    start_timer,
)
from . import scenario


def _query(env: Environment, name: str = "state", timeout: float = 10, **fields: Any) -> Any:
    fields.setdefault("execution", {"workflow_id": env.id()})
    query = {"query_type": name, "query_args": payloads("argument")}
    return env.call("QueryWorkflow", timeout, query=query, **fields)


def _answer(env: Environment, task: Any, result: str = "answer", **fields: Any) -> Any:
    if "completed_type" not in fields:
        fields |= {"completed_type": "QUERY_RESULT_TYPE_ANSWERED", "query_result": payloads(result)}
    return env.call("RespondQueryTaskCompleted", task_token=task.task_token, **fields)


async def _status(call: Any) -> str:
    """The status alone: at a deadline, client and server race for the message."""
    try:
        await call
    except grpc.aio.AioRpcError as error:
        return error.code().name
    return "OK"


@scenario
async def query_of_an_idle_workflow(env: Environment) -> None:
    """A direct query: a task of its own that brings the history and leaves no trace in it."""
    worker = RawWorker(env)
    await env.start()
    await worker.step(start_timer())
    asked = asyncio.create_task(env.attempt("answered", _query(env)))
    task = await worker.workflow_task()
    env.note("task", seen(task))
    await env.attempt("reply", _answer(env, task))
    await asked
    await env.attempt("answered twice", _answer(env, task))
    await env.record()


@scenario
async def query_is_failed_by_the_worker(env: Environment) -> None:
    """The worker's message, failure and cause reach the caller."""
    worker = RawWorker(env)
    await env.start()
    await worker.step(start_timer())
    asked = asyncio.create_task(env.attempt("failed", _query(env, "unknown")))
    task = await worker.workflow_task()
    failure = {"message": "unknown query", "application_failure_info": {"type": "Kind"}}
    failed: dict[str, Any] = {
        "completed_type": "QUERY_RESULT_TYPE_FAILED",
        "error_message": "no such query",
        "failure": failure,
    }
    await env.attempt("reply", _answer(env, task, **failed))
    await asked


@scenario
async def query_waits_for_the_first_task(env: Environment) -> None:
    """Before any task has completed the query comes with it or after it."""
    worker = RawWorker(env)
    await env.start()
    asked = asyncio.create_task(env.attempt("answered", _query(env)))
    await _arrived()
    task = await worker.workflow_task()
    env.note("first task", seen(task))
    await worker.complete(task, start_timer())
    direct = await worker.workflow_task()
    env.note("query task", seen(direct))
    await _answer(env, direct)
    await asked
    await env.record()


@scenario
async def query_comes_along_with_a_task(env: Environment) -> None:
    """A query that arrives with a task scheduled goes with it and is answered by its completion."""
    worker = RawWorker(env)
    await env.start()
    await worker.step(start_timer())
    results: list[dict[str, Any]] = [
        {"result_type": "QUERY_RESULT_TYPE_ANSWERED", "answer": payloads("with the task")},
        {"result_type": "QUERY_RESULT_TYPE_FAILED", "error_message": "failed with the task"},
    ]
    for result in results:
        kind = result["result_type"]
        await env.signal(kind)
        asked = asyncio.create_task(env.attempt(kind, _query(env)))
        await _arrived()
        await env.attempt(f"one too many, {kind}", _query(env, "second"))
        task = await worker.workflow_task()
        env.note(f"task, {kind}", seen(task))
        await worker.complete(task, query_results=dict.fromkeys(task.queries, result))
        await asked
    await env.record()


async def _arrived() -> None:
    """Give a query time to reach the server: a waiting query has no sign in the API that could be awaited."""
    await asyncio.sleep(0.5)


@scenario
async def query_while_a_task_runs(env: Environment) -> None:
    """A query during a started task waits until it is over; a fresh signal makes it go along with the next one."""
    worker = RawWorker(env)
    await env.start()
    await worker.step(start_timer())
    await env.signal()
    task = await worker.workflow_task()
    asked = asyncio.create_task(env.attempt("answered", _query(env)))
    await _arrived()
    await worker.complete(task)
    direct = await worker.workflow_task()
    env.note("direct", seen(direct))
    await _answer(env, direct)
    await asked
    await env.record()


@scenario
async def query_of_a_closed_workflow(env: Environment) -> None:
    """Answered like that of an open one, unless the caller rejects it."""
    worker = RawWorker(env)
    await env.start()
    await worker.step(complete_workflow())
    asked = asyncio.create_task(env.attempt("answered", _query(env)))
    task = await worker.workflow_task()
    env.note("task", seen(task))
    await _answer(env, task)
    await asked
    await env.attempt("NOT_OPEN", _query(env, query_reject_condition="QUERY_REJECT_CONDITION_NOT_OPEN"))
    await env.start(env.id("failed"))
    await worker.step(fail_workflow())
    for condition in ("NOT_OPEN", "NOT_COMPLETED_CLEANLY"):
        rejected = _query(
            env,
            execution={"workflow_id": env.id("failed")},
            query_reject_condition=f"QUERY_REJECT_CONDITION_{condition}",
        )
        await env.attempt(f"{condition} of a failed one", rejected)


@scenario
async def query_is_refused(env: Environment) -> None:
    """Unknown workflows, missing queries, bad run IDs; a workflow whose first task failed; nobody polling."""
    cases: dict[str, dict[str, Any]] = {
        "unknown": {"execution": {"workflow_id": "no-such"}},
        "no id": {"execution": {}},
        "no execution": {"execution": None},
        "bad run": {"execution": {"workflow_id": env.id(), "run_id": "not-a-run-id"}},
    }
    for name, fields in cases.items():
        await env.attempt(name, _query(env, **fields))
    await env.attempt("no query", env.call("QueryWorkflow", execution={"workflow_id": env.id()}))
    await env.attempt("no type", _query(env, ""))
    await env.start()
    env.note("nobody polls, no task done", await _status(_query(env, timeout=1.5)))
    await env.start(env.id("failing"), task_queue={"name": env.queue("failing")})
    worker = RawWorker(env, env.queue("failing"))
    await worker.fail(await worker.workflow_task(), "WORKFLOW_WORKER_UNHANDLED_FAILURE")
    failing = _query(env, timeout=1.5, execution={"workflow_id": env.id("failing")})
    env.note("first task failed", await _status(failing))
    await env.attempt("bad token", env.call("RespondQueryTaskCompleted", task_token=b"nonsense"))
    await env.attempt("no token", env.call("RespondQueryTaskCompleted"))


@scenario
async def query_of_a_terminated_workflow_without_a_task(env: Environment) -> None:
    """A run that closed before its first task completed cannot be queried."""
    await env.start()
    await env.terminate()
    await env.attempt("query", _query(env, timeout=3))
