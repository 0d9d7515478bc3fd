"""The worker's side of the load: given a run's history, which commands to answer a workflow task with.

What lives here: a choice among legal commands, from a history and a source of randomness. What does not: any I/O.
A newcomer's mistake: to end a run while a request to it is unsettled. Request IDs guard one run, not the runs after it;
so a run ends only when the driver says that nothing is on its way (``may_end``).
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field

from google.protobuf.duration_pb2 import Duration
from temporalio.api.command.v1 import (
    CancelTimerCommandAttributes,
    Command,
    CompleteWorkflowExecutionCommandAttributes,
    ContinueAsNewWorkflowExecutionCommandAttributes,
    RecordMarkerCommandAttributes,
    ScheduleActivityTaskCommandAttributes,
    StartTimerCommandAttributes,
)
from temporalio.api.common.v1 import ActivityType, Payload, Payloads, RetryPolicy, WorkflowType
from temporalio.api.enums.v1 import CommandType, EventType
from temporalio.api.history.v1 import HistoryEvent
from temporalio.api.taskqueue.v1 import TaskQueue

TASK_QUEUE = "durability"
WORKFLOW_TYPE = "Endure"
# Short, for a task that died with the server comes back only after its time-out.
WORKFLOW_TASK_TIMEOUT_SECONDS = 1
ACTIVITY_TIMEOUT_SECONDS = 1
TIMER_MS_MIN, TIMER_MS_MAX = 10, 1_200
# A run of this many events continues as new, so that its history stays one page.
EVENTS_PER_RUN = 60
EVENTS_PER_RUN_MIN = 12
CLOSING_COMMANDS = frozenset(
    {
        CommandType.COMMAND_TYPE_COMPLETE_WORKFLOW_EXECUTION,
        CommandType.COMMAND_TYPE_CONTINUE_AS_NEW_WORKFLOW_EXECUTION,
    }
)


def payloads(text: str) -> Payloads:
    """Wrap a text as the SDKs wrap a string."""
    return Payloads(payloads=[Payload(metadata={"encoding": b"json/plain"}, data=f'"{text}"'.encode())])


def text_of(wrapped: Payloads) -> str:
    """Return the text that ``payloads`` wrapped."""
    return wrapped.payloads[0].data.decode().strip('"') if wrapped.payloads else ""


def milliseconds(number: int) -> Duration:
    return Duration(seconds=number // 1000, nanos=number % 1000 * 1_000_000)


@dataclass
class Pending:
    """What a history has left open."""

    activities: set[str] = field(default_factory=set)
    timers: set[str] = field(default_factory=set)
    events: int = 0


def pending_of(history: Sequence[HistoryEvent]) -> Pending:
    """Fold a history into what is still open in it."""
    pending = Pending(events=len(history))
    names: dict[int, str] = {}
    for event in history:
        match event.event_type:
            case EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED:
                names[event.event_id] = event.activity_task_scheduled_event_attributes.activity_id
                pending.activities.add(names[event.event_id])
            case EventType.EVENT_TYPE_ACTIVITY_TASK_COMPLETED:
                pending.activities.discard(
                    names[event.activity_task_completed_event_attributes.scheduled_event_id]
                )
            case EventType.EVENT_TYPE_ACTIVITY_TASK_FAILED:
                pending.activities.discard(
                    names[event.activity_task_failed_event_attributes.scheduled_event_id]
                )
            case EventType.EVENT_TYPE_TIMER_STARTED:
                pending.timers.add(event.timer_started_event_attributes.timer_id)
            case EventType.EVENT_TYPE_TIMER_FIRED:
                pending.timers.discard(event.timer_fired_event_attributes.timer_id)
            case EventType.EVENT_TYPE_TIMER_CANCELED:
                pending.timers.discard(event.timer_canceled_event_attributes.timer_id)
            case _:
                pass
    return pending


def decide(
    history: Sequence[HistoryEvent], mark: str, chance: random.Random, *, may_end: bool, draining: bool
) -> list[Command]:
    """Choose the commands for one workflow task. Whatever stays open has something pending that will wake it."""
    pending = pending_of(history)
    if may_end and (draining or pending.events >= EVENTS_PER_RUN_MIN):
        quiet = not pending.activities
        if draining or pending.events >= EVENTS_PER_RUN or chance.random() < (0.3 if quiet else 0.05):
            ends = draining or chance.random() < 0.5
            return [complete(mark) if ends else continue_as_new(mark)]
    commands: list[Command] = []
    if pending.timers and chance.random() < 0.15:
        commands.append(cancel_timer(chance.choice(sorted(pending.timers))))
        pending.timers.clear()
    activities = range(chance.choice([0, 0, 1, 1, 2]))
    commands += [schedule_activity(f"{mark}-a{number}") for number in activities]
    timers = range(chance.choice([0, 1, 1, 2]))
    commands += [start_timer(f"{mark}-t{number}", _duration(chance, draining=draining)) for number in timers]
    if chance.random() < 0.1:
        commands.append(record_marker(mark))
    if not (pending.activities or pending.timers) and not any(_wakes(command) for command in commands):
        commands.append(start_timer(f"{mark}-t", _duration(chance, draining=draining)))
    return commands


def _duration(chance: random.Random, *, draining: bool) -> int:
    """Mostly short, so that much happens between two kills; sometimes long enough to span one."""
    longest = 50 if draining or chance.random() < 0.6 else TIMER_MS_MAX
    return chance.randint(TIMER_MS_MIN, longest)


def _wakes(command: Command) -> bool:
    return command.command_type in {
        CommandType.COMMAND_TYPE_START_TIMER,
        CommandType.COMMAND_TYPE_SCHEDULE_ACTIVITY_TASK,
    }


def complete(mark: str) -> Command:
    attributes = CompleteWorkflowExecutionCommandAttributes(result=payloads(mark))
    return Command(
        command_type=CommandType.COMMAND_TYPE_COMPLETE_WORKFLOW_EXECUTION,
        complete_workflow_execution_command_attributes=attributes,
    )


def continue_as_new(mark: str) -> Command:
    attributes = ContinueAsNewWorkflowExecutionCommandAttributes(
        workflow_type=WorkflowType(name=WORKFLOW_TYPE),
        task_queue=TaskQueue(name=TASK_QUEUE),
        input=payloads(mark),
        workflow_task_timeout=Duration(seconds=WORKFLOW_TASK_TIMEOUT_SECONDS),
    )
    return Command(
        command_type=CommandType.COMMAND_TYPE_CONTINUE_AS_NEW_WORKFLOW_EXECUTION,
        continue_as_new_workflow_execution_command_attributes=attributes,
    )


def schedule_activity(activity_id: str) -> Command:
    attributes = ScheduleActivityTaskCommandAttributes(
        activity_id=activity_id,
        activity_type=ActivityType(name="work"),
        task_queue=TaskQueue(name=TASK_QUEUE),
        input=payloads(activity_id),
        start_to_close_timeout=Duration(seconds=ACTIVITY_TIMEOUT_SECONDS),
        retry_policy=RetryPolicy(
            initial_interval=milliseconds(20), backoff_coefficient=1.0, maximum_interval=milliseconds(20)
        ),
    )
    return Command(
        command_type=CommandType.COMMAND_TYPE_SCHEDULE_ACTIVITY_TASK,
        schedule_activity_task_command_attributes=attributes,
    )


def start_timer(timer_id: str, after: int) -> Command:
    attributes = StartTimerCommandAttributes(timer_id=timer_id, start_to_fire_timeout=milliseconds(after))
    return Command(
        command_type=CommandType.COMMAND_TYPE_START_TIMER, start_timer_command_attributes=attributes
    )


def cancel_timer(timer_id: str) -> Command:
    attributes = CancelTimerCommandAttributes(timer_id=timer_id)
    return Command(
        command_type=CommandType.COMMAND_TYPE_CANCEL_TIMER, cancel_timer_command_attributes=attributes
    )


def record_marker(mark: str) -> Command:
    attributes = RecordMarkerCommandAttributes(marker_name=mark)
    return Command(
        command_type=CommandType.COMMAND_TYPE_RECORD_MARKER, record_marker_command_attributes=attributes
    )
