"""Families of workflows: namespaces, generations, and IDs that are taken.

Here lives what goes beyond one parent with one child. Newcomers forget that another namespace must be known to all
parts of the reference server before a workflow can use it.
"""

from __future__ import annotations

from typing import Any

import grpc

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
    start_child,
)
from . import scenario


async def _register(env: Environment, name: str) -> None:
    await env.call("RegisterNamespace", namespace=name, workflow_execution_retention_period=seconds(86400))

    async def known() -> bool:
        try:
            await env.call(
                "StartWorkflowExecution",
                namespace=name,
                workflow_id="probe",
                workflow_type={"name": "Probe"},
                task_queue={"name": "probe"},
                request_id="probe",
            )
        except grpc.aio.AioRpcError as error:
            if error.code() == grpc.StatusCode.NOT_FOUND:
                return False
            raise
        return True

    await env.until(f"namespace {name}", known)


def _signal_external(workflow_id: str, run_id: str = "", **fields: Any) -> Any:
    execution = {"workflow_id": workflow_id, "run_id": run_id}
    return command("SIGNAL_EXTERNAL_WORKFLOW_EXECUTION", execution=execution, signal_name="hello", **fields)


def _cancel_external(workflow_id: str, run_id: str = "", **fields: Any) -> Any:
    return command(
        "REQUEST_CANCEL_EXTERNAL_WORKFLOW_EXECUTION", workflow_id=workflow_id, run_id=run_id, **fields
    )


async def _answered(env: Environment, count: int, workflow_id: str | None = None) -> None:
    """Wait until `count` requests to other workflows are answered."""

    async def answered() -> bool:
        events = await env.events(workflow_id or env.id())
        kinds = [event.WhichOneof("attributes") for event in events]
        ends = (
            "_failed_event_attributes",
            "_signaled_event_attributes",
            "_cancel_requested_event_attributes",
        )
        return sum("external_workflow" in kind and kind.endswith(ends) for kind in kinds) >= count

    await env.until(f"{count} answers", answered)


@scenario
async def family_child_in_another_namespace(env: Environment) -> None:
    """A command that names another namespace than the parent's."""
    other = f"{env.name}-other"
    await _register(env, other)
    parent = RawWorker(env)
    await env.start()
    task = await parent.workflow_task()
    await env.attempt("start", parent.complete(task, start_child(env, env.id("child"), namespace=other)))
    await env.record()
    await env.terminate()


@scenario
async def family_requests_to_another_namespace(env: Environment) -> None:
    """Signals and cancel requests that name another namespace than the sender's."""
    other = f"{env.name}-other"
    await _register(env, other)
    for name, sent in {
        "signal": _signal_external("probe", namespace=other),
        "cancel": _cancel_external("probe", namespace=other),
        "signal unknown": _signal_external("probe", namespace="no-such-namespace"),
        "cancel unknown": _cancel_external("probe", namespace="no-such-namespace"),
    }.items():
        worker = RawWorker(env, env.queue(name.replace(" ", "-")))
        workflow_id = env.id(name.replace(" ", "-"))
        await env.start(workflow_id, task_queue={"name": worker.queue})
        task = await worker.workflow_task()
        await env.attempt(name, worker.complete(task, sent))
        await env.record(workflow_id)
        await env.terminate(workflow_id)


@scenario
async def family_names_its_own_namespace(env: Environment) -> None:
    """Commands that name the namespace they are in anyway."""
    parent = RawWorker(env)
    await env.start()
    await parent.step(start_child(env, env.id("child"), namespace="default"))
    await env.until_event("CHILD_WORKFLOW_EXECUTION_STARTED")
    await parent.step(_signal_external(env.id("child"), namespace="default", child_workflow_only=True))
    await _answered(env, 1)
    await parent.step(_cancel_external(env.id("child"), namespace="default", child_workflow_only=True))
    await _answered(env, 2)
    await env.record(env.id("child"))
    await env.terminate(env.id("child"))
    await env.until_event("CHILD_WORKFLOW_EXECUTION_TERMINATED")
    await env.terminate()
    kinds = [event.event_type for event in await env.events(env.id())]
    env.note("kinds", sorted(kinds))


@scenario
async def family_child_of_a_used_id(env: Environment) -> None:
    """What each reuse policy makes of a closed or open workflow with the child's ID."""
    cases = [
        ("completed", complete_workflow()),
        ("failed", fail_workflow()),
        ("open", None),
    ]
    policies = ("ALLOW_DUPLICATE", "ALLOW_DUPLICATE_FAILED_ONLY", "REJECT_DUPLICATE", "TERMINATE_IF_RUNNING")
    for state, ending in cases:
        for policy in policies:
            name = f"{state}-{policy.lower().replace('_', '-')}"
            taken = env.id(f"taken-{name}")
            queue = {"name": env.queue(f"taken-{name}")}
            await env.start(taken, task_queue=queue)
            if ending is not None:
                await RawWorker(env, queue["name"]).step(ending)
            first = (await env.describe(taken)).workflow_execution_info.execution.run_id
            parent = RawWorker(env, env.queue(name))
            await env.start(env.id(name), task_queue={"name": parent.queue})
            reuse = f"WORKFLOW_ID_REUSE_POLICY_{policy}"
            await parent.step(start_child(env, taken, workflow_id_reuse_policy=reuse))

            async def answered(workflow_id: str = env.id(name)) -> bool:
                return len(await env.events(workflow_id)) > 6

            await env.until("an answer to the start", answered)
            await env.record(env.id(name))
            await env.record(taken, first, label=f"{name}: the first of the ID")
            await env.terminate(env.id(name))


@scenario
async def family_of_three_generations(env: Environment) -> None:
    """A grandchild knows its parent and its root; policies go down the line."""
    parent, child = RawWorker(env), RawWorker(env, env.queue("child"))
    await env.start()
    await parent.step(start_child(env, env.id("child")))
    await env.until_event("CHILD_WORKFLOW_EXECUTION_STARTED")
    await child.step(start_child(env, env.id("grandchild"), task_queue={"name": env.queue("grandchild")}))
    await env.until_event("CHILD_WORKFLOW_EXECUTION_STARTED", env.id("child"))
    info = (await env.describe(env.id("grandchild"))).workflow_execution_info
    env.note("parent", info.parent_execution)
    env.note("root", info.root_execution)
    await parent.step()
    await env.terminate(reason="the end")
    await env.until_event("WORKFLOW_EXECUTION_TERMINATED", env.id("grandchild"))
    await env.record()
    await env.record(env.id("child"))
    await env.record(env.id("grandchild"))


@scenario
async def family_close_policy_reaches_the_current_run(env: Environment) -> None:
    """A child that continued as new is stopped in its current run; so is one that was retried."""
    parent, child = RawWorker(env), RawWorker(env, env.queue("child"))
    await env.start()
    await parent.step(
        start_child(env, env.id("terminated")),
        start_child(
            env,
            env.id("cancelled"),
            task_queue={"name": env.queue("cancelled")},
            parent_close_policy="PARENT_CLOSE_POLICY_REQUEST_CANCEL",
        ),
    )
    await env.until_event("CHILD_WORKFLOW_EXECUTION_STARTED", n=2)
    await child.step(continue_as_new(env, task_queue={"name": env.queue("child")}))
    cancelled = {"name": env.queue("cancelled")}
    await RawWorker(env, env.queue("cancelled")).step(continue_as_new(env, task_queue=cancelled))
    await parent.step(complete_workflow())
    await env.until_event("WORKFLOW_EXECUTION_TERMINATED", env.id("terminated"))
    await env.until_event("WORKFLOW_EXECUTION_CANCEL_REQUESTED", env.id("cancelled"))
    for name in ("terminated", "cancelled"):
        events = await env.events(env.id(name))
        ends = (21, 27)
        env.note(name, [event.event_type for event in events if event.event_type in ends])
    await env.terminate(env.id("cancelled"))


@scenario
async def family_abandoned_child_outlives_its_parent(env: Environment) -> None:
    """Its end is told to nobody."""
    parent, child = RawWorker(env), RawWorker(env, env.queue("child"))
    first = await env.start()
    await parent.step(start_child(env, env.id("child"), parent_close_policy="PARENT_CLOSE_POLICY_ABANDON"))
    await env.until_event("CHILD_WORKFLOW_EXECUTION_STARTED")
    await env.outlive_the_pause()
    await parent.step(continue_as_new(env))
    await parent.workflow_task()
    await child.step(complete_workflow())
    await env.until_event("WORKFLOW_EXECUTION_COMPLETED", env.id("child"))
    await env.record(run_id=first)
    await env.record()
    await env.record(env.id("child"))
    await env.terminate()


@scenario
async def family_events_of_a_child_are_buffered(env: Environment) -> None:
    """A child that starts and ends while its parent's task is started."""
    parent, child = RawWorker(env), RawWorker(env, env.queue("child"))
    await env.start()
    task = await parent.workflow_task()
    await parent.complete(task, start_child(env, env.id("child")), force_create_new_workflow_task=True)
    task = await parent.workflow_task()
    await child.step(complete_workflow())
    await env.until_event("WORKFLOW_EXECUTION_COMPLETED", env.id("child"))

    async def told() -> bool:
        return not (await env.describe()).pending_children

    # The news of the child's end takes its time to its parent; it waits there, and the child is not pending any more.
    await env.until("the parent knows of its child's end", told)
    await env.signal("wake up")
    await parent.complete(task)
    await env.until_event("CHILD_WORKFLOW_EXECUTION_COMPLETED")
    await parent.step(complete_workflow())
    kinds = [event.event_type for event in await env.events(env.id())]
    env.note("kinds", sorted(kinds))


@scenario
async def external_requests_to_a_chain_of_runs(env: Environment) -> None:
    """Without a run ID the current run is meant; a closed run that is named is not found, or has nothing to cancel."""
    target = RawWorker(env, env.queue("target"))
    queue = {"name": env.queue("target")}
    first = await env.start(env.id("target"), task_queue=queue)
    await env.outlive_the_pause()
    await target.step(continue_as_new(env, task_queue=queue))
    second = (await env.describe(env.id("target"))).workflow_execution_info.execution.run_id
    for name, run_id in (("current", ""), ("first", first), ("second", second)):
        worker = RawWorker(env, env.queue(name))
        await env.start(env.id(name), task_queue={"name": worker.queue})
        await worker.step(_signal_external(env.id("target"), run_id))
        await _answered(env, 1, env.id(name))
        await worker.step(_cancel_external(env.id("target"), run_id, reason="reason"))
        await _answered(env, 2, env.id(name))
        await worker.step(complete_workflow())
        await env.record(env.id(name))
    await env.record(env.id("target"))
    await env.terminate(env.id("target"))


@scenario
async def external_requests_for_children_only(env: Environment) -> None:
    """A workflow that is no child of the sender is not found by a request for children."""
    await env.start(env.id("target"), task_queue={"name": env.queue("target")})
    worker = RawWorker(env)
    await env.start()
    await worker.step(_signal_external(env.id("target"), child_workflow_only=True))
    await _answered(env, 1)
    await worker.step(_cancel_external(env.id("target"), child_workflow_only=True))
    await _answered(env, 2)
    await worker.step(complete_workflow())
    await env.record()
    await env.record(env.id("target"))
    await env.terminate(env.id("target"))


@scenario
async def external_requests_carry_everything(env: Environment) -> None:
    """Control, header, input and reason; a second cancel request; two signals in one task."""
    await env.start(env.id("target"), task_queue={"name": env.queue("target")})
    worker = RawWorker(env)
    await env.start()
    await worker.step(
        _signal_external(
            env.id("target"),
            input=payloads("input"),
            header={"fields": {"key": payload("header")}},
            control="control",
        )
    )
    await _answered(env, 1)
    await worker.step(_cancel_external(env.id("target"), reason="reason", control="control"))
    await _answered(env, 2)
    await worker.step(_cancel_external(env.id("target"), reason="again"))
    await _answered(env, 3)
    await worker.step(complete_workflow())
    await env.record()
    await env.record(env.id("target"))
    await env.terminate(env.id("target"))


@scenario
async def external_requests_of_a_closing_task(env: Environment) -> None:
    """Requests made together with the completion are lost with it."""
    await env.start(env.id("target"), task_queue={"name": env.queue("target")})
    worker = RawWorker(env)
    await env.start()
    await worker.step(
        _signal_external(env.id("target")), _cancel_external(env.id("target")), complete_workflow()
    )
    await env.record()
    await env.start(env.id("after"), task_queue={"name": worker.queue})
    await worker.step(_signal_external(env.id("target")))
    await _answered(env, 1, env.id("after"))
    await env.record(env.id("target"))
    await env.terminate(env.id("target"))
    await env.terminate(env.id("after"))
