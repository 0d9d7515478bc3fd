"""DeleteWorkflowExecution: a run goes with its history; an open one is terminated first.

Here lives what is left after it, for clients and for other workflows. Newcomers forget that it is done later than
the call is answered: each scenario waits until the run cannot be described any more.
"""

from __future__ import annotations

from typing import Any

import grpc

from ..environment import Environment
from ..raw_worker import (
    RawWorker,
    complete_workflow,
    continue_as_new,
    schedule_activity,
    start_child,
    start_timer,
)
from . import scenario


def _delete(env: Environment, workflow_id: str | None = None, run_id: str = "") -> Any:
    execution = {"workflow_id": workflow_id or env.id(), "run_id": run_id}
    return env.call("DeleteWorkflowExecution", workflow_execution=execution)


async def _until_gone(env: Environment, run_id: str, workflow_id: str | None = None) -> None:
    async def gone() -> bool:
        try:
            await env.describe(workflow_id, run_id)
        except grpc.aio.AioRpcError as error:
            return error.code() == grpc.StatusCode.NOT_FOUND
        return False

    await env.until(f"deletion of {run_id}", gone)


@scenario
async def delete_a_closed_run(env: Environment) -> None:
    """Nothing of it is known any more, and its ID is free."""
    worker = RawWorker(env)
    first = await env.start(request_id="start")
    await worker.step(complete_workflow())
    await env.attempt("delete", _delete(env))
    await _until_gone(env, first)
    execution = {"workflow_id": env.id()}
    run = {"workflow_id": env.id(), "run_id": first}
    await env.attempt("describe", env.call("DescribeWorkflowExecution", execution=execution))
    await env.attempt("describe the run", env.call("DescribeWorkflowExecution", execution=run))
    await env.attempt("history", env.call("GetWorkflowExecutionHistory", execution=execution))
    await env.attempt("history of the run", env.call("GetWorkflowExecutionHistory", execution=run))
    await env.attempt("signal", env.signal())
    await env.attempt("delete again", _delete(env))
    await env.attempt("delete the run again", _delete(env, run_id=first))
    policy = "WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE"
    second = await env.start(request_id="start", workflow_id_reuse_policy=policy)
    env.note("another run", second != first)
    await env.record()
    await env.terminate()


@scenario
async def delete_an_open_run(env: Environment) -> None:
    """It is terminated; late answers of its workers find nothing."""
    worker = RawWorker(env)
    first = await env.start()
    await worker.step(start_timer("soon", 1), schedule_activity(env))
    activity = await worker.activity_task()
    await env.signal()
    task = await worker.workflow_task()
    await env.attempt("delete", _delete(env))
    await _until_gone(env, first)
    await env.attempt("late task", worker.complete(task))
    await env.attempt("late activity", worker.complete_activity(activity))
    await env.attempt("late heartbeat", worker.heartbeat(activity))
    await env.attempt(
        "cancel", env.call("RequestCancelWorkflowExecution", workflow_execution={"workflow_id": env.id()})
    )


@scenario
async def delete_an_older_run(env: Environment) -> None:
    """The current run stays as it is."""
    worker = RawWorker(env)
    first = await env.start()
    await env.outlive_the_pause()
    await worker.step(continue_as_new(env))
    await env.attempt("delete", _delete(env, run_id=first))
    await _until_gone(env, first)
    await worker.step(complete_workflow())
    await env.record()
    second = (await env.describe()).workflow_execution_info.execution.run_id
    await env.attempt("delete the current one", _delete(env))
    await _until_gone(env, second)
    await env.attempt("describe", env.describe())


@scenario
async def delete_the_current_run(env: Environment) -> None:
    """An older run does not take its place."""
    worker = RawWorker(env)
    first = await env.start(request_id="first")
    await worker.step(complete_workflow())
    second = await env.start(request_id="second")
    await env.attempt("delete", _delete(env, run_id=second))
    await _until_gone(env, second)
    await env.attempt("describe", env.describe())
    await env.record(run_id=first)
    await env.attempt("delete the older one", _delete(env, run_id=first))
    await _until_gone(env, first)


@scenario
async def delete_a_child(env: Environment) -> None:
    """Its parent hears that an open one was terminated."""
    worker = RawWorker(env)
    await env.start()
    await worker.step(start_child(env, env.id("child")))
    await env.until_event("CHILD_WORKFLOW_EXECUTION_STARTED")
    await worker.step()
    child = (await env.describe(env.id("child"))).workflow_execution_info.execution.run_id
    await env.attempt("delete", _delete(env, env.id("child")))
    await _until_gone(env, child, env.id("child"))
    await env.until_event("CHILD_WORKFLOW_EXECUTION_TERMINATED")
    await worker.step(complete_workflow())
    await env.record()


@scenario
async def delete_a_parent(env: Environment) -> None:
    """Its children are stopped as its close would stop them."""
    worker = RawWorker(env)
    first = await env.start()
    await worker.step(
        start_child(env, env.id("child")),
        start_child(env, env.id("abandoned"), parent_close_policy="PARENT_CLOSE_POLICY_ABANDON"),
    )
    await env.until_event("CHILD_WORKFLOW_EXECUTION_STARTED", n=2)
    await env.attempt("delete", _delete(env))
    await _until_gone(env, first)
    await env.until_event("WORKFLOW_EXECUTION_TERMINATED", env.id("child"))
    await env.record(env.id("child"))
    await env.record(env.id("abandoned"))
    children = RawWorker(env, env.queue("child"))
    await children.step(complete_workflow())
    await env.until_event("WORKFLOW_EXECUTION_COMPLETED", env.id("abandoned"))


@scenario
async def delete_a_run_that_was_reset(env: Environment) -> None:
    """The run that goes on from it keeps the history that they share."""
    worker = RawWorker(env)
    first = await env.start()
    await worker.step()
    await env.signal()
    execution = {"workflow_id": env.id(), "run_id": first}
    await env.call(
        "ResetWorkflowExecution",
        workflow_execution=execution,
        workflow_task_finish_event_id=4,
        request_id="reset",
        reason="reason",
    )
    await env.attempt("delete", _delete(env, run_id=first))
    await _until_gone(env, first)
    await worker.step(complete_workflow())
    await env.record()


@scenario
async def delete_is_refused(env: Environment) -> None:
    """Unknown and missing."""
    first = await env.start()
    cases: dict[str, dict[str, Any]] = {
        "unknown": {"workflow_execution": {"workflow_id": "no-such"}},
        "unknown run": {
            "workflow_execution": {"workflow_id": env.id(), "run_id": "11111111-1111-1111-1111-111111111111"}
        },
        "another's run": {"workflow_execution": {"workflow_id": "no-such", "run_id": first}},
        "bad run": {"workflow_execution": {"workflow_id": env.id(), "run_id": "bad"}},
        "no workflow": {"workflow_execution": {"run_id": first}},
        "no execution": {},
        "unknown namespace": {"namespace": "no-such", "workflow_execution": {"workflow_id": env.id()}},
        "no namespace": {"namespace": "", "workflow_execution": {"workflow_id": env.id()}},
    }
    for name, fields in cases.items():
        await env.attempt(name, env.call("DeleteWorkflowExecution", **fields))
    await env.record()
    await env.terminate()
