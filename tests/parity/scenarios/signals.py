"""Signals, cancel requests, terminations, and how a run ends.

Here lives what clients do to a running workflow. Newcomers forget that a signal's request ID deduplicates
silently.
"""

from __future__ import annotations

import asyncio
from typing import Any

from ..environment import Environment
from ..raw_worker import (
    RawWorker,
    command,
    complete_workflow,
    fail_workflow,
    payload,
    payloads,
    seconds,
    seen,
    start_timer,
)
from . import scenario


@scenario
async def signal_carries_input_and_header(env: Environment) -> None:
    """Everything of a signal is in its event."""
    worker = RawWorker(env)
    run_id = await env.start()
    link = {"workflow_event": {"namespace": "default", "workflow_id": "w", "run_id": "r"}}
    signal = env.call(
        "SignalWorkflowExecution",
        workflow_execution={"workflow_id": env.id(), "run_id": run_id},
        signal_name="signal",
        input=payloads("one", "two"),
        header={"fields": {"key": payload("value")}},
        request_id="signal-request",
        links=[link],
    )
    await env.attempt("signal", signal)
    await env.attempt(
        "no request ID",
        env.call("SignalWorkflowExecution", workflow_execution={"workflow_id": env.id()}, signal_name="bare"),
    )
    await worker.step(complete_workflow())
    await env.record()
    env.note("description", (await env.describe()).workflow_extended_info)


@scenario
async def signal_is_deduplicated_by_request_id(env: Environment) -> None:
    """Before, during and after a task the same request ID acts once."""
    worker = RawWorker(env)
    await env.start()
    await env.signal("once", request_id="signal-request")
    await env.signal("once", request_id="signal-request")
    task = await worker.workflow_task()
    await env.signal("once", request_id="signal-request")
    await env.signal("buffered once", request_id="buffered-request")
    await env.signal("buffered once", request_id="buffered-request")
    await worker.complete(task)
    await env.signal("buffered once", request_id="buffered-request")
    await worker.step(complete_workflow())
    await env.attempt("after close", env.signal("once", request_id="signal-request"))
    await env.record()


@scenario
async def signal_is_refused(env: Environment) -> None:
    """Unknown and closed workflows, bad run IDs, missing names, too much input."""
    await env.start(env.id("closed"))
    run_id = (await env.describe(env.id("closed"))).workflow_execution_info.execution.run_id
    await env.terminate(env.id("closed"))
    await env.start()
    big = {"payloads": [{"data": b"x" * (2 * 1024 * 1024 + 1)}]}
    cases: dict[str, dict[str, Any]] = {
        "unknown": {"workflow_execution": {"workflow_id": "no-such"}},
        "closed": {"workflow_execution": {"workflow_id": env.id("closed")}},
        "closed run": {"workflow_execution": {"workflow_id": env.id("closed"), "run_id": run_id}},
        "bad run": {"workflow_execution": {"workflow_id": env.id(), "run_id": "not-a-run-id"}},
        "other run": {"workflow_execution": {"workflow_id": env.id(), "run_id": run_id}},
        "no id": {"workflow_execution": {}},
        "no execution": {"workflow_execution": None},
        "no name": {"workflow_execution": {"workflow_id": env.id()}, "signal_name": ""},
        "long name": {"workflow_execution": {"workflow_id": env.id()}, "signal_name": "x" * 1001},
        "long request": {"workflow_execution": {"workflow_id": env.id()}, "request_id": "x" * 1001},
        "big": {"workflow_execution": {"workflow_id": env.id()}, "input": big},
    }
    for name, fields in cases.items():
        await env.attempt(name, env.call("SignalWorkflowExecution", **({"signal_name": "s"} | fields)))
    await env.record()


def _cancel(env: Environment, **fields: Any) -> Any:
    fields.setdefault("workflow_execution", {"workflow_id": env.id()})
    return env.call("RequestCancelWorkflowExecution", **fields)


@scenario
async def cancel_request_and_cancelled(env: Environment) -> None:
    """The request wakes the workflow, which cancels itself with details."""
    worker = RawWorker(env)
    await env.start()
    await worker.step(start_timer())
    await env.attempt("request", _cancel(env, reason="why", request_id="cancel-request"))
    await env.record(label="requested")
    await worker.step(command("CANCEL_WORKFLOW_EXECUTION", details=payloads("detail")))
    await env.record(label="cancelled")
    env.note("description", await env.describe())
    await env.attempt("request after close", _cancel(env))


@scenario
async def cancel_request_twice(env: Environment) -> None:
    """The same request again, another request, and one with an unknown first run."""
    worker = RawWorker(env)
    run_id = await env.start()
    await env.attempt("first", _cancel(env, request_id="one"))
    await env.attempt("same", _cancel(env, request_id="one"))
    await env.attempt("another", _cancel(env, request_id="two"))
    await env.attempt("first run", _cancel(env, request_id="three", first_execution_run_id=run_id))
    task = await worker.workflow_task()
    await env.attempt("while a task runs", _cancel(env, request_id="four"))
    await worker.complete(task)
    await env.terminate()
    await env.record()


@scenario
async def cancel_request_is_buffered(env: Environment) -> None:
    """During a task the request is buffered; a second one is refused or not."""
    worker = RawWorker(env)
    await env.start()
    task = await worker.workflow_task()
    await env.attempt("first", _cancel(env, request_id="one"))
    await env.attempt("second", _cancel(env, request_id="two"))
    await worker.complete(task, start_timer())
    await worker.step(command("CANCEL_WORKFLOW_EXECUTION"))
    await env.record()


@scenario
async def cancel_and_terminate_are_refused(env: Environment) -> None:
    """Unknown, closed, bad run IDs, wrong first run."""
    await env.start(env.id("closed"))
    run_id = (await env.describe(env.id("closed"))).workflow_execution_info.execution.run_id
    await env.terminate(env.id("closed"))
    await env.start()
    cases: dict[str, dict[str, Any]] = {
        "unknown": {"workflow_execution": {"workflow_id": "no-such"}},
        "closed": {"workflow_execution": {"workflow_id": env.id("closed")}},
        "bad run": {"workflow_execution": {"workflow_id": env.id(), "run_id": "not-a-run-id"}},
        "other run": {"workflow_execution": {"workflow_id": env.id(), "run_id": run_id}},
        "no id": {"workflow_execution": {}},
        "no execution": {"workflow_execution": None},
        "bad first run": {"workflow_execution": {"workflow_id": env.id()}, "first_execution_run_id": "x"},
        "other first run": {
            "workflow_execution": {"workflow_id": env.id()},
            "first_execution_run_id": run_id,
        },
    }
    for name, fields in cases.items():
        for method in ("RequestCancelWorkflowExecution", "TerminateWorkflowExecution"):
            await env.attempt(f"{method} {name}", env.call(method, **fields))
    await env.record()


@scenario
async def terminate_with_reason_and_details(env: Environment) -> None:
    """While a task runs: the task's completion comes too late."""
    worker = RawWorker(env)
    run_id = await env.start()
    task = await worker.workflow_task()
    await env.signal("buffered")
    terminate = env.call(
        "TerminateWorkflowExecution",
        workflow_execution={"workflow_id": env.id(), "run_id": run_id},
        reason="reason",
        details=payloads("detail"),
        identity="terminator",
        links=[{"workflow_event": {"namespace": "default", "workflow_id": "w", "run_id": "r"}}],
    )
    await env.attempt("terminate", terminate)
    await env.attempt("late completion", worker.complete(task, complete_workflow()))
    await env.attempt("late failure", worker.fail(task, "WORKFLOW_WORKER_UNHANDLED_FAILURE"))
    await env.record()
    env.note("description", await env.describe())


@scenario
async def terminate_while_transient_task_runs(env: Environment) -> None:
    """A transient attempt's events are written before the termination or not."""
    worker = RawWorker(env)
    await env.start()
    await worker.fail(await worker.workflow_task(), "WORKFLOW_WORKER_UNHANDLED_FAILURE")
    await worker.workflow_task()
    await env.terminate()
    await env.record()


@scenario
async def workflow_fails_without_retry(env: Environment) -> None:
    """The failure is kept as given."""
    worker = RawWorker(env)
    await env.start()
    await worker.step(fail_workflow("gone wrong", details=payloads("detail"), non_retryable=True))
    await env.record()
    env.note("description", (await env.describe()).workflow_execution_info)


@scenario
async def workflow_run_times_out(env: Environment) -> None:
    """With a task running, and with none ever started."""
    worker = RawWorker(env)
    await env.start(env.id("idle"), workflow_run_timeout=seconds(2))
    await worker.step(start_timer())
    await env.start(env.id("busy"), workflow_run_timeout=seconds(2))
    await asyncio.sleep(0.5)  # The task's own time-out is as long as the run's, and is to come after it.
    task = await worker.workflow_task()
    await env.start(
        env.id("unstarted"), workflow_run_timeout=seconds(2), task_queue={"name": env.queue("nobody")}
    )
    for name in ("idle", "busy", "unstarted"):
        await env.until_event("WORKFLOW_EXECUTION_TIMED_OUT", env.id(name))
        await env.record(env.id(name))
        env.note(f"status {name}", (await env.describe(env.id(name))).workflow_execution_info.status)
    await env.attempt("late completion", worker.complete(task, complete_workflow()))


@scenario
async def workflow_execution_times_out(env: Environment) -> None:
    """The execution time-out bounds all runs together; a retry policy does not save it."""
    worker = RawWorker(env)
    await env.start(workflow_execution_timeout=seconds(2), retry_policy={"maximum_attempts": 5})
    task = await worker.workflow_task()
    env.note("task", seen(task))
    await env.until_event("WORKFLOW_EXECUTION_TIMED_OUT")
    await env.record()
