"""What is due when: the one armed wake-up of a run, and what happens when it fires.

A run arms one wake-up, at or before its earliest deadline. A transition looks only at what it changed: a deadline
earlier than the armed wake-up moves it; one that went away is left to a wake-up that finds nothing due and arms anew.
A newcomer's trap: the armed time is therefore a lower bound, never the next deadline itself.
"""

from heapq import heapify, heappop, heappush

from temporalio.api.enums.v1 import EventType, TimeoutType
from temporalio.api.history.v1 import TimerFiredEventAttributes

from durable_core.engine import activities, closing, workflow_tasks
from durable_core.engine.transition import Transition
from durable_core.machines import activity
from durable_core.model.state import Core, RunState, TimerInfo

_TIMER, _ACTIVITY = 0, 1
# When it is due; a timer or an activity; the event that started or scheduled it; the timer's ID. Ties are broken thus.
_Due = tuple[int, int, int, str]


def workflow_task_deadline(core: Core) -> int:
    """When the pending workflow task times out, in ns since the epoch; 0: never."""
    task = core.workflow_task
    if task is None:
        return 0
    if task.started_event_id:
        return task.started_at + task.timeout
    if task.sticky and core.sticky_timeout:
        return task.scheduled_at + core.sticky_timeout
    return 0


def _run_deadlines(core: Core) -> list[int]:
    """The deadlines that are in the core."""
    backoff = core.execution_at if core.backoff_pending else 0
    return [due for due in (core.run_expires_at, backoff, workflow_task_deadline(core)) if due]


def earliest(state: RunState) -> int:
    """The earliest deadline of an open run over all its sections; 0: nothing is due, ever."""
    dues = _run_deadlines(state.core)
    dues.extend(timer.fires_at for timer in state.timers.values())
    dues.extend(due for info in state.activities.values() if (due := activity.deadline(info)[0]))
    return min(dues, default=0)


def earliest_changed(state: RunState) -> int:
    """The earliest deadline among the core's and those that this transition changed; 0: none."""
    dues = _run_deadlines(state.core)
    dues.extend(timer.fires_at for timer in state.timers.changes.values() if timer is not None)
    for info in state.activities.changes.values():
        if info is not None and (due := activity.deadline(info)[0]):
            dues.append(due)
    return min(dues, default=0)


def arm(state: RunState, retention: int, now: int, *, fired: bool) -> int | None:
    """The wake-up to write with the transition, in ns; None leaves the armed one as it is; 0 disarms.

    A closed run's only deadline is the end of its retention; after that its deletion is under way as a task, which
    needs no wake-up. `fired`: the armed wake-up is used up.
    """
    core = state.core
    if core.closed_at:
        due = core.closed_at + retention
        if core.armed_at == due and not fired:
            return None
        if fired and due <= now:
            due = 0
        core.armed_at = due
        return due
    due = earliest(state) if fired else earliest_changed(state)
    if fired or (due and (not core.armed_at or due < core.armed_at)):
        core.armed_at = due
        return due
    return None


def fire(t: Transition) -> None:
    """Do everything that is due at the transition's time, in the order of its deadlines."""
    core = t.state.core
    waiting = _due_entries(t)
    while t.state.is_open:
        due = min([*_run_deadlines(core), *(entry[0] for entry in waiting[:1])], default=0)
        if not due or due > t.now:
            return
        if core.run_expires_at == due:
            closing.time_out(t)
        elif core.backoff_pending and core.execution_at == due:
            core.backoff_pending = False
            t.is_dirty = True
            if core.workflow_task is None and not core.waits_for_parent:
                workflow_tasks.schedule(t)
        elif workflow_task_deadline(core) == due:
            _time_out_workflow_task(t)
        else:
            _fire_entry(t, waiting)


def _due_entries(t: Transition) -> list[_Due]:
    """Timers and activities that are due, as a heap. The sections are walked once, however many deadlines they hold."""
    entries: list[_Due] = [
        (timer.fires_at, _TIMER, timer.started_event_id, timer.timer_id)
        for timer in t.state.timers.values()
        if timer.fires_at <= t.now
    ]
    for info in t.state.activities.values():
        due = activity.deadline(info)[0]
        if due and due <= t.now:
            entries.append((due, _ACTIVITY, info.scheduled_event_id, ""))
    heapify(entries)
    return entries


def _time_out_workflow_task(t: Transition) -> None:
    task = t.state.core.workflow_task
    assert task is not None
    kind = TimeoutType.TIMEOUT_TYPE_START_TO_CLOSE
    if not task.started_event_id:
        kind = TimeoutType.TIMEOUT_TYPE_SCHEDULE_TO_START
    workflow_tasks.time_out(t, kind)


def _fire_entry(t: Transition, waiting: list[_Due]) -> None:
    """Do what the first entry stands for, and let an activity wait again for what is due of it after that."""
    _, kind, event_id, timer_id = heappop(waiting)
    if kind == _TIMER:
        timer = t.state.timers.get(timer_id)
        assert timer is not None
        _fire_timer(t, timer)
        return
    info = t.state.activities.get(event_id)
    assert info is not None
    _, timeout = activity.deadline(info)
    if timeout is None:
        activities.redispatch(t, info)
    else:
        activities.time_out(t, info, timeout)
    if (after := t.state.activities.get(event_id)) is not None:
        due = activity.deadline(after)[0]
        if due and due <= t.now:
            heappush(waiting, (due, _ACTIVITY, event_id, ""))


def _fire_timer(t: Transition, timer: TimerInfo) -> None:
    t.add(
        EventType.EVENT_TYPE_TIMER_FIRED,
        timer_fired_event_attributes=TimerFiredEventAttributes(
            timer_id=timer.timer_id, started_event_id=timer.started_event_id
        ),
    )
    t.wants_workflow_task = True
