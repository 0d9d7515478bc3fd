"""ResetWorkflowExecution: a new run that goes on from a workflow task of an old one.

Here live the points that may be reset to, what becomes of everything pending there, and what is reapplied.
Newcomers forget that the event ID names the end of a workflow task: the history before it is kept.
"""

from __future__ import annotations

from typing import Any

from ..environment import Environment
from ..raw_worker import (
    RawWorker,
    command,
    complete_workflow,
    continue_as_new,
    fail_workflow,
    payload,
    payloads,
    pending,
    schedule_activity,
    seconds,
    seen,
    start_child,
    start_timer,
    two_seconds_pass,
)
from . import scenario


def _reset(
    env: Environment, event_id: int, run_id: str = "", workflow_id: str | None = None, **fields: Any
) -> Any:
    fields.setdefault("reason", "reason")
    fields.setdefault("request_id", f"reset-to-{event_id}")
    fields.setdefault("workflow_execution", {"workflow_id": workflow_id or env.id(), "run_id": run_id})
    return env.call("ResetWorkflowExecution", workflow_task_finish_event_id=event_id, **fields)


async def _described(env: Environment, label: str, run_id: str = "", workflow_id: str | None = None) -> None:
    """What a description tells of resets."""
    description = await env.describe(workflow_id, run_id)
    info = description.workflow_execution_info
    extended = description.workflow_extended_info
    env.note(f"{label}: status", info.status)
    env.note(f"{label}: reset points", info.auto_reset_points)
    env.note(f"{label}: extended", extended)
    env.note(f"{label}: first run", info.first_run_id)
    env.note(f"{label}: length", info.history_length)
    env.note(f"{label}: pending task", description.pending_workflow_task)
    env.note(f"{label}: pending activities", pending(description))
    env.note(f"{label}: pending children", list(description.pending_children))
    env.note(f"{label}: memo", info.memo)
    env.note(f"{label}: search attributes", sorted(info.search_attributes.indexed_fields))
    started = (await env.events(workflow_id or env.id(), run_id))[0].event_time.ToNanoseconds()
    env.note(f"{label}: starts with its first event", info.start_time.ToNanoseconds() == started)
    env.note(
        f"{label}: execution time is that of the start",
        info.execution_time.ToNanoseconds() == info.start_time.ToNanoseconds(),
    )
    env.note(f"{label}: original start", extended.original_start_time.ToNanoseconds() == started)


@scenario
async def reset_an_open_run(env: Environment) -> None:
    """The open run is terminated; the new one goes on with the signals that came later."""
    worker = RawWorker(env)
    first = await env.start(memo={"fields": {"note": payload("memo")}})
    await env.signal("before")
    await worker.step(start_timer("one"))
    link = {"workflow_event": {"namespace": "default", "workflow_id": "w", "run_id": "r"}}
    header = {"fields": {"key": payload("value")}}
    await env.signal("after", input=payloads("input"), header=header, request_id="signal", links=[link])
    await worker.step(start_timer("two"))
    await env.attempt("reset", _reset(env, 5))
    await _described(env, "base", first)
    await _described(env, "new")
    task = await worker.workflow_task()
    env.note("task", seen(task))
    await worker.complete(task, complete_workflow())
    await env.record(run_id=first)
    await env.record()
    await _described(env, "new at the end")


@scenario
async def reset_a_closed_run(env: Environment) -> None:
    """A completed and a failed run are left as they are."""
    worker = RawWorker(env)
    for ending, closing in (("completed", complete_workflow()), ("failed", fail_workflow())):
        workflow_id = env.id(ending)
        first = await env.start(workflow_id)
        await worker.step(start_timer("one"))
        await env.signal("go", workflow_id)
        await worker.step(closing)
        await env.attempt(f"reset the {ending} run", _reset(env, 8, workflow_id=workflow_id))
        await env.record(workflow_id, first)
        await env.record(workflow_id)
        await _described(env, ending, first, workflow_id)
        await _described(env, f"after {ending}", workflow_id=workflow_id)
        await worker.step(complete_workflow())
        await env.record(workflow_id)


@scenario
async def reset_to_every_event(env: Environment) -> None:
    """Which events end a workflow task, and what the others are answered."""
    worker = RawWorker(env)
    first = await env.start()
    await env.signal("one")
    await worker.step(schedule_activity(env), start_timer("timer"))
    await worker.complete_activity(await worker.activity_task())
    task = await worker.workflow_task()
    await env.signal("two")
    await worker.fail(task, "WORKFLOW_WORKER_UNHANDLED_FAILURE")
    await worker.step(complete_workflow())
    last = len(await env.events(env.id(), first))
    await env.record(run_id=first, label="base")
    for event_id in range(-1, last + 2):
        reply = await env.attempt(f"reset to {event_id}", _reset(env, event_id, first))
        if reply is not None:
            await env.record(run_id=reply.run_id, label=f"reset to {event_id}")
    await env.terminate()


@scenario
async def reset_a_run_whose_task_is_started(env: Environment) -> None:
    """What waited for the started task is reapplied once."""
    worker = RawWorker(env)
    first = await env.start()
    await worker.step()
    await env.signal("one")
    task = await worker.workflow_task()
    await env.signal("buffered", request_id="buffered")
    await env.attempt("reset", _reset(env, 4))
    await env.attempt("late answer", worker.complete(task))
    await worker.step(complete_workflow())
    await env.record(run_id=first)
    await env.record()


@scenario
async def reset_a_run_whose_task_was_never_started(env: Environment) -> None:
    """The scheduled task of the old run is started and failed in the new one."""
    worker = RawWorker(env)
    first = await env.start()
    await env.attempt("to the end of the first task", _reset(env, 3))
    await env.signal("one")
    await env.attempt("again", _reset(env, 3, first, request_id="again"))
    await worker.step(complete_workflow())
    await env.record(run_id=first)
    await env.record()


@scenario
async def reset_a_timed_out_run(env: Environment) -> None:
    """The new run has its whole time before it, as well as the whole execution."""
    worker = RawWorker(env)
    first = await env.start(workflow_run_timeout=seconds(1), workflow_execution_timeout=seconds(100))
    await worker.step()
    await env.until_event("WORKFLOW_EXECUTION_TIMED_OUT")
    await env.attempt("reset", _reset(env, 4))
    description = await env.describe()
    info, extended = description.workflow_execution_info, description.workflow_extended_info
    env.note("status", info.status)
    lifetime = extended.run_expiration_time.ToNanoseconds() - info.start_time.ToNanoseconds()
    env.note("run time", round(lifetime / 1e9, 1))
    lifetime = extended.execution_expiration_time.ToNanoseconds() - info.start_time.ToNanoseconds()
    env.note("execution time", round(lifetime / 1e9, 1))
    await env.until_event("WORKFLOW_EXECUTION_TIMED_OUT")
    await env.record(run_id=first)
    await env.record()


@scenario
async def reset_with_pending_activities(env: Environment) -> None:
    """Activities of before the point run again, whatever became of them in the old run."""
    worker = RawWorker(env)
    first = await env.start()
    retry = {"maximum_attempts": 3, "initial_interval": seconds(0.01)}
    await worker.step(
        schedule_activity(env, "completed", task_queue={"name": env.queue("completed")}),
        schedule_activity(env, "retried", task_queue={"name": env.queue("retried")}, retry_policy=retry),
        schedule_activity(env, "waiting", task_queue={"name": env.queue("waiting")}),
        schedule_activity(env, "started", task_queue={"name": env.queue("started")}),
    )
    await worker.fail_activity(await worker.activity_task(env.queue("retried")))
    await worker.heartbeat(await worker.activity_task(env.queue("retried")))
    started = await worker.activity_task(env.queue("started"))
    await env.signal("wake up")
    await worker.step()
    await worker.complete_activity(await worker.activity_task(env.queue("completed")))
    await env.attempt("reset", _reset(env, 11))
    await _described(env, "new")
    await env.attempt("answer for the old run", worker.complete_activity(started))
    for name in ("completed", "retried", "waiting", "started"):
        task = await worker.activity_task(env.queue(name))
        env.note(f"task {name}", seen(task))
        await worker.complete_activity(task)
    await worker.step(complete_workflow())
    await env.record(run_id=first)
    await env.record()


@scenario
async def reset_between_an_activity_and_its_task(env: Environment) -> None:
    """An activity that the kept history shows as started is failed."""
    worker = RawWorker(env)
    first = await env.start()
    await worker.step(schedule_activity(env, "a", task_queue={"name": env.queue("a")}))
    await env.signal("wake up")
    await worker.complete_activity(await worker.activity_task(env.queue("a")))
    await worker.step(start_timer("timer"))
    await env.record(run_id=first)
    events = [event.event_type for event in await env.events(env.id())]
    env.note("events", events)
    await env.attempt("before the completion", _reset(env, 9, first))
    await env.record()
    await env.attempt("before the start", _reset(env, 8, first))
    await env.record()


@scenario
async def reset_with_a_timer(env: Environment) -> None:
    """A timer that was due in the old run is due in the new one at once; a later one later."""
    worker = RawWorker(env)
    first = await env.start()
    await worker.step(start_timer("soon", 1), start_timer("never"))
    await env.until_event("TIMER_FIRED")
    await worker.step()
    await env.attempt("reset", _reset(env, 4))
    await worker.step()
    await env.attempt("reset to after the start of the timers", _reset(env, 10, first, request_id="second"))
    task = await worker.workflow_task()
    env.note("task", seen(task))
    await worker.complete(task, complete_workflow())
    await env.record(run_id=first)
    await env.record()


@scenario
async def reset_before_a_timer_fired(env: Environment) -> None:
    """The timer of the kept history fires in the new run, too."""
    worker = RawWorker(env)
    first = await env.start()
    await worker.step(start_timer("soon", 1))
    await env.signal("wake up")
    await worker.step()
    await env.until_event("TIMER_FIRED")
    await worker.step()
    await env.attempt("reset", _reset(env, 9, first))
    await env.until_event("TIMER_FIRED")
    await env.until_event("WORKFLOW_TASK_SCHEDULED", n=3)
    await worker.step(complete_workflow())
    await env.record(run_id=first)
    events = await env.events(env.id())
    env.note("set", sorted(event.event_type for event in events))


@scenario
async def reset_reapplies_what_it_is_told_to(env: Environment) -> None:
    """The reapply types, old and new."""
    worker = RawWorker(env)
    first = await env.start()
    await worker.step()
    await env.signal("signal")
    await env.call(
        "RequestCancelWorkflowExecution", workflow_execution={"workflow_id": env.id()}, reason="cancel"
    )
    await worker.step(complete_workflow())
    cases: dict[str, dict[str, Any]] = {
        "signals": {"reset_reapply_type": "RESET_REAPPLY_TYPE_SIGNAL"},
        "none": {"reset_reapply_type": "RESET_REAPPLY_TYPE_NONE"},
        "all": {"reset_reapply_type": "RESET_REAPPLY_TYPE_ALL_ELIGIBLE"},
        "no signals": {"reset_reapply_exclude_types": ["RESET_REAPPLY_EXCLUDE_TYPE_SIGNAL"]},
        "no updates": {"reset_reapply_exclude_types": ["RESET_REAPPLY_EXCLUDE_TYPE_UPDATE"]},
        "nothing": {
            "reset_reapply_exclude_types": [
                "RESET_REAPPLY_EXCLUDE_TYPE_SIGNAL",
                "RESET_REAPPLY_EXCLUDE_TYPE_UPDATE",
                "RESET_REAPPLY_EXCLUDE_TYPE_NEXUS",
                "RESET_REAPPLY_EXCLUDE_TYPE_CANCEL_REQUEST",
            ]
        },
    }
    for name, fields in cases.items():
        reply = await env.attempt(name, _reset(env, 4, first, request_id=name, **fields))
        if reply is not None:
            await env.record(run_id=reply.run_id, label=name)
    await env.terminate()


@scenario
async def reset_keeps_a_cancel_request(env: Environment) -> None:
    """One of before the point is known to the new run."""
    worker = RawWorker(env)
    first = await env.start()
    cancel = {"workflow_execution": {"workflow_id": env.id()}, "reason": "cancel"}
    await env.call("RequestCancelWorkflowExecution", **cancel)
    await worker.step()
    await env.attempt("reset", _reset(env, 5, first))
    await env.attempt("cancel again", env.call("RequestCancelWorkflowExecution", **cancel))
    env.note("description", (await env.describe()).workflow_extended_info)
    await worker.step(command("CANCEL_WORKFLOW_EXECUTION"))
    await env.record()


@scenario
async def reset_keeps_the_request_id_of_the_start(env: Environment) -> None:
    """The new run answers the request that started the old one, and each reset makes another run."""
    worker = RawWorker(env)
    first = await env.start(request_id="start")
    await worker.step()
    await env.attempt("reset", _reset(env, 4, first, request_id="one"))
    await env.attempt("with the start's", _reset(env, 4, first, request_id="start"))
    await env.attempt("another", _reset(env, 4, first, request_id="two"))
    await env.attempt(
        "start again",
        env.call(
            "StartWorkflowExecution",
            workflow_id=env.id(),
            workflow_type={"name": "Workflow"},
            task_queue={"name": env.queue()},
            request_id="start",
        ),
    )
    await env.attempt(
        "start with the reset's",
        env.call(
            "StartWorkflowExecution",
            workflow_id=env.id(),
            workflow_type={"name": "Workflow"},
            task_queue={"name": env.queue()},
            request_id="one",
        ),
    )
    await _described(env, "current")
    await env.record()


@scenario
async def reset_a_continued_run(env: Environment) -> None:
    """Signals of the runs that followed are reapplied, too."""
    worker = RawWorker(env)
    first = await env.start()
    await worker.step()
    await env.signal("first run")
    await env.outlive_the_pause()
    await worker.step(continue_as_new(env))
    second = (await env.describe()).workflow_execution_info.execution.run_id
    task = await worker.workflow_task()
    await env.signal("second run")
    await env.attempt("reset", _reset(env, 4, first))
    await env.attempt("late answer", worker.complete(task))
    await worker.step(complete_workflow())
    await env.record(run_id=first)
    await env.record(run_id=second)
    await env.record()
    await _described(env, "first", first)
    await _described(env, "second", second)
    await _described(env, "new")


@scenario
async def reset_a_run_that_another_one_followed(env: Environment) -> None:
    """A later run with the same ID is terminated; its signals are its own."""
    worker = RawWorker(env)
    first = await env.start(request_id="first")
    await worker.step()
    await env.signal("first run")
    await worker.step(complete_workflow())
    second = await env.start(request_id="second")
    task = await worker.workflow_task()
    await env.signal("second run")
    await env.attempt("reset", _reset(env, 4, first))
    await env.attempt("late answer", worker.complete(task))
    await worker.step(complete_workflow())
    await env.record(run_id=first)
    await env.record(run_id=second)
    await env.record()
    await _described(env, "second", second)


@scenario
async def reset_a_reset_run(env: Environment) -> None:
    """To a point in its own history, and to one in that of its ancestors."""
    worker = RawWorker(env)
    first = await env.start()
    await worker.step()
    await env.signal("one")
    await worker.step()
    second = (await _reset(env, 8, request_id="second")).run_id
    await worker.step()
    await env.signal("two")
    await worker.step()
    third = (await _reset(env, 11, second, request_id="third")).run_id
    await worker.step()
    fourth = (await _reset(env, 4, third, request_id="fourth")).run_id
    await worker.step(complete_workflow())
    for label, run_id in (("first", first), ("second", second), ("third", third), ("fourth", fourth)):
        await env.record(run_id=run_id, label=label)
        await _described(env, label, run_id)
    backwards = await env.call(
        "GetWorkflowExecutionHistoryReverse", execution={"workflow_id": env.id(), "run_id": fourth}
    )
    env.note("backwards", [event.event_id for event in backwards.history.events])


@scenario
async def reset_with_an_open_child(env: Environment) -> None:
    """A child of before the point stays, and reports to the new run."""
    worker = RawWorker(env)
    first = await env.start()
    await worker.step(start_child(env, env.id("child")))
    await env.until_event("CHILD_WORKFLOW_EXECUTION_STARTED")
    await worker.step()
    await env.attempt("reset", _reset(env, 9, first))
    await _described(env, "new")
    await RawWorker(env, env.queue("child")).step(complete_workflow())
    await env.until_event("CHILD_WORKFLOW_EXECUTION_COMPLETED")
    await worker.step(complete_workflow())
    await env.record(run_id=first)
    await env.record()
    await env.record(env.id("child"))


@scenario
async def reset_to_before_a_child_was_known(env: Environment) -> None:
    """A child initiated before the point and started after it: its start and its end are reapplied."""
    worker = RawWorker(env)
    first = await env.start()
    await worker.step(start_child(env, env.id("child")))
    await env.until_event("CHILD_WORKFLOW_EXECUTION_STARTED")
    await RawWorker(env, env.queue("child")).step(complete_workflow())
    await env.until_event("CHILD_WORKFLOW_EXECUTION_COMPLETED")
    await worker.step()
    await env.attempt("to the task that started it", _reset(env, 4, first))
    await env.record()
    await worker.step(start_child(env, env.id("child")))
    await env.until_event("CHILD_WORKFLOW_EXECUTION_STARTED")
    await env.record()
    await env.record(env.id("child"))
    await env.terminate()


@scenario
async def reset_with_a_child_that_closed(env: Environment) -> None:
    """A child started before the point that closed after it: its end is reapplied."""
    worker = RawWorker(env)
    first = await env.start()
    await worker.step(start_child(env, env.id("one")), start_child(env, env.id("two")))
    await env.until_event("CHILD_WORKFLOW_EXECUTION_STARTED", n=2)
    await env.signal("wake up")
    task = await worker.workflow_task()
    await env.terminate(env.id("two"))
    for _ in range(2):
        child = RawWorker(env, env.queue("child"))
        break
    await worker.complete(task)
    await env.until_event("CHILD_WORKFLOW_EXECUTION_TERMINATED")
    await child.step(complete_workflow("child's result"))
    await env.until_event("CHILD_WORKFLOW_EXECUTION_COMPLETED")
    await worker.step()
    events = await env.events(env.id(), first)
    started = next(
        event.event_id for event in reversed(events) if event.event_type == 6 and event.event_id < 14
    )
    await env.attempt("reset", _reset(env, started + 1, first))
    await worker.step(complete_workflow())
    env.note("kinds", sorted(event.event_type for event in await env.events(env.id())))
    await _described(env, "new")


@scenario
async def reset_to_before_a_child(env: Environment) -> None:
    """An open child that the kept history does not know goes on; its ID is taken."""
    worker = RawWorker(env)
    first = await env.start()
    await worker.step()
    await env.signal("go")
    await worker.step(start_child(env, env.id("child")))
    await env.until_event("CHILD_WORKFLOW_EXECUTION_STARTED")
    await env.attempt("reset", _reset(env, 4, first))
    await worker.step(start_child(env, env.id("child")))
    await env.until_event("START_CHILD_WORKFLOW_EXECUTION_FAILED")
    await RawWorker(env, env.queue("child")).step(complete_workflow())
    await worker.step(complete_workflow())
    await env.record(run_id=first)
    await env.record()
    await env.record(env.id("child"))


@scenario
async def reset_a_child(env: Environment) -> None:
    """Its parent hears of the new run's end, not of the reset."""
    worker = RawWorker(env)
    await env.start()
    await worker.step(start_child(env, env.id("child")))
    await env.until_event("CHILD_WORKFLOW_EXECUTION_STARTED")
    child = RawWorker(env, env.queue("child"))
    await child.step()
    await worker.step()
    first = (await env.describe(env.id("child"))).workflow_execution_info.execution.run_id
    await env.attempt("reset", _reset(env, 4, workflow_id=env.id("child")))
    await child.step(complete_workflow("of the new run"))
    await env.until_event("CHILD_WORKFLOW_EXECUTION_COMPLETED")
    await worker.step(complete_workflow())
    await env.record()
    await env.record(env.id("child"), first)
    await env.record(env.id("child"))


@scenario
async def reset_with_external_requests(env: Environment) -> None:
    """A signal to another workflow of before the point that was answered after it."""
    worker = RawWorker(env)
    target = env.id("target")
    await env.start(target, task_queue={"name": env.queue("target")})
    first = await env.start()
    await worker.step(
        command(
            "SIGNAL_EXTERNAL_WORKFLOW_EXECUTION",
            execution={"workflow_id": target},
            signal_name="hello",
        )
    )
    await env.until_event("EXTERNAL_WORKFLOW_EXECUTION_SIGNALED")
    await worker.step()
    await env.attempt("reset", _reset(env, 4, first))
    await worker.step(complete_workflow())
    await env.record()
    await env.record(target)
    await env.terminate(target)


@scenario
async def reset_and_upserts(env: Environment) -> None:
    """Memo and search attributes are those of the point."""
    worker = RawWorker(env)
    first = await env.start(memo={"fields": {"note": payload("start")}})
    await worker.step(
        command("MODIFY_WORKFLOW_PROPERTIES", upserted_memo={"fields": {"note": payload("kept")}}),
        command(
            "UPSERT_WORKFLOW_SEARCH_ATTRIBUTES",
            search_attributes={"indexed_fields": {"BatcherUser": payload("kept")}},
        ),
        binary_checksum="first",
    )
    await env.signal("go")
    await worker.step(
        command("MODIFY_WORKFLOW_PROPERTIES", upserted_memo={"fields": {"note": payload("lost")}}),
        command(
            "UPSERT_WORKFLOW_SEARCH_ATTRIBUTES",
            search_attributes={"indexed_fields": {"BatcherUser": payload("lost")}},
        ),
        binary_checksum="second",
    )
    await env.attempt("reset", _reset(env, 9, first))
    info = (await env.describe()).workflow_execution_info
    env.note("memo", info.memo)
    env.note("search attributes", info.search_attributes)
    env.note("reset points", info.auto_reset_points)
    info = (await env.describe(run_id=first)).workflow_execution_info
    env.note("reset points of the base", info.auto_reset_points)
    await worker.step(complete_workflow())
    await env.record()


@scenario
async def reset_points_of_builds(env: Environment) -> None:
    """The first completion of each checksum and build ID, and the search attributes made of them."""
    worker = RawWorker(env)
    first = await env.start()
    for number, fields in enumerate(
        (
            {"binary_checksum": "a"},
            {},
            {"worker_version_stamp": {"build_id": "b"}},
            {"binary_checksum": "c", "worker_version_stamp": {"build_id": "b"}},
            {"binary_checksum": "a"},
        )
    ):
        await worker.step(**fields)
        info = (await env.describe()).workflow_execution_info
        env.note(f"points {number}", info.auto_reset_points)
        env.note(f"search attributes {number}", info.search_attributes)
        await env.signal("go")
    await env.attempt("reset", _reset(env, 12, first))
    info = (await env.describe()).workflow_execution_info
    env.note("points", info.auto_reset_points)
    env.note("search attributes", info.search_attributes)
    await worker.step(complete_workflow())


@scenario
async def reset_reapplies_signals_of_workflows(env: Environment) -> None:
    """The sender of a reapplied signal stays known."""
    worker = RawWorker(env)
    first = await env.start()
    await worker.step()
    sender = env.id("sender")
    await env.start(sender, task_queue={"name": env.queue("sender")})
    await RawWorker(env, env.queue("sender")).step(
        command(
            "SIGNAL_EXTERNAL_WORKFLOW_EXECUTION",
            execution={"workflow_id": env.id()},
            signal_name="hello",
            header={"fields": {"key": payload("header")}},
        )
    )
    await env.until_event("WORKFLOW_EXECUTION_SIGNALED")
    await env.attempt("reset", _reset(env, 4, first))
    await env.record()
    await env.terminate()
    await env.terminate(sender)


@scenario
async def reset_a_parent_that_cancels_its_child(env: Environment) -> None:
    """A request for a child only reaches the child that the old run started."""
    worker = RawWorker(env)
    first = await env.start()
    await worker.step(start_child(env, env.id("child")))
    await env.until_event("CHILD_WORKFLOW_EXECUTION_STARTED")
    await worker.step()
    await env.attempt("reset", _reset(env, 9, first))
    await worker.step(
        command(
            "REQUEST_CANCEL_EXTERNAL_WORKFLOW_EXECUTION",
            workflow_id=env.id("child"),
            child_workflow_only=True,
        ),
        command(
            "SIGNAL_EXTERNAL_WORKFLOW_EXECUTION",
            execution={"workflow_id": env.id("child")},
            signal_name="hello",
            child_workflow_only=True,
        ),
    )

    async def answered() -> bool:
        events = await env.events(env.id())
        return (
            sum("external_workflow_execution" in str(event.WhichOneof("attributes")) for event in events) >= 4
        )

    await env.until("both answers", answered)
    events = await env.events(env.id())
    env.note("kinds", sorted(event.event_type for event in events))
    await env.record(env.id("child"))
    await env.terminate()


@scenario
async def reset_and_the_parent_close_policy(env: Environment) -> None:
    """Neither the reset nor the new run's end stops a child of the old run."""
    worker = RawWorker(env)
    first = await env.start()
    await worker.step(start_child(env, env.id("child")))
    await env.until_event("CHILD_WORKFLOW_EXECUTION_STARTED")
    await worker.step()
    await env.attempt("reset", _reset(env, 9, first))
    await worker.step(complete_workflow())
    await two_seconds_pass(env)
    await env.record()
    await env.record(env.id("child"))
    await env.terminate(env.id("child"))


@scenario
async def reset_to_an_older_run_applies_the_parent_close_policy(env: Environment) -> None:
    """A later run that a reset terminates leaves no children behind."""
    worker = RawWorker(env)
    first = await env.start(request_id="first")
    await worker.step(complete_workflow())
    second = await env.start(request_id="second")
    await worker.step(start_child(env, env.id("child")))
    await env.until_event("CHILD_WORKFLOW_EXECUTION_STARTED")
    await worker.step()
    await env.attempt("reset", _reset(env, 4, first))
    await env.until_event("WORKFLOW_EXECUTION_TERMINATED", env.id("child"))
    await env.record(run_id=second)
    await env.record(env.id("child"))
    await env.terminate()


@scenario
async def reset_reapplies_attached_requests(env: Environment) -> None:
    """A start that was attached to the old run is attached to the new one."""
    worker = RawWorker(env)
    first = await env.start()
    await worker.step()
    again = {
        "workflow_id": env.id(),
        "workflow_type": {"name": "Workflow"},
        "task_queue": {"name": env.queue()},
        "request_id": "attached",
        "workflow_id_conflict_policy": "WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING",
        "on_conflict_options": {"attach_request_id": True, "attach_links": True},
    }
    await env.attempt("attach", env.call("StartWorkflowExecution", **again))
    await env.attempt("reset", _reset(env, 4, first))
    await _described(env, "new")
    await env.attempt("attach again", env.call("StartWorkflowExecution", **again))
    await env.record()
    await env.terminate()


@scenario
async def reset_a_run_whose_task_keeps_failing(env: Environment) -> None:
    """The transient task of the old run leaves no event."""
    worker = RawWorker(env)
    first = await env.start()
    await worker.step()
    await env.signal("go")
    for _ in range(3):
        await worker.fail(await worker.workflow_task(), "WORKFLOW_WORKER_UNHANDLED_FAILURE")
    await worker.workflow_task()
    await env.attempt("to the failed task", _reset(env, 8, first))
    task = await worker.workflow_task()
    env.note("task", seen(task))
    await worker.complete(task, complete_workflow())
    await env.record(run_id=first)
    await env.record()


@scenario
async def reset_a_sticky_run(env: Environment) -> None:
    """The new run's first task goes to the normal queue with the whole history."""
    worker = RawWorker(env)
    first = await env.start()
    sticky = {
        "worker_task_queue": {"name": env.queue("sticky"), "kind": "TASK_QUEUE_KIND_STICKY"},
        "schedule_to_start_timeout": seconds(10),
    }
    await worker.step(start_timer(), sticky_attributes=sticky)
    await env.signal("go")
    await env.attempt("reset", _reset(env, 4, first))
    await worker.step(complete_workflow())
    await env.record(run_id=first)
    await env.record()


@scenario
async def reset_a_cron_and_a_retried_run(env: Environment) -> None:
    """The new run keeps its cron and its attempt."""
    worker = RawWorker(env)
    first = await env.start(retry_policy={"maximum_attempts": 2})
    await worker.step()
    await env.signal("go")
    await worker.step(fail_workflow())
    second = (await env.describe()).workflow_execution_info.execution.run_id
    await env.attempt("reset", _reset(env, 4, first))
    await env.record(run_id=first)
    await env.record(run_id=second)
    await worker.step(fail_workflow())
    third = (await env.describe()).workflow_execution_info.execution.run_id
    await env.record(run_id=third)
    await env.terminate()


@scenario
async def reset_is_refused(env: Environment) -> None:
    """Unknown workflows and runs, missing IDs, too much."""
    worker = RawWorker(env)
    first = await env.start()
    await worker.step()
    override = {"versioning_override": {"auto_upgrade": True}}
    options = {"workflow_execution_options": override, "update_mask": {"paths": ["versioning_override"]}}
    cases: dict[str, dict[str, Any]] = {
        "unknown": {"workflow_execution": {"workflow_id": "no-such"}},
        "bad run": {"workflow_execution": {"workflow_id": env.id(), "run_id": "no-run-id"}},
        "other run": {
            "workflow_execution": {
                "workflow_id": env.id(),
                "run_id": "11111111-1111-1111-1111-111111111111",
            }
        },
        "no workflow": {"workflow_execution": {}},
        "no execution": {"workflow_execution": None},
        "no request": {"request_id": ""},
        "no reason": {"reason": "", "request_id": "no reason"},
        "long request": {"request_id": "x" * 1001},
        "long reason": {"reason": "x" * 1001, "request_id": "long reason"},
        "no event": {"event_id": 0},
        "beyond": {"event_id": 100},
        "unknown namespace": {"namespace": "no-such-namespace"},
        "empty operation": {"post_reset_operations": [{}]},
        "signal operation": {"post_reset_operations": [{"signal_workflow": {"signal_name": "after"}}]},
    }
    assert options
    for name, fields in cases.items():
        execution = {"workflow_id": env.id(), "run_id": first}
        call = {"workflow_execution": execution, "event_id": 4} | fields
        await env.attempt(name, _reset(env, call.pop("event_id"), **call))
    await env.record(run_id=first)
    await env.record()


@scenario
async def reset_with_identity(env: Environment) -> None:
    """Whose request it was is known nowhere but in the events that say so."""
    worker = RawWorker(env)
    first = await env.start(identity="starter")
    await worker.step()
    await env.attempt("reset", _reset(env, 4, first, identity="resetter", reason=""))
    await two_seconds_pass(env)
    await env.record(run_id=first)
    await env.record()
