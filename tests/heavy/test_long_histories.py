"""A run with 10,000 events: read, gone on with, killed and loaded anew, reset."""

import asyncio

import pytest

from tests.heavy.reading import history, pages, rest_of_task
from tests.parity.environment import Environment, type_name
from tests.parity.raw_worker import RawWorker, command, complete_workflow, payloads

pytestmark = pytest.mark.asyncio

TASKS, MARKERS = 5, 2000
SAMPLES = 100


def markers(count, first=0):
    return [
        command("RECORD_MARKER", marker_name=str(number), details={"number": payloads(str(number))})
        for number in range(first, first + count)
    ]


async def grown(env, name="long"):
    """A run whose five workflow tasks wrote 2,000 markers each, and the worker that answered them."""
    workflow_id, worker = env.id(name), RawWorker(env, env.queue(name))
    await env.start(workflow_id, task_queue={"name": worker.queue})
    for number in range(TASKS):
        task = await worker.workflow_task()
        more = number < TASKS - 1
        await worker.complete(
            task, *markers(MARKERS, number * MARKERS), force_create_new_workflow_task=more, timeout=60
        )
    return workflow_id, worker


async def small(env, name="small"):
    workflow_id, worker = env.id(name), RawWorker(env, env.queue(name))
    await env.start(workflow_id, task_queue={"name": worker.queue})
    await worker.step()
    return workflow_id, worker


async def round_of(env, workflow_id, worker):
    """A signal, the workflow task that it brings, and the answer with one marker: three transitions."""
    await env.signal("go", workflow_id)
    await worker.complete(await worker.workflow_task(), *markers(1))


async def test_a_history_of_ten_thousand_events_is_read_in_pages_in_both_directions(env):
    workflow_id, worker = await grown(env)
    events = await history(env, workflow_id)
    names = [event.marker_recorded_event_attributes.marker_name for event in events]
    assert [name for name in names if name] == [str(number) for number in range(TASKS * MARKERS)]
    assert (await env.describe(workflow_id)).workflow_execution_info.history_length == len(events) > 10_000

    few = await pages(env, workflow_id, maximum_page_size=3)
    assert [event for page in few for event in page] == events
    assert len(few) > 1
    await env.signal("end", workflow_id)
    await worker.step(complete_workflow())
    (last,) = await pages(env, workflow_id, history_event_filter_type="HISTORY_EVENT_FILTER_TYPE_CLOSE_EVENT")
    assert [type_name(event) for event in last] == ["WORKFLOW_EXECUTION_COMPLETED"]


async def test_a_worker_without_a_cache_gets_ten_thousand_events(env):
    workflow_id, worker = await grown(env)
    await env.signal("go", workflow_id)
    task = await worker.workflow_task()
    brought = await rest_of_task(env, task, workflow_id)
    assert [event.event_id for event in brought] == list(range(1, task.started_event_id + 1))
    await worker.complete(task, complete_workflow())
    assert type_name((await history(env, workflow_id))[-1]) == "WORKFLOW_EXECUTION_COMPLETED"


async def test_rounds_go_on_at_ten_thousand_events(env, meter):
    of_small, of_large = await small(env), await grown(env)
    for what, one in (
        ("a signal", lambda run: env.signal("go", run[0])),
        (
            "a signal, its workflow task with the whole history, and its answer",
            lambda run: round_of(env, *run),
        ),
        ("a description", lambda run: env.describe(run[0])),
    ):
        costs = [await meter.cost(one(run) for _ in range(SAMPLES)) for run in (of_small, of_large)]
        meter.compare(f"{what}: of a run with few events and of one with 10,000", *costs)
        assert not await trouble(env, of_large[0])


async def trouble(env, workflow_id):
    """The kinds of events that tell of a lost or failed task."""
    names = {type_name(event) for event in await history(env, workflow_id)}
    return names & {"WORKFLOW_TASK_FAILED", "WORKFLOW_TASK_TIMED_OUT"}


async def test_a_sticky_task_brings_only_what_is_new_and_costs_the_same(env, meter):
    costs = []
    for workflow_id, worker in (await small(env), await grown(env)):
        sticky = f"{worker.queue}-sticky"
        attributes = {
            "worker_task_queue": {
                "name": sticky,
                "kind": "TASK_QUEUE_KIND_STICKY",
                "normal_name": worker.queue,
            },
            "schedule_to_start_timeout": {"seconds": 60},
        }
        await env.signal("go", workflow_id)
        first = await worker.workflow_task()

        async def one(worker=worker, workflow_id=workflow_id, attributes=attributes, sticky=sticky):
            polled = asyncio.create_task(worker.workflow_task(sticky, sticky_of=worker.queue))
            await env.signal("go", workflow_id)
            task = await polled
            assert len(task.history.events) < 10
            await worker.complete(task, *markers(1), sticky_attributes=attributes)

        waiting = asyncio.create_task(worker.workflow_task(sticky, sticky_of=worker.queue))
        await worker.complete(first, sticky_attributes=attributes)
        await env.signal("go", workflow_id)
        await worker.complete(await waiting, sticky_attributes=attributes)
        costs.append(await meter.cost(one() for _ in range(SAMPLES)))
    meter.compare("a signal, its sticky workflow task, and its answer: at few events and at 10,000", *costs)


async def test_a_killed_server_goes_on_with_ten_thousand_events(env, server):
    process, _ = server
    if process is None:
        pytest.skip("this test kills its server, and the one given by PERDURE_TEST_TARGET is not its own")
    workflow_id, worker = await grown(env)
    before = await history(env, workflow_id)
    await asyncio.to_thread(process.kill)
    await asyncio.to_thread(process.start)
    anew = Environment(env.address, env.name)
    await anew.signal("after", workflow_id)
    assert (await history(anew, workflow_id))[: len(before)] == before
    await RawWorker(anew, worker.queue).step(complete_workflow())
    assert type_name((await history(anew, workflow_id))[-1]) == "WORKFLOW_EXECUTION_COMPLETED"
    await anew.close()


async def test_a_reset_in_the_middle_of_ten_thousand_events_keeps_what_was_before_and_the_signals_after(env):
    workflow_id, worker = await grown(env)
    for number in range(50):
        await env.signal(f"late {number}", workflow_id)
    before = await history(env, workflow_id)
    completed = [event.event_id for event in before if type_name(event) == "WORKFLOW_TASK_COMPLETED"]
    reset = await env.call(
        "ResetWorkflowExecution",
        workflow_execution={"workflow_id": workflow_id},
        workflow_task_finish_event_id=completed[2],
        reason="to see what is kept",
        request_id="reset",
    )
    after = await history(env, workflow_id, reset.run_id)
    assert after[: completed[2] - 1] == before[: completed[2] - 1]
    told = [event.workflow_execution_signaled_event_attributes.signal_name for event in after]
    assert [name for name in told if name] == [f"late {number}" for number in range(50)]
    task = await worker.workflow_task()
    assert task.workflow_execution.run_id == reset.run_id
    brought = await rest_of_task(env, task, workflow_id)
    assert [event.event_id for event in brought] == list(range(1, task.started_event_id + 1))
    await worker.complete(task, complete_workflow())
    assert type_name((await history(env, workflow_id, reset.run_id))[-1]) == "WORKFLOW_EXECUTION_COMPLETED"
    assert await history(env, workflow_id, before_run(before)) != after


def before_run(events):
    return events[0].workflow_execution_started_event_attributes.original_execution_run_id
