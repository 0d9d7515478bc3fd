"""What the driver knows for sure: the requests it sent, those acknowledged or refused, the tasks it was given.

What does not live here: sending (session.py) and judging (the rules in checker.py).
A newcomer's mistake: to read an unanswered request as a failed one. Its outcome is unknown: it may act once, or never.
"""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from temporalio.api.command.v1 import Command
from temporalio.api.enums.v1 import CommandType


class Outcome(enum.Enum):
    """What is known about a request."""

    UNKNOWN = "unknown"
    ACKNOWLEDGED = "acknowledged"
    # Refused at the first attempt. A refusal of a repetition says nothing: the first attempt may have acted.
    REFUSED = "refused"


@dataclass
class Start:
    """A request to start a workflow; ``run_id`` is set by the acknowledgement."""

    workflow_id: str
    request_id: str
    run_id: str = ""
    attempts: int = 0


@dataclass
class Signal:
    """A signal with its number within its workflow ID; one is sent only when the last one is settled."""

    workflow_id: str
    number: int
    request_id: str
    outcome: Outcome = Outcome.UNKNOWN
    attempts: int = 0


@dataclass
class TaskAnswer:
    """The completion or failure of a workflow task; ``mark`` is sent as identity and comes back in the history."""

    workflow_id: str
    run_id: str
    mark: str
    commands: Sequence[Command]
    fails: bool
    outcome: Outcome = Outcome.UNKNOWN
    attempts: int = 0

    def completes_workflow(self) -> bool:
        complete = CommandType.COMMAND_TYPE_COMPLETE_WORKFLOW_EXECUTION
        return any(command.command_type == complete for command in self.commands)


@dataclass
class ActivityAnswer:
    """The end of one attempt of an activity; ``mark`` is sent as result or as the failure's message."""

    workflow_id: str
    run_id: str
    activity_id: str
    attempt: int
    mark: str
    fails: bool
    # By token an answer belongs to one attempt; by ID it belongs to whichever attempt is open when it arrives.
    by_id: bool = False
    outcome: Outcome = Outcome.UNKNOWN
    attempts: int = 0


@dataclass(frozen=True)
class WorkflowTaskKey:
    """What tells one delivery of a workflow task from every other one."""

    run_id: str
    started_event_id: int
    attempt: int


@dataclass(frozen=True)
class ActivityAttempt:
    """One attempt of one activity."""

    run_id: str
    activity_id: str
    attempt: int


@dataclass
class Heartbeats:
    """How many heartbeats one attempt of an activity sent, numbered from 1, and the last one that was answered."""

    sent: int = 0
    acknowledged: int = 0


@dataclass
class Ledger:
    """Everything that happened between the driver and the server."""

    starts: list[Start] = field(default_factory=list)
    signals: list[Signal] = field(default_factory=list)
    task_answers: list[TaskAnswer] = field(default_factory=list)
    activity_answers: list[ActivityAnswer] = field(default_factory=list)
    workflow_tasks: Counter[WorkflowTaskKey] = field(default_factory=Counter)
    activity_attempts: Counter[ActivityAttempt] = field(default_factory=Counter)
    heartbeats: dict[ActivityAttempt, Heartbeats] = field(default_factory=dict)
    runs_seen: set[tuple[str, str]] = field(default_factory=set)
    # Findings made on the way: an answer that no correct server gives.
    surprises: list[str] = field(default_factory=list)
    kills: int = 0

    def repeated_requests(self) -> int:
        """Count the requests that were sent more than once."""
        attempts = [start.attempts for start in self.starts]
        attempts += [signal.attempts for signal in self.signals]
        attempts += [answer.attempts for answer in self.task_answers]
        attempts += [answer.attempts for answer in self.activity_answers]
        return sum(count > 1 for count in attempts)

    def acknowledged_requests(self) -> int:
        """Count the acknowledged requests of every kind."""
        outcomes = [signal.outcome for signal in self.signals]
        outcomes += [answer.outcome for answer in self.task_answers]
        outcomes += [answer.outcome for answer in self.activity_answers]
        requests = outcomes.count(Outcome.ACKNOWLEDGED)
        heartbeats = sum(beat.acknowledged for beat in self.heartbeats.values())
        return requests + heartbeats + sum(bool(start.run_id) for start in self.starts)
