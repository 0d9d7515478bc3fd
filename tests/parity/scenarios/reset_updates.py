"""Updates across a reset: those that the old run accepted after the point are given to the new one.

Newcomers forget that an accepted update is reapplied as an admitted one: the new run's worker is asked again, and may
reject what the old one accepted.
"""

from __future__ import annotations

import asyncio
from typing import Any

from temporalio.api.failure.v1 import Failure
from temporalio.api.protocol.v1 import Message as ProtocolMessage
from temporalio.api.update.v1 import Acceptance, Rejection, Request

from ..environment import Environment
from ..raw_worker import RawWorker, complete_workflow, seen
from . import scenario
from .updates import ACCEPTED, COMPLETED, accepted, completed, packed, poll, protocol, update


def _reset(env: Environment, event_id: int, run_id: str, **fields: Any) -> Any:
    return env.call(
        "ResetWorkflowExecution",
        workflow_execution={"workflow_id": env.id(), "run_id": run_id},
        workflow_task_finish_event_id=event_id,
        request_id=f"reset-{event_id}-{run_id}",
        reason="reason",
        **fields,
    )


def _admitted(task: Any, update_id: str) -> Request:
    """The request of an update that the task's history brings: it comes in an event and not as a message."""
    for event in task.history.events:
        request: Request = event.workflow_execution_update_admitted_event_attributes.request
        if request.meta.update_id == update_id:
            return request
    raise AssertionError(f"no event admits {update_id}")


def _accepted(task: Any, update_id: str) -> ProtocolMessage:
    body = Acceptance(
        accepted_request_message_id=f"{update_id}/request",
        accepted_request_sequencing_event_id=task.started_event_id - 1,
        accepted_request=_admitted(task, update_id),
    )
    return ProtocolMessage(id=f"{update_id}/accept", protocol_instance_id=update_id, body=packed(body))


def _rejected(task: Any, update_id: str) -> ProtocolMessage:
    body = Rejection(
        rejected_request_message_id=f"{update_id}/request",
        rejected_request_sequencing_event_id=task.started_event_id - 1,
        rejected_request=_admitted(task, update_id),
        failure=Failure(message="rejected"),
    )
    return ProtocolMessage(id=f"{update_id}/reject", protocol_instance_id=update_id, body=packed(body))


async def _answer(worker: RawWorker, task: Any, *messages: ProtocolMessage) -> None:
    """Answer a task with messages, each placed by a command."""
    await worker.complete(task, *protocol(*messages), messages=messages)


@scenario
async def reset_gives_updates_to_the_new_run(env: Environment) -> None:
    """Accepted and completed ones alike, as admitted; their IDs are those of before."""
    worker = RawWorker(env)
    run_id = await env.start()
    await worker.step()
    call = asyncio.ensure_future(update(env, "one", ACCEPTED))
    task = await worker.workflow_task()
    await _answer(worker, task, accepted(task), completed("one"))
    await call
    call = asyncio.ensure_future(update(env, "two", ACCEPTED))
    task = await worker.workflow_task()
    await _answer(worker, task, accepted(task))
    await call
    await env.attempt("reset", _reset(env, 4, run_id))
    await env.record(label="new run before its task")
    call = asyncio.ensure_future(env.attempt("the first again", update(env, "one", COMPLETED)))
    task = await worker.workflow_task()
    env.note("task", seen(task))
    answers = [_accepted(task, "one"), completed("one"), _accepted(task, "two"), completed("two")]
    await _answer(worker, task, *answers)
    await call
    await env.attempt("the second", poll(env, "two"))
    await env.signal()
    await worker.step(complete_workflow())
    await env.record(run_id=run_id, label="old run")
    await env.record(label="new run")


@scenario
async def reset_leaves_updates_out(env: Environment) -> None:
    """By the excluded types, and by the older reapply type."""
    worker = RawWorker(env)
    run_id = await env.start()
    await worker.step()
    call = asyncio.ensure_future(update(env, "one", ACCEPTED))
    task = await worker.workflow_task()
    await _answer(worker, task, accepted(task))
    await call
    await env.signal()
    for name, fields in {
        "no updates": {"reset_reapply_exclude_types": ["RESET_REAPPLY_EXCLUDE_TYPE_UPDATE"]},
        "signals": {"reset_reapply_type": "RESET_REAPPLY_TYPE_SIGNAL"},
        "no signals": {"reset_reapply_exclude_types": ["RESET_REAPPLY_EXCLUDE_TYPE_SIGNAL"]},
    }.items():
        execution = {"workflow_id": env.id(), "run_id": run_id}
        reply = await env.call(
            "ResetWorkflowExecution",
            workflow_execution=execution,
            workflow_task_finish_event_id=4,
            request_id=name,
            reason=name,
            **fields,
        )
        await env.record(run_id=reply.run_id, label=name)
    await env.terminate()


@scenario
async def reset_of_a_run_with_admitted_updates(env: Environment) -> None:
    """An update that was reapplied once is reapplied again; the new run's worker may reject it."""
    worker = RawWorker(env)
    run_id = await env.start()
    await worker.step()
    call = asyncio.ensure_future(update(env, "one", ACCEPTED))
    task = await worker.workflow_task()
    await _answer(worker, task, accepted(task))
    await call
    second = (await _reset(env, 4, run_id)).run_id
    third = (await _reset(env, 4, second)).run_id
    await env.record(run_id=third, label="third run")
    task = await worker.workflow_task()
    env.note("task", seen(task))
    # The reference server fails when it is asked for the outcome of such a rejection.
    await env.attempt("rejection", _answer(worker, task, _rejected(task, "one")))
    await env.record(run_id=third, label="third run after the rejection")
    await env.terminate()


@scenario
async def reset_goes_on_after_an_accepted_update(env: Environment) -> None:
    """An update that the kept history accepted is completed by the new run."""
    worker = RawWorker(env)
    run_id = await env.start()
    await worker.step()
    call = asyncio.ensure_future(update(env, "one", ACCEPTED))
    task = await worker.workflow_task()
    await _answer(worker, task, accepted(task))
    await call
    await env.signal("go")
    await worker.step()
    events = await env.events(env.id())
    point = [event.event_id for event in events if event.event_type == 7][-1]
    await env.attempt("reset", _reset(env, point, run_id))
    task = await worker.workflow_task()
    env.note("messages", list(task.messages))
    await _answer(worker, task, completed("one"))
    await env.attempt("outcome", poll(env, "one"))
    await env.signal("end")
    await worker.step(complete_workflow())
    await env.record()


@scenario
async def reset_while_an_update_is_in_flight(env: Environment) -> None:
    """What its caller is told."""
    worker = RawWorker(env)
    run_id = await env.start()
    await worker.step()
    call = asyncio.ensure_future(env.attempt("update", update(env, "one", ACCEPTED)))
    await worker.workflow_task()
    await env.attempt("reset", _reset(env, 4, run_id))
    await call
    await env.record(run_id=run_id, label="old run")
    await env.record(label="new run")
    await env.terminate()
