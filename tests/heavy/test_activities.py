"""A run with a thousand activities pending at once, and one with a thousand timers."""

import asyncio
import random

import pytest

from durable_core.model import limits
from tests.heavy.reading import history
from tests.parity.environment import type_name
from tests.parity.raw_worker import (
    RawWorker,
    complete_workflow,
    payloads,
    schedule_activity,
    start_timer,
)

pytestmark = pytest.mark.asyncio

MANY, AT_ONCE = 1000, 50
SAMPLES = 200


async def scheduled(env, name, count):
    """A run with so many activities on a queue of their own, and the worker for them."""
    workflow_id, worker = env.id(name), RawWorker(env, env.queue(name))
    await env.start(workflow_id, task_queue={"name": worker.queue})
    commands = [
        schedule_activity(env, str(number), task_queue={"name": worker.queue}, input=payloads(str(number)))
        for number in range(count)
    ]
    await worker.step(*commands)
    return workflow_id, worker


async def polled(worker, count):
    """The activity tasks of that many polls."""
    tasks = []
    while len(tasks) < count:
        at_once = min(AT_ONCE, count - len(tasks))
        tasks += await asyncio.gather(*(worker.activity_task() for _ in range(at_once)))
    return tasks


async def completed(worker, tasks):
    for first in range(0, len(tasks), AT_ONCE):
        batch = tasks[first : first + AT_ONCE]
        await asyncio.gather(
            *(worker.complete_activity(task, f"result {task.activity_id}") for task in batch)
        )


async def test_a_thousand_pending_activities_each_run_once_and_all_their_results_are_there(env):
    workflow_id, worker = await scheduled(env, "wide", MANY)
    described = await env.describe(workflow_id)
    assert {one.activity_id for one in described.pending_activities} == {str(n) for n in range(MANY)}
    tasks = await polled(worker, MANY)
    assert sorted(int(task.activity_id) for task in tasks) == list(range(MANY))
    random.Random(5).shuffle(tasks)
    await completed(worker, tasks)
    assert not (await env.describe(workflow_id)).pending_activities
    ids, results = {}, {}
    for event in await history(env, workflow_id):
        if type_name(event) == "ACTIVITY_TASK_SCHEDULED":
            ids[event.event_id] = event.activity_task_scheduled_event_attributes.activity_id
        elif type_name(event) == "ACTIVITY_TASK_COMPLETED":
            attributes = event.activity_task_completed_event_attributes
            activity_id = ids[attributes.scheduled_event_id]
            assert activity_id not in results, "an activity completed twice"
            results[activity_id] = attributes.result.payloads[0].data.decode()
    assert results == {str(number): f'"result {number}"' for number in range(MANY)}
    await worker.step(complete_workflow())


async def test_activities_cost_the_same_whether_one_is_pending_or_a_thousand(env, meter):
    _, large = await scheduled(env, "wide", MANY)
    of_small = []
    for number in range(SAMPLES):
        _, small = await scheduled(env, f"small-{number}", 1)
        of_small.append((small, (await polled(small, 1))[0]))
    polls = await meter.cost(large.activity_task() for _ in range(SAMPLES))
    print(f"\na poll of an activity task of a thousand: {polls}")
    of_large = [(large, task) for task in await polled(large, SAMPLES)]
    for what, one in (
        ("a heartbeat", lambda worker, task: worker.heartbeat(task)),
        ("an activity's completion", lambda worker, task: worker.complete_activity(task)),
    ):
        costs = [await meter.cost(one(*each) for each in several) for several in (of_small, of_large)]
        meter.compare(f"{what}: in a run with one activity pending and with a thousand", *costs)


async def test_answers_by_id_cost_the_same_whether_one_is_pending_or_a_thousand(env, meter):
    large_id, large = await scheduled(env, "wide", MANY)
    of_small = []
    for number in range(SAMPLES):
        small_id, small = await scheduled(env, f"small-{number}", 1)
        await polled(small, 1)
        of_small.append((small_id, "0"))
    await polled(large, MANY)
    of_large = [(large_id, str(MANY - 1 - number)) for number in range(SAMPLES)]

    async def complete(workflow_id, activity_id):
        await env.call("RespondActivityTaskCompletedById", workflow_id=workflow_id, activity_id=activity_id)

    costs = [await meter.cost(complete(*each) for each in several) for several in (of_small, of_large)]
    meter.compare("a completion by ID: in a run with one activity pending and with a thousand", *costs)


async def test_a_timer_fires_in_a_run_with_one_activity_pending_and_with_a_thousand(env, meter):
    costs = []
    for name, count in (("small", 1), ("wide", MANY)):
        workflow_id, worker = await scheduled(env, name, count)
        await env.signal("go", workflow_id)
        await worker.step(*(start_timer(str(number), 0.5 + number / 50) for number in range(50)))
        # Nobody asks meanwhile: an answer about a thousand activities costs more than a timer.
        costs.append(await meter.cost([asyncio.sleep(0.5 + 50 / 50 + 0.5)]))
        await env.until_event("TIMER_FIRED", workflow_id, n=50)
    meter.compare("fifty timers, one every 20 ms: with one activity pending and with a thousand", *costs)


async def test_polls_for_large_inputs_cost_no_more_where_a_thousand_were_scheduled_at_once(env, meter):
    costs = []
    for name, count in (("few", 10), ("wide", MANY)):
        workflow_id, worker = env.id(name), RawWorker(env, env.queue(name))
        await env.start(workflow_id, task_queue={"name": worker.queue})
        large = payloads("x" * 3_000)
        await worker.step(
            *(
                schedule_activity(env, str(number), task_queue={"name": worker.queue}, input=large)
                for number in range(count)
            )
        )
        costs.append(await meter.cost(worker.activity_task() for _ in range(10)))
    meter.compare(
        "a poll for an activity with 3 KB of input: of ten scheduled at once, of a thousand", *costs
    )


async def test_a_failure_of_each_of_a_thousand_activities_is_retried(env, meter):
    workflow_id, worker = env.id(), RawWorker(env)
    await env.start(workflow_id)
    retries = {"initial_interval": {"nanos": 200_000_000}, "backoff_coefficient": 1, "maximum_attempts": 2}
    await worker.step(*(schedule_activity(env, str(number), retry_policy=retries) for number in range(MANY)))

    async def fail_and_again():
        for task in await polled(worker, MANY):
            await worker.fail_activity(task)
        return await polled(worker, MANY)

    again: list = []

    async def all_of_it():
        again.extend(await fail_and_again())

    cost = await meter.cost([all_of_it()])
    print(f"\na thousand activities polled, failed and polled for their second attempt: {cost}")
    assert {task.attempt for task in again} == {2}
    assert {task.activity_id for task in again} == {str(number) for number in range(MANY)}
    assert len((await env.describe()).pending_activities) == MANY


async def test_a_thousand_time_outs_at_once_all_come(env, meter):
    await env.start()
    worker = RawWorker(env)
    await worker.step(
        *(
            schedule_activity(
                env,
                str(number),
                task_queue={"name": env.queue("nobody")},
                schedule_to_start_timeout={"seconds": 1, "nanos": number},
                retry_policy={"maximum_attempts": 1},
            )
            for number in range(MANY)
        )
    )
    cost = await meter.cost([env.until_event("ACTIVITY_TASK_TIMED_OUT", n=MANY)])
    print(f"\na thousand activities timed out: {cost}")
    assert not (await env.describe()).pending_activities


async def test_a_thousand_timers_due_at_different_moments_of_one_second_all_fire(env, meter):
    await env.start()
    worker = RawWorker(env)
    await worker.step(*(start_timer(str(number), 1 + number / 1000) for number in range(MANY)))
    cost = await meter.cost([env.until_event("TIMER_FIRED", n=MANY)])
    print(f"\na thousand timers fired within one second: {cost}")
    events = await history(env, env.id())
    fired = [event.timer_fired_event_attributes.timer_id for event in events]
    assert sorted((name for name in fired if name), key=int) == [str(number) for number in range(MANY)]
    started = {
        event.timer_started_event_attributes.timer_id: event.event_time.ToNanoseconds()
        for event in events
        if type_name(event) == "TIMER_STARTED"
    }
    for event in events:
        if type_name(event) == "TIMER_FIRED":
            name = event.timer_fired_event_attributes.timer_id
            waited = event.event_time.ToNanoseconds() - started[name]
            assert waited >= 1_000_000_000 + int(name) * 1_000_000, f"timer {name} fired early"


async def test_the_activity_beyond_the_most_that_may_be_pending_fails_its_task(env):
    workflow_id, worker = await scheduled(env, "full", limits.pending_activities_max)
    await env.signal("one more", workflow_id)
    task = await worker.workflow_task()
    with pytest.raises(Exception, match="pending activities"):
        await worker.complete(task, schedule_activity(env, "one more"))
    failed = await env.until_event("WORKFLOW_TASK_FAILED", workflow_id)
    cause = failed.workflow_task_failed_event_attributes.DESCRIPTOR.fields_by_name["cause"].enum_type
    name = cause.values_by_number[failed.workflow_task_failed_event_attributes.cause].name
    assert name == "WORKFLOW_TASK_FAILED_CAUSE_PENDING_ACTIVITIES_LIMIT_EXCEEDED"
