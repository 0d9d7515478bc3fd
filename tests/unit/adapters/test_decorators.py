"""Injected faults do what they claim, and no more."""

import random
from collections import Counter
from collections.abc import Iterator

import pytest

from durable_core.adapters.decorators import Fault, FaultyExecutions, ManualClock, at_rate, by_script
from durable_core.adapters.sqlite import Store, open_store
from durable_core.model.errors import AmbiguousCommit, Conflict, ShardOwnershipLost, Throttled
from durable_core.model.ids import RunKey
from durable_core.ports.executions import RunWrite, Transaction

RUN = RunKey("namespace", "order-17", "run-1")


@pytest.fixture
def store() -> Iterator[Store]:
    opened = open_store(None, ManualClock())
    yield opened
    opened.close()


def creation(range_id: int) -> Transaction:
    return Transaction(0, range_id, "token", [RunWrite(RUN, 0, b"core")])


@pytest.mark.parametrize(
    "fault, error, written",
    [
        (Fault.CONFLICT, Conflict, False),
        (Fault.THROTTLED, Throttled, False),
        (Fault.STOLEN_SHARD, ShardOwnershipLost, False),
        (Fault.LOST_REQUEST, AmbiguousCommit, False),
        (Fault.LOST_REPLY, AmbiguousCommit, True),
    ],
)
def test_a_fault_tells_the_truth(store: Store, fault: Fault, error: type[Exception], written: bool) -> None:
    faulty = FaultyExecutions(store.executions, by_script([fault]))
    transaction = creation(faulty.acquire_shard(0, "test"))
    with pytest.raises(error):
        faulty.commit(transaction)
    assert (faulty.load(RUN) is not None) == written
    if fault is not Fault.STOLEN_SHARD:
        faulty.commit(transaction)
        assert faulty.load(RUN) is not None


def test_a_stolen_shard_can_be_taken_back(store: Store) -> None:
    faulty = FaultyExecutions(store.executions, by_script([Fault.STOLEN_SHARD]))
    with pytest.raises(ShardOwnershipLost):
        faulty.commit(creation(faulty.acquire_shard(0, "test")))
    faulty.commit(creation(faulty.acquire_shard(0, "test")))
    assert faulty.load(RUN) is not None


def test_a_script_is_followed_commit_by_commit_and_then_over() -> None:
    plan = by_script([None, Fault.CONFLICT, None])
    assert [plan() for _ in range(5)] == [None, Fault.CONFLICT, None, None, None]


def test_a_seed_gives_the_same_faults_again_at_the_wanted_rate() -> None:
    def faults() -> list[Fault | None]:
        plan = at_rate(0.2, random.Random(7).random)
        return [plan() for _ in range(5_000)]

    first = faults()
    assert first == faults()
    counted = Counter(first)
    assert 0.75 < counted.pop(None) / 5_000 < 0.85
    assert set(counted) == set(Fault)


def test_no_faults_at_rate_0_and_nothing_else_at_rate_1() -> None:
    assert {at_rate(0, random.Random(1).random)() for _ in range(50)} == {None}
    always = at_rate(1, random.Random(1).random)
    assert None not in {always() for _ in range(50)}


def test_a_clock_moved_by_hand_stands_still_otherwise_and_never_goes_back() -> None:
    clock = ManualClock(5)
    assert (clock.now(), clock.now()) == (5, 5)
    clock.advance(10)
    assert clock.now() == 15
    with pytest.raises(ValueError, match="cannot go back"):
        clock.set(14)
    assert clock.now() == 15
