"""Starting a child when its parent is no longer what it was."""

import pytest
from google.protobuf.duration_pb2 import Duration
from temporalio.api.enums.v1 import ParentClosePolicy

from durable_core.model.ids import SERVICE_QUEUE
from durable_core.model.tasks import StartChild
from durable_core.services import service_tasks
from tests.properties import commands
from tests.properties.world import World

POLICY = ParentClosePolicy.PARENT_CLOSE_POLICY_ABANDON


@pytest.fixture
def world():
    made = World()
    yield made
    made.close()


def with_a_child_to_start(world):
    """A run that asked for a child in its second workflow task, and the service task that is to start it."""
    world.start("a")
    world.poll_workflow_task()
    world.complete(world.workflow_tasks[0], force_new=True)
    world.poll_workflow_task()
    child = commands.start_child("kid-1", POLICY, Duration())
    assert world.complete(world.workflow_tasks[0], [child])
    received = world.context.task_queues.receive(SERVICE_QUEUE)
    assert isinstance(received.task.body, StartChild)
    return received


def created_but_unrecorded(world, received, monkeypatch):
    """The child's run is there when the process dies before its parent hears of it."""

    def dies(*arguments):
        raise ProcessDies

    with monkeypatch.context() as patched:
        patched.setattr("durable_core.services.history.start_child._record_start", dies)
        with pytest.raises(ProcessDies):
            service_tasks.run(world.context, received.task)
    assert world.state("kid-1").core.waits_for_parent


class ProcessDies(BaseException):
    pass


def test_a_child_whose_parent_closed_before_it_knew_never_begins(world, monkeypatch):
    received = with_a_child_to_start(world)
    created_but_unrecorded(world, received, monkeypatch)
    world.terminate("a")
    service_tasks.run(world.context, received.task)
    assert not world.state("kid-1").is_open


@pytest.mark.parametrize("event_id, begins", [(11, True), (4, False)])
def test_a_child_that_a_reset_run_starts_too_is_left_to_it(world, monkeypatch, event_id, begins):
    """The reset is behind the child's command, or before it."""
    received = with_a_child_to_start(world)
    created_but_unrecorded(world, received, monkeypatch)
    world.signal("a")
    world.poll_workflow_task()
    before = world.state("a").core.run_id
    world.reset("a", event_id, "reset")
    assert world.state("a").core.run_id != before
    service_tasks.run(world.context, received.task)
    assert world.state("kid-1").is_open == begins
    world.settle()
    kid = world.state("kid-1").core
    assert (kid.closed_at == 0, kid.waits_for_parent, kid.workflow_task is not None) == (
        begins,
        False if begins else kid.waits_for_parent,
        begins,
    )
