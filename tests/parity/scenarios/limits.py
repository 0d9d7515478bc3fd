"""Bounds: sizes of what workers and clients send, numbers of what is pending, lengths of histories.

Here lives what happens beyond a bound. Newcomers forget that too large an answer of an activity fails the
activity, while too large a command ends the workflow.
"""

from __future__ import annotations

from typing import Any

from temporalio.api.command.v1 import Command

from ..environment import Environment
from ..raw_worker import (
    RawWorker,
    command,
    complete_workflow,
    continue_as_new,
    schedule_activity,
    start_child,
    start_timer,
)
from . import scenario

BLOB_BYTES_MAX = 2 * 1024 * 1024
BIG = {"payloads": [{"metadata": {"encoding": b"binary/plain"}, "data": b"x" * (BLOB_BYTES_MAX + 1)}]}
PENDING_MAX = 2000
MANY_MARKERS = 2100


@scenario
async def activity_answers_too_much(env: Environment) -> None:
    """Results, failures, details and heartbeats beyond the bound."""
    worker = RawWorker(env)
    await env.start()
    names = ("a result", "b failure", "c heartbeat", "d details", "e canceled")
    once = {"maximum_attempts": 1}
    await worker.step(*(schedule_activity(env, name, retry_policy=once) for name in names))
    tasks = {task.activity_id: task for task in [await worker.activity_task() for _ in names]}
    failure = {"message": "m", "application_failure_info": {"type": "Kind", "details": BIG}}
    long_message = {"message": "m" * (BLOB_BYTES_MAX + 1), "application_failure_info": {"type": "Kind"}}
    calls: dict[str, tuple[str, dict[str, Any]]] = {
        "a result": ("RespondActivityTaskCompleted", {"result": BIG}),
        "b failure": ("RespondActivityTaskFailed", {"failure": failure}),
        "c heartbeat": ("RecordActivityTaskHeartbeat", {"details": BIG}),
        "d details": ("RespondActivityTaskFailed", {"failure": long_message}),
        "e canceled": ("RespondActivityTaskCanceled", {"details": BIG}),
    }
    for name, (method, fields) in calls.items():
        await env.attempt(name, env.call(method, task_token=tasks[name].task_token, **fields))
    await env.terminate()
    await env.record()


@scenario
async def commands_carry_too_much(env: Environment) -> None:
    """Each command that carries payloads, beyond the bound."""
    worker = RawWorker(env)
    external = {"execution": {"workflow_id": "w"}, "signal_name": "s"}
    failure = {"message": "m", "application_failure_info": {"type": "Kind", "details": BIG}}
    memo = {"fields": {"key": BIG["payloads"][0]}}
    cases: dict[str, Command] = {
        "activity": schedule_activity(env, input=BIG),
        "complete": command("COMPLETE_WORKFLOW_EXECUTION", result=BIG),
        "fail": command("FAIL_WORKFLOW_EXECUTION", failure=failure),
        "cancel": command("CANCEL_WORKFLOW_EXECUTION", details=BIG),
        "continue": continue_as_new(env, input=BIG),
        "continue-memo": continue_as_new(env, memo=memo),
        "child": start_child(env, env.id("child"), input=BIG),
        "signal": command("SIGNAL_EXTERNAL_WORKFLOW_EXECUTION", input=BIG, **external),
        "memo": command("MODIFY_WORKFLOW_PROPERTIES", upserted_memo=memo),
    }
    for name, too_much in cases.items():
        await env.start(env.id(name))
        await env.attempt(name, worker.complete(await worker.workflow_task(), too_much))
        await env.record(env.id(name))


@scenario
async def too_many_are_pending(env: Environment) -> None:
    """One more than may be pending of activities, children, signals and cancel requests."""
    worker = RawWorker(env)
    cases: dict[str, Any] = {
        "activities": lambda number: schedule_activity(env, f"activity {number}"),
        "children": lambda number: start_child(env, env.id(f"child {number}")),
        "signals": lambda number: command(
            "SIGNAL_EXTERNAL_WORKFLOW_EXECUTION", execution={"workflow_id": f"w {number}"}, signal_name="s"
        ),
        "cancels": lambda number: command(
            "REQUEST_CANCEL_EXTERNAL_WORKFLOW_EXECUTION", workflow_id=f"w {number}"
        ),
    }
    for name, make in cases.items():
        await env.start(env.id(name))
        task = await worker.workflow_task()
        commands = [make(number) for number in range(PENDING_MAX + 1)]
        await env.attempt(name, worker.complete(task, *commands))
        await env.record(env.id(name))
        await env.terminate(env.id(name))


# The number of WorkflowTaskStarted among the types of events.
STARTED = 6


@scenario
async def long_history_suggests_to_continue_as_new(env: Environment) -> None:
    """Beyond some four thousand events each started task says so."""
    worker = RawWorker(env)
    await env.start()
    markers = [command("RECORD_MARKER", marker_name=f"marker {number}") for number in range(MANY_MARKERS)]
    for _ in range(2):
        await worker.step(*markers, force_create_new_workflow_task=True)
    await worker.step(complete_workflow())
    started = [event for event in await env.events(env.id()) if event.event_type == STARTED]
    env.note("started", [event.workflow_task_started_event_attributes for event in started])


@scenario
async def user_metadata_on_each_command(env: Environment) -> None:
    """What of it is kept with the event."""
    metadata = {"summary": {"data": b"summary"}, "details": {"data": b"details"}}
    await _on_each_command(env, user_metadata=metadata)
    env.note("config", (await env.describe()).execution_config)


@scenario
async def event_groups_on_each_command(env: Environment) -> None:
    """Which event the markers of a command are kept with."""
    groups = [
        {"label": {"id": "group", "label": {"data": b"label"}}},
        {"inbound_event": {"inbound_event_id": 1}},
    ]
    await _on_each_command(env, event_group_markers=groups)


async def _on_each_command(env: Environment, **fields: Any) -> None:
    worker = RawWorker(env)
    await env.start()
    await worker.step(
        schedule_activity(env, **fields),
        start_timer(**fields),
        command("CANCEL_TIMER", timer_id="timer", **fields),
        command("RECORD_MARKER", marker_name="marker", **fields),
        command(
            "SIGNAL_EXTERNAL_WORKFLOW_EXECUTION", execution={"workflow_id": "w"}, signal_name="s", **fields
        ),
        command("MODIFY_WORKFLOW_PROPERTIES", upserted_memo={"fields": {"k": {"data": b"v"}}}, **fields),
        command("REQUEST_CANCEL_ACTIVITY_TASK", scheduled_event_id=5, **fields),
    )
    await env.until_event("SIGNAL_EXTERNAL_WORKFLOW_EXECUTION_FAILED")
    await worker.step(command("COMPLETE_WORKFLOW_EXECUTION", **fields))
    await env.record()
