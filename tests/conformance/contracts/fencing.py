"""Shards: who may write. A stale owner's write is never visible."""

import pytest

from durable_core.model.errors import Conflict, ShardOwnershipLost
from durable_core.ports.executions import Transaction

from ..backend import Factory
from ..writing import OTHER, RUN, SUCCESSOR, Writer, current, pointer, stored, write
from .transactions import assert_no_trace, everything


class FencingContract:
    def test_range_ids_rise_with_every_claim(self, factory: Factory) -> None:
        first, second = factory.open(), factory.second()
        claims = [
            backend.executions.acquire_shard(3, owner)
            for backend, owner in [(first, "first"), (first, "first"), (second, "second"), (first, "first")]
        ]
        assert claims[0] > 0
        assert claims == sorted(set(claims))

    def test_a_shard_that_nobody_took_cannot_be_written(self, factory: Factory) -> None:
        backend = factory.open()
        for range_id in (0, 1):
            with pytest.raises(ShardOwnershipLost):
                backend.executions.commit(Transaction(9, range_id, f"token-{range_id}", [write()]))
        assert backend.executions.load(RUN) is None

    def test_a_stale_owner_writes_nothing(self, factory: Factory) -> None:
        first, second = factory.open(), factory.second()
        stale = Writer(first)
        Writer(second, owner="second")
        with pytest.raises(ShardOwnershipLost):
            stale.commit(everything(stale, RUN), current=pointer(None))
        assert_no_trace(factory, first, RUN)
        assert current(first) is None

    def test_the_new_owner_writes_on_what_the_old_one_left(self, factory: Factory) -> None:
        first, second = factory.open(), factory.second()
        old = Writer(first)
        old.commit(write(), current=pointer(None))
        new = Writer(second, owner="second")
        new.commit(write(expected_version=1, core=b"new"))
        with pytest.raises(ShardOwnershipLost):
            old.commit(write(expected_version=2, core=b"old"))
        assert (stored(first).version, stored(first).core) == (2, b"new")

    def test_being_fenced_off_counts_before_a_conflict(self, factory: Factory) -> None:
        first, second = factory.open(), factory.second()
        old = Writer(first)
        new = Writer(second, owner="second")
        new.commit(write())
        with pytest.raises(ShardOwnershipLost):
            old.commit(write(core=b"old"))
        with pytest.raises(Conflict):
            new.commit(write(core=b"new"))

    def test_a_range_id_of_the_future_is_refused_as_well(self, factory: Factory) -> None:
        backend = factory.open()
        writer = Writer(backend)
        writer.range_id += 1
        with pytest.raises(ShardOwnershipLost):
            writer.commit(write())

    def test_losing_one_shard_leaves_the_others(self, factory: Factory) -> None:
        first, second = factory.open(), factory.second()
        kept, lost = Writer(first, shard=1), Writer(first, shard=2)
        Writer(second, shard=2, owner="second")
        kept.commit(write(OTHER))
        with pytest.raises(ShardOwnershipLost):
            lost.commit(write(SUCCESSOR))
        assert stored(first, OTHER).version == 1

    def test_a_stale_owner_deletes_nothing(self, factory: Factory) -> None:
        first, second = factory.open(), factory.second()
        stale = Writer(first)
        stale.commit(write(), current=pointer(None))
        Writer(second, owner="second")
        with pytest.raises(ShardOwnershipLost):
            first.executions.delete_run(RUN, stale.shard, stale.range_id)
        assert stored(first).version == 1
        assert current(first) is not None
