"""A task waits for its worker as long as it takes, though SQS forgets its messages."""

import pytest

from durable_core.adapters.aws.renewal import Renewal
from durable_core.model.times import DAY

from .deployment import Deployment
from .driver import Driver
from .simulated_aws import Killed


@pytest.fixture
def deployment():
    deployment = Deployment()
    yield deployment
    deployment.close()


def renew(deployment):
    """One day's round."""
    renewal = deployment.run(
        "renew",
        lambda process: Renewal(process.connection, deployment.settings.prefix, deployment.clock).renew(),
    )
    return renewal or 0


def waiting(deployment):
    """How many messages each task queue holds."""
    return [len(queue.messages) for url, queue in deployment.aws.queues.items() if "-q-" in url]


def pass_days(deployment, days):
    renewed = 0
    for _ in range(days):
        deployment.clock.advance(DAY)
        renewed += renew(deployment)
    return renewed


def test_a_workflow_begins_after_a_month_without_workers(deployment):
    driver = Driver(deployment)
    for number in range(25):
        driver.start(f"kid-{number}")
    assert pass_days(deployment, 30) >= 25 * 3
    assert waiting(deployment) == [25]
    while driver.open_runs():
        driver.work()


def test_without_it_the_task_would_be_lost(deployment):
    driver = Driver(deployment)
    driver.start("kid-a")
    deployment.clock.advance(15 * DAY)
    driver.work()
    assert waiting(deployment) == [0]
    assert driver.open_runs()


def test_what_is_young_stays_as_it_is_and_can_be_polled_at_once(deployment):
    driver = Driver(deployment)
    driver.start("kid-a")
    deployment.clock.advance(6 * DAY)
    assert renew(deployment) == 0
    driver.work()
    assert not driver.open_runs()


def test_a_round_that_is_killed_half_way_loses_nothing(deployment):
    driver = Driver(deployment)
    driver.start("kid-a")
    deployment.clock.advance(8 * DAY)
    points = [("after", "receive_message"), ("before", "send_message_batch"), ("after", "send_message_batch")]

    def interfere(*point):
        if points and point == points[0]:
            points.pop(0)
            raise Killed

    deployment.interfere = interfere
    for _ in range(3):
        renew(deployment)
        deployment.clock.advance(DAY)
    assert not points
    assert renew(deployment) >= 1
    while driver.open_runs():
        driver.work()


def test_all_queues_are_looked_through(deployment):
    driver = Driver(deployment)
    driver.start("a")
    driver.work()
    driver.start("kid-a")
    assert waiting(deployment) == [1, 2]
    assert pass_days(deployment, 8) == 3
    assert waiting(deployment) == [1, 2]
