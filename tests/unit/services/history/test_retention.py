"""A closed run whose retention is over is removed, and what its end owes to others is done before."""

import pytest
from google.protobuf.duration_pb2 import Duration
from temporalio.api.enums.v1 import ParentClosePolicy

from durable_core.model.times import DAY
from tests.properties import commands
from tests.properties.world import World


@pytest.fixture
def world():
    made = World()
    yield made
    made.close()


def test_a_parent_hears_of_a_child_even_when_nobody_told_it_within_the_retention(world):
    world.start("a")
    world.poll_workflow_task()
    child = commands.start_child("kid-1", ParentClosePolicy.PARENT_CLOSE_POLICY_TERMINATE, Duration())
    assert world.complete(world.workflow_tasks[0], [child])
    world.settle()
    assert len(world.state("a").children) == 1
    world.terminate("kid-1")
    world.pass_time(DAY)
    assert len(world.state("a").children) == 1
    world.settle()
    assert len(world.state("a").children) == 0
    assert world.state("kid-1") is None
