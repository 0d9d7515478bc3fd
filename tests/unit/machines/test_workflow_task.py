"""How long an attempt of a workflow task may take, and what its failure does to the next one."""

import pytest
from temporalio.api.enums.v1 import EventType as T
from temporalio.api.enums.v1 import TimeoutType, WorkflowTaskFailedCause
from temporalio.api.history.v1 import HistoryEvent

from durable_core.machines import workflow_task
from durable_core.model.state import Core, RunState, WorkflowTaskInfo
from durable_core.model.times import MINUTE, SECOND

UNHANDLED = WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_UNHANDLED_COMMAND
RESET = WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_RESET_WORKFLOW
OTHER = WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_BAD_START_TIMER_ATTRIBUTES


@pytest.mark.parametrize(
    "attempt, extra",
    [(1, 0), (2, 0), (3, 0), (4, 5), (5, 10), (6, 20), (10, 320), (11, 600), (100, 600), (50_000, 600)],
)
def test_from_the_fourth_attempt_on_a_task_gets_more_time(attempt, extra):
    core = Core(workflow_task_timeout=10 * SECOND)
    assert workflow_task.timeout_of_attempt(core, attempt) == (10 + extra) * SECOND
    assert workflow_task.timeout_of_attempt(core, attempt) <= 10 * SECOND + 10 * MINUTE


def state_with(*, started, sticky=False, attempt=1):
    core = Core(status=1, next_event_id=4, workflow_task_attempt=attempt)
    core.sticky_queue, core.sticky_timeout = ("sticky", SECOND) if sticky else ("", 0)
    core.workflow_task = WorkflowTaskInfo(
        2, attempt, SECOND, 0, 0, "sticky" if sticky else "work", sticky, 1, started_event_id=3 * started
    )
    return RunState(core)


def failed(state, cause):
    event = HistoryEvent(event_id=4, event_type=T.EVENT_TYPE_WORKFLOW_TASK_FAILED)
    event.workflow_task_failed_event_attributes.scheduled_event_id = 2
    event.workflow_task_failed_event_attributes.cause = cause
    workflow_task.apply_failed(state, event)
    return state.core


def timed_out(state, kind):
    event = HistoryEvent(event_id=4, event_type=T.EVENT_TYPE_WORKFLOW_TASK_TIMED_OUT)
    event.workflow_task_timed_out_event_attributes.scheduled_event_id = 2
    event.workflow_task_timed_out_event_attributes.timeout_type = kind
    workflow_task.apply_timed_out(state, event)
    return state.core


@pytest.mark.parametrize("attempt", [1, 5])
def test_a_failure_raises_the_attempt(attempt):
    core = failed(state_with(started=True, attempt=attempt), OTHER)
    assert (core.workflow_task, core.workflow_task_attempt) == (None, attempt + 1)


def test_a_failure_on_the_sticky_queue_is_tried_on_the_normal_one_first():
    core = failed(state_with(started=True, sticky=True), OTHER)
    assert (core.workflow_task_attempt, core.sticky_queue, core.sticky_timeout) == (1, "", 0)


def test_a_reset_begins_with_a_first_attempt():
    assert failed(state_with(started=True), RESET).workflow_task_attempt == 1


@pytest.mark.parametrize("cause, attempted", [(UNHANDLED, True), (OTHER, False)])
def test_a_close_that_lost_a_race_is_remembered(cause, attempted):
    assert failed(state_with(started=True), cause).close_attempted == attempted


def test_a_time_out_of_an_answer_raises_the_attempt():
    core = timed_out(state_with(started=True), TimeoutType.TIMEOUT_TYPE_START_TO_CLOSE)
    assert (core.workflow_task, core.workflow_task_attempt) == (None, 2)


def test_a_sticky_task_that_nobody_took_does_not_raise_the_attempt():
    core = timed_out(state_with(started=False, sticky=True), TimeoutType.TIMEOUT_TYPE_SCHEDULE_TO_START)
    assert (core.workflow_task, core.workflow_task_attempt, core.sticky_queue) == (None, 1, "")
