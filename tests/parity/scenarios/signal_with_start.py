"""SignalWithStartWorkflowExecution: a run that is open gets the signal, else one is started that begins with it.

Here live its policies, its two ways of deduplication and its refusals. Newcomers forget that one request ID
serves the start and the signal alike.
"""

from __future__ import annotations

import asyncio
from typing import Any

from ..environment import Environment
from ..raw_worker import RawWorker, complete_workflow, fail_workflow, payload, payloads, seconds, seen
from . import scenario


def _call(env: Environment, **fields: Any) -> Any:
    fields.setdefault("workflow_id", env.id())
    fields.setdefault("workflow_type", {"name": "Workflow"})
    fields.setdefault("task_queue", {"name": env.queue()})
    fields.setdefault("signal_name", "signal")
    return env.call("SignalWithStartWorkflowExecution", **fields)


@scenario
async def signal_with_start_starts_and_signals(env: Environment) -> None:
    """Without a run it starts one whose second event is the signal, with all that the request carries."""
    worker = RawWorker(env)
    link = {"workflow_event": {"namespace": "default", "workflow_id": "w", "run_id": "r"}}
    call = _call(
        env,
        request_id="request",
        input=payloads("start input"),
        signal_input=payloads("one", "two"),
        header={"fields": {"key": payload("value")}},
        memo={"fields": {"note": payload("memo")}},
        search_attributes={"indexed_fields": {"BatcherUser": payload("user")}},
        user_metadata={"summary": payload("summary")},
        links=[link],
        workflow_run_timeout=seconds(300),
        workflow_execution_timeout=seconds(600),
        retry_policy={"maximum_attempts": 3},
        priority={"priority_key": 2},
    )
    await env.attempt("reply", call)
    task = await worker.workflow_task()
    env.note("task", seen(task))
    await worker.complete(task, complete_workflow())
    await env.record()
    env.note("description", (await env.describe()).workflow_extended_info)


@scenario
async def signal_with_start_signals_an_open_run(env: Environment) -> None:
    """An open run is signalled, at once or into the buffer of its started task."""
    worker = RawWorker(env)
    await env.start()
    await env.attempt("before the task", _call(env, request_id="before", signal_input=payloads("before")))
    task = await worker.workflow_task()
    link = {"workflow_event": {"namespace": "default", "workflow_id": "w", "run_id": "r"}}
    await env.attempt("during the task", _call(env, request_id="during", links=[link]))
    await env.attempt("without request ID", _call(env, signal_name="bare"))
    await worker.complete(task)
    await worker.step(complete_workflow())
    await env.record()
    env.note("description", (await env.describe()).workflow_extended_info)


@scenario
async def signal_with_start_is_deduplicated_by_request_id(env: Environment) -> None:
    """The same request ID neither starts nor signals twice, be the run open or closed."""
    worker = RawWorker(env)
    await env.attempt("first", _call(env, request_id="request"))
    await env.attempt("again", _call(env, request_id="request"))
    await env.attempt("another", _call(env, request_id="another", signal_name="another"))
    task = await worker.workflow_task()
    await env.attempt("another again", _call(env, request_id="another", signal_name="another"))
    await worker.complete(task, complete_workflow())
    await env.attempt("after the close", _call(env, request_id="request"))
    await env.record()
    await env.attempt("another after the close", _call(env, request_id="another", signal_name="another"))
    await env.record(label="current at the end")


@scenario
async def signal_with_start_follows_an_equal_start(env: Environment) -> None:
    """A start with the same request ID came before: the signal is still to be delivered."""
    worker = RawWorker(env)
    await env.start(request_id="request")
    await env.attempt("signal with start", _call(env, request_id="request"))
    await env.attempt("again", _call(env, request_id="request"))
    env.note("description", (await env.describe()).workflow_extended_info)
    await worker.step(complete_workflow())
    await env.record()


@scenario
async def signal_with_start_after_a_closed_run(env: Environment) -> None:
    """What each reuse policy says about a closed run, completed or failed."""
    for ending, closing in (("completed", complete_workflow()), ("failed", fail_workflow())):
        worker = RawWorker(env, env.queue(ending))
        await env.start(env.id(ending), task_queue={"name": env.queue(ending)})
        await worker.step(closing)
        fields = {"workflow_id": env.id(ending), "task_queue": {"name": env.queue(ending)}}
        for policy in ("REJECT_DUPLICATE", "ALLOW_DUPLICATE_FAILED_ONLY", "ALLOW_DUPLICATE"):
            reuse = f"WORKFLOW_ID_REUSE_POLICY_{policy}"
            reply = await env.attempt(
                f"{ending}: {policy}",
                _call(env, workflow_id_reuse_policy=reuse, request_id=policy, **fields),
            )
            if reply is not None:
                await worker.step(closing)
        await env.record(env.id(ending))


@scenario
async def signal_with_start_on_an_open_run_by_policy(env: Environment) -> None:
    """The conflict policies, and the older way to ask for termination."""
    await env.start()
    for name, fields in {
        "use existing": {"workflow_id_conflict_policy": "WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING"},
        "fail": {"workflow_id_conflict_policy": "WORKFLOW_ID_CONFLICT_POLICY_FAIL"},
        "reject duplicate": {"workflow_id_reuse_policy": "WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE"},
        "failed only": {"workflow_id_reuse_policy": "WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE_FAILED_ONLY"},
        "terminate and reject": {
            "workflow_id_reuse_policy": "WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE",
            "workflow_id_conflict_policy": "WORKFLOW_ID_CONFLICT_POLICY_TERMINATE_EXISTING",
        },
        "terminate twice": {
            "workflow_id_reuse_policy": "WORKFLOW_ID_REUSE_POLICY_TERMINATE_IF_RUNNING",
            "workflow_id_conflict_policy": "WORKFLOW_ID_CONFLICT_POLICY_TERMINATE_EXISTING",
        },
    }.items():
        await env.attempt(name, _call(env, signal_name=name, request_id=name, **fields))
    first = (await env.describe()).workflow_execution_info.execution.run_id
    terminate = {"workflow_id_conflict_policy": "WORKFLOW_ID_CONFLICT_POLICY_TERMINATE_EXISTING"}
    await env.attempt("terminate", _call(env, request_id="terminate", **terminate))
    await env.attempt("terminate again", _call(env, request_id="terminate", **terminate))
    second = (await env.describe()).workflow_execution_info.execution.run_id
    older = {"workflow_id_reuse_policy": "WORKFLOW_ID_REUSE_POLICY_TERMINATE_IF_RUNNING"}
    await env.attempt("terminate if running", _call(env, request_id="older", **older))
    await env.record(run_id=first)
    await env.record(run_id=second)
    await env.record()


@scenario
async def signal_with_start_delays_the_start(env: Environment) -> None:
    """The signal is there at once, the first task only after the delay, which a second call ends."""
    await env.start(env.id("plain"), workflow_start_delay=seconds(50))
    await env.attempt("a plain start", _call(env, workflow_id=env.id("plain"), request_id="plain"))
    await env.record(env.id("plain"))
    await env.attempt("start", _call(env, request_id="request", workflow_start_delay=seconds(50)))
    await env.record(label="delayed")
    await env.attempt("signal", _call(env, request_id="second", workflow_start_delay=seconds(50)))
    await env.record()


@scenario
async def signal_with_start_by_cron(env: Environment) -> None:
    """The first run of a cron begins with the signal and waits for its time."""
    await env.attempt("start", _call(env, request_id="request", cron_schedule="0 0 1 1 *"))
    await env.attempt("signal", _call(env, request_id="second", cron_schedule="0 0 1 1 *"))
    await env.record()
    await env.terminate()


@scenario
async def signal_with_start_is_refused(env: Environment) -> None:
    """Missing names, too much, contradictions."""
    big = {"payloads": [{"data": b"x" * (2 * 1024 * 1024 + 1)}]}
    cases: dict[str, dict[str, Any]] = {
        "no workflow": {"workflow_id": ""},
        "long workflow": {"workflow_id": "x" * 1001},
        "no signal": {"signal_name": ""},
        "long signal": {"signal_name": "x" * 1001},
        "no type": {"workflow_type": {"name": ""}},
        "long type": {"workflow_type": {"name": "x" * 1001}},
        "no queue": {"task_queue": {"name": ""}},
        "long request": {"request_id": "x" * 1001},
        "negative time-out": {"workflow_run_timeout": seconds(-1)},
        "bad retry": {"retry_policy": {"maximum_attempts": -1}},
        "bad cron": {"cron_schedule": "nonsense"},
        "cron and delay": {"cron_schedule": "0 0 1 1 *", "workflow_start_delay": seconds(1)},
        "unknown attribute": {"search_attributes": {"indexed_fields": {"NoSuch": payload("v")}}},
        "big input": {"input": big},
        "big signal": {"signal_input": big},
        "big memo": {"memo": {"fields": {"m": big["payloads"][0]}}},
        "unknown namespace": {"namespace": "no-such-namespace"},
        "no namespace": {"namespace": ""},
        "everything missing": {"workflow_id": "", "signal_name": "", "workflow_type": {"name": ""}},
        "bad link": {"links": [{"workflow_event": {"namespace": "default"}}]},
    }
    for name, fields in cases.items():
        await env.attempt(name, _call(env, **fields))


@scenario
async def signal_with_start_while_the_run_closes(env: Environment) -> None:
    """A close that lost its race, its next task started: signals wait for the end."""
    worker = RawWorker(env)
    await env.start()
    task = await worker.workflow_task()
    await env.attempt("during the first task", _call(env, request_id="first"))
    await env.attempt("close", worker.complete(task, complete_workflow()))
    task = await worker.workflow_task()
    await env.attempt("while closing", _call(env, request_id="second"))
    await worker.complete(task, complete_workflow())
    await env.record()


@scenario
async def many_signals_with_start_make_one_run(env: Environment) -> None:
    """Of many at once one starts the run, and every signal is in it."""
    worker = RawWorker(env)
    names = [f"signal {number}" for number in range(10)]
    replies = await asyncio.gather(*(_call(env, signal_name=name, request_id=name) for name in names))
    env.note("runs", len({reply.run_id for reply in replies}))
    env.note("started", sorted(reply.started for reply in replies))
    task = await worker.workflow_task()
    signalled = [
        event.workflow_execution_signaled_event_attributes.signal_name for event in task.history.events
    ]
    env.note("signals", sorted(filter(None, signalled)))
    await worker.complete(task, complete_workflow())
