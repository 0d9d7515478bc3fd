"""What a command may do that meets an event which the worker could not know of."""

import pytest
from google.protobuf.duration_pb2 import Duration
from temporalio.api.enums.v1 import EventType as T

from durable_core.model.times import SECOND
from tests.properties import commands, invariants
from tests.properties.world import World

SECONDS = Duration(seconds=1)


@pytest.fixture
def world():
    made = World()
    yield made
    made.close()


def run_of(world):
    return invariants.load(world.system, world.runs()[0][0])


def types(world):
    return [event.event_type for event in run_of(world).events]


def with_a_timer_that_fired_into_the_buffer(world):
    world.start("a")
    world.poll_workflow_task()
    world.complete(world.workflow_tasks[0], [commands.start_timer("t", SECONDS)], force_new=True)
    world.poll_workflow_task()
    world.pass_time(2 * SECOND)
    assert len(world.state("a").buffered) == 1
    return world.workflow_tasks[0]


def test_a_timer_may_take_the_id_of_one_whose_firing_the_worker_has_not_seen(world):
    task = with_a_timer_that_fired_into_the_buffer(world)
    assert world.complete(task, [commands.start_timer("t", SECONDS)])
    assert types(world)[-3:] == [
        T.EVENT_TYPE_TIMER_STARTED,
        T.EVENT_TYPE_TIMER_FIRED,
        T.EVENT_TYPE_WORKFLOW_TASK_SCHEDULED,
    ]
    invariants.check_run(world.system, run_of(world))
    world.pass_time(2 * SECOND)
    fired = [event for event in run_of(world).events if event.event_type == T.EVENT_TYPE_TIMER_FIRED]
    assert len(fired) == 2
    invariants.check_run(world.system, run_of(world))


def test_a_running_timer_keeps_its_id(world):
    world.start("a")
    world.poll_workflow_task()
    two = [commands.start_timer("t", SECONDS), commands.start_timer("t", SECONDS)]
    assert not world.complete(world.workflow_tasks[0], two)
    assert types(world)[-1] == T.EVENT_TYPE_WORKFLOW_TASK_FAILED


def test_a_timer_that_fired_unseen_can_be_cancelled_and_started_again(world):
    task = with_a_timer_that_fired_into_the_buffer(world)
    assert world.complete(task, [commands.cancel_timer("t"), commands.start_timer("t", SECONDS)])
    assert T.EVENT_TYPE_TIMER_FIRED not in types(world)
    assert types(world)[-2:] == [T.EVENT_TYPE_TIMER_CANCELED, T.EVENT_TYPE_TIMER_STARTED]
    invariants.check_run(world.system, run_of(world))
