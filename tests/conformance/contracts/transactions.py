"""`Executions.commit`: whole or not at all, on the expected versions only, once for each token."""

from contextlib import suppress

import pytest

from durable_core.model.errors import Conflict
from durable_core.model.ids import RunKey
from durable_core.ports.executions import CurrentRun, RunWrite

from ..backend import Backend, Factory
from ..writing import (
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
    sections,
    stored,
    write,
)


def everything(writer: Writer, key: RunKey, expected_version: int = 0) -> RunWrite:
    """A write that leaves a trace in every place there is."""
    return write(
        key,
        expected_version,
        b"everything",
        sections={"activities": {"5": b"pending"}},
        nodes=[node(100, branch=key.run_id, transaction_id=writer.next_task_id())],
        tasks=[writer.task(key)],
        wake_up_at=77,
    )


def assert_no_trace(factory: Factory, backend: Backend, key: RunKey) -> None:
    factory.relay()
    assert_nothing_stored(backend, key)
    assert [one for one in receive_all(backend.task_queues) if one.task.run == key] == []


def assert_nothing_stored(backend: Backend, key: RunKey) -> None:
    """All but the tasks: one that is in a queue already cannot always be called back, and its claim finds no run."""
    assert backend.executions.load(key) is None
    assert history(backend.histories, branch=key.run_id) == []
    assert key not in armed(backend.wake_ups)


class TransactionsContract:
    def test_what_was_never_written_is_not_there(self, factory: Factory) -> None:
        backend = factory.open()
        assert backend.executions.load(RUN) is None
        assert current(backend) is None

    def test_a_new_run_is_read_back_at_version_1(self, factory: Factory) -> None:
        backend = factory.open()
        Writer(backend).commit(write(core=b"\x00\xffcore", sections={"timers": {"t": b"1"}}))
        assert stored(backend).version == 1
        assert stored(backend).core == b"\x00\xffcore"
        assert sections(backend) == {"timers": {"t": b"1"}}

    def test_every_write_raises_the_version_by_one_and_replaces_the_core(self, factory: Factory) -> None:
        backend = factory.open()
        writer = Writer(backend)
        for version in range(4):
            writer.commit(write(expected_version=version, core=b"%d" % version))
            assert (stored(backend).version, stored(backend).core) == (version + 1, b"%d" % version)

    def test_a_run_is_named_by_all_three_parts_of_its_key(self, factory: Factory) -> None:
        backend = factory.open()
        writer = Writer(backend)
        keys = [
            RUN,
            RunKey("other", RUN.workflow_id, RUN.run_id),
            RunKey(RUN.namespace_id, "other", RUN.run_id),
        ]
        for key in keys:
            writer.commit(
                write(key, core=repr(key).encode()), current=pointer(None, key, state=repr(key).encode())
            )
        assert [stored(backend, key).core for key in keys] == [repr(key).encode() for key in keys]
        pointers = [current(backend, key.workflow) for key in keys]
        assert pointers == [CurrentRun(key.run_id, open=True, state=repr(key).encode()) for key in keys]

    @pytest.mark.parametrize("expected_version", [0, 1, 3])
    def test_another_version_than_the_stored_one_is_a_conflict(
        self, factory: Factory, expected_version: int
    ) -> None:
        backend = factory.open()
        writer = Writer(backend)
        writer.commit(write())
        writer.commit(write(expected_version=1, core=b"second"))
        with pytest.raises(Conflict):
            writer.commit(write(expected_version=expected_version, core=b"wrong"))
        assert (stored(backend).version, stored(backend).core) == (2, b"second")

    def test_updating_a_run_that_does_not_exist_is_a_conflict(self, factory: Factory) -> None:
        backend = factory.open()
        writer = Writer(backend)
        with pytest.raises(Conflict):
            writer.commit(everything(writer, RUN, expected_version=1))
        assert_no_trace(factory, backend, RUN)

    def test_two_runs_are_written_together(self, factory: Factory) -> None:
        backend = factory.open()
        writer = Writer(backend)
        writer.commit(write(), current=pointer(None))
        writer.commit(
            write(expected_version=1, core=b"closed"),
            write(SUCCESSOR, core=b"continued"),
            current=pointer(RUN.run_id, SUCCESSOR),
        )
        assert stored(backend).core == b"closed"
        assert stored(backend, SUCCESSOR).core == b"continued"
        assert current(backend) == CurrentRun(SUCCESSOR.run_id, open=True, state=b"state")

    def test_a_conflict_of_the_second_run_leaves_no_trace_of_the_first(self, factory: Factory) -> None:
        backend = factory.open()
        writer = Writer(backend)
        with pytest.raises(Conflict):
            writer.commit(everything(writer, RUN), write(SUCCESSOR, expected_version=4))
        assert_no_trace(factory, backend, RUN)

    def test_a_conflict_of_the_pointer_leaves_no_trace_of_the_run(self, factory: Factory) -> None:
        backend = factory.open()
        writer = Writer(backend)
        with pytest.raises(Conflict):
            writer.commit(everything(writer, RUN), current=pointer("nobody"))
        assert_no_trace(factory, backend, RUN)
        assert current(backend) is None

    def test_after_a_refused_transaction_the_same_run_can_be_written(self, factory: Factory) -> None:
        backend = factory.open()
        writer = Writer(backend)
        with pytest.raises(Conflict):
            writer.commit(everything(writer, RUN), current=pointer("nobody"))
        writer.commit(everything(writer, RUN), current=pointer(None))
        factory.relay()
        assert stored(backend).version == 1
        assert [first for first, _ in history(backend.histories, branch=RUN.run_id)] == [100]
        assert len(receive_all(backend.task_queues)) == 1

    def test_a_run_that_was_refused_is_not_mistaken_for_the_next_one(self, factory: Factory) -> None:
        backend = factory.open()
        writer = Writer(backend)
        with pytest.raises(Conflict):
            writer.commit(everything(writer, RUN), current=pointer("nobody"))
        writer.commit(write(OTHER, core=b"other"))
        with pytest.raises(Conflict):
            writer.commit(write(RUN, expected_version=1))
        assert (stored(backend, OTHER).version, stored(backend, OTHER).core) == (1, b"other")

    def test_a_key_may_hold_any_text(self, factory: Factory) -> None:
        backend = factory.open()
        writer = Writer(backend)
        for text in ("ä/ö#ü", "日本語 🦀", "it's", '"; DROP', "%_*", "a\x00b", " ", "x" * 1000):
            key = RunKey("namespace", text, "run")
            writer.commit(write(key, core=text.encode()), current=pointer(None, key))
            assert stored(backend, key).core == text.encode()
            assert current(backend, key.workflow) is not None


class PointersContract:
    def test_the_first_pointer_asks_that_there_is_none(self, factory: Factory) -> None:
        backend = factory.open()
        writer = Writer(backend)
        writer.commit(write(), current=pointer(None, state=b"first"))
        with pytest.raises(Conflict):
            writer.commit(write(SUCCESSOR), current=pointer(None, SUCCESSOR))
        assert current(backend) == CurrentRun(RUN.run_id, open=True, state=b"first")
        assert backend.executions.load(SUCCESSOR) is None

    def test_a_pointer_moves_only_from_the_expected_run(self, factory: Factory) -> None:
        backend = factory.open()
        writer = Writer(backend)
        writer.commit(write(), current=pointer(None))
        with pytest.raises(Conflict):
            writer.commit(write(SUCCESSOR), current=pointer("another", SUCCESSOR))
        writer.commit(write(SUCCESSOR), current=pointer(RUN.run_id, SUCCESSOR))
        assert current(backend) == CurrentRun(SUCCESSOR.run_id, open=True, state=b"state")

    def test_a_pointer_changes_while_it_stays_with_its_run(self, factory: Factory) -> None:
        backend = factory.open()
        writer = Writer(backend)
        writer.commit(write(), current=pointer(None))
        writer.commit(write(expected_version=1), current=pointer(RUN.run_id, is_open=False, state=b"closed"))
        assert current(backend) == CurrentRun(RUN.run_id, open=False, state=b"closed")


class TokensContract:
    def test_a_repeated_transaction_succeeds_and_changes_nothing(self, factory: Factory) -> None:
        backend = factory.open()
        writer = Writer(backend)
        creation = writer.commit(everything(writer, RUN), current=pointer(None))
        backend.executions.commit(creation)
        assert stored(backend).version == 1
        update = writer.commit(write(expected_version=1, sections={"activities": {"5": None}}))
        backend.executions.commit(update)
        assert (stored(backend).version, sections(backend)) == (2, {})
        factory.relay()
        assert len(receive_all(backend.task_queues)) == 1
        assert len(history(backend.histories, branch=RUN.run_id)) == 1

    def test_a_repeat_brings_no_task_back_that_is_done(self, factory: Factory) -> None:
        backend = factory.open()
        writer = Writer(backend)
        transaction = writer.commit(write(tasks=[writer.task(RUN), writer.task(RUN)]))
        factory.relay()
        done, undone = receive_all(backend.task_queues)
        backend.task_queues.delete(done)
        backend.executions.commit(transaction)
        factory.relay()
        factory.pass_visibility_time()
        assert [one.task for one in receive_all(backend.task_queues)] == [undone.task]

    def test_a_repeated_transaction_of_two_runs_succeeds(self, factory: Factory) -> None:
        backend = factory.open()
        writer = Writer(backend)
        writer.commit(write(), current=pointer(None))
        transition = writer.commit(
            write(expected_version=1), write(SUCCESSOR), current=pointer(RUN.run_id, SUCCESSOR)
        )
        backend.executions.commit(transition)
        assert (stored(backend).version, stored(backend, SUCCESSOR).version) == (2, 1)

    def test_a_repeat_succeeds_though_the_shard_has_a_new_owner(self, factory: Factory) -> None:
        first, second = factory.open(), factory.second()
        transaction = Writer(first).commit(write())
        Writer(second, owner="second")
        first.executions.commit(transaction)
        assert stored(first).version == 1

    def test_a_repeat_after_a_later_transition_is_not_applied_again(self, factory: Factory) -> None:
        backend = factory.open()
        writer = Writer(backend)
        transaction = writer.commit(write(core=b"first", sections={"timers": {"1": b"armed"}}))
        writer.commit(write(expected_version=1, core=b"second", sections={"timers": {"1": None}}))
        # A backend may forget the tokens of all but the last transition of a run.
        with suppress(Conflict):
            backend.executions.commit(transaction)
        assert (stored(backend).version, stored(backend).core, sections(backend)) == (2, b"second", {})

    def test_the_same_write_under_another_token_is_a_conflict(self, factory: Factory) -> None:
        backend = factory.open()
        writer = Writer(backend)
        writer.commit(write())
        with pytest.raises(Conflict):
            writer.commit(write())
        assert stored(backend, RUN).version == 1

    def test_a_transaction_that_was_refused_once_is_no_success_later(self, factory: Factory) -> None:
        backend = factory.open()
        writer = Writer(backend)
        writer.commit(write(OTHER))
        refused = writer.transaction(write(), write(OTHER))
        for _ in range(2):
            with pytest.raises(Conflict):
                backend.executions.commit(refused)
        assert backend.executions.load(RUN) is None
