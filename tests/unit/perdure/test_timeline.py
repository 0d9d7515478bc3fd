"""A history reads as lines: one per event, one per workflow task, with the times and names that a reader looks for."""

from google.protobuf.timestamp_pb2 import Timestamp
from hypothesis import given
from hypothesis import strategies as st
from temporalio.api.common.v1 import Payload, Payloads
from temporalio.api.enums.v1 import EventType
from temporalio.api.history.v1 import HistoryEvent

from perdure.timeline import Mark, event_name, render


def event(event_id: int, name: str, seconds: float = 0.0, **attributes: object) -> HistoryEvent:
    """An event of this type, with these attributes, so many seconds after the epoch's first hour."""
    made = HistoryEvent(event_id=event_id, event_type=EventType.Value(f"EVENT_TYPE_{name.upper()}"))
    made.event_time.CopyFrom(Timestamp(seconds=3600, nanos=0))
    made.event_time.FromNanoseconds(3600 * 10**9 + int(seconds * 1e9))
    field = getattr(made, f"{name}_event_attributes")
    field.SetInParent()
    for key, value in attributes.items():
        if isinstance(value, int | str):
            setattr(field, key, value)
        else:
            getattr(field, key).CopyFrom(value)
    return made


def json_payloads(*texts: bytes) -> Payloads:
    return Payloads(payloads=[Payload(metadata={"encoding": b"json/plain"}, data=text) for text in texts])


TASK = [
    event(2, "workflow_task_scheduled", 0.1),
    event(3, "workflow_task_started", 0.2),
    event(4, "workflow_task_completed", 0.35),
]


def test_no_events_make_no_lines():
    assert render([]) == []


def test_times_count_from_the_first_event():
    lines = render([event(1, "workflow_execution_started", 5), event(2, "workflow_execution_canceled", 7.5)])
    assert [line.split()[1] for line in lines] == ["+0.00", "+2.50"]


def test_an_undisturbed_workflow_task_is_one_line():
    lines = render([event(1, "workflow_execution_started"), *TASK])
    assert len(lines) == 2
    assert lines[1].split()[0] == "2-4"
    assert "answered in 250 ms" in lines[1]


def test_a_workflow_task_that_something_came_between_is_three_lines():
    between = event(4, "workflow_execution_signaled", 0.3, signal_name="hurry")
    completed = event(5, "workflow_task_completed", 0.4)
    lines = render([event(1, "workflow_execution_started"), *TASK[:2], between, completed])
    assert [line.split()[0] for line in lines] == ["1", "2", "3", "4", "5"]
    assert "signal hurry received" in lines[3]


def test_a_mark_stands_after_its_event_and_is_hidden_by_no_group():
    lines = render([event(1, "workflow_execution_started"), *TASK], [Mark(3, "here")])
    assert [("here" in line) for line in lines] == [False, False, False, True, False]


def test_an_activity_keeps_its_name_and_tells_of_its_last_failure():
    scheduled = event(5, "activity_task_scheduled")
    scheduled.activity_task_scheduled_event_attributes.activity_type.name = "charge"
    started = event(6, "activity_task_started", scheduled_event_id=5, attempt=3)
    failure = started.activity_task_started_event_attributes.last_failure
    failure.message = "outer"
    failure.cause.message = "the bank\n times out"
    completed = event(7, "activity_task_completed", scheduled_event_id=5, result=json_payloads(b'"paid"'))
    lines = render([scheduled, started, completed])
    assert lines[0].endswith("activity charge scheduled")
    assert lines[1].endswith("activity charge started, attempt 3 (the one before failed: the bank times out)")
    assert lines[2].endswith("activity charge completed: paid")


def test_a_timer_tells_how_long_it_really_took():
    started = event(5, "timer_started", 1.0, timer_id="9")
    started.timer_started_event_attributes.start_to_fire_timeout.FromMilliseconds(1500)
    started.user_metadata.summary.CopyFrom(json_payloads(b'"packing"').payloads[0])
    fired = event(6, "timer_fired", 2.75, timer_id="9", started_event_id=5)
    lines = render([started, fired])
    assert lines[0].endswith("timer 9 started, 1.5 s (packing)")
    assert lines[1].endswith("timer 9 fired after 1.75 s")


def test_what_is_not_json_is_measured_and_not_shown():
    secret = Payloads(payloads=[Payload(metadata={"encoding": b"binary/encrypted"}, data=b"x" * 12)])
    broken = json_payloads(b"{not json")
    lines = render([event(1, "workflow_execution_completed", result=secret)])
    assert lines[0].endswith("workflow completed: 12 bytes")
    assert "9 bytes" in render([event(1, "workflow_execution_completed", result=broken)])[0]


def test_long_values_are_shortened():
    (line,) = render(
        [event(1, "workflow_execution_completed", result=json_payloads(b'"' + b"a" * 500 + b'"'))]
    )
    assert len(line) < 120
    assert line.endswith("...")


def test_an_event_without_words_of_its_own_shows_its_name():
    assert event_name(event(1, "marker_recorded")) == "MarkerRecorded"
    assert render([event(1, "marker_recorded")])[0].endswith("MarkerRecorded")


EVENT_TYPES = [value for value in EventType.values() if value != EventType.EVENT_TYPE_UNSPECIFIED]


@given(st.lists(st.sampled_from(EVENT_TYPES), max_size=20), st.lists(st.integers(0, 25), max_size=4))
def test_every_event_and_every_mark_is_in_exactly_one_line(types, marked):
    history = [HistoryEvent(event_id=n, event_type=kind) for n, kind in enumerate(types, start=1)]
    marks = [Mark(event_id, f"mark {event_id}") for event_id in marked if event_id <= len(history)]
    lines = render(history, marks)
    shown: list[int] = []
    for line in lines:
        if "---" not in line:
            first, _, last = line.split()[0].partition("-")
            shown += range(int(first), int(last or first) + 1)
    assert shown == list(range(1, len(history) + 1))
    assert sum("---" in line for line in lines) == (len(marks) if history else 0)
