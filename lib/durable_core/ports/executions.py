"""Where shards, runs, pointers, histories and tasks are written: one atomic transaction per transition.

What an adapter must hold (the conformance suite checks each):
- a transaction is visible whole or not at all, and only if the shard's range ID is still the writer's, or still the one
  that the writer claims to follow;
- what a reader gets is a value of its own: changing it changes nothing stored;
- tasks and wake-ups are durable with the transaction that emits them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from durable_core.model.ids import RunKey, WorkflowKey
from durable_core.model.tasks import Task, TaskBody


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A run as it is stored: `core` and the entries of its sections, encoded by the engine."""

    version: int
    core: bytes
    sections: Mapping[str, Mapping[str, bytes]]


@dataclass(frozen=True, slots=True)
class CurrentRun:
    """The current-run pointer of a workflow ID: what a start needs to know without loading the run.

    `state` is the engine's encoding of the facts that ID policies ask for (status, request IDs, start time).
    """

    run_id: str
    open: bool
    state: bytes


@dataclass(frozen=True, slots=True)
class HistoryNode:
    """A batch of events, `first_event_id` ..., as a serialized `temporal.api.history.v1.History`."""

    branch_id: str
    first_event_id: int
    transaction_id: int
    events: bytes
    count: int


@dataclass(frozen=True, slots=True)
class RunWrite:
    """What a transition changes in one run.

    `expected_version` 0 means that the run must not exist. `sections` maps a section to its changed entries; None
    removes an entry. `wake_up_at` is a new armed wake-up in ns since the epoch; None leaves the armed one; 0 disarms.
    `ancestors` are the branches of other runs that a new run's history goes on from: their nodes stay as long as it.
    `retain_until` (ns): the run is closed and may be removed then, for a backend that lets data expire; 0: open.
    `claimed` is the earlier task that a poller starts by this very write: nobody needs to be told of it any more.
    """

    key: RunKey
    expected_version: int
    core: bytes
    sections: Mapping[str, Mapping[str, bytes | None]] = field(default_factory=dict)
    nodes: Sequence[HistoryNode] = ()
    tasks: Sequence[Task] = ()
    wake_up_at: int | None = None
    ancestors: Sequence[str] = ()
    retain_until: int = 0
    claimed: TaskBody | None = None


@dataclass(frozen=True, slots=True)
class CurrentRunWrite:
    """Moves the current-run pointer. `expected_run_id` None means that there must be none yet."""

    key: WorkflowKey
    expected_run_id: str | None
    current: CurrentRun


@dataclass(frozen=True, slots=True)
class Transaction:
    """One transition: one shard, a few runs, at most one pointer. `token` makes a repeated commit idempotent.

    `claim`: the shard is not the writer's yet. The transaction itself raises its range ID to `range_id`, on the
    condition that it is the one before, and writes the `owner`.
    """

    shard: int
    range_id: int
    token: str
    runs: Sequence[RunWrite]
    current: CurrentRunWrite | None = None
    claim: bool = False
    owner: str = ""


@dataclass(frozen=True, slots=True)
class View:
    """What one look finds: a shard's range ID (0: nobody ever took it), and what was asked for besides."""

    range_id: int
    run: StoredRun | None = None
    current: CurrentRun | None = None


class Executions(Protocol):
    def acquire_shard(self, shard: int, owner: str) -> int:
        """Take the shard: its range ID rises by at least one and is returned. The former owner is fenced off."""

    def view(self, shard: int, *, run: RunKey | None = None, current: WorkflowKey | None = None) -> View:
        """The shard's range ID with a run or a current-run pointer, in one round trip.

        Each is read consistently, though not all at the same moment: a commit finds out what changed in between.
        """

    def load(self, key: RunKey) -> StoredRun | None:
        """The run, read consistently, or None."""

    def current(self, key: WorkflowKey) -> CurrentRun | None:
        """The current-run pointer, read consistently, or None."""

    def commit(self, transaction: Transaction) -> None:
        """Write all of it or nothing.

        Raises `ShardOwnershipLost` when the range ID is stale (or the claim comes too late) and `Conflict` when a
        version or the pointer is not the expected one. A transaction whose token was committed before is a success
        without effect.
        """

    def delete_run(self, key: RunKey, shard: int, range_id: int) -> None:
        """Remove a closed run with its history, tasks and wake-up, and its pointer if it is the current one.

        Nodes that another run's history goes on from stay until that run is deleted, too.
        """
