"""Reading: histories by page, by long poll, backwards; descriptions; what is not there.

Here lives what only looks. Newcomers forget that page tokens are opaque and that an empty token ends the
history.
"""

from __future__ import annotations

import asyncio
from typing import Any

from ..environment import Environment
from ..raw_worker import (
    RawWorker,
    complete_workflow,
    continue_as_new,
    event_names,
    start_timer,
)
from . import scenario


def _page(env: Environment, run_id: str = "", timeout: float = 15, **fields: Any) -> Any:
    execution = fields.pop("execution", {"workflow_id": env.id(), "run_id": run_id})
    return env.call("GetWorkflowExecutionHistory", timeout, execution=execution, **fields)


def _shape(page: Any) -> dict[str, Any]:
    return {"events": event_names(page), "more": bool(page.next_page_token)}


@scenario
async def history_by_pages(env: Environment) -> None:
    """Small pages, forwards and backwards, of an open and of a closed workflow.

    Where a page ends is the server's affair: the reference server counts the batches that it wrote, not the events.
    """
    worker = RawWorker(env)
    await env.start()
    await worker.step(*(start_timer(f"timer {number}") for number in range(4)))
    for state in ("open", "closed"):
        for method in ("GetWorkflowExecutionHistory", "GetWorkflowExecutionHistoryReverse"):
            token, events = b"", []
            while True:
                page = await env.call(
                    method, execution={"workflow_id": env.id()}, maximum_page_size=3, next_page_token=token
                )
                events.extend(event_names(page))
                token = page.next_page_token
                if not token:
                    break
            env.note(f"{method} {state}", events)
        if state == "open":
            await env.signal()
            await worker.step(complete_workflow())


@scenario
async def history_by_long_poll(env: Environment) -> None:
    """wait_new_event gives what is there, then waits for more, and ends with the close."""
    worker = RawWorker(env)
    run_id = await env.start()
    first = await _page(env, wait_new_event=True)
    env.note("first", _shape(first))
    waiting = asyncio.create_task(_page(env, wait_new_event=True, next_page_token=first.next_page_token))
    await asyncio.sleep(0.3)
    await env.signal()
    second = await waiting
    env.note("second", _shape(second))
    task = await worker.workflow_task()
    third = await _page(env, wait_new_event=True, next_page_token=second.next_page_token)
    env.note("third", _shape(third))
    waiting = asyncio.create_task(_page(env, wait_new_event=True, next_page_token=third.next_page_token))
    await asyncio.sleep(0.3)
    await worker.complete(task, complete_workflow())
    env.note("last", _shape(await waiting))
    env.note("closed", _shape(await _page(env, run_id, wait_new_event=True)))


@scenario
async def history_close_event_filter(env: Environment) -> None:
    """Only the closing event: at once when closed, by waiting when open."""
    worker = RawWorker(env)
    run_id = await env.start()
    close_only: dict[str, Any] = {"history_event_filter_type": "HISTORY_EVENT_FILTER_TYPE_CLOSE_EVENT"}
    env.note("open, not waiting", _shape(await _page(env, **close_only)))
    waiting = asyncio.create_task(_page(env, run_id, wait_new_event=True, **close_only))
    await asyncio.sleep(0.3)
    await env.signal()
    task = await worker.workflow_task()
    await worker.complete(task, continue_as_new(env))
    env.note("continued", _shape(await waiting))
    env.note("closed", _shape(await _page(env, run_id, **close_only)))
    await worker.step(complete_workflow())
    env.note("current run", _shape(await _page(env, **close_only)))


@scenario
async def history_long_poll_of_a_transient_task(env: Environment) -> None:
    """A transient attempt is no new event for a long poll; the reverse order leaves it out or not."""
    worker = RawWorker(env)
    await env.start()
    await worker.fail(await worker.workflow_task(), "WORKFLOW_WORKER_UNHANDLED_FAILURE")
    await worker.workflow_task()
    first = await _page(env, wait_new_event=True)
    env.note("first", _shape(first))
    waiting = asyncio.create_task(_page(env, wait_new_event=True, next_page_token=first.next_page_token))
    await asyncio.sleep(0.3)
    await env.terminate()
    env.note("second", _shape(await waiting))


@scenario
async def reading_is_refused(env: Environment) -> None:
    """Unknown workflows, bad run IDs, bad tokens, unknown namespaces."""
    run_id = await env.start()
    executions: dict[str, Any] = {
        "unknown": {"workflow_id": "no-such"},
        "unknown run": {"workflow_id": env.id(), "run_id": "11111111-2222-4333-8444-555555555555"},
        "run of another": {"workflow_id": "no-such", "run_id": run_id},
        "bad run": {"workflow_id": env.id(), "run_id": "not-a-run-id"},
        "no id": {},
        "none": None,
    }
    for method in (
        "GetWorkflowExecutionHistory",
        "GetWorkflowExecutionHistoryReverse",
        "DescribeWorkflowExecution",
    ):
        for name, execution in executions.items():
            await env.attempt(f"{method} {name}", env.call(method, execution=execution))
        for namespace in ("", "no-such-namespace"):
            refused = env.call(method, execution={"workflow_id": env.id()}, namespace=namespace)
            await env.attempt(f"{method} namespace {namespace}", refused)
    await env.attempt("token", _page(env, next_page_token=b"nonsense"))
    await env.attempt("page size", _page(env, maximum_page_size=-1))


@scenario
async def polls_are_refused(env: Environment) -> None:
    """Polls without a queue, with names too long, in unknown namespaces."""
    cases: dict[str, dict[str, Any]] = {
        "no queue": {},
        "empty queue": {"task_queue": {"name": ""}},
        "long queue": {"task_queue": {"name": "x" * 1001}},
        "long identity": {"task_queue": {"name": env.queue()}, "identity": "x" * 1001},
        "unknown namespace": {"task_queue": {"name": env.queue()}, "namespace": "no-such-namespace"},
        "no namespace": {"task_queue": {"name": env.queue()}, "namespace": ""},
        "reserved": {"task_queue": {"name": "/_sys/x/1"}},
    }
    for method in ("PollWorkflowTaskQueue", "PollActivityTaskQueue"):
        for name, fields in cases.items():
            await env.attempt(f"{method} {name}", env.call(method, 5, **fields))


@scenario
async def requests_without_a_namespace_are_refused(env: Environment) -> None:
    """Each call of workers and clients says so in the same words, or not."""
    await env.start()
    execution = {"workflow_id": env.id()}
    cases: dict[str, dict[str, Any]] = {
        "SignalWorkflowExecution": {"workflow_execution": execution, "signal_name": "s"},
        "TerminateWorkflowExecution": {"workflow_execution": execution},
        "RequestCancelWorkflowExecution": {"workflow_execution": execution},
        "QueryWorkflow": {"execution": execution, "query": {"query_type": "q"}},
        "ResetStickyTaskQueue": {"execution": execution},
        "RespondWorkflowTaskCompleted": {"task_token": b"nonsense"},
        "RespondWorkflowTaskFailed": {"task_token": b"nonsense"},
        "RespondActivityTaskCompleted": {"task_token": b"nonsense"},
        "RespondActivityTaskFailed": {"task_token": b"nonsense"},
        "RecordActivityTaskHeartbeat": {"task_token": b"nonsense"},
        "RespondActivityTaskCompletedById": {"workflow_id": env.id(), "activity_id": "a"},
        "ShutdownWorker": {"sticky_task_queue": "q"},
        "DescribeNamespace": {},
    }
    for method, fields in cases.items():
        for namespace in ("", "no-such-namespace", "default"):
            if namespace == "default" and "task_token" not in fields:
                continue
            await env.attempt(
                f"{method} in {namespace!r}", env.call(method, 3, namespace=namespace, **fields)
            )
