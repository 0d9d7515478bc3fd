"""One atomic change of one run: new events, new state, new tasks, or nothing.

A decision gets a `Transition`, adds events and tasks to it, and either returns (then all of it is committed) or raises
(then none of it ever was). It works on a fork of the state it is given, so nothing outside sees half of it.

A newcomer's trap: `add` may buffer. The event it returns then has no ID yet, and whoever needs one must not ask here.
"""

from collections.abc import Callable, Sequence
from typing import Any

from msgspec.structs import replace
from temporalio.api.command.v1 import Command
from temporalio.api.common.v1 import Link
from temporalio.api.enums.v1 import EventType
from temporalio.api.history.v1 import HistoryEvent
from temporalio.api.sdk.v1 import UserMetadata

from durable_core.engine import buffering, replay
from durable_core.machines import workflow_task
from durable_core.model.ids import SERVICE_QUEUE, QueueKind
from durable_core.model.state import BUFFERED_EVENT_ID, RunState
from durable_core.model.tasks import TaskBody
from durable_core.model.times import timestamp
from durable_core.ports.clock import Ids

_WORKFLOW_TASK_EVENTS = frozenset(
    (
        EventType.EVENT_TYPE_WORKFLOW_TASK_SCHEDULED,
        EventType.EVENT_TYPE_WORKFLOW_TASK_STARTED,
        EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED,
        EventType.EVENT_TYPE_WORKFLOW_TASK_FAILED,
        EventType.EVENT_TYPE_WORKFLOW_TASK_TIMED_OUT,
    )
)


def _metadata_of(command: Command) -> UserMetadata | None:
    return command.user_metadata if command.HasField("user_metadata") else None


class Transition:
    """What a decision does to a run. `batches` are the new events as they will be stored, one node each.

    `first_event` reads the run's WorkflowExecutionStarted, which only retry and cron look at again.
    `claimed` is the task that a poller starts by it, if it is one's claim.
    """

    __slots__ = (
        "batches",
        "claimed",
        "first_event",
        "ids",
        "is_dirty",
        "now",
        "origin",
        "state",
        "successor",
        "tasks",
        "wants_workflow_task",
    )

    def __init__(
        self, state: RunState, now: int, ids: Ids, first_event: Callable[[], HistoryEvent] | None = None
    ) -> None:
        self.origin = state
        self.state = state.fork()
        self.now = now
        self.ids = ids
        self.first_event = first_event or self._own_first_event
        self._clear()

    def _clear(self) -> None:
        self.batches: list[list[HistoryEvent]] = [[]]
        self.tasks: list[tuple[str, QueueKind, TaskBody]] = []
        self.claimed: TaskBody | None = None
        self.successor: Transition | None = None
        self.is_dirty = False
        self.wants_workflow_task = False

    def restart(self) -> None:
        """Undo everything: the transition is as it was when it was opened."""
        self.state = self.origin.fork()
        self._clear()

    def _own_first_event(self) -> HistoryEvent:
        return self.batches[0][0]

    def add(
        self,
        event_type: "EventType.ValueType",
        *,
        command: Command | None = None,
        user_metadata: UserMetadata | None = None,
        links: Sequence[Link] = (),
        at: int | None = None,
        worker_may_ignore: bool = False,
        **attributes: Any,
    ) -> HistoryEvent:
        """Add an event; its attributes are given by the name of their field. `at` (ns) is now unless given.

        `command`: the one that the event records; the event carries what the user says of it.
        """
        core = self.state.core
        if event_type not in _WORKFLOW_TASK_EVENTS:
            self._write_speculative()
        task = core.workflow_task
        waits = task is not None and task.started_event_id != 0
        buffered = waits and event_type not in buffering.NEVER_BUFFERED
        event = HistoryEvent(
            event_id=BUFFERED_EVENT_ID if buffered else core.next_event_id,
            event_time=timestamp(self.now if at is None else at),
            event_type=event_type,
            user_metadata=_metadata_of(command) if command is not None else user_metadata,
            event_group_markers=() if command is None else command.event_group_markers,
            links=links,
            worker_may_ignore=worker_may_ignore,
            **attributes,
        )
        replay.apply(self.state, event)
        self.is_dirty = True
        if buffered:
            self._buffer(event)
        else:
            self.batches[-1].append(event)
        return event

    def _write_speculative(self) -> None:
        """Another event comes while a speculative task is pending: the task becomes a normal one, written first."""
        core = self.state.core
        task = core.workflow_task
        if task is None or not task.speculative:
            return
        core.workflow_task = None
        self.add(
            EventType.EVENT_TYPE_WORKFLOW_TASK_SCHEDULED,
            at=task.scheduled_at,
            workflow_task_scheduled_event_attributes=workflow_task.scheduled_attributes(task, core.queue),
        )
        if task.started_event_id:
            self.add(
                EventType.EVENT_TYPE_WORKFLOW_TASK_STARTED,
                at=task.started_at,
                workflow_task_started_event_attributes=workflow_task.started_attributes(task),
            )
            self.new_batch()
        core.workflow_task = replace(task, speculative=False)

    def _buffer(self, event: HistoryEvent) -> None:
        core = self.state.core
        core.buffer_sequence += 1
        self.state.buffered.put(core.buffer_sequence, event.SerializeToString())

    @property
    def has_buffered(self) -> bool:
        return len(self.state.buffered) > 0

    def buffered_events(self) -> list[tuple[int, HistoryEvent]]:
        """What waits, as (place in the buffer, event), oldest first."""
        return [(place, HistoryEvent.FromString(blob)) for place, blob in self.state.buffered.items()]

    def drop_buffered(self, place: int) -> None:
        self.state.buffered.remove(place)
        self.is_dirty = True

    def flush(self) -> None:
        """Let the buffered events into the history. On a closed run they are dropped: nothing follows its end."""
        if not self.has_buffered:
            return
        state, core = self.state, self.state.core
        waiting = self.buffered_events()
        for place, _ in waiting:
            state.buffered.remove(place)
        self.is_dirty = True
        if core.closed_at:
            return
        events = buffering.ordered([event for _, event in waiting])
        for offset, event in enumerate(events):
            event.event_id = core.next_event_id + offset
        started = buffering.wire(events)
        for event in events:
            replay.count(core, event)
            replay.settle(state, event, started)
        self.batches[-1].extend(events)

    def new_batch(self) -> None:
        """Begin a history node of its own for what follows."""
        if self.batches[-1]:
            self.batches.append([])

    def task(self, queue: str, kind: QueueKind, body: TaskBody) -> None:
        """Leave a task for a worker's queue."""
        self.tasks.append((queue, kind, body))
        self.is_dirty = True

    def service_task(self, body: TaskBody) -> None:
        """Leave a task for the history service."""
        self.task(SERVICE_QUEUE.name, QueueKind.SERVICE, body)

    @property
    def event_count(self) -> int:
        return sum(len(batch) for batch in self.batches)
