"""Taking a shard by the first commit that writes to it, and looking at a shard and its runs at once."""

import pytest

from durable_core.model.errors import Conflict, ShardOwnershipLost
from durable_core.ports.executions import CurrentRun, RunWrite, Transaction

from ..backend import Backend, Factory
from ..writing import OTHER, RUN, Writer, current, node, pointer, stored, write


def claiming(range_id: int, *runs: RunWrite, shard: int = 0, owner: str = "first") -> Transaction:
    token = f"{owner}-{shard}-{range_id}"
    return Transaction(shard, range_id, token, runs, claim=True, owner=owner)


def range_of(backend: Backend, shard: int = 0) -> int:
    return backend.executions.view(shard).range_id


class ClaimsContract:
    def test_a_shard_that_nobody_took_is_seen_at_range_0(self, factory: Factory) -> None:
        view = factory.open().executions.view(7, run=RUN, current=RUN.workflow)
        assert (view.range_id, view.run, view.current) == (0, None, None)

    def test_a_view_shows_shard_run_and_pointer(self, factory: Factory) -> None:
        backend = factory.open()
        writer = Writer(backend)
        writer.commit(write(core=b"core", sections={"timers": {"t": b"1"}}), current=pointer(None))
        seen = factory.second().executions.view(0, run=RUN, current=RUN.workflow)
        assert seen.range_id == writer.range_id
        assert seen.run is not None
        assert (seen.run.version, seen.run.core) == (1, b"core")
        assert dict(seen.run.sections["timers"]) == {"t": b"1"}
        assert seen.current == CurrentRun(RUN.run_id, open=True, state=b"state")

    def test_a_view_shows_nothing_that_was_not_asked_for(self, factory: Factory) -> None:
        backend = factory.open()
        Writer(backend).commit(write(), current=pointer(None))
        assert backend.executions.view(0).run is None
        assert backend.executions.view(0, run=RUN).current is None
        assert backend.executions.view(0, run=OTHER, current=OTHER.workflow).run is None

    def test_the_first_commit_takes_a_shard(self, factory: Factory) -> None:
        backend = factory.open()
        backend.executions.commit(claiming(1, write()))
        assert (range_of(backend), stored(backend).version) == (1, 1)
        backend.executions.commit(Transaction(0, 1, "next", [write(expected_version=1)]))
        assert stored(backend).version == 2

    def test_a_later_claim_follows_the_range_it_saw(self, factory: Factory) -> None:
        first, second = factory.open(), factory.second()
        stale = Writer(first)
        stale.commit(write())
        second.executions.commit(
            claiming(stale.range_id + 1, write(expected_version=1, core=b"second"), owner="second")
        )
        assert range_of(first) == stale.range_id + 1
        with pytest.raises(ShardOwnershipLost):
            stale.commit(write(expected_version=2))
        assert stored(first).core == b"second"

    def test_of_two_claims_of_one_range_the_second_fails(self, factory: Factory) -> None:
        backend = factory.open()
        backend.executions.commit(claiming(1, write(core=b"first")))
        with pytest.raises(ShardOwnershipLost):
            factory.second().executions.commit(claiming(1, write(OTHER), owner="second"))
        assert backend.executions.load(OTHER) is None
        assert range_of(backend) == 1

    @pytest.mark.parametrize("range_id", [1, 2, 4, 9])
    def test_a_claim_that_does_not_follow_the_stored_range_fails(
        self, factory: Factory, range_id: int
    ) -> None:
        backend = factory.open()
        for expected in (1, 2):
            backend.executions.commit(claiming(expected, write(expected_version=expected - 1)))
        with pytest.raises(ShardOwnershipLost):
            backend.executions.commit(claiming(range_id, write(OTHER), owner="late"))
        assert (range_of(backend), backend.executions.load(OTHER)) == (2, None)

    def test_a_claim_of_a_shard_that_nobody_took_begins_at_1(self, factory: Factory) -> None:
        backend = factory.open()
        with pytest.raises(ShardOwnershipLost):
            backend.executions.commit(claiming(2, write()))
        assert (range_of(backend), backend.executions.load(RUN)) == (0, None)

    def test_a_refused_transaction_claims_nothing(self, factory: Factory) -> None:
        backend = factory.open()
        with pytest.raises(Conflict):
            backend.executions.commit(claiming(1, write(nodes=[node(1)]), write(OTHER, expected_version=3)))
        assert (range_of(backend), current(backend)) == (0, None)
        backend.executions.commit(claiming(1, write()))
        assert range_of(backend) == 1

    def test_being_too_late_counts_before_a_conflict(self, factory: Factory) -> None:
        backend = factory.open()
        backend.executions.commit(claiming(1, write()))
        with pytest.raises(ShardOwnershipLost):
            backend.executions.commit(claiming(1, write(), owner="second"))

    def test_a_repeated_claim_is_a_success_and_claims_once(self, factory: Factory) -> None:
        backend = factory.open()
        transaction = claiming(1, write())
        for _ in range(3):
            backend.executions.commit(transaction)
        assert (range_of(backend), stored(backend).version) == (1, 1)

    def test_a_shard_may_be_taken_apart_from_a_commit(self, factory: Factory) -> None:
        backend = factory.open()
        backend.executions.commit(claiming(1, write()))
        taken = factory.second().executions.acquire_shard(0, "second")
        assert taken == range_of(backend) == 2
