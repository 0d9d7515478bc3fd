"""The life of a workflow task, step by step.

Here live failing, timing out, attempts, transient tasks, buffered events, closing races, and tasks that bring
on the next one. Newcomers forget that a transient task's events are in the poll's answer but not in the
history.
"""

from __future__ import annotations

import math
from typing import Any

from ..environment import Environment
from ..raw_worker import (
    RawWorker,
    complete_workflow,
    event_names,
    schedule_activity,
    seconds,
    seen,
    start_timer,
    two_seconds_pass,
)
from . import scenario

# The number of RUNNING among the states of a workflow.
RUNNING = 1


@scenario
async def task_completes_workflow(env: Environment) -> None:
    """The shortest life: start, one task, completed."""
    worker = RawWorker(env)
    env.note("run", await env.start(input={"payloads": []}))
    task = await worker.workflow_task()
    env.note("task", seen(task))
    env.note("completion", await worker.complete(task, complete_workflow()))
    await env.record()
    env.note("description", await env.describe())


@scenario
async def task_failed_once_leaves_a_transient_task(env: Environment) -> None:
    """The second attempt writes nothing until it completes; its poll shows its two events all the same."""
    worker = RawWorker(env)
    await env.start()
    await worker.fail(await worker.workflow_task(), "WORKFLOW_WORKER_UNHANDLED_FAILURE")
    second = await worker.workflow_task()
    env.note("second attempt", seen(second))
    await env.record(label="while the second attempt runs")
    env.note("description", await env.describe())
    await worker.fail(second, "NON_DETERMINISTIC_ERROR")
    third = await worker.workflow_task()
    env.note("third attempt", seen(third))
    await worker.complete(third, complete_workflow())
    await env.record(label="closed")


@scenario
async def transient_task_meets_a_signal(env: Environment) -> None:
    """A signal between two attempts makes the next attempt a normal task again or not; the history tells."""
    worker = RawWorker(env)
    await env.start()
    await worker.fail(await worker.workflow_task(), "WORKFLOW_WORKER_UNHANDLED_FAILURE")
    await env.signal("between attempts")
    second = await worker.workflow_task()
    env.note("second attempt", seen(second))
    await env.signal("during the attempt")
    await worker.fail(second, "WORKFLOW_WORKER_UNHANDLED_FAILURE")
    third = await worker.workflow_task()
    env.note("third attempt", seen(third))
    await worker.complete(third)
    await env.record()


@scenario
async def transient_task_is_overtaken_by_a_signal_while_started(env: Environment) -> None:
    """A signal during a transient attempt is buffered; completion writes the attempt's events first."""
    worker = RawWorker(env)
    await env.start()
    await worker.fail(await worker.workflow_task(), "WORKFLOW_WORKER_UNHANDLED_FAILURE")
    second = await worker.workflow_task()
    await env.signal("during the attempt")
    await env.record(label="signal is buffered")
    await worker.complete(second, start_timer())
    third = await worker.workflow_task()
    env.note("third task", event_names(third))
    await worker.complete(third)
    await env.record(label="after")


@scenario
async def task_times_out_and_is_tried_again(env: Environment) -> None:
    """Start-to-close of a normal queue's task: TimedOut, then attempt 2; a late answer is not found."""
    worker = RawWorker(env)
    await env.start(workflow_task_timeout=seconds(1))
    late = await worker.workflow_task()
    second = await worker.workflow_task()
    env.note("second attempt", seen(second))
    await env.attempt("late completion", worker.complete(late))
    await env.attempt("late failure", worker.fail(late, "WORKFLOW_WORKER_UNHANDLED_FAILURE"))
    await worker.complete(second, complete_workflow())
    await env.attempt("completed twice", worker.complete(second))
    await env.record()


@scenario
async def signal_while_task_runs_is_buffered(env: Environment) -> None:
    """Signals during a task follow its completion and its commands' events, then comes a new task."""
    worker = RawWorker(env)
    await env.start()
    first = await worker.workflow_task()
    await env.signal("one")
    await env.signal("two")
    await env.record(label="buffered")
    env.note("description", await env.describe())
    await worker.complete(first, start_timer())
    second = await worker.workflow_task()
    env.note("second", event_names(second))
    env.note("previous started", second.previous_started_event_id)
    await worker.complete(second)
    await env.record(label="after")


@scenario
async def buffered_events_are_reordered_at_the_flush(env: Environment) -> None:
    """Activity results come last when the buffer is written: whatever order things came in."""
    worker = RawWorker(env)
    await env.start()
    await worker.step(schedule_activity(env, "a"), schedule_activity(env, "b"), start_timer("t", 2))
    a, b = sorted([await worker.activity_task(), await worker.activity_task()], key=lambda t: t.activity_id)
    await env.signal("wakes the workflow")
    task = await worker.workflow_task()
    await worker.complete_activity(b, "b")
    await env.signal("after b")
    await worker.fail_activity(a, message="a fails", non_retryable=True)
    await env.signal("after a")
    await env.call(
        "RequestCancelWorkflowExecution", workflow_execution={"workflow_id": env.id()}, reason="why"
    )
    await two_seconds_pass(env)
    await worker.complete(task, start_timer("later"))
    await worker.step()
    await env.record()


@scenario
async def failing_task_with_buffered_events(env: Environment) -> None:
    """The failure is written before the buffered events, and the next attempt is a new start."""
    worker = RawWorker(env)
    await env.start()
    first = await worker.workflow_task()
    await env.signal()
    await worker.fail(first, "WORKFLOW_WORKER_UNHANDLED_FAILURE")
    second = await worker.workflow_task()
    env.note("second", seen(second))
    await worker.complete(second)
    await env.record()


@scenario
async def timed_out_task_with_buffered_events(env: Environment) -> None:
    """The same with a time-out."""
    worker = RawWorker(env)
    await env.start(workflow_task_timeout=seconds(1))
    await worker.workflow_task()
    await env.signal()
    second = await worker.workflow_task()
    env.note("second", seen(second))
    await worker.complete(second)
    await env.record()


@scenario
async def closing_command_races_with_a_signal(env: Environment) -> None:
    """Completing while something is buffered fails the task with UnhandledCommand."""
    worker = RawWorker(env)
    await env.start()
    first = await worker.workflow_task()
    await env.signal()
    await env.attempt("completion", worker.complete(first, start_timer(), complete_workflow()))
    await env.record(label="after the refused completion")
    second = await worker.workflow_task()
    env.note("second", seen(second))
    await worker.complete(second, complete_workflow())
    await env.record(label="closed")


@scenario
async def closing_command_races_twice(env: Environment) -> None:
    """A refused completion makes the next started task safe from signals, so that a busy workflow can close."""
    worker = RawWorker(env)
    await env.start()
    first = await worker.workflow_task()
    await env.signal("one")
    await env.attempt("completion", worker.complete(first, complete_workflow()))
    await env.signal("two")
    second = await worker.workflow_task()
    env.note("second", event_names(second))
    await env.attempt("signal while closing", env.signal("three"))
    cancel = env.call("RequestCancelWorkflowExecution", workflow_execution={"workflow_id": env.id()})
    await env.attempt("cancel request while closing", cancel)
    await worker.complete(second, start_timer())
    await env.signal("four")
    await worker.step(complete_workflow())
    await env.record()


@scenario
async def force_create_new_workflow_task(env: Environment) -> None:
    """An empty completion that asks for a new task heartbeats: a task without any new event."""
    worker = RawWorker(env)
    await env.start()
    first = await worker.workflow_task()
    env.note("reply", await worker.complete(first, force_create_new_workflow_task=True))
    second = await worker.workflow_task()
    env.note("second", seen(second))
    await worker.complete(second, complete_workflow())
    await env.record()


@scenario
async def new_task_comes_in_the_reply(env: Environment) -> None:
    """With return_new_workflow_task the reply carries the next task, started."""
    worker = RawWorker(env)
    await env.start()
    first = await worker.workflow_task()
    reply = await worker.complete(first, return_new_workflow_task=True, force_create_new_workflow_task=True)
    env.note("reply", seen(reply.workflow_task))
    await env.record(label="the next task is started")
    await env.signal()
    reply = await worker.complete(reply.workflow_task, start_timer(), return_new_workflow_task=True)
    env.note("reply after a signal", seen(reply.workflow_task))
    reply = await worker.complete(reply.workflow_task, return_new_workflow_task=True)
    env.note("nothing new", reply)
    await env.record(label="after")


@scenario
async def task_carries_sdk_metadata_and_metering(env: Environment) -> None:
    """What a worker says about itself is in WorkflowTaskCompleted."""
    worker = RawWorker(env)
    await env.start()
    task = await worker.workflow_task(binary_checksum="checksum")
    await worker.complete(
        task,
        complete_workflow(),
        binary_checksum="checksum",
        worker_version_stamp={"build_id": "build"},
        sdk_metadata={
            "sdk_name": "name",
            "sdk_version": "1.2.3",
            "lang_used_flags": [1],
            "core_used_flags": [2],
        },
        metering_metadata={"nonfirst_local_activity_execution_attempts": 3},
    )
    await env.record()


@scenario
async def query_and_signal_do_not_start_a_second_task(env: Environment) -> None:
    """Signals before the first task is picked up add no second task."""
    worker = RawWorker(env)
    await env.start()
    await env.signal("one")
    await env.signal("two")
    task = await worker.workflow_task()
    env.note("task", event_names(task))
    await worker.complete(task, complete_workflow())
    await env.record()


@scenario
async def completed_workflow_ignores_commands_after_the_close(env: Environment) -> None:
    """Commands after a closing command."""
    worker = RawWorker(env)
    await env.start()
    task = await worker.workflow_task()
    await env.attempt(
        "completion", worker.complete(task, complete_workflow(), start_timer(), complete_workflow("2"))
    )
    await env.record()


@scenario
async def task_that_keeps_failing_is_reported(env: Environment) -> None:
    """After some failures in a row the description says so until a task completes; later attempts get more time.

    That time is drawn at random from a range that doubles, so that only the range is compared.
    """
    worker = RawWorker(env)
    await env.start()
    for attempt in range(1, 8):
        task = await worker.workflow_task()
        env.note(f"attempt {attempt}", [task.attempt, _extra_time(task)])
        await worker.fail(task, "WORKFLOW_WORKER_UNHANDLED_FAILURE")
        attributes = (await env.describe()).workflow_execution_info.search_attributes
        env.note(f"search attributes after failure {attempt}", attributes)
    last = await worker.workflow_task()
    await worker.complete(last, start_timer())
    env.note(
        "search attributes after completion", (await env.describe()).workflow_execution_info.search_attributes
    )
    env.note("last attempt", [last.attempt, event_names(last)])


def _extra_time(task: Any) -> str:
    """How much more than its ten seconds a task is given: a range between two powers of two times five seconds."""
    scheduled = task.history.events[-2].workflow_task_scheduled_event_attributes
    extra = scheduled.start_to_close_timeout.ToTimedelta().total_seconds() - 10
    if extra <= 0:
        return "none"
    upper = 5 * 2 ** math.ceil(math.log2(extra / 5))
    return f"from {upper * 0.8} to {upper}" if extra >= upper * 0.8 else f"{extra}"


@scenario
async def task_fails_with_each_cause(env: Environment) -> None:
    """Most causes lead to another attempt; some end the workflow."""
    worker = RawWorker(env)
    causes = (
        "UNSPECIFIED",
        "NON_DETERMINISTIC_ERROR",
        "GRPC_MESSAGE_TOO_LARGE",
        "PAYLOADS_TOO_LARGE",
        "RESET_STICKY_TASK_QUEUE",
        "FORCE_CLOSE_COMMAND",
        "EXTERNAL_STORAGE_FAILURE",
        "REQUEST_TOO_LARGE",
    )
    for cause in causes:
        await env.start(env.id(cause))
        task = await worker.workflow_task()
        await env.attempt(cause, worker.fail(task, cause, failure=None, binary_checksum="checksum"))
        await env.record(env.id(cause))
        status = (await env.describe(env.id(cause))).workflow_execution_info.status
        if status == RUNNING:
            await env.terminate(env.id(cause))
