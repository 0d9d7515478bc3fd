"""What a reset reads of the old run stays as it is."""

import pytest
from google.protobuf.duration_pb2 import Duration
from temporalio.api.enums.v1 import EventType as T
from temporalio.api.enums.v1 import ParentClosePolicy

from tests.properties import commands, invariants
from tests.properties.world import World

POLICY = ParentClosePolicy.PARENT_CLOSE_POLICY_ABANDON
CHILD_CLOSED = T.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_TERMINATED


@pytest.fixture
def world():
    made = World()
    yield made
    made.close()


def with_a_started_task(world):
    """A run whose second workflow task is started, so that what comes now waits in the buffer."""
    world.start("a")
    world.start("sender")
    world.poll_workflow_task()
    child = commands.start_child("kid-1", POLICY, Duration())
    assert world.complete(world.workflow_tasks[0], [child])
    world.settle()
    while world.poll_workflow_task():
        pass
    return {task.workflow_execution.workflow_id: task for task in world.workflow_tasks}


def histories(world, workflow_id, event_type):
    """The events of a type, run by run."""
    runs = [invariants.load(world.system, key) for key, _ in world.runs() if key.workflow_id == workflow_id]
    for run in runs:
        invariants.check_run(world.system, run)
    return [[event for event in run.events if event.event_type == event_type] for run in runs]


def test_a_signal_that_waited_in_the_buffer_keeps_its_sender_in_the_old_run(world):
    tasks = with_a_started_task(world)
    assert world.complete(tasks["sender"], [commands.signal_external("a")])
    world.settle()
    world.reset("a", 4, "reset")
    (old,), (new,) = histories(world, "a", T.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED)
    sender = old.workflow_execution_signaled_event_attributes.external_workflow_execution
    assert sender.workflow_id == "sender"
    assert not new.workflow_execution_signaled_event_attributes.HasField("external_workflow_execution")


def test_the_end_of_a_child_refers_to_the_start_that_each_run_knows(world):
    with_a_started_task(world)
    world.terminate("kid-1")
    world.settle()
    world.reset("a", 8, "reset")
    old, new = histories(world, "a", CHILD_CLOSED)
    assert len(old) == len(new) == 1
    started = histories(world, "a", T.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_STARTED)
    for ends, starts in zip((old, new), started, strict=True):
        for end in ends:
            attributes = end.child_workflow_execution_terminated_event_attributes
            assert attributes.started_event_id == starts[0].event_id
