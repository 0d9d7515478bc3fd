"""A transition that breaks an invariant is stopped before it is stored."""

import pytest
from temporalio.api.enums.v1 import EventType as T
from temporalio.api.history.v1 import WorkflowExecutionSignaledEventAttributes

from durable_core.engine import invariants
from durable_core.engine.transition import Transition
from durable_core.model.errors import IllegalTransition
from durable_core.model.times import SECOND
from tests.properties.test_illegal_events import STATES, states
from tests.properties.world import CountedIds

NOW = 1_700_000_010 * SECOND


def transition(name):
    return Transition(states()[name], NOW, CountedIds())


def signal(t):
    return t.add(
        T.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED,
        workflow_execution_signaled_event_attributes=WorkflowExecutionSignaledEventAttributes(),
    )


@pytest.mark.parametrize("name", [name for name in STATES if name != "unborn"])
def test_what_the_services_made_passes(name):
    invariants.check(transition(name))


def test_a_transition_that_adds_events_passes():
    t = transition("fresh")
    signal(t)
    t.new_batch()
    signal(t)
    invariants.check(t)


def test_a_gap_between_events_is_found():
    t = transition("fresh")
    signal(t)
    signal(t).event_id += 1
    with pytest.raises(IllegalTransition, match="stands where"):
        invariants.check(t)


def test_an_event_behind_the_closing_one_is_found():
    t = transition("closed")
    t.state.core.next_event_id += 1
    with pytest.raises(IllegalTransition, match="follow the closing event"):
        invariants.check(t)


def test_a_workflow_task_of_a_closed_run_is_found():
    t = transition("closed")
    t.state.core.workflow_task = states()["fresh"].core.workflow_task
    with pytest.raises(IllegalTransition, match="has no workflow task"):
        invariants.check(t)


@pytest.mark.parametrize("task", [None, "fresh"])
def test_events_that_wait_for_nothing_are_found(task):
    t = transition("waiting")
    assert t.has_buffered
    t.state.core.workflow_task = states()[task].core.workflow_task if task else None
    with pytest.raises(IllegalTransition, match="wait in the buffer"):
        invariants.check(t)


def test_a_transition_that_is_restarted_is_as_new():
    t = transition("waiting")
    signal(t)
    t.restart()
    assert (t.event_count, t.is_dirty, t.tasks) == (0, False, [])
    assert t.state.core == states()["waiting"].core
    assert dict(t.state.buffered.items()) == dict(states()["waiting"].buffered.items())


def test_nothing_done_in_a_transition_is_seen_outside_of_it():
    before = dict(states()["waiting"].buffered.items()), states()["waiting"].core.signals
    signal(transition("waiting"))
    assert (dict(states()["waiting"].buffered.items()), states()["waiting"].core.signals) == before
