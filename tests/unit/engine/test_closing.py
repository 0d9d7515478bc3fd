"""What follows the end of a run."""

import pytest
from google.protobuf.duration_pb2 import Duration

from durable_core.model.times import SECOND
from tests.properties import commands
from tests.properties.world import World


@pytest.fixture
def world():
    made = World()
    yield made
    made.close()


def answer(world, *wanted):
    world.poll_workflow_task()
    return world.complete(world.workflow_tasks[0], wanted)


def continued_with_cron(world, schedule):
    world.start("a")
    command = commands.continue_as_new(Duration())
    command.continue_as_new_workflow_execution_command_attributes.cron_schedule = schedule
    assert answer(world, command)
    world.pass_time(2 * SECOND)


@pytest.mark.parametrize("schedule", ["nonsense", "0 0 30 2 *"])
@pytest.mark.parametrize("ending", [commands.complete_workflow, commands.fail_workflow])
def test_a_run_closes_and_nothing_follows_where_its_cron_makes_no_sense(world, schedule, ending):
    continued_with_cron(world, schedule)
    assert answer(world, ending())
    assert not world.state("a").is_open


def test_a_run_with_a_good_cron_is_followed_by_the_next_one(world):
    continued_with_cron(world, "@every 3s")
    assert answer(world, commands.complete_workflow())
    assert world.state("a").is_open
    assert world.state("a").core.backoff_pending
