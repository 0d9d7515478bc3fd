"""Timers, markers, and properties that a workflow sets on itself.

Here live the commands that concern the workflow alone. Newcomers forget that a timer cancelled in the task
that started it leaves both events.
"""

from __future__ import annotations

from ..environment import Environment
from ..raw_worker import (
    RawWorker,
    application_failure,
    cancel_timer,
    command,
    complete_workflow,
    payload,
    payloads,
    schedule_activity,
    seconds,
    start_timer,
    two_seconds_pass,
)
from . import scenario


@scenario
async def timers_fire_in_order(env: Environment) -> None:
    """Each firing wakes the workflow; user metadata stays with the started event."""
    worker = RawWorker(env)
    await env.start()
    metadata = {"summary": payload("summary")}
    await worker.step(start_timer("late", 1.5), start_timer("early", 0.5, user_metadata=metadata))
    await worker.step()
    await worker.step(complete_workflow())
    await env.record()


@scenario
async def timer_of_zero_seconds_fires(env: Environment) -> None:
    """It fires in a transition of its own, after the task that started it."""
    worker = RawWorker(env)
    await env.start()
    await worker.step(start_timer("zero", 0))
    await worker.step(complete_workflow())
    await env.record()


@scenario
async def timers_of_equal_deadline_fire_together(env: Environment) -> None:
    """Timers started by one task with one duration fire in one transition, in the order of their start."""
    worker = RawWorker(env)
    await env.start()
    await worker.step(*(start_timer(name, 0.5) for name in ("c", "a", "b")))
    await worker.step(complete_workflow())
    await env.record()


@scenario
async def timer_is_cancelled(env: Environment) -> None:
    """In the same task, in a later one, and an ID is free again afterwards."""
    worker = RawWorker(env)
    await env.start()
    await worker.step(start_timer("same"), cancel_timer("same"), start_timer("same"), start_timer("later"))
    await env.signal()
    await worker.step(cancel_timer("later"), start_timer("later"))
    await env.signal()
    await worker.step(complete_workflow())
    await env.record()


@scenario
async def timer_fires_while_the_task_that_cancels_it_runs(env: Environment) -> None:
    """The buffered firing is taken back by the cancellation."""
    worker = RawWorker(env)
    await env.start()
    await worker.step(start_timer("short", 1), start_timer("probe", 1.1))
    await env.signal()
    task = await worker.workflow_task()
    await two_seconds_pass(env)
    await worker.complete(task, cancel_timer("short"))
    await env.terminate()
    await env.record()


@scenario
async def workflow_closes_with_pending_timer_and_activity(env: Environment) -> None:
    """Nothing is written about what was pending."""
    worker = RawWorker(env)
    await env.start()
    await worker.step(start_timer("t", 1), schedule_activity(env, schedule_to_close_timeout=seconds(1)))
    await env.signal()
    await worker.step(complete_workflow())
    await env.record(label="closed")
    await two_seconds_pass(env)
    await env.record(label="later")
    env.note("description", await env.describe())


@scenario
async def markers_are_recorded(env: Environment) -> None:
    """Side effect, version, local activity: the server keeps what it is given."""
    worker = RawWorker(env)
    await env.start()
    await worker.step(
        command("RECORD_MARKER", marker_name="SideEffect", details={"data": payloads("value")}),
        command(
            "RECORD_MARKER",
            marker_name="Version",
            details={"change": payloads("c"), "version": payloads("1")},
        ),
        command(
            "RECORD_MARKER",
            marker_name="LocalActivity",
            details={"result": payloads("r")},
            header={"fields": {"key": payload("value")}},
            failure=application_failure("local"),
            user_metadata={"summary": payload("summary")},
        ),
        complete_workflow(),
    )
    await env.record()


@scenario
async def search_attributes_and_memo_are_upserted(env: Environment) -> None:
    """Upserts merge; an empty value removes."""
    worker = RawWorker(env)
    memo = {"fields": {"kept": payload("kept"), "changed": payload("old"), "removed": payload("x")}}
    attributes = {"indexed_fields": {"BatcherUser": payload("first")}}
    await env.start(memo=memo, search_attributes=attributes)
    null = {"metadata": {"encoding": b"binary/null"}}
    versions = {"metadata": {"encoding": b"json/plain", "type": b"KeywordList"}, "data": b'["a", "b"]'}
    await worker.step(
        command(
            "UPSERT_WORKFLOW_SEARCH_ATTRIBUTES",
            search_attributes={
                "indexed_fields": {"TemporalChangeVersion": versions, "BatcherUser": payload("second")}
            },
        ),
        command(
            "MODIFY_WORKFLOW_PROPERTIES",
            upserted_memo={"fields": {"changed": payload("new"), "removed": null, "added": payload("added")}},
        ),
    )
    info = (await env.describe()).workflow_execution_info
    env.note("after the first", {"memo": info.memo, "attributes": info.search_attributes})
    await env.signal()
    empty = {"metadata": {"encoding": b"json/plain"}, "data": b"[]"}
    await worker.step(
        command(
            "UPSERT_WORKFLOW_SEARCH_ATTRIBUTES",
            search_attributes={"indexed_fields": {"TemporalChangeVersion": empty, "BatcherUser": null}},
        ),
        complete_workflow(),
    )
    info = (await env.describe()).workflow_execution_info
    env.note("after the second", {"memo": info.memo, "attributes": info.search_attributes})
    await env.record()
