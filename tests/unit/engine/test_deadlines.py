"""One wake-up a run: at or before the earliest deadline, and everything that is due fires in its order."""

import pytest
from google.protobuf.duration_pb2 import Duration
from temporalio.api.enums.v1 import EventType as T

from durable_core.engine import deadlines
from durable_core.model.state import Core, RunState, TimerInfo
from durable_core.model.times import DAY, SECOND
from tests.properties import commands, invariants
from tests.properties.world import World


def seconds(number):
    return Duration(seconds=number)


@pytest.fixture
def world():
    made = World()
    yield made
    made.close()


def begun(world, *wanted, **fields):
    world.start("a", **fields)
    world.poll_workflow_task()
    assert world.complete(world.workflow_tasks[0], wanted)


def events(world, *types):
    run = invariants.load(world.system, world.runs()[0][0])
    return [event for event in run.events if event.event_type in types]


def state_with_timers(*dues, armed_at=0):
    state = RunState(Core(status=1, armed_at=armed_at))
    for number, due in enumerate(dues, 5):
        state.timers.put(f"t{number}", TimerInfo(f"t{number}", number, due))
    return state


@pytest.mark.parametrize(
    "armed, dues, wake_up",
    [
        (0, (), None),
        (0, (50, 30, 40), 30),
        (30, (50,), None),
        (30, (30,), None),
        (30, (20, 50), 20),
    ],
)
def test_only_an_earlier_deadline_moves_the_armed_wake_up(armed, dues, wake_up):
    state = state_with_timers(*dues, armed_at=armed)
    assert deadlines.arm(state, DAY, 30, fired=False) == wake_up
    assert state.core.armed_at == (wake_up or armed)


@pytest.mark.parametrize("dues, wake_up", [((), 0), ((50, 40), 40)])
def test_a_wake_up_that_fired_arms_the_next_one_or_none(dues, wake_up):
    state = state_with_timers(*dues, armed_at=30)
    assert deadlines.arm(state, DAY, 30, fired=True) == wake_up
    assert state.core.armed_at == wake_up


def test_a_closed_run_wakes_at_the_end_of_its_retention_only():
    state = state_with_timers(50, armed_at=30)
    state.core.closed_at = 20
    assert deadlines.arm(state, DAY, 30, fired=False) == 20 + DAY
    assert deadlines.arm(state, DAY, 30, fired=False) is None
    assert deadlines.arm(state, DAY, 30, fired=True) == 20 + DAY


def test_a_closed_run_whose_retention_is_over_is_not_woken_again():
    state = state_with_timers(armed_at=20 + DAY)
    state.core.closed_at = 20
    assert deadlines.arm(state, DAY, 20 + DAY, fired=True) == 0


def test_ten_timers_arm_one_wake_up(world):
    begun(world, *(commands.start_timer(f"t{n}", seconds(11 - n)) for n in range(10)))
    assert len(world.system.store.wake_ups.due(1 << 62, 100)) == 1
    assert world.system.next_due() == world.clock.now() + 2 * SECOND


def test_timers_due_together_fire_in_one_transition_in_the_order_of_their_start(world):
    begun(world, *(commands.start_timer(name, seconds(2)) for name in ("z", "a", "m")))
    before = world.state("a").core.transitions
    world.pass_time(2 * SECOND)
    fired = events(world, T.EVENT_TYPE_TIMER_FIRED)
    assert [event.timer_fired_event_attributes.timer_id for event in fired] == ["z", "a", "m"]
    assert world.state("a").core.transitions == before + 1


def test_what_is_overdue_fires_in_the_order_of_its_deadlines(world):
    begun(
        world,
        commands.start_timer("late", seconds(9)),
        commands.schedule_activity("x", seconds(5), schedule_to_close=seconds(5)),
        commands.start_timer("early", seconds(2)),
    )
    world.pass_time(60 * SECOND)
    fired = events(world, T.EVENT_TYPE_TIMER_FIRED, T.EVENT_TYPE_ACTIVITY_TASK_TIMED_OUT)
    names = [event.timer_fired_event_attributes.timer_id or "activity" for event in fired]
    assert names == ["early", "activity", "late"]


def test_a_timer_and_an_activity_due_together_fire_in_this_order(world):
    begun(
        world,
        commands.schedule_activity("x", seconds(5), schedule_to_close=seconds(5)),
        commands.start_timer("t", seconds(5)),
    )
    world.pass_time(5 * SECOND)
    fired = events(world, T.EVENT_TYPE_TIMER_FIRED, T.EVENT_TYPE_ACTIVITY_TASK_TIMED_OUT)
    assert [event.event_type for event in fired] == [
        T.EVENT_TYPE_TIMER_FIRED,
        T.EVENT_TYPE_ACTIVITY_TASK_TIMED_OUT,
    ]


@pytest.mark.parametrize("early, fired", [(1, 0), (0, 1)])
def test_nothing_fires_a_nanosecond_early(world, early, fired):
    begun(world, commands.start_timer("t", seconds(2)))
    world.pass_time(2 * SECOND - early)
    assert len(events(world, T.EVENT_TYPE_TIMER_FIRED)) == fired


def test_at_a_tie_the_end_of_the_run_comes_before_everything_else(world):
    begun(world, commands.start_timer("t", seconds(10)), workflow_run_timeout=seconds(10))
    world.pass_time(10 * SECOND)
    assert not events(world, T.EVENT_TYPE_TIMER_FIRED)
    assert len(events(world, T.EVENT_TYPE_WORKFLOW_EXECUTION_TIMED_OUT)) == 1


def test_a_wake_up_whose_deadline_went_away_does_nothing_and_arms_the_next(world):
    begun(world, commands.start_timer("t", seconds(2)), commands.start_timer("u", seconds(9)))
    world.signal("a")
    world.poll_workflow_task()
    assert world.complete(world.workflow_tasks[0], [commands.cancel_timer("t")])
    began = world.clock.now()
    world.pass_time(2 * SECOND)
    assert not events(world, T.EVENT_TYPE_TIMER_FIRED)
    assert world.system.next_due() == began + 9 * SECOND


def test_a_wake_up_looks_at_each_activity_a_few_times_however_many_are_due(world, monkeypatch):
    many = 100
    wanted = [commands.schedule_activity(f"a{n}", seconds(5), seconds(5)) for n in range(many)]
    begun(world, *wanted)
    looks = []
    deadline = deadlines.activity.deadline
    monkeypatch.setattr(deadlines.activity, "deadline", lambda info: looks.append(info) or deadline(info))
    world.pass_time(5 * SECOND)
    timed_out = events(world, T.EVENT_TYPE_ACTIVITY_TASK_TIMED_OUT)
    ended = [event.activity_task_timed_out_event_attributes.scheduled_event_id for event in timed_out]
    assert len(ended) == many
    assert ended == sorted(ended)
    assert len(looks) <= 4 * many
