"""Starting workflows: ID policies, request IDs, attributes, delays, refusals.

Here lives StartWorkflowExecution alone. Newcomers forget that the conflict policy speaks of an open run, the
reuse policy of a closed one.
"""

from __future__ import annotations

from typing import Any

from ..environment import Environment
from ..raw_worker import (
    RawWorker,
    complete_workflow,
    fail_workflow,
    payload,
    payloads,
    seconds,
    seen,
)
from . import scenario

REUSE = (
    "ALLOW_DUPLICATE",
    "ALLOW_DUPLICATE_FAILED_ONLY",
    "REJECT_DUPLICATE",
    "TERMINATE_IF_RUNNING",
)
CONFLICT = ("FAIL", "USE_EXISTING", "TERMINATE_EXISTING")


def _start(env: Environment, workflow_id: str, request: str = "second", **fields: Any) -> Any:
    return env.call(
        "StartWorkflowExecution",
        workflow_id=workflow_id,
        workflow_type={"name": "Workflow"},
        task_queue={"name": env.queue()},
        request_id=f"{workflow_id}-{request}",
        **fields,
    )


def _reuse(policy: str) -> dict[str, str]:
    return {"workflow_id_reuse_policy": f"WORKFLOW_ID_REUSE_POLICY_{policy}"}


def _conflict(policy: str) -> dict[str, str]:
    return {"workflow_id_conflict_policy": f"WORKFLOW_ID_CONFLICT_POLICY_{policy}"}


@scenario
async def start_while_running_with_each_conflict_policy(env: Environment) -> None:
    """Fail gives the run ID in its details; use-existing gives the run; terminate-existing replaces it."""
    for policy in CONFLICT:
        workflow_id = env.id(policy.lower())
        first = await env.start(workflow_id)
        env.note(f"first run {policy}", first)
        await env.attempt(policy, _start(env, workflow_id, **_conflict(policy)))
        await env.record(workflow_id, first, label=f"{policy} first run")
        await env.record(workflow_id, label=f"{policy} current run")


@scenario
async def start_while_running_with_each_reuse_policy(env: Environment) -> None:
    """Only the deprecated terminate-if-running lets a second run in."""
    for policy in REUSE:
        workflow_id = env.id(policy.lower())
        first = await env.start(workflow_id)
        await env.attempt(policy, _start(env, workflow_id, **_reuse(policy)))
        await env.record(workflow_id, first, label=f"{policy} first run")
    both = _reuse("TERMINATE_IF_RUNNING") | _conflict("FAIL")
    await env.attempt(
        "terminate if running with a conflict policy", _start(env, env.id("allow_duplicate"), **both)
    )
    both = _reuse("REJECT_DUPLICATE") | _conflict("USE_EXISTING")
    await env.attempt("reject duplicate, use existing", _start(env, env.id("allow_duplicate"), "x", **both))
    both = _reuse("REJECT_DUPLICATE") | _conflict("TERMINATE_EXISTING")
    await env.attempt(
        "reject duplicate, terminate existing", _start(env, env.id("allow_duplicate"), "y", **both)
    )


@scenario
async def start_after_close_with_each_reuse_policy(env: Environment) -> None:
    """After a completed, a failed and a terminated run."""
    worker = RawWorker(env)
    for policy in REUSE:
        for ending in ("completed", "failed", "terminated"):
            workflow_id = env.id(f"{policy.lower()}-{ending}")
            await env.start(workflow_id)
            if ending == "terminated":
                await env.terminate(workflow_id)
            else:
                await worker.step(complete_workflow() if ending == "completed" else fail_workflow())
            await env.attempt(f"{policy} after {ending}", _start(env, workflow_id, **_reuse(policy)))
            await env.record(workflow_id)
            if (await env.describe(workflow_id)).workflow_execution_info.status == 1:
                await env.terminate(workflow_id)


@scenario
async def start_is_deduplicated_by_request_id(env: Environment) -> None:
    """The same request ID gives the same run while it runs, and after it closed too."""
    worker = RawWorker(env)
    env.note("run", await env.start(request_id="the-request"))
    same = {"request_id": "the-request"}
    env.note("same request", await env.start(**same))
    different = env.start(request_id="another-request")
    await env.attempt("another request", different)
    await worker.step(complete_workflow())
    await env.attempt("same request after close", env.start(**same))
    reject = _reuse("REJECT_DUPLICATE")
    await env.attempt("same request after close, reject duplicate", env.start(**same, **reject))
    await env.attempt("other request after close, reject duplicate", env.start(request_id="third", **reject))
    await env.record()


@scenario
async def start_request_id_of_an_earlier_run(env: Environment) -> None:
    """A request ID of the run before the current one is not remembered."""
    await env.start(request_id="one")
    await env.terminate()
    env.note("second run", await env.start(request_id="two"))
    await env.attempt("request one again", env.start(request_id="one"))
    await env.terminate()
    env.note("request one after close", await env.start(request_id="one"))


@scenario
async def start_using_existing_attaches_request(env: Environment) -> None:
    """on_conflict_options write an options event that carries request ID and links; twice is once."""
    await env.start()
    link = {"workflow_event": {"namespace": "default", "workflow_id": "w", "run_id": "r"}}
    options = {"attach_request_id": True, "attach_links": True}
    existing: dict[str, Any] = _conflict("USE_EXISTING")
    for number in (1, 2):
        attached = _start(env, env.id(), on_conflict_options=options, links=[link], **existing)
        await env.attempt(f"attached {number}", attached)
    await env.attempt(
        "request ID only",
        _start(
            env,
            env.id(),
            "third",
            on_conflict_options={"attach_request_id": True},
            **_conflict("USE_EXISTING"),
        ),
    )
    description = await env.describe()
    env.note("request IDs", description.workflow_extended_info)
    await env.record()


@scenario
async def start_carries_every_attribute(env: Environment) -> None:
    """Everything that a start may say is in the started event, and in the description."""
    run_id = await env.start(
        input=payloads("one", "two"),
        workflow_execution_timeout=seconds(1000),
        workflow_run_timeout=seconds(500),
        workflow_task_timeout=seconds(20),
        retry_policy={"maximum_attempts": 3},
        memo={"fields": {"memo key": payload("memo value")}},
        search_attributes={"indexed_fields": {"BatcherUser": payload("someone")}},
        header={"fields": {"header key": payload("header value")}},
        user_metadata={"summary": payload("summary"), "details": payload("details")},
        priority={"priority_key": 2, "fairness_key": "fair", "fairness_weight": 2.0},
        links=[{"workflow_event": {"namespace": "default", "workflow_id": "w", "run_id": "r"}}],
    )
    env.note("run", run_id)
    env.note("description", await env.describe())
    task = await RawWorker(env).workflow_task()
    env.note("task", seen(task))
    await RawWorker(env).complete(task, complete_workflow())
    await env.record()


@scenario
async def start_timeouts_are_bounded(env: Environment) -> None:
    """Run and task time-outs are cut to what encloses them; the task time-out has a ceiling of its own."""
    cases: dict[str, dict[str, Any]] = {
        "run-beyond-execution": {"workflow_run_timeout": 100, "workflow_execution_timeout": 50},
        "task-beyond-run": {"workflow_task_timeout": 100, "workflow_run_timeout": 50},
        "task-too-long": {"workflow_task_timeout": 1000},
        "execution-only": {"workflow_execution_timeout": 50},
        "fraction": {"workflow_run_timeout": 50.5, "workflow_task_timeout": 1.5},
    }
    for name, timeouts in cases.items():
        fields = {field: seconds(value) for field, value in timeouts.items()}
        await env.start(env.id(name), **fields)
        await env.record(env.id(name))


@scenario
async def start_is_refused(env: Environment) -> None:
    """Each invalid request, with its message."""
    long = "x" * 1001
    cases: dict[str, dict[str, Any]] = {
        "no id": {"workflow_id": ""},
        "long id": {"workflow_id": long},
        "no type": {"workflow_type": {}},
        "long type": {"workflow_type": {"name": long}},
        "no queue": {"task_queue": {}},
        "long queue": {"task_queue": {"name": long}},
        "long request id": {"request_id": long},
        "no request id": {"request_id": ""},
        "no namespace": {"namespace": ""},
        "unknown namespace": {"namespace": "no-such-namespace"},
        "negative run timeout": {"workflow_run_timeout": seconds(-1)},
        "negative execution timeout": {"workflow_execution_timeout": seconds(-1)},
        "negative task timeout": {"workflow_task_timeout": seconds(-1)},
        "retry coefficient": {"retry_policy": {"backoff_coefficient": 0.5}},
        "retry attempts": {"retry_policy": {"maximum_attempts": -1}},
        "retry maximum": {"retry_policy": {"initial_interval": seconds(9), "maximum_interval": seconds(3)}},
        "cron": {"cron_schedule": "nonsense"},
        "cron and delay": {"cron_schedule": "@every 1s", "workflow_start_delay": seconds(1)},
        "negative delay": {"workflow_start_delay": seconds(-1)},
        "search attribute": {"search_attributes": {"indexed_fields": {"NoSuchAttribute": payload("v")}}},
        "search attribute type": {
            "search_attributes": {"indexed_fields": {"TemporalSchedulePaused": payload("v")}}
        },
        "system search attribute": {"search_attributes": {"indexed_fields": {"RunId": payload("v")}}},
        "priority": {"priority": {"priority_key": -1}},
        "big input": {"input": {"payloads": [{"data": b"x" * (2 * 1024 * 1024 + 1)}]}},
        "big memo": {"memo": {"fields": {"m": {"data": b"x" * (2 * 1024 * 1024 + 1)}}}},
        "unknown callback": {"completion_callbacks": [{"nexus": {"url": "http://localhost:1/callback"}}]},
        "callback": {"completion_callbacks": [{"nexus": {"url": "nonsense"}}]},
        "link": {"links": [{"workflow_event": {"namespace": "default"}}]},
        "sticky queue": {"task_queue": {"name": "q", "kind": "TASK_QUEUE_KIND_STICKY"}},
        "reserved queue": {"task_queue": {"name": "/_sys/q/1"}},
    }
    for name, fields in cases.items():
        request: dict[str, Any] = {
            "workflow_id": env.id(name),
            "workflow_type": {"name": "Workflow"},
            "task_queue": {"name": env.queue()},
            "request_id": name,
        }
        await env.attempt(name, env.call("StartWorkflowExecution", **request | fields))


@scenario
async def start_eagerly(env: Environment) -> None:
    """The first workflow task comes with the reply if the client's worker asks for it."""
    reply = await _start(env, env.id(), request_eager_execution=True)
    env.note("started", reply.started)
    env.note("eager task", seen(reply.eager_workflow_task))
    await env.record(label="started")
    if reply.eager_workflow_task.task_token:
        await RawWorker(env).complete(reply.eager_workflow_task, complete_workflow())
    await env.record(label="after")


@scenario
async def start_with_delay(env: Environment) -> None:
    """The first task waits; the started event says how long."""
    worker = RawWorker(env)
    await env.start(workflow_start_delay=seconds(1))
    await env.record(label="waiting")
    description = await env.describe()
    env.note("description", description)
    waited = description.workflow_execution_info.execution_time.ToDatetime()
    env.note("delay", str(waited - description.workflow_execution_info.start_time.ToDatetime()))
    await worker.step(complete_workflow())
    await env.record(label="after")


@scenario
async def signal_during_start_delay(env: Environment) -> None:
    """A signal during the delay: what it does to the first task, the history tells."""
    worker = RawWorker(env)
    await env.start(workflow_start_delay=seconds(2))
    await env.signal()
    await env.record(label="signalled")
    task = await worker.workflow_task()
    env.note("task", seen(task))
    await worker.complete(task, complete_workflow())
    await env.record(label="after")


@scenario
async def cancel_and_terminate_during_start_delay(env: Environment) -> None:
    """A cancel request during the delay, and a termination."""
    worker = RawWorker(env)
    await env.start(env.id("cancel"), workflow_start_delay=seconds(2))
    await env.call("RequestCancelWorkflowExecution", workflow_execution={"workflow_id": env.id("cancel")})
    await env.record(env.id("cancel"), label="requested")
    await worker.step(complete_workflow())
    await env.record(env.id("cancel"))
    await env.start(env.id("terminate"), workflow_start_delay=seconds(2))
    await env.terminate(env.id("terminate"))
    await env.record(env.id("terminate"))
