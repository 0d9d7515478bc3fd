"""Commands that the server refuses: the failed task, its cause, its message, and what happens to the workflow.

Here live invalid attributes of each command. Newcomers forget that some of them fail the whole workflow
instead of the task.
"""

from __future__ import annotations

from typing import Any

from temporalio.api.command.v1 import Command
from temporalio.api.enums.v1 import CommandType

from ..environment import Environment
from ..raw_worker import (
    RawWorker,
    cancel_timer,
    command,
    complete_workflow,
    continue_as_new,
    payload,
    payloads,
    schedule_activity,
    seconds,
    start_child,
    start_timer,
)
from . import scenario

LONG = "x" * 1001


async def _refuse_each(env: Environment, cases: dict[str, list[Command]]) -> None:
    """One workflow for each case: answer its first task with the commands, and record reply and history."""
    worker = RawWorker(env)
    for name, commands in cases.items():
        await env.start(env.id(name))
        await env.attempt(name, worker.complete(await worker.workflow_task(), *commands))
        await env.record(env.id(name))
        status = (await env.describe(env.id(name))).workflow_execution_info.status
        env.note(f"status {name}", status)
        if status == 1:
            await env.terminate(env.id(name))


@scenario
async def bad_activity_commands(env: Environment) -> None:
    """Missing IDs, types, queues and time-outs, negative durations, bad retry policies, duplicate IDs."""

    def activity(**attributes: Any) -> list[Command]:
        return [schedule_activity(env, **attributes)]

    none = command(
        "SCHEDULE_ACTIVITY_TASK", activity_id="a", activity_type={"name": "A"}, task_queue={"name": "q"}
    )
    await _refuse_each(
        env,
        {
            "no-id": activity(activity_id=""),
            "no-type": activity(activity_type={"name": ""}),
            "no-queue": activity(task_queue={"name": ""}),
            "no-timeout": [none],
            "negative": activity(start_to_close_timeout=seconds(-1)),
            "negative-heartbeat": activity(heartbeat_timeout=seconds(-1)),
            "retry-attempts": activity(retry_policy={"maximum_attempts": -1}),
            "retry-coefficient": activity(retry_policy={"backoff_coefficient": 0.5}),
            "retry-interval": activity(retry_policy={"initial_interval": seconds(-1)}),
            "retry-maximum": activity(
                retry_policy={"initial_interval": seconds(10), "maximum_interval": seconds(5)}
            ),
            "long-id": activity(activity_id=LONG),
            "long-type": activity(activity_type={"name": LONG}),
            "long-queue": activity(task_queue={"name": LONG}),
            "duplicate": activity() + activity(),
        },
    )


@scenario
async def bad_timer_commands(env: Environment) -> None:
    """Missing IDs and durations, duplicates, unknown timers."""
    await _refuse_each(
        env,
        {
            "no-id": [start_timer("")],
            "negative": [start_timer("t", -1)],
            "long-id": [start_timer(LONG)],
            "duplicate": [start_timer(), start_timer()],
            "cancel-unknown": [cancel_timer("unknown")],
            "cancel-no-id": [cancel_timer("")],
            "after-a-good-one": [start_timer("good"), start_timer("")],
            "no-attributes": [Command(command_type=CommandType.COMMAND_TYPE_START_TIMER)],
        },
    )


@scenario
async def bad_closing_commands(env: Environment) -> None:
    """Completion, failure, cancellation and continue-as-new without what they need."""
    await _refuse_each(
        env,
        {
            "complete-empty": [Command(command_type=CommandType.COMMAND_TYPE_COMPLETE_WORKFLOW_EXECUTION)],
            "fail-empty": [Command(command_type=CommandType.COMMAND_TYPE_FAIL_WORKFLOW_EXECUTION)],
            "fail-no-failure": [command("FAIL_WORKFLOW_EXECUTION", failure=None)],
            "cancel-empty": [Command(command_type=CommandType.COMMAND_TYPE_CANCEL_WORKFLOW_EXECUTION)],
            "continue-empty": [
                Command(command_type=CommandType.COMMAND_TYPE_CONTINUE_AS_NEW_WORKFLOW_EXECUTION)
            ],
            "continue-negative": [continue_as_new(env, workflow_run_timeout=seconds(-1))],
            "continue-backoff": [continue_as_new(env, backoff_start_interval=seconds(-1))],
            "continue-retry": [continue_as_new(env, retry_policy={"maximum_attempts": -1})],
            "continue-cron": [continue_as_new(env, cron_schedule="nonsense")],
            "continue-long-type": [continue_as_new(env, workflow_type={"name": LONG})],
            "complete-twice": [complete_workflow(), complete_workflow()],
        },
    )


@scenario
async def bad_child_commands(env: Environment) -> None:
    """Children without ID or type, with bad time-outs, cron, retry policies, or in an unknown namespace."""

    def child(**attributes: Any) -> list[Command]:
        return [start_child(env, **({"workflow_id": env.id("child")} | attributes))]

    await _refuse_each(
        env,
        {
            "no-id": child(workflow_id=""),
            "no-type": child(workflow_type={"name": ""}),
            "long-id": child(workflow_id=LONG),
            "negative": child(workflow_run_timeout=seconds(-1)),
            "cron": child(cron_schedule="nonsense"),
            "retry": child(retry_policy={"backoff_coefficient": 0.5}),
            "namespace": child(namespace="no-such-namespace"),
        },
    )


@scenario
async def bad_external_commands(env: Environment) -> None:
    """Signals and cancel requests to other workflows without what they need."""
    await _refuse_each(
        env,
        {
            "signal-no-id": [command("SIGNAL_EXTERNAL_WORKFLOW_EXECUTION", signal_name="s", execution={})],
            "signal-no-name": [
                command("SIGNAL_EXTERNAL_WORKFLOW_EXECUTION", execution={"workflow_id": "w"}, signal_name="")
            ],
            "signal-bad-run": [
                command(
                    "SIGNAL_EXTERNAL_WORKFLOW_EXECUTION",
                    execution={"workflow_id": "w", "run_id": "not-a-run-id"},
                    signal_name="s",
                )
            ],
            "signal-no-execution": [command("SIGNAL_EXTERNAL_WORKFLOW_EXECUTION", signal_name="s")],
            "cancel-no-id": [command("REQUEST_CANCEL_EXTERNAL_WORKFLOW_EXECUTION", workflow_id="")],
            "cancel-bad-run": [
                command("REQUEST_CANCEL_EXTERNAL_WORKFLOW_EXECUTION", workflow_id="w", run_id="not-a-run-id")
            ],
        },
    )


@scenario
async def bad_other_commands(env: Environment) -> None:
    """Markers, search attributes, memos, activity cancellation, unknown kinds."""
    big = {"metadata": {"encoding": b"binary/plain"}, "data": b"x" * (2 * 1024 * 1024 + 1)}
    attributes = {"indexed_fields": {"NoSuchAttribute": payload("value")}}
    mistyped = {"indexed_fields": {"CustomIntField": payload("text")}}
    system = {"indexed_fields": {"WorkflowId": payload("value")}}
    await _refuse_each(
        env,
        {
            "marker-no-name": [command("RECORD_MARKER", marker_name="")],
            "marker-long-name": [command("RECORD_MARKER", marker_name=LONG)],
            "marker-big": [command("RECORD_MARKER", marker_name="m", details={"d": {"payloads": [big]}})],
            "upsert-nothing": [command("UPSERT_WORKFLOW_SEARCH_ATTRIBUTES")],
            "upsert-unknown": [command("UPSERT_WORKFLOW_SEARCH_ATTRIBUTES", search_attributes=attributes)],
            "upsert-mistyped": [command("UPSERT_WORKFLOW_SEARCH_ATTRIBUTES", search_attributes=mistyped)],
            "upsert-system": [command("UPSERT_WORKFLOW_SEARCH_ATTRIBUTES", search_attributes=system)],
            "memo-nothing": [command("MODIFY_WORKFLOW_PROPERTIES")],
            "cancel-activity-unknown": [command("REQUEST_CANCEL_ACTIVITY_TASK", scheduled_event_id=99)],
            "cancel-activity-none": [command("REQUEST_CANCEL_ACTIVITY_TASK", scheduled_event_id=0)],
            "unspecified": [Command()],
        },
    )


@scenario
async def bad_command_after_earlier_ones_applies_none(env: Environment) -> None:
    """The good commands before the bad one leave no trace; the next attempt may repeat them."""
    worker = RawWorker(env)
    await env.start()
    task = await worker.workflow_task()
    await env.attempt(
        "refused", worker.complete(task, schedule_activity(env), start_timer(""), complete_workflow())
    )
    second = await worker.workflow_task()
    env.note("attempt", second.attempt)
    await worker.complete(second, schedule_activity(env, input=payloads("again")))
    await worker.complete_activity(await worker.activity_task())
    await worker.step(complete_workflow())
    await env.record()
