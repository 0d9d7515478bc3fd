"""Update-with-start: an update of a workflow that is started for it where it is not there."""

from __future__ import annotations

import asyncio
from typing import Any

from ..environment import Environment
from ..raw_worker import RawWorker, complete_workflow, payloads, seen, start_timer
from . import scenario
from .updates import ACCEPTED, COMPLETED, accepted, completed, protocol, rejected, update

USE_EXISTING = "WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING"
FAIL = "WORKFLOW_ID_CONFLICT_POLICY_FAIL"


def both(
    env: Environment,
    update_id: str = "update",
    stage: str = COMPLETED,
    conflict: str = USE_EXISTING,
    start: dict[str, Any] | None = None,
    change: dict[str, Any] | None = None,
    **fields: Any,
) -> Any:
    """Send both operations."""
    starting: dict[str, Any] = {
        "namespace": "default",
        "workflow_id": env.id(),
        "workflow_type": {"name": "Workflow"},
        "task_queue": {"name": env.queue()},
        "request_id": f"start-{update_id}",
        "identity": "client",
        "workflow_id_conflict_policy": conflict,
    } | (start or {})
    updating: dict[str, Any] = {
        "namespace": "default",
        "workflow_execution": {"workflow_id": env.id()},
        "wait_policy": {"lifecycle_stage": stage},
        "request": {
            "meta": {"update_id": update_id, "identity": "client"},
            "input": {"name": "Update", "args": payloads("argument")},
        },
    } | (change or {})
    operations = [{"start_workflow": starting}, {"update_workflow": updating}]
    return env.call("ExecuteMultiOperation", operations=fields.pop("operations", operations), **fields)


@scenario
async def update_with_start_starts(env: Environment) -> None:
    """No workflow: it is started, and its first task brings the update."""
    worker = RawWorker(env)
    waiting = asyncio.create_task(both(env))
    task = await worker.workflow_task()
    env.note("task", seen(task))
    messages = [accepted(task), completed()]
    await worker.complete(task, *protocol(*messages), start_timer(), messages=messages)
    env.note("reply", await waiting)
    env.note("again", await both(env))
    await env.record()


@scenario
async def update_with_start_uses_a_running_workflow(env: Environment) -> None:
    """The workflow runs: only the update is sent."""
    worker = RawWorker(env)
    await env.start()
    await worker.step(start_timer())
    waiting = asyncio.create_task(both(env, stage=ACCEPTED))
    task = await worker.workflow_task()
    message = accepted(task)
    await worker.complete(task, *protocol(message), messages=[message])
    env.note("reply", await waiting)
    await env.record()


@scenario
async def update_with_start_is_rejected(env: Environment) -> None:
    """A rejected update does not undo the start."""
    worker = RawWorker(env)
    waiting = asyncio.create_task(both(env))
    task = await worker.workflow_task()
    await worker.complete(task, start_timer(), messages=[rejected(task)])
    env.note("reply", await waiting)
    await env.record()


@scenario
async def update_with_start_under_its_policies(env: Environment) -> None:
    """The start's policies hold for both."""
    worker = RawWorker(env)
    await env.start()
    await worker.step(start_timer())
    await env.attempt("fail", both(env, conflict=FAIL))
    await env.attempt("unspecified", both(env, conflict="WORKFLOW_ID_CONFLICT_POLICY_UNSPECIFIED"))
    waiting = asyncio.create_task(
        both(env, "second", conflict="WORKFLOW_ID_CONFLICT_POLICY_TERMINATE_EXISTING")
    )
    task = await worker.workflow_task()
    messages = [accepted(task), completed("second")]
    await worker.complete(task, *protocol(*messages), complete_workflow(), messages=messages)
    env.note("terminate", await waiting)
    await env.attempt("known update of a closed run", both(env, "second"))
    reject = {"workflow_id_reuse_policy": "WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE"}
    await env.attempt("reuse refused", both(env, "third", start=reject))
    waiting = asyncio.create_task(both(env, "fourth"))
    task = await worker.workflow_task()
    messages = [accepted(task), completed("fourth")]
    await worker.complete(task, *protocol(*messages), complete_workflow(), messages=messages)
    env.note("new run", await waiting)
    await env.record()


@scenario
async def update_with_start_requests_are_refused(env: Environment) -> None:
    """Operations that do not fit together, and ones that are wrong by themselves."""
    await env.attempt("none", both(env, operations=[]))
    start = {"start_workflow": {"namespace": "default", "workflow_id": env.id()}}
    change = {"update_workflow": {"namespace": "default", "workflow_execution": {"workflow_id": env.id()}}}
    await env.attempt("start only", both(env, operations=[start]))
    await env.attempt("turned round", both(env, operations=[change, start]))
    await env.attempt("two starts", both(env, operations=[start, start]))
    await env.attempt("other workflow", both(env, change={"workflow_execution": {"workflow_id": "other"}}))
    await env.attempt("other namespace", both(env, change={"namespace": "other"}))
    await env.attempt(
        "run id",
        both(
            env,
            change={
                "workflow_execution": {
                    "workflow_id": env.id(),
                    "run_id": "11111111-2222-4333-8444-555555555555",
                }
            },
        ),
    )
    await env.attempt(
        "first run id", both(env, change={"first_execution_run_id": "11111111-2222-4333-8444-555555555555"})
    )
    await env.attempt("cron", both(env, start={"cron_schedule": "@every 1s"}))
    await env.attempt("delay", both(env, start={"workflow_start_delay": {"seconds": 1}}))
    await env.attempt("eager", both(env, start={"request_eager_execution": True}))
    await env.attempt("no type", both(env, start={"workflow_type": None}))
    await env.attempt(
        "no update name", both(env, change={"request": {"meta": {"update_id": "u"}, "input": {}}})
    )
    await env.attempt("admitted", both(env, stage="UPDATE_WORKFLOW_EXECUTION_LIFECYCLE_STAGE_ADMITTED"))
    await env.attempt("no namespace", both(env, namespace=""))
    await env.attempt("unknown namespace", both(env, namespace="no-such-namespace"))
    await env.attempt("update alone finds nothing", update(env))
