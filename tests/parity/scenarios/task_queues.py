"""What is known of task queues: who polls them, what waits in them, how they are split.

Newcomers forget that a poller is remembered after its poll has ended, and that times are never compared: only that
they are there.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import grpc

from ..environment import Environment, as_plain
from ..raw_worker import RawWorker, complete_workflow, schedule_activity, start_timer
from . import scenario

_TYPES = {"workflow": "TASK_QUEUE_TYPE_WORKFLOW", "activity": "TASK_QUEUE_TYPE_ACTIVITY"}


@asynccontextmanager
async def _polling(env: Environment, queue: str, kind: str = "workflow", **fields: Any) -> AsyncIterator[Any]:
    """A poll of an empty queue, under way until the end of the block."""
    method = "PollWorkflowTaskQueue" if kind == "workflow" else "PollActivityTaskQueue"
    fields.setdefault("identity", f"{kind} poller")
    poll = asyncio.ensure_future(env.call(method, task_queue={"name": queue}, timeout=60.0, **fields))
    try:
        yield poll
    finally:
        poll.cancel()
        await asyncio.gather(poll, return_exceptions=True)


def _describe(env: Environment, queue: str, kind: str = "workflow", **fields: Any) -> Any:
    return env.call("DescribeTaskQueue", task_queue={"name": queue}, task_queue_type=_TYPES[kind], **fields)


def _shown(reply: Any) -> Any:
    """Pollers in the order of their identities; rates and ages are measured, so only whether they are there counts."""
    return _measured(as_plain(reply))


def _measured(value: Any) -> Any:
    if isinstance(value, list):
        return sorted((_measured(item) for item in value), key=str)
    if not isinstance(value, dict):
        return value
    measured = {}
    for key, item in value.items():
        if key in ("tasksAddRate", "tasksDispatchRate", "approximateBacklogAge"):
            measured[key] = "<measured>"
        elif key in ("taskIdBlock", "ackLevel", "readLevel"):
            measured[key] = "<counter>"
        else:
            measured[key] = _measured(item)
    return measured


async def _until_polled(env: Environment, queue: str, kind: str, identity: str) -> None:
    async def polled() -> bool:
        reply = await _describe(env, queue, kind)
        return identity in [poller.identity for poller in reply.pollers]

    await env.until(f"{identity} at {queue}", polled)


@scenario
async def task_queue_nobody_knows(env: Environment) -> None:
    """A queue comes into being when it is asked about."""
    for kind in _TYPES:
        await env.attempt(kind, _describe(env, env.queue("unknown"), kind))
        reply = await _describe(
            env, env.queue("unknown"), kind, report_stats=True, include_task_queue_status=True
        )
        env.note(f"{kind} with stats", _shown(reply))
    await env.attempt("no type", env.call("DescribeTaskQueue", task_queue={"name": env.queue("unknown")}))


@scenario
async def task_queue_shows_its_pollers(env: Environment) -> None:
    """Each identity with its last access, during a poll and after it, by type."""
    queue = env.queue()
    async with _polling(env, queue, identity="one"), _polling(env, queue, "activity", identity="two"):
        await _until_polled(env, queue, "workflow", "one")
        await _until_polled(env, queue, "activity", "two")
        for kind in _TYPES:
            env.note(f"{kind} during", _shown(await _describe(env, queue, kind)))
    for kind in _TYPES:
        env.note(f"{kind} after", _shown(await _describe(env, queue, kind, report_pollers=True)))
    capabilities = {"build_id": "build"}
    async with _polling(env, queue, identity="three", worker_version_capabilities=capabilities):
        await _until_polled(env, queue, "workflow", "three")
        env.note("two pollers", _shown(await _describe(env, queue)))


@scenario
async def task_queue_shows_its_backlog(env: Environment) -> None:
    """Tasks that wait are counted, by type and by priority."""
    queue = env.queue()
    for number in range(3):
        await env.start(env.id(f"{number}"), task_queue={"name": queue})

    async def counted() -> bool:
        reply = await _describe(env, queue, report_stats=True)
        return bool(reply.stats.approximate_backlog_count == 3)

    await env.until("three tasks", counted)
    for kind in _TYPES:
        reply = await _describe(env, queue, kind, report_stats=True)
        env.note(f"{kind} stats", _shown(reply))
        reply = await _describe(env, queue, kind, include_task_queue_status=True)
        env.note(f"{kind} status", _shown(reply))
        env.note(f"{kind} plain", _shown(await _describe(env, queue, kind)))
    worker = RawWorker(env, queue)
    for _ in range(3):
        await worker.step(complete_workflow())


@scenario
async def task_queue_in_the_enhanced_mode(env: Environment) -> None:
    """What `temporal task-queue describe` asks for."""
    queue = env.queue()
    mode = {"api_mode": "DESCRIBE_TASK_QUEUE_MODE_ENHANCED"}
    async with _polling(env, queue, identity="one"):
        await _until_polled(env, queue, "workflow", "one")
        for name, fields in {
            "nothing asked": {},
            "pollers": {"report_pollers": True},
            "stats": {"report_stats": True},
            "reachability": {"report_task_reachability": True},
            "both types": {
                "report_pollers": True,
                "report_stats": True,
                "task_queue_types": list(_TYPES.values()),
            },
            "workflow": {"report_pollers": True, "task_queue_types": ["TASK_QUEUE_TYPE_WORKFLOW"]},
            "unversioned": {"report_pollers": True, "versions": {"unversioned": True}},
            "all active": {"report_pollers": True, "versions": {"all_active": True}},
        }.items():
            reply = await _describe(env, queue, **mode, **fields)
            env.note(name, _shown(reply))


@scenario
async def task_queue_config_is_reported(env: Environment) -> None:
    """Nothing is configured."""
    await env.attempt("config", _describe(env, env.queue(), report_config=True))


@scenario
async def task_queue_is_refused(env: Environment) -> None:
    """Missing names, unknown namespaces, sticky queues."""
    cases: dict[str, dict[str, Any]] = {
        "no queue": {"task_queue": None},
        "no name": {"task_queue": {"name": ""}},
        "long name": {"task_queue": {"name": "x" * 1001}},
        "unknown namespace": {"namespace": "no-such-namespace"},
        "no namespace": {"namespace": ""},
        "reserved": {"task_queue": {"name": "/_sys/reserved"}},
        "partition": {"task_queue": {"name": f"/_sys/{env.queue()}/1"}},
        "nexus": {"task_queue_type": "TASK_QUEUE_TYPE_NEXUS"},
    }
    for name, fields in cases.items():
        fields = {"task_queue": {"name": env.queue()}, "task_queue_type": _TYPES["workflow"]} | fields
        await env.attempt(name, env.call("DescribeTaskQueue", **fields))
    sticky = {"name": env.queue("sticky"), "kind": "TASK_QUEUE_KIND_STICKY", "normal_name": env.queue()}
    await env.attempt("sticky", env.call("DescribeTaskQueue", task_queue=sticky, task_queue_type=1))


@scenario
async def task_queue_partitions_are_listed(env: Environment) -> None:
    """Their names by type; where they live is the server's own matter."""
    for name, fields in {
        "plain": {"task_queue": {"name": env.queue()}},
        "no name": {"task_queue": {"name": ""}},
        "no queue": {},
        "no namespace": {"namespace": "", "task_queue": {"name": env.queue()}},
        "unknown namespace": {"namespace": "no-such-namespace", "task_queue": {"name": env.queue()}},
    }.items():
        try:
            reply = await env.call("ListTaskQueuePartitions", **fields)
        except grpc.aio.AioRpcError:
            await env.attempt(name, env.call("ListTaskQueuePartitions", **fields))
        else:
            env.note(
                name,
                {
                    "workflow": [one.key for one in reply.workflow_task_queue_partitions],
                    "activity": [one.key for one in reply.activity_task_queue_partitions],
                    "hosts": all(
                        one.owner_host_name
                        for one in (
                            *reply.workflow_task_queue_partitions,
                            *reply.activity_task_queue_partitions,
                        )
                    ),
                },
            )


@scenario
async def worker_that_shuts_down_polls_no_more(env: Environment) -> None:
    """The polls of its instance end empty; those of others go on."""
    queue = env.queue()
    async with (
        _polling(env, queue, identity="one", worker_instance_key="instance") as mine,
        _polling(env, queue, "activity", identity="one", worker_instance_key="instance") as mine_too,
        _polling(env, queue, identity="two", worker_instance_key="other") as other,
    ):
        await _until_polled(env, queue, "workflow", "one")
        await _until_polled(env, queue, "workflow", "two")
        await _until_polled(env, queue, "activity", "one")
        await env.attempt(
            "shutdown",
            env.call(
                "ShutdownWorker",
                sticky_task_queue=env.queue("sticky"),
                identity="one",
                reason="graceful shutdown",
                worker_instance_key="instance",
                task_queue=queue,
                task_queue_types=list(_TYPES.values()),
            ),
        )
        done, waiting = await asyncio.wait((mine, mine_too, other), timeout=3.0)
        env.note("mine ended", mine in done)
        env.note("mine too ended", mine_too in done)
        env.note("other waits", other in waiting)
        if mine in done:
            await env.attempt("mine", mine)
        if mine_too in done:
            await env.attempt("mine too", mine_too)
        await env.attempt(
            "poll after the shutdown",
            env.call(
                "PollWorkflowTaskQueue",
                task_queue={"name": queue},
                identity="one",
                worker_instance_key="instance",
                timeout=4.0,
            ),
        )
        for kind in _TYPES:
            env.note(f"{kind} pollers", _shown(await _describe(env, queue, kind)))
    for name, fields in {
        "nothing": {},
        "no types": {"worker_instance_key": "instance", "task_queue": queue},
        "no queue": {"worker_instance_key": "instance"},
    }.items():
        await env.attempt(name, env.call("ShutdownWorker", **fields))


@scenario
async def polls_carry_scaling_hints(env: Environment) -> None:
    """What a poll tells its worker about the number of pollers to have."""
    queue = env.queue()
    for number in range(3):
        await env.start(env.id(f"{number}"), task_queue={"name": queue})

    async def counted() -> bool:
        reply = await _describe(env, queue, report_stats=True)
        return bool(reply.stats.approximate_backlog_count == 3)

    await env.until("three tasks", counted)
    worker = RawWorker(env, queue)
    for number in range(3):
        task = await worker.workflow_task()
        env.note(f"decision {number}", task.poller_scaling_decision)
        env.note(f"has a decision {number}", task.HasField("poller_scaling_decision"))
        env.note(f"backlog {number}", task.backlog_count_hint)
        await worker.complete(task, schedule_activity(env, task_queue={"name": queue}), start_timer())
        activity = await worker.activity_task()
        env.note(f"activity decision {number}", activity.poller_scaling_decision)
        env.note(f"activity has a decision {number}", activity.HasField("poller_scaling_decision"))
    for number in range(3):
        await env.terminate(env.id(f"{number}"))
