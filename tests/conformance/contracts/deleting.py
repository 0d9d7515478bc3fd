"""`Executions.delete_run`: nothing of the run remains, and nothing else goes."""

from dataclasses import replace
from itertools import permutations

import pytest

from durable_core.model.errors import Conflict
from durable_core.model.ids import RunKey
from durable_core.ports.executions import CurrentRun

from ..backend import Factory
from ..writing import (
    ORDERS,
    OTHER,
    RUN,
    SUCCESSOR,
    Writer,
    armed,
    current,
    history,
    node,
    pointer,
    receive_all,
    stored,
    write,
)
from .transactions import assert_nothing_stored, everything

RESET = RunKey(RUN.namespace_id, RUN.workflow_id, "run-4")
RESET_AGAIN = RunKey(RUN.namespace_id, RUN.workflow_id, "run-5")


class DeletingContract:
    def test_a_deleted_run_leaves_no_trace(self, factory: Factory) -> None:
        backend = factory.open()
        writer = Writer(backend)
        writer.commit(everything(writer, RUN), current=pointer(None, is_open=False))
        backend.executions.delete_run(RUN, writer.shard, writer.range_id)
        assert_nothing_stored(backend, RUN)
        assert current(backend) is None

    def test_other_runs_keep_all_they_have(self, factory: Factory) -> None:
        backend = factory.open()
        writer = Writer(backend)
        namesake = RunKey("other", RUN.workflow_id, "run-9")
        for key in (RUN, OTHER, namesake):
            writer.commit(everything(writer, key), current=pointer(None, key))
        backend.executions.delete_run(RUN, writer.shard, writer.range_id)
        factory.relay()
        for key in (OTHER, namesake):
            assert dict(stored(backend, key).sections["activities"]) == {"5": b"pending"}
            assert len(history(backend.histories, branch=key.run_id)) == 1
            assert current(backend, key.workflow) is not None
            queue = ORDERS._replace(namespace_id=key.namespace_id)
            assert key in {one.task.run for one in receive_all(backend.task_queues, queue)}
        assert set(armed(backend.wake_ups)) == {OTHER, namesake}

    def test_the_pointer_stays_when_it_names_a_later_run(self, factory: Factory) -> None:
        backend = factory.open()
        writer = Writer(backend)
        writer.commit(write(), current=pointer(None))
        writer.commit(write(expected_version=1), write(SUCCESSOR), current=pointer(RUN.run_id, SUCCESSOR))
        backend.executions.delete_run(RUN, writer.shard, writer.range_id)
        assert backend.executions.load(RUN) is None
        assert current(backend) == CurrentRun(SUCCESSOR.run_id, open=True, state=b"state")
        assert stored(backend, SUCCESSOR).version == 1

    def test_deleting_what_is_not_there_is_no_error(self, factory: Factory) -> None:
        backend = factory.open()
        writer = Writer(backend)
        for _ in range(2):
            backend.executions.delete_run(RUN, writer.shard, writer.range_id)
        writer.commit(write(), current=pointer(None))
        backend.executions.delete_run(RUN, writer.shard, writer.range_id)
        backend.executions.delete_run(RUN, writer.shard, writer.range_id)
        assert backend.executions.load(RUN) is None

    def test_history_of_every_branch_that_the_run_wrote_goes_with_it(self, factory: Factory) -> None:
        backend = factory.open()
        writer = Writer(backend)
        writer.commit(write(nodes=[node(1, branch="a")]), current=pointer(None))
        with pytest.raises(Conflict):
            writer.commit(
                write(expected_version=1, nodes=[node(2, branch="b")]), write(OTHER, expected_version=9)
            )
        writer.commit(write(expected_version=1, nodes=[node(2, branch="b"), node(3, branch="c")]))
        backend.executions.delete_run(RUN, writer.shard, writer.range_id)
        assert [history(backend.histories, branch=branch) for branch in "abc"] == [[], [], []]

    @pytest.mark.parametrize("order", list(permutations((RUN, RESET, RESET_AGAIN))))
    def test_history_that_later_runs_go_on_from_goes_with_the_last_of_them(
        self, factory: Factory, order: tuple[RunKey, ...]
    ) -> None:
        backend = factory.open()
        writer = Writer(backend)
        needed = {"a": {RUN, RESET, RESET_AGAIN}, "b": {RESET, RESET_AGAIN}, "c": {RESET_AGAIN}}
        writer.commit(write(nodes=[node(1, branch="a")]), current=pointer(None))
        writer.commit(replace(write(RESET, nodes=[node(2, branch="b")]), ancestors=("a",)))
        writer.commit(replace(write(RESET_AGAIN, nodes=[node(3, branch="c")]), ancestors=("a", "b")))
        for deleted in order:
            backend.executions.delete_run(deleted, writer.shard, writer.range_id)
            for branch, runs in needed.items():
                runs.discard(deleted)
                assert bool(history(backend.histories, branch=branch)) == bool(runs), (deleted, branch)

    def test_history_stays_for_a_run_that_came_after_its_writer_was_deleted(self, factory: Factory) -> None:
        backend = factory.open()
        writer = Writer(backend)
        writer.commit(write(nodes=[node(1, branch="a")]), current=pointer(None))
        writer.commit(replace(write(RESET, nodes=[node(2, branch="b")]), ancestors=("a",)))
        backend.executions.delete_run(RUN, writer.shard, writer.range_id)
        writer.commit(replace(write(RESET_AGAIN, nodes=[node(2, branch="c")]), ancestors=("a",)))
        backend.executions.delete_run(RESET, writer.shard, writer.range_id)
        assert history(backend.histories, branch="a")
        backend.executions.delete_run(RESET_AGAIN, writer.shard, writer.range_id)
        assert not history(backend.histories, branch="a")

    def test_a_workflow_id_starts_anew_after_its_runs_are_gone(self, factory: Factory) -> None:
        backend = factory.open()
        writer = Writer(backend)
        writer.commit(everything(writer, RUN), current=pointer(None))
        backend.executions.delete_run(RUN, writer.shard, writer.range_id)
        writer.commit(write(SUCCESSOR, core=b"anew"), current=pointer(None, SUCCESSOR))
        assert stored(backend, SUCCESSOR).core == b"anew"
        assert current(backend) == CurrentRun(SUCCESSOR.run_id, open=True, state=b"state")
