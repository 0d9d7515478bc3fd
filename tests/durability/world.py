"""What outlives the server: the workflows that the driver keeps going, the answers to repeat, the ledger.

What does not live here: anything that belongs to one life of the server (session.py).
A newcomer's mistake: to begin the next workflow of an ID while a signal to the last one is unsettled.
"""

from __future__ import annotations

import itertools
import random
from dataclasses import dataclass, field

from temporalio.api.workflowservice.v1 import (
    RespondActivityTaskCompletedByIdRequest,
    RespondActivityTaskCompletedRequest,
    RespondActivityTaskFailedRequest,
    RespondWorkflowTaskCompletedRequest,
    RespondWorkflowTaskFailedRequest,
)

from tests.durability.ledger import ActivityAnswer, Ledger, Signal, Start, TaskAnswer

AnswerRequest = (
    RespondWorkflowTaskCompletedRequest
    | RespondWorkflowTaskFailedRequest
    | RespondActivityTaskCompletedRequest
    | RespondActivityTaskCompletedByIdRequest
    | RespondActivityTaskFailedRequest
)


@dataclass
class Slot:
    """One workflow ID, used by one workflow after the other."""

    workflow_id: str
    generation: int = 0
    start: Start | None = None
    signal: Signal | None = None
    signals: int = 0
    closed: bool = True

    def may_end(self) -> bool:
        """Tell whether nothing is on its way that a later run could not recognise as a repetition."""
        return self.start is not None and self.start.run_id != "" and self.signal is None


@dataclass(frozen=True)
class Answer:
    """An answer of a worker as it is sent, and sent again when nobody knows whether it arrived."""

    entry: TaskAnswer | ActivityAnswer
    request: AnswerRequest
    generation: int


@dataclass
class World:
    """The driver's memory over all lives of the server."""

    chance: random.Random
    slots: dict[str, Slot]
    ledger: Ledger = field(default_factory=Ledger)
    outbox: list[Answer] = field(default_factory=list)
    draining: bool = False
    _numbers: itertools.count[int] = field(default_factory=lambda: itertools.count(1))

    @classmethod
    def create(cls, seed: int, slots: int) -> World:
        names = [f"durable-{number}" for number in range(slots)]
        return cls(random.Random(seed), {name: Slot(name) for name in names})

    def mark(self, prefix: str) -> str:
        """Return a text that nothing else in this run of the driver carries."""
        return f"{prefix}{next(self._numbers)}"

    def begin(self, slot: Slot) -> None:
        """Plan the next workflow of a slot whose last one is closed."""
        slot.generation += 1
        slot.closed = False
        slot.start = Start(slot.workflow_id, self.mark("start-"))
        self.ledger.starts.append(slot.start)

    def take_outbox(self) -> list[Answer]:
        """Return the answers to repeat, and forget them."""
        taken, self.outbox = self.outbox, []
        return taken

    def next_signal(self, slot: Slot) -> None:
        slot.signals += 1
        slot.signal = Signal(slot.workflow_id, slot.signals, self.mark("signal-"))
        self.ledger.signals.append(slot.signal)
