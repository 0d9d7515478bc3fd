"""Faults on purpose: an `Executions` whose commits fail in the ways that storage can fail.

A fault that claims that something happened makes it happen: a stolen shard is really taken by another owner, and a
commit with an ambiguous outcome was really made, or really not. So what the caller reads back afterwards is the truth.
"""

from collections.abc import Callable, Iterable
from enum import Enum, auto
from typing import assert_never

from durable_core.model.errors import AmbiguousCommit, Conflict, Throttled
from durable_core.model.ids import RunKey, WorkflowKey
from durable_core.ports.executions import CurrentRun, Executions, StoredRun, Transaction, View

THIEF = "injected fault"


class Fault(Enum):
    CONFLICT = auto()
    """Refused as if another transaction were in the way."""
    THROTTLED = auto()
    """Refused as by an overloaded backend."""
    STOLEN_SHARD = auto()
    """Another owner takes the shard just before the commit."""
    LOST_REQUEST = auto()
    """The outcome is unknown, and it was not committed."""
    LOST_REPLY = auto()
    """The outcome is unknown, and it was committed."""


Plan = Callable[[], Fault | None]
"""Asked once at every commit."""


def by_script(faults: Iterable[Fault | None]) -> Plan:
    """One entry a commit; none after the last."""
    remaining = iter(faults)
    return lambda: next(remaining, None)


def at_rate(rate: float, chance: Callable[[], float]) -> Plan:
    """A fault at a share `rate` of the commits, all kinds equally often. `chance` gives numbers in [0, 1)."""
    kinds = list(Fault)
    return lambda: kinds[int(chance() * len(kinds))] if chance() < rate else None


class FaultyExecutions:
    def __init__(self, inner: Executions, plan: Plan) -> None:
        self._inner = inner
        self._plan = plan

    def acquire_shard(self, shard: int, owner: str) -> int:
        return self._inner.acquire_shard(shard, owner)

    def view(self, shard: int, *, run: RunKey | None = None, current: WorkflowKey | None = None) -> View:
        return self._inner.view(shard, run=run, current=current)

    def load(self, key: RunKey) -> StoredRun | None:
        return self._inner.load(key)

    def current(self, key: WorkflowKey) -> CurrentRun | None:
        return self._inner.current(key)

    def commit(self, transaction: Transaction) -> None:
        match self._plan():
            case None:
                self._inner.commit(transaction)
            case Fault.CONFLICT:
                raise Conflict("injected conflict")
            case Fault.THROTTLED:
                raise Throttled("injected throttling")
            case Fault.STOLEN_SHARD:
                self._inner.acquire_shard(transaction.shard, THIEF)
                self._inner.commit(transaction)
            case Fault.LOST_REQUEST:
                raise AmbiguousCommit("injected: the request was lost")
            case Fault.LOST_REPLY:
                self._inner.commit(transaction)
                raise AmbiguousCommit("injected: the reply was lost")
            case never:
                assert_never(never)

    def delete_run(self, key: RunKey, shard: int, range_id: int) -> None:
        self._inner.delete_run(key, shard, range_id)
