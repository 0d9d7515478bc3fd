"""Messages say what they said, and garbage is refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from durable_core.adapters.aws import messages
from durable_core.model.ids import QueueKind, RunKey
from durable_core.model.tasks import (
    ActivityTask,
    ApplyParentClosePolicy,
    CancelExternal,
    NotifyParent,
    QueryTask,
    SignalExternal,
    StartChild,
    Task,
    WorkflowTask,
)
from durable_core.ports.wake_ups import WakeUp

IDS = st.integers(0, 1 << 62)
BODIES = st.one_of(
    st.builds(WorkflowTask, IDS, IDS),
    st.builds(ActivityTask, IDS, IDS, IDS),
    st.builds(QueryTask, st.text()),
    st.builds(StartChild, IDS),
    st.builds(SignalExternal, IDS),
    st.builds(CancelExternal, IDS),
    st.just(NotifyParent()),
    st.just(ApplyParentClosePolicy()),
)
TASKS = st.builds(
    Task,
    IDS,
    st.text(),
    st.text(),
    st.text(),
    st.text(),
    st.sampled_from([int(k) for k in QueueKind]),
    BODIES,
)
WAKE_UPS = st.builds(WakeUp, st.builds(RunKey, st.text(), st.text(), st.text()), IDS)


@given(TASKS)
def test_a_task_arrives_as_it_was_sent(task):
    assert messages.to_task(messages.of_task(task)) == task


@given(WAKE_UPS)
def test_a_wake_up_arrives_as_it_was_armed(wake_up):
    assert messages.to_wake_up(messages.of_wake_up(wake_up)) == wake_up


@given(st.text())
def test_garbage_is_refused(text):
    for read in (messages.to_task, messages.to_wake_up):
        with pytest.raises(ValueError):  # noqa: PT011 - whatever it says, it is a ValueError
            read(text)


@given(WAKE_UPS, IDS)
def test_a_schedules_name_is_one_that_the_scheduler_takes(wake_up, at):
    name = messages.schedule_name(wake_up, at)
    assert len(name) <= 64
    assert name.replace("-", "").isalnum()
    assert name != messages.schedule_name(wake_up, at + 1)


@given(TASKS)
def test_a_tasks_name_is_one_that_sqs_takes(task):
    body = task.body
    if isinstance(body, QueryTask):
        return
    name = messages.task_name(task)
    assert len(name) <= 128
    assert name.replace("-", "").isalnum()
