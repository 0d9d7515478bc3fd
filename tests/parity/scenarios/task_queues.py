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
from ..raw_worker import RawWorker, complete_workflow, schedule_activity, two_seconds_pass
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
    """Pollers in the order of their identities. What is measured, and what a server can take, is its own matter."""
    shown = as_plain(reply)
    shown.pop("effectiveRateLimit", None)
    shown.get("taskQueueStatus", {}).clear()
    return _measured(shown)


def _measured(value: Any) -> Any:
    if isinstance(value, list):
        return sorted((_measured(item) for item in value), key=lambda item: str(item["identity"]))
    if not isinstance(value, dict):
        return value
    rates = ("tasksAddRate", "tasksDispatchRate")
    measured = {key: _measured(item) for key, item in value.items() if key not in rates}
    if "approximateBacklogAge" in value:
        measured["approximateBacklogAge"] = "<measured>"
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
        env.note(kind, _shown(await _describe(env, env.queue("unknown"), kind)))
        reply = await _describe(
            env, env.queue("unknown"), kind, report_stats=True, include_task_queue_status=True
        )
        env.note(f"{kind} with stats", _shown(reply))
    reply = await env.call("DescribeTaskQueue", task_queue={"name": env.queue("unknown")})
    env.note("no type", _shown(reply))


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
    mode = {"api_mode": "DESCRIBE_TASK_QUEUE_MODE_ENHANCED"}
    cases: dict[str, dict[str, Any]] = {
        "nothing asked": {},
        "pollers": {"report_pollers": True},
        "stats": {"report_stats": True},
        "reachability": {"report_task_reachability": True},
        "all types": {"report_pollers": True, "report_stats": True, "task_queue_types": [1, 2, 3]},
        "workflow": {"report_pollers": True, "task_queue_types": ["TASK_QUEUE_TYPE_WORKFLOW"]},
        "unversioned": {"report_pollers": True, "versions": {"unversioned": True}},
        "all active": {"report_pollers": True, "versions": {"all_active": True}},
        "build IDs": {"report_pollers": True, "versions": {"build_ids": ["x", "y"]}},
        "build ID and none": {"report_pollers": True, "versions": {"build_ids": ["x"], "unversioned": True}},
    }
    # The reference server remembers for seconds what it said of a queue in this mode, so each case has its own.
    for number, (name, fields) in enumerate(cases.items()):
        queue = env.queue(str(number))
        async with _polling(env, queue, identity="one"):
            await _until_polled(env, queue, "workflow", "one")
            env.note(name, _shown(await _describe(env, queue, **mode, **fields)))


@scenario
async def task_queue_config_is_reported(env: Environment) -> None:
    """Nothing is configured."""
    env.note("config", _shown(await _describe(env, env.queue(), report_config=True)))


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
    }
    for name, fields in cases.items():
        call = {"task_queue": {"name": env.queue()}, "task_queue_type": _TYPES["workflow"]} | fields
        await env.attempt(name, env.call("DescribeTaskQueue", **call))


@scenario
async def task_queue_of_other_kinds(env: Environment) -> None:
    """Sticky queues, and queues for Nexus tasks."""
    sticky = {"name": env.queue("sticky"), "kind": "TASK_QUEUE_KIND_STICKY", "normal_name": env.queue()}
    reply = await env.call("DescribeTaskQueue", task_queue=sticky, task_queue_type=1)
    env.note("sticky", _shown(reply))
    queue = {"name": env.queue()}
    reply = await env.call("DescribeTaskQueue", task_queue=queue, task_queue_type="TASK_QUEUE_TYPE_NEXUS")
    env.note("nexus", _shown(reply))


@scenario
async def task_queue_partitions_are_listed(env: Environment) -> None:
    """The first one has the queue's name; how many there are, and where, is the server's own matter."""
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
            for kind in _TYPES:
                partitions = getattr(reply, f"{kind}_task_queue_partitions")
                env.note(f"{name}: root of {kind}", partitions[0].key)
                env.note(f"{name}: hosts of {kind}", all(one.owner_host_name for one in partitions))


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
async def polls_that_waited_advise_to_poll_less(env: Environment) -> None:
    """A poll that waited for a second could have been spared."""
    queue = env.queue()
    async with _polling(env, queue) as poll:
        await two_seconds_pass(env)
        await env.start(task_queue={"name": queue})
        task = await poll
        env.note("decision", task.poller_scaling_decision)
        worker = RawWorker(env, queue)
        async with _polling(env, queue, "activity") as poll_activity:
            await two_seconds_pass(env, "again")
            await worker.complete(task, schedule_activity(env, task_queue={"name": queue}))
            activity = await poll_activity
            env.note("activity decision", activity.poller_scaling_decision)
    await env.terminate()
