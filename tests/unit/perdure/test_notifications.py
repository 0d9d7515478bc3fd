"""Who is woken by what: one for a queue, all for a run, and never nobody because a waiter left."""

import asyncio

import pytest

from durable_core.model.ids import RunKey
from durable_core.ports.notifications import QueryTopic
from perdure.dev.notifications import InProcessNotifications
from tests.unit.perdure.systems import queue

QUEUE = queue("q")
RUN = RunKey("ns", "w", "r")

pytestmark = pytest.mark.asyncio


async def waiters(notifications, count, *topics, seconds=30.0):
    """Tasks that wait, registered in this order."""
    tasks = []
    for _ in range(count):
        tasks.append(asyncio.create_task(notifications.wait(topics, seconds)))
        await asyncio.sleep(0)
    return tasks


async def settled(tasks):
    """Which of the tasks are done once everything that can run has run."""
    for _ in range(5):
        await asyncio.sleep(0)
    return [task.done() for task in tasks]


async def end(tasks):
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def test_a_queue_wakes_who_waits_longest_and_only_that_one():
    notifications = InProcessNotifications()
    tasks = await waiters(notifications, 3, QUEUE)
    notifications.publish(QUEUE)
    assert await settled(tasks) == [True, False, False]
    notifications.publish(QUEUE)
    assert await settled(tasks) == [True, True, False]
    await end(tasks)


@pytest.mark.parametrize("topic", [RUN, QueryTopic("x")])
async def test_a_run_and_a_query_wake_all(topic):
    notifications = InProcessNotifications()
    tasks = await waiters(notifications, 3, topic)
    notifications.publish(topic)
    assert await asyncio.gather(*tasks) == [True, True, True]


async def test_two_notifications_of_a_queue_wake_two_even_before_the_first_has_run():
    notifications = InProcessNotifications()
    tasks = await waiters(notifications, 3, QUEUE)
    notifications.publish(QUEUE)
    notifications.publish(QUEUE)
    assert await settled(tasks) == [True, True, False]
    await end(tasks)


async def test_a_woken_waiter_that_is_gone_passes_it_on():
    notifications = InProcessNotifications()
    tasks = await waiters(notifications, 2, QUEUE)
    notifications.publish(QUEUE)
    tasks[0].cancel()
    assert await settled(tasks) == [True, True]
    assert tasks[0].cancelled()
    assert tasks[1].result() is True


async def test_a_waiter_that_left_before_is_not_woken():
    notifications = InProcessNotifications()
    tasks = await waiters(notifications, 2, QUEUE)
    tasks[0].cancel()
    notifications.publish(QUEUE)
    assert await settled(tasks) == [True, True]
    assert tasks[1].result() is True


async def test_a_wait_ends_when_its_time_is_over():
    assert await InProcessNotifications().wait((QUEUE, RUN), 0.001) is False


async def test_a_waiter_of_two_topics_is_woken_by_either_and_forgotten_for_both():
    notifications = InProcessNotifications()
    [task] = await waiters(notifications, 1, QUEUE, RUN)
    notifications.publish(RUN)
    assert await task is True
    assert notifications.waiting(QUEUE) == notifications.waiting(RUN) == 0


async def test_nothing_is_kept_of_a_notification_that_nobody_waits_for():
    notifications = InProcessNotifications()
    notifications.publish(QUEUE)
    assert await notifications.wait((QUEUE,), 0.001) is False


async def test_waking_everybody_ends_every_wait_without_a_notification():
    notifications = InProcessNotifications()
    tasks = await waiters(notifications, 2, QUEUE) + await waiters(notifications, 1, RUN)
    notifications.wake_everybody()
    assert await asyncio.gather(*tasks) == [False, False, False]
