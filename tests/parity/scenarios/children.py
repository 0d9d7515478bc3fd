"""Children, and signals and cancel requests to other workflows.

Here lives what a workflow does to another one. Newcomers forget that the parent learns of everything by a
task of its own, so each step here waits for the event that it needs.
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
    seconds,
    seen,
    start_child,
    start_timer,
)
from . import scenario


async def _parent_with_child(env: Environment, **attributes: Any) -> tuple[RawWorker, RawWorker]:
    """A parent that has seen its child start; its worker, and the child's."""
    parent = RawWorker(env)
    await env.start()
    await parent.step(start_child(env, env.id("child"), **attributes))
    await env.until_event("CHILD_WORKFLOW_EXECUTION_STARTED")
    await env.until_event("WORKFLOW_TASK_SCHEDULED", env.id("child"))
    await parent.step()
    return parent, RawWorker(env, env.queue("child"))


async def _finish(env: Environment, parent: RawWorker) -> None:
    """The parent completes at its next task; both histories are recorded."""
    await parent.step(complete_workflow())
    await env.record()
    await env.record(env.id("child"))


@scenario
async def child_completes(env: Environment) -> None:
    """Everything of the command reaches the child; the parent gets the result."""
    parent, child = await _parent_with_child(
        env,
        input=payloads("input"),
        workflow_execution_timeout=seconds(1000),
        workflow_run_timeout=seconds(500),
        workflow_task_timeout=seconds(5),
        control="control",
        retry_policy={"maximum_attempts": 2},
        header={"fields": {"key": payload("header")}},
        memo={"fields": {"key": payload("memo")}},
        search_attributes={"indexed_fields": {"BatcherUser": payload("someone")}},
        priority={"priority_key": 3},
        user_metadata={"summary": payload("summary"), "details": payload("details")},
    )
    env.note("parent", await env.describe())
    env.note("child", await env.describe(env.id("child")))
    task = await child.workflow_task()
    env.note("task", seen(task))
    await child.complete(task, complete_workflow("child's result"))
    await _finish(env, parent)
    env.note("parent closed", await env.describe())


@scenario
async def child_inherits_what_the_command_leaves_out(env: Environment) -> None:
    """Task queue, time-outs and priority of the parent."""
    parent = RawWorker(env)
    await env.start(
        workflow_run_timeout=seconds(200), workflow_task_timeout=seconds(8), priority={"priority_key": 4}
    )
    await parent.step(start_child(env, env.id("child"), task_queue={}))
    await env.until_event("CHILD_WORKFLOW_EXECUTION_STARTED")
    await env.record()
    await env.record(env.id("child"))


@scenario
async def child_fails(env: Environment) -> None:
    """The parent gets failure and retry state."""
    parent, child = await _parent_with_child(env)
    await child.step(fail_workflow("child fails", details=payloads("detail")))
    await _finish(env, parent)


@scenario
async def child_is_retried(env: Environment) -> None:
    """The parent hears of the last attempt only."""
    policy = {"maximum_attempts": 2, "initial_interval": seconds(1)}
    parent, child = await _parent_with_child(env, retry_policy=policy)
    await child.step(fail_workflow("one"))
    await child.step(fail_workflow("two"))
    await _finish(env, parent)


@scenario
async def child_continues_as_new(env: Environment) -> None:
    """The parent hears of the end of the chain; the new run knows its parent."""
    parent, child = await _parent_with_child(env)
    await env.outlive_the_pause()
    await child.step(continue_as_new(env, task_queue={"name": env.queue("child")}))
    await child.step(complete_workflow("second run"))
    await _finish(env, parent)


@scenario
async def child_is_terminated(env: Environment) -> None:
    """From outside, by its ID."""
    parent, _ = await _parent_with_child(env)
    await env.terminate(env.id("child"), reason="reason", details=payloads("detail"))
    await _finish(env, parent)


@scenario
async def child_times_out(env: Environment) -> None:
    """A run time-out of the child."""
    parent, _ = await _parent_with_child(env, workflow_run_timeout=seconds(2))
    await env.until_event("CHILD_WORKFLOW_EXECUTION_TIMED_OUT")
    await _finish(env, parent)


@scenario
async def child_is_cancelled_by_its_parent(env: Environment) -> None:
    """The request goes by the external-cancel command with child_workflow_only."""
    parent, child = await _parent_with_child(env)
    await child.step(start_timer())
    await env.signal()
    await parent.step(
        command(
            "REQUEST_CANCEL_EXTERNAL_WORKFLOW_EXECUTION",
            workflow_id=env.id("child"),
            child_workflow_only=True,
            reason="reason",
            control="control",
        )
    )
    await env.until_event("EXTERNAL_WORKFLOW_EXECUTION_CANCEL_REQUESTED")
    await parent.step()
    await child.step(command("CANCEL_WORKFLOW_EXECUTION", details=payloads("detail")))
    await _finish(env, parent)


@scenario
async def child_is_signalled_by_its_parent(env: Environment) -> None:
    """The signal goes by the external-signal command."""
    parent, child = await _parent_with_child(env)
    await child.step(start_timer())
    await env.signal()
    await parent.step(
        command(
            "SIGNAL_EXTERNAL_WORKFLOW_EXECUTION",
            execution={"workflow_id": env.id("child")},
            signal_name="from the parent",
            input=payloads("input"),
            header={"fields": {"key": payload("header")}},
            child_workflow_only=True,
            control="control",
        )
    )
    await env.until_event("EXTERNAL_WORKFLOW_EXECUTION_SIGNALED")
    await child.step(complete_workflow())
    await env.until_event("CHILD_WORKFLOW_EXECUTION_COMPLETED")
    await _finish(env, parent)


@scenario
async def parent_close_policies(env: Environment) -> None:
    """Terminate, abandon, request cancel: what becomes of the children when the parent completes."""
    parent = RawWorker(env)
    await env.start()
    policies = ("TERMINATE", "ABANDON", "REQUEST_CANCEL")
    for count, policy in enumerate(policies, 1):
        child = start_child(env, env.id(policy), parent_close_policy=f"PARENT_CLOSE_POLICY_{policy}")
        await parent.step(child)
        await env.until_event("CHILD_WORKFLOW_EXECUTION_STARTED", n=count)
    await parent.step(complete_workflow())
    await env.until_event("WORKFLOW_EXECUTION_TERMINATED", env.id("TERMINATE"))
    await env.until_event("WORKFLOW_EXECUTION_CANCEL_REQUESTED", env.id("REQUEST_CANCEL"))
    await env.record()
    for policy in policies:
        await env.record(env.id(policy))


@scenario
async def terminated_parent_applies_the_close_policy(env: Environment) -> None:
    """A termination of the parent ends the child in the same way."""
    await _parent_with_child(env)
    await env.terminate()
    await env.until_event("WORKFLOW_EXECUTION_TERMINATED", env.id("child"))
    await env.record()
    await env.record(env.id("child"))


@scenario
async def child_exists_already(env: Environment) -> None:
    """An open workflow with the child's ID; then a closed one with reject-duplicate."""
    parent = RawWorker(env)
    await env.start(env.id("taken"), task_queue={"name": env.queue("nobody")})
    await env.start()
    await parent.step(start_child(env, env.id("taken"), control="control"))
    await env.until_event("START_CHILD_WORKFLOW_EXECUTION_FAILED")
    await parent.step()
    await env.terminate(env.id("taken"))
    await env.signal()
    reject = {"workflow_id_reuse_policy": "WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE"}
    await parent.step(start_child(env, env.id("taken"), **reject))
    await env.until_event("START_CHILD_WORKFLOW_EXECUTION_FAILED", n=2)
    await parent.step(complete_workflow())
    await env.record()


@scenario
async def two_children_of_one_id_in_one_task(env: Environment) -> None:
    """The second start of the same ID fails."""
    parent = RawWorker(env)
    await env.start()
    task = await parent.workflow_task()
    start = start_child(env, env.id("child"))
    await env.attempt("completion", parent.complete(task, start, start))
    await env.until_event("CHILD_WORKFLOW_EXECUTION_STARTED")
    await env.until_event("START_CHILD_WORKFLOW_EXECUTION_FAILED")
    await env.terminate()
    kinds = [event.event_type for event in await env.events(env.id())]
    env.note("kinds of event", sorted(kinds))


@scenario
async def child_unstarted_when_the_parent_closes_never_starts(env: Environment) -> None:
    """Children started together with the completion do not start, not even abandoned ones."""
    parent = RawWorker(env)
    await env.start()
    await parent.step(
        start_child(env, env.id("abandoned"), parent_close_policy="PARENT_CLOSE_POLICY_ABANDON"),
        start_child(env, env.id("other")),
        complete_workflow(),
    )
    await env.record()
    # A later child that did start tells that the earlier ones have had their time.
    await env.start(env.id("later"))
    await parent.step(start_child(env, env.id("child")))
    await env.until_event("CHILD_WORKFLOW_EXECUTION_STARTED", env.id("later"))
    await env.attempt("abandoned", env.describe(env.id("abandoned")))
    await env.attempt("other", env.describe(env.id("other")))


@scenario
async def external_workflow_is_unknown(env: Environment) -> None:
    """Signalling and cancelling what is not there, or closed, fails in the history."""
    worker = RawWorker(env)
    await env.start(env.id("closed"), task_queue={"name": env.queue("nobody")})
    await env.terminate(env.id("closed"))
    await env.start()

    def signal(workflow_id: str) -> Any:
        return command(
            "SIGNAL_EXTERNAL_WORKFLOW_EXECUTION", execution={"workflow_id": workflow_id}, signal_name="s"
        )

    def cancel(workflow_id: str) -> Any:
        return command("REQUEST_CANCEL_EXTERNAL_WORKFLOW_EXECUTION", workflow_id=workflow_id)

    signals = "SIGNAL_EXTERNAL_WORKFLOW_EXECUTION_FAILED"
    cancels = "REQUEST_CANCEL_EXTERNAL_WORKFLOW_EXECUTION_FAILED"
    await worker.step(signal("no-such"))
    await env.until_event(signals)
    await worker.step(cancel("no-such"))
    await env.until_event(cancels)
    await worker.step(signal(env.id("closed")))
    await env.until_event(signals, n=2)
    await worker.step(cancel(env.id("closed")))
    await env.until_event("EXTERNAL_WORKFLOW_EXECUTION_CANCEL_REQUESTED")
    await worker.step(complete_workflow())
    await env.record()


@scenario
async def external_workflow_is_signalled_and_cancelled(env: Environment) -> None:
    """Another workflow, not a child: both histories."""
    worker = RawWorker(env)
    target = env.id("target")
    run_id = await env.start(target, task_queue={"name": env.queue("nobody")})
    await env.start()
    await worker.step(
        command(
            "SIGNAL_EXTERNAL_WORKFLOW_EXECUTION",
            execution={"workflow_id": target, "run_id": run_id},
            signal_name="from outside",
            input=payloads("input"),
        )
    )
    await env.until_event("EXTERNAL_WORKFLOW_EXECUTION_SIGNALED")
    await worker.step(
        command("REQUEST_CANCEL_EXTERNAL_WORKFLOW_EXECUTION", workflow_id=target, reason="reason")
    )
    await env.until_event("EXTERNAL_WORKFLOW_EXECUTION_CANCEL_REQUESTED")
    await worker.step(complete_workflow())
    await env.record()
    await env.record(target)


@scenario
async def workflow_signals_and_cancels_itself(env: Environment) -> None:
    """By its own ID: both fail in the history."""
    worker = RawWorker(env)
    await env.start(env.id("signal"))
    task = await worker.workflow_task()
    signal = command(
        "SIGNAL_EXTERNAL_WORKFLOW_EXECUTION", execution={"workflow_id": env.id("signal")}, signal_name="s"
    )
    await env.attempt("signal", worker.complete(task, signal))
    await env.until_event("SIGNAL_EXTERNAL_WORKFLOW_EXECUTION_FAILED", env.id("signal"))
    await env.record(env.id("signal"))
    await env.terminate(env.id("signal"))
    await env.start(env.id("cancel"))
    task = await worker.workflow_task()
    while task.workflow_execution.workflow_id != env.id("cancel"):
        task = await worker.workflow_task()
    cancel = command("REQUEST_CANCEL_EXTERNAL_WORKFLOW_EXECUTION", workflow_id=env.id("cancel"))
    await env.attempt("cancel", worker.complete(task, cancel))
    await env.until_event("REQUEST_CANCEL_EXTERNAL_WORKFLOW_EXECUTION_FAILED", env.id("cancel"))
    await env.record(env.id("cancel"))
