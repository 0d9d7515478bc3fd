"""Workflow updates: admitted, delivered with a task, accepted, rejected, completed, waited for."""

from __future__ import annotations

import asyncio
from typing import Any

import grpc
from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.message import Message
from temporalio.api.protocol.v1 import Message as ProtocolMessage
from temporalio.api.update.v1 import Acceptance, Outcome, Rejection, Request, Response

from ..environment import Environment
from ..raw_worker import (
    RawWorker,
    application_failure,
    command,
    complete_workflow,
    continue_as_new,
    event_names,
    fail_workflow,
    payloads,
    schedule_activity,
    seen,
    start_timer,
)
from . import scenario

ACCEPTED = "UPDATE_WORKFLOW_EXECUTION_LIFECYCLE_STAGE_ACCEPTED"
COMPLETED = "UPDATE_WORKFLOW_EXECUTION_LIFECYCLE_STAGE_COMPLETED"
ADMITTED = "UPDATE_WORKFLOW_EXECUTION_LIFECYCLE_STAGE_ADMITTED"


def update(env: Environment, update_id: str = "update", stage: str = COMPLETED, **fields: Any) -> Any:
    """Send an update and wait for a stage."""
    fields.setdefault("workflow_execution", {"workflow_id": env.id()})
    name = fields.pop("name", "Update")
    meta = {"identity": "client"}
    if update_id:
        meta["update_id"] = update_id
    return env.call(
        "UpdateWorkflowExecution",
        wait_policy={"lifecycle_stage": stage} if stage else None,
        request={"meta": meta, "input": {"name": name, "args": payloads("argument")}},
        **fields,
    )


def requests_of(task: Any) -> list[tuple[str, Request]]:
    """The updates that a task brings, as (protocol instance, request)."""
    found = []
    for message in task.messages:
        request = Request()
        assert message.body.Unpack(request)
        found.append((message.protocol_instance_id, request))
    return found


def packed(body: Message) -> AnyMessage:
    box = AnyMessage()
    box.Pack(body)
    return box


def accepted(task: Any, index: int = 0) -> ProtocolMessage:
    message = task.messages[index]
    request = Request()
    message.body.Unpack(request)
    return ProtocolMessage(
        id=f"{message.protocol_instance_id}/accept",
        protocol_instance_id=message.protocol_instance_id,
        body=packed(
            Acceptance(
                accepted_request_message_id=message.id,
                accepted_request_sequencing_event_id=message.event_id,
                accepted_request=request,
            )
        ),
    )


def rejected(task: Any, index: int = 0) -> ProtocolMessage:
    message = task.messages[index]
    request = Request()
    message.body.Unpack(request)
    body = Rejection(
        rejected_request_message_id=message.id,
        rejected_request_sequencing_event_id=message.event_id,
        rejected_request=request,
        failure=application_failure("rejected"),  # type: ignore[arg-type]
    )
    return ProtocolMessage(
        id=f"{message.protocol_instance_id}/reject",
        protocol_instance_id=message.protocol_instance_id,
        body=packed(body),
    )


def completed(update_id: str = "update", **failure: Any) -> ProtocolMessage:
    outcome = (
        Outcome(failure=application_failure(**failure))  # type: ignore[arg-type]
        if failure
        else Outcome(success=payloads("outcome"))  # type: ignore[arg-type]
    )
    body = Response(meta={"update_id": update_id, "identity": "client"}, outcome=outcome)  # type: ignore[arg-type]
    return ProtocolMessage(id=f"{update_id}/complete", protocol_instance_id=update_id, body=packed(body))


def protocol(*messages: ProtocolMessage) -> list[Any]:
    """The commands that put messages in order."""
    return [command("PROTOCOL_MESSAGE", message_id=message.id) for message in messages]


async def delivered(env: Environment, worker: RawWorker, *updates: Any) -> tuple[Any, list[Any]]:
    """Send updates one after the other and poll the task that brings them."""
    waiting = []
    for each in updates:
        waiting.append(asyncio.create_task(each))
        await asyncio.sleep(0.2)
    return await worker.workflow_task(), waiting


@scenario
async def update_is_completed_in_one_task(env: Environment) -> None:
    """Accepted and completed by the task that brings it; the same ID gives the same outcome later."""
    worker = RawWorker(env)
    await env.start()
    await worker.step(start_timer())
    task, [waiting] = await delivered(env, worker, update(env))
    env.note("task", seen(task))
    env.note("pending", (await env.describe()).pending_workflow_task.attempt)
    await env.record(label="while it runs")
    messages = [accepted(task), completed()]
    env.note("reply", await worker.complete(task, *protocol(*messages), messages=messages))
    env.note("outcome", await waiting)
    await env.attempt("again", update(env))
    await env.attempt("poll", poll(env))
    await env.signal()
    await worker.step(complete_workflow())
    await env.attempt("after the end", update(env))
    await env.attempt("another after the end", update(env, "other"))
    await env.attempt("poll after the end", poll(env))
    await env.record()


def poll(env: Environment, update_id: str = "update", stage: str = COMPLETED, **fields: Any) -> Any:
    """Wait for a stage of an update that was sent before."""
    fields.setdefault("timeout", 3.0)
    return env.call(
        "PollWorkflowExecutionUpdate",
        update_ref={"workflow_execution": {"workflow_id": env.id()}, "update_id": update_id},
        wait_policy={"lifecycle_stage": stage},
        **fields,
    )


@scenario
async def update_is_rejected_without_a_trace(env: Environment) -> None:
    """A rejected update leaves no events, and the worker is told where to go back to."""
    worker = RawWorker(env)
    await env.start()
    await worker.step()
    task, [waiting] = await delivered(env, worker, update(env))
    env.note("task", event_names(task))
    await env.record(label="while it runs")
    env.note("reply", await worker.complete(task, messages=[rejected(task)]))
    env.note("outcome", await waiting)
    await env.attempt("poll", poll(env))
    await env.record(label="after the rejection")
    task, [waiting] = await delivered(env, worker, update(env))
    messages = [accepted(task), completed()]
    await worker.complete(task, *protocol(*messages), messages=messages)
    env.note("second", await waiting)
    await env.record()


@scenario
async def update_is_rejected_by_a_task_that_does_more(env: Environment) -> None:
    """A task with commands leaves its events though its update is rejected."""
    worker = RawWorker(env)
    await env.start()
    await worker.step(start_timer())
    task, [waiting] = await delivered(env, worker, update(env))
    await worker.complete(task, start_timer("other"), messages=[rejected(task)])
    env.note("outcome", await waiting)
    await env.record()


@scenario
async def update_is_completed_later(env: Environment) -> None:
    """Accepted by one task, completed by a later one; waiting for acceptance only."""
    worker = RawWorker(env)
    await env.start()
    await worker.step(start_timer())
    task, [waiting] = await delivered(env, worker, update(env, stage=ACCEPTED))
    message = accepted(task)
    await worker.complete(task, *protocol(message), schedule_activity(env), messages=[message])
    env.note("accepted", await waiting)
    await env.attempt("poll accepted", poll(env, stage=ACCEPTED))
    await env.attempt("again", update(env, stage=ACCEPTED))
    later = asyncio.create_task(poll(env, timeout=10.0))
    await worker.complete_activity(await worker.activity_task())
    task = await worker.workflow_task()
    env.note("task", seen(task))
    message = completed()
    await worker.complete(task, *protocol(message), messages=[message])
    env.note("completed", await later)
    await env.record()


@scenario
async def update_fails(env: Environment) -> None:
    """The outcome of an update may be a failure."""
    worker = RawWorker(env)
    await env.start()
    await worker.step(start_timer())
    task, [waiting] = await delivered(env, worker, update(env))
    messages = [accepted(task), completed(message="update failed")]
    await worker.complete(task, *protocol(*messages), messages=messages)
    env.note("outcome", await waiting)
    await env.record()


@scenario
async def updates_come_with_the_first_task(env: Environment) -> None:
    """Updates before the first workflow task ride along with it."""
    worker = RawWorker(env)
    await env.start()
    task, waiting = await delivered(env, worker, update(env, "a"), update(env, "b"))
    env.note("task", seen(task))
    messages = [accepted(task, 0), completed("a"), rejected(task, 1)]
    await worker.complete(task, *protocol(*messages[:2]), start_timer(), messages=messages)
    env.note("a", await waiting[0])
    env.note("b", await waiting[1])
    await env.record()


@scenario
async def update_comes_while_a_task_runs(env: Environment) -> None:
    """An update that comes while a task runs is brought by the next one, which no event calls for."""
    worker = RawWorker(env)
    await env.start()
    first = await worker.workflow_task()
    waiting = asyncio.create_task(update(env))
    await asyncio.sleep(0.3)
    await worker.complete(first, start_timer())
    task = await worker.workflow_task()
    env.note("task", seen(task))
    messages = [accepted(task), completed()]
    await worker.complete(task, *protocol(*messages), messages=messages)
    env.note("outcome", await waiting)
    await env.record()


@scenario
async def update_comes_in_the_reply(env: Environment) -> None:
    """An update that came while a task ran comes in the reply to it where the worker asked for that."""
    worker = RawWorker(env)
    await env.start()
    first = await worker.workflow_task()
    waiting = asyncio.create_task(update(env))
    await asyncio.sleep(0.3)
    reply = await worker.complete(first, start_timer(), return_new_workflow_task=True)
    task = reply.workflow_task
    env.note("task", seen(task))
    messages = [accepted(task), completed()]
    await worker.complete(task, *protocol(*messages), messages=messages)
    env.note("outcome", await waiting)
    await env.record()


@scenario
async def signal_comes_while_an_update_is_delivered(env: Environment) -> None:
    """An event between makes the task that brings an update a normal one, or follows it."""
    worker = RawWorker(env)
    await env.start()
    await worker.step(start_timer())
    waiting = asyncio.create_task(update(env))
    await asyncio.sleep(0.3)
    await env.signal("before it starts")
    task = await worker.workflow_task()
    env.note("task", event_names(task))
    await env.signal("while it runs")
    messages = [accepted(task), completed()]
    await worker.complete(task, *protocol(*messages), messages=messages)
    env.note("outcome", await waiting)
    env.note("next", event_names(await worker.step(start_timer("other"))))
    await env.record()


@scenario
async def rejected_update_with_a_signal_while_it_runs(env: Environment) -> None:
    """A signal that came while the task ran is not lost when the task leaves no trace."""
    worker = RawWorker(env)
    await env.start()
    await worker.step()
    task, [waiting] = await delivered(env, worker, update(env))
    await env.signal("while it runs")
    env.note("reply", await worker.complete(task, messages=[rejected(task)]))
    env.note("outcome", await waiting)
    env.note("next", event_names(await worker.step(start_timer("other"))))
    await env.record()


@scenario
async def task_with_an_update_fails(env: Environment) -> None:
    """The task that brings an update fails: its events are written, and the update comes again."""
    worker = RawWorker(env)
    await env.start()
    await worker.step(start_timer())
    task, [waiting] = await delivered(env, worker, update(env))
    await worker.fail(task, "WORKFLOW_WORKER_UNHANDLED_FAILURE")
    task = await worker.workflow_task()
    env.note("again", [task.attempt, event_names(task), len(task.messages)])
    messages = [accepted(task), completed()]
    await worker.complete(task, *protocol(*messages), messages=messages)
    env.note("outcome", await waiting)
    await env.record()


@scenario
async def workflow_ends_with_updates_open(env: Environment) -> None:
    """Accepted updates fail when the workflow completes; admitted ones are told that it is gone."""
    worker = RawWorker(env)
    await env.start()
    await worker.step(start_timer())
    task, [waiting] = await delivered(env, worker, update(env, "a"))
    message = accepted(task)
    await worker.complete(task, *protocol(message), messages=[message])
    task, [second] = await delivered(env, worker, update(env, "b"))
    third = asyncio.create_task(update(env, "c"))
    await asyncio.sleep(0.3)
    await worker.complete(task, complete_workflow())
    for name, each in (("a", waiting), ("b", second), ("c", third)):
        await env.attempt(name, each)
    await env.attempt("poll a", poll(env, "a"))
    await env.attempt("poll a accepted", poll(env, "a", ACCEPTED))
    await env.attempt("a again", update(env, "a"))
    await env.record()


@scenario
async def workflow_fails_in_the_task_that_accepts(env: Environment) -> None:
    """Acceptance and the end of the workflow in one task."""
    worker = RawWorker(env)
    await env.start()
    await worker.step(start_timer())
    task, [waiting] = await delivered(env, worker, update(env))
    message = accepted(task)
    await worker.complete(task, *protocol(message), fail_workflow(), messages=[message])
    await env.attempt("outcome", waiting)
    await env.record()


@scenario
async def workflow_is_terminated_with_updates_open(env: Environment) -> None:
    """Termination ends accepted and admitted updates alike."""
    worker = RawWorker(env)
    await env.start()
    await worker.step(start_timer())
    task, [waiting] = await delivered(env, worker, update(env, "a"))
    message = accepted(task)
    await worker.complete(task, *protocol(message), messages=[message])
    task, [second] = await delivered(env, worker, update(env, "b"))
    await env.terminate()
    for name, each in (("a", waiting), ("b", second)):
        await env.attempt(name, each)
    await env.record()


@scenario
async def workflow_continues_with_updates_open(env: Environment) -> None:
    """An accepted update ends with its run; one that was only admitted is told to try again."""
    worker = RawWorker(env)
    await env.start()
    await worker.step(start_timer())
    task, [waiting] = await delivered(env, worker, update(env, "a"))
    message = accepted(task)
    await worker.complete(task, *protocol(message), messages=[message])
    await env.signal()
    task = await worker.workflow_task()
    second = asyncio.create_task(update(env, "b"))
    await env.outlive_the_pause()
    await worker.complete(task, continue_as_new(env))
    for name, each in (("a", waiting), ("b", second)):
        await env.attempt(name, each)
    await env.record()


@scenario
async def update_messages_are_checked(env: Environment) -> None:
    """Messages that do not fit fail the workflow task.

    What becomes of the update is left out: the reference server forgets it and tells its caller to try again, ours
    brings it again with the next task.
    """
    worker = RawWorker(env)
    cases: dict[str, Any] = {
        "unknown update": lambda task: {"messages": [completed("unknown")]},
        "unknown update in order": lambda task: {
            "messages": [completed("unknown")],
            "commands": protocol(completed("unknown")),
        },
        "absent message": lambda task: {"commands": protocol(accepted(task))},
        "no message id": lambda task: {"commands": [command("PROTOCOL_MESSAGE", message_id="")]},
    }
    for name, answer in cases.items():
        workflow = {"workflow_id": env.id(name)}
        await env.start(env.id(name))
        await worker.step(start_timer())
        task, [waiting] = await delivered(env, worker, update(env, workflow_execution=workflow))
        fields = answer(task)
        await env.attempt(name, worker.complete(task, *fields.pop("commands", ()), **fields))
        await env.terminate(env.id(name))
        await asyncio.gather(waiting, return_exceptions=True)
        events = await env.events(env.id(name))
        env.note(
            f"{name} failed", [e.workflow_task_failed_event_attributes for e in events if e.event_type == 8]
        )


@scenario
async def update_is_ignored_by_its_worker(env: Environment) -> None:
    """A worker that says nothing of an update rejects it."""
    worker = RawWorker(env)
    await env.start()
    await worker.step()
    task, [waiting] = await delivered(env, worker, update(env))
    env.note("reply", await worker.complete(task))
    await env.attempt("outcome", waiting)
    await env.record()


@scenario
async def update_requests_are_refused(env: Environment) -> None:
    """Requests that cannot be served."""
    await env.start()
    await env.attempt("unknown workflow", update(env, workflow_execution={"workflow_id": "no-such"}))
    await env.attempt("no workflow", update(env, workflow_execution=None))
    await env.attempt("no name", update(env, name=""))
    await env.attempt("long id", update(env, "u" * 1001))
    await env.attempt("stage admitted", update(env, stage=ADMITTED, timeout=3.0))
    await env.attempt(
        "no request", env.call("UpdateWorkflowExecution", workflow_execution={"workflow_id": env.id()})
    )
    await env.attempt("first run", update(env, first_execution_run_id="11111111-2222-4333-8444-555555555555"))
    await env.attempt("poll unknown", poll(env, "unknown"))
    await env.attempt("poll without ref", env.call("PollWorkflowExecutionUpdate", timeout=3.0))
    await env.attempt("poll no workflow", poll_unknown(env))
    await env.terminate()
    await env.attempt("closed", update(env))


def poll_unknown(env: Environment) -> Any:
    return env.call(
        "PollWorkflowExecutionUpdate",
        update_ref={"workflow_execution": {"workflow_id": "no-such"}, "update_id": "u"},
        timeout=3.0,
    )


async def _is_late(env: Environment, label: str, outcome: Any) -> None:
    """The deadline ends the call; whether its client or the server says so first is a race."""
    try:
        await outcome
    except grpc.aio.AioRpcError as error:
        late = (grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.CANCELLED)
        env.note(label, "late" if error.code() in late else str(error))
        return
    env.note(label, "answered")


@scenario
async def update_waits_no_longer_than_its_caller(env: Environment) -> None:
    """Nobody answers in time: the caller learns the stage that was reached and may ask again."""
    worker = RawWorker(env)
    await env.start()
    await worker.step(start_timer())
    await _is_late(env, "nobody polls", update(env, timeout=2.0))
    task = await worker.workflow_task()
    env.note("task", [event_names(task), len(task.messages)])
    message = accepted(task)
    await worker.complete(task, *protocol(message), messages=[message])
    await _is_late(env, "accepted only", update(env, timeout=2.0))
    await _is_late(env, "poll", poll(env, timeout=2.0))
    await env.attempt(
        "poll without stage", poll(env, stage="UPDATE_WORKFLOW_EXECUTION_LIFECYCLE_STAGE_UNSPECIFIED")
    )
    await env.record()


@scenario
async def update_on_a_sticky_queue(env: Environment) -> None:
    """A task that brings an update goes to the sticky queue with the rest of the history, as any other."""
    worker = RawWorker(env)
    sticky = {
        "worker_task_queue": {
            "name": env.queue("sticky"),
            "kind": "TASK_QUEUE_KIND_STICKY",
            "normal_name": env.queue(),
        },
        "schedule_to_start_timeout": {"seconds": 2},
    }
    await env.start()
    first = await worker.workflow_task()
    poller = asyncio.create_task(worker.workflow_task(env.queue("sticky"), sticky_of=env.queue()))
    await asyncio.sleep(0.3)
    await worker.complete(first, start_timer(), sticky_attributes=sticky)
    waiting = asyncio.create_task(update(env))
    task = await poller
    env.note("task", seen(task))
    env.note("reply", await worker.complete(task, messages=[rejected(task)], sticky_attributes=sticky))
    env.note("outcome", await waiting)
    waiting = asyncio.create_task(update(env, "lost"))
    task = await worker.workflow_task()
    env.note("after the sticky queue fell silent", [event_names(task), len(task.messages), task.attempt])
    messages = [accepted(task), completed("lost")]
    await worker.complete(task, *protocol(*messages), messages=messages)
    env.note("second outcome", await waiting)
    await env.record()
