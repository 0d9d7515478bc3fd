"""A timer fires never early and normally within a second, whether it is a matter of seconds or of years."""

from itertools import pairwise

import pytest
from google.protobuf.duration_pb2 import Duration
from temporalio.api.enums.v1 import EventType as T
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflowservice.v1 import (
    PollWorkflowTaskQueueRequest,
    RespondWorkflowTaskCompletedRequest,
)

from durable_core.model.times import DAY, HOUR, MILLISECOND, MINUTE, SECOND, nanos
from tests.properties import commands
from tests.properties.world import QUEUE

from .deployment import NAMESPACE, Deployment
from .driver import Driver
from .simulated_aws import Killed, refused

LATE_MAX = 1 * SECOND


@pytest.fixture
def deployment():
    deployment = Deployment(fast_path=False)
    yield deployment
    deployment.close()


def start_timers(deployment, *afters):
    """A workflow whose first task starts these timers."""
    driver = Driver(deployment)
    driver.start("a")
    deployment.relay()
    task = driver.insist(
        "PollWorkflowTaskQueue",
        PollWorkflowTaskQueueRequest(namespace=NAMESPACE, task_queue=TaskQueue(name=QUEUE)),
    )
    timers = [
        commands.start_timer(f"t{number}", Duration(seconds=after // SECOND, nanos=after % SECOND))
        for number, after in enumerate(afters)
    ]
    done = RespondWorkflowTaskCompletedRequest(
        namespace=NAMESPACE, task_token=task.task_token, commands=timers
    )
    driver.insist("RespondWorkflowTaskCompleted", done)


def pass_time(deployment, rounds=60):
    """Let the stream's reader and the timer queue do their work until nothing is left to come."""
    for _ in range(rounds):
        deployment.arm()
        deployment.fire()
        following = deployment.aws.next_at()
        if deployment.armed == len(deployment.aws.stream) and following is None:
            return
        if following is not None:
            deployment.clock.set(following)
    raise AssertionError("there is always something to come")


def lateness(deployment):
    """How late each timer fired, in ns, in the order of firing."""
    (run,) = deployment.runs()
    due = {
        event.event_id: nanos(event.event_time)
        + nanos(event.timer_started_event_attributes.start_to_fire_timeout)
        for event in run.events
        if event.event_type == T.EVENT_TYPE_TIMER_STARTED
    }
    return [
        nanos(event.event_time) - due[event.timer_fired_event_attributes.started_event_id]
        for event in run.events
        if event.event_type == T.EVENT_TYPE_TIMER_FIRED
    ]


@pytest.mark.parametrize(
    "after",
    [
        1 * MILLISECOND,
        2 * SECOND,
        2 * SECOND + 345 * MILLISECOND,
        15 * MINUTE,
        15 * MINUTE + 1,
        20 * MINUTE,
        HOUR + 7,
        3 * DAY,
        400 * DAY,
        3_000 * DAY,
    ],
)
def test_a_timer_fires_at_its_time(deployment, after):
    start_timers(deployment, after)
    pass_time(deployment)
    (late,) = lateness(deployment)
    assert 0 <= late <= LATE_MAX


def test_many_timers_of_a_run_fire_in_their_order_each_at_its_time(deployment):
    afters = [3 * DAY, 2 * SECOND, 20 * MINUTE, 2 * SECOND, 1 * HOUR, 2_500 * MILLISECOND]
    start_timers(deployment, *afters)
    pass_time(deployment)
    late = lateness(deployment)
    assert len(late) == len(afters)
    assert all(0 <= each <= LATE_MAX for each in late)


def test_a_run_arms_one_wake_up_at_a_time(deployment):
    start_timers(deployment, *range(HOUR, 2 * HOUR, MINUTE))
    armed = []
    deployment.interfere = lambda when, operation: armed.append(operation) if when == "before" else None
    pass_time(deployment, rounds=500)
    assert len(lateness(deployment)) == 60
    # Each needs a schedule or a message, the first a schedule and a message; and one was the workflow task's time-out.
    assert armed.count("create_schedule") + armed.count("send_message_batch") <= 60 + 3


def test_a_timer_fires_once_though_its_record_and_its_message_come_twice(deployment):
    start_timers(deployment, 20 * MINUTE)
    deployment.arm()
    deployment.arm(deployment.aws.stream)
    deployment.clock.advance(19 * MINUTE)
    deployment.arm(deployment.aws.stream)
    pass_time(deployment)
    deployment.arm(deployment.aws.stream)
    pass_time(deployment)
    (late,) = lateness(deployment)
    assert 0 <= late <= LATE_MAX


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize(
    "operation, error",
    [
        pytest.param("send_message_batch", Killed(), id="killed at SQS"),
        pytest.param("send_message_batch", refused("InternalError"), id="refused by SQS"),
        pytest.param("create_schedule", Killed(), id="killed at the Scheduler"),
        pytest.param("create_schedule", refused("InternalError"), id="refused by the Scheduler"),
        pytest.param("commit", Killed(), id="killed at the commit"),
    ],
)
def test_a_timer_fires_though_whoever_arms_or_fires_it_fails_once(deployment, when, operation, error):
    start_timers(deployment, 2 * SECOND, 20 * MINUTE)
    failures = [error]

    def interfere(*point):
        if point == (when, operation) and failures:
            raise failures.pop()

    deployment.interfere = interfere
    for _ in range(3):
        try:
            pass_time(deployment)
        except Exception as failure:  # noqa: BLE001 - whatever failed, the event source comes again
            assert "InternalError" in str(failure)  # noqa: PT017 - and not the test's matter
    assert not failures
    late = lateness(deployment)
    assert len(late) == 2
    assert all(each >= 0 for each in late)


def test_a_scheduled_wake_up_is_moved_forward_by_an_earlier_timer(deployment):
    start_timers(deployment, 3 * DAY)
    deployment.arm()
    driver = Driver(deployment)
    driver.signal("a", 1)
    deployment.relay()
    task = driver.insist(
        "PollWorkflowTaskQueue",
        PollWorkflowTaskQueueRequest(namespace=NAMESPACE, task_queue=TaskQueue(name=QUEUE)),
    )
    earlier = commands.start_timer("earlier", Duration(seconds=2))
    done = RespondWorkflowTaskCompletedRequest(
        namespace=NAMESPACE, task_token=task.task_token, commands=[earlier]
    )
    driver.insist("RespondWorkflowTaskCompleted", done)
    pass_time(deployment)
    late = lateness(deployment)
    assert len(late) == 2
    assert all(0 <= each <= LATE_MAX for each in late)
    (run,) = deployment.runs()
    fired = [nanos(e.event_time) for e in run.events if e.event_type == T.EVENT_TYPE_TIMER_FIRED]
    assert all(first < second for first, second in pairwise(fired))


def test_a_near_timer_is_in_time_while_the_stream_still_gathers():
    deployment = Deployment(fast_path=True)
    try:
        start_timers(deployment, 200 * MILLISECOND, 2 * SECOND)
        for _ in range(20):
            deployment.fire()
            following = deployment.aws.next_at()
            if following is None:
                break
            deployment.clock.set(following)
        late = lateness(deployment)
        assert len(late) == 2
        assert all(0 <= each <= LATE_MAX for each in late)
        deployment.arm()
        pass_time(deployment)
        assert len(lateness(deployment)) == 2
    finally:
        deployment.close()
