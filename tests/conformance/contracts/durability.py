"""What the next process finds: everything that was committed, and no more."""

from contextlib import suppress

import pytest

from durable_core.model.errors import Conflict, ShardOwnershipLost
from durable_core.model.ids import SERVICE_QUEUE
from durable_core.model.tasks import NotifyParent
from durable_core.ports.catalog import Deployment, NamespaceRecord

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
    sections,
    stored,
    tasks_of,
    write,
)
from .transactions import assert_no_trace, assert_nothing_stored, everything


class DurabilityContract:
    def test_runs_pointers_and_histories_outlive_the_process(self, factory: Factory) -> None:
        writer = Writer(factory.open())
        writer.commit(
            write(sections={"timers": {"a": b"1", "b": b"2"}}, nodes=[node(1, 2)]), current=pointer(None)
        )
        writer.commit(
            write(expected_version=1, core=b"new", sections={"timers": {"a": None}}, nodes=[node(3)])
        )
        backend = factory.reopen()
        assert (stored(backend).version, stored(backend).core) == (2, b"new")
        assert sections(backend) == {"timers": {"b": b"2"}}
        assert [first for first, _ in history(backend.histories)] == [1, 3]
        assert current(backend) is not None

    def test_a_run_goes_on_after_reopening(self, factory: Factory) -> None:
        Writer(factory.open()).commit(write(nodes=[node(1)]), current=pointer(None))
        backend = factory.reopen()
        writer = Writer(backend, owner="next")
        writer.commit(write(expected_version=1, nodes=[node(2)]), current=pointer(RUN.run_id, is_open=False))
        assert stored(backend).version == 2
        assert [first for first, _ in history(backend.histories)] == [1, 2]
        backend.executions.delete_run(RUN, writer.shard, writer.range_id)
        assert history(backend.histories) == []

    def test_the_fence_outlives_the_process(self, factory: Factory) -> None:
        old = Writer(factory.open())
        old.backend = factory.reopen()
        new = Writer(old.backend, owner="next")
        assert new.range_id > old.range_id
        with pytest.raises(ShardOwnershipLost):
            old.commit(write())

    def test_a_transaction_repeated_by_the_next_process_acts_once(self, factory: Factory) -> None:
        transaction = Writer(factory.open()).commit(write())
        backend = factory.reopen()
        backend.executions.commit(transaction)
        assert stored(backend).version == 1

    def test_undeleted_tasks_are_delivered_after_reopening(self, factory: Factory) -> None:
        backend = factory.open()
        writer = Writer(backend)
        tasks = [writer.task(RUN), writer.task(RUN), writer.task(RUN, SERVICE_QUEUE, NotifyParent())]
        writer.commit(write(tasks=tasks))
        factory.relay()
        assert backend.task_queues.receive(ORDERS) is not None
        backend = factory.reopen()
        factory.pass_visibility_time()
        assert tasks_of(receive_all(backend.task_queues)) == tasks[:2]
        assert tasks_of(receive_all(backend.task_queues, SERVICE_QUEUE)) == tasks[2:]

    def test_deleted_tasks_are_not_delivered_after_reopening(self, factory: Factory) -> None:
        backend = factory.open()
        writer = Writer(backend)
        tasks = [writer.task(RUN) for _ in range(4)]
        writer.commit(write(tasks=tasks))
        factory.relay()
        received = receive_all(backend.task_queues)
        backend.task_queues.delete(received[0])
        writer.commit(write(expected_version=1))
        backend.task_queues.delete(received[1])
        backend = factory.reopen()
        factory.pass_visibility_time()
        assert tasks_of(receive_all(backend.task_queues)) == tasks_of(received[2:])

    def test_deleting_goes_on_after_a_refused_transaction(self, factory: Factory) -> None:
        backend = factory.open()
        writer = Writer(backend)
        writer.commit(write(tasks=[writer.task(RUN)]))
        factory.relay()
        for received in receive_all(backend.task_queues):
            backend.task_queues.delete(received)
        with suppress(Conflict):
            writer.commit(write(OTHER, expected_version=5))
        backend = factory.reopen()
        factory.pass_visibility_time()
        assert receive_all(backend.task_queues) == []

    def test_wake_ups_are_armed_after_reopening(self, factory: Factory) -> None:
        writer = Writer(factory.open())
        writer.commit(write(wake_up_at=100))
        writer.commit(write(SUCCESSOR, wake_up_at=200))
        writer.commit(write(OTHER, wake_up_at=300))
        writer.commit(write(expected_version=1, wake_up_at=50))
        writer.commit(write(SUCCESSOR, expected_version=1, wake_up_at=0))
        writer.commit(write(OTHER, expected_version=1))
        backend = factory.reopen()
        assert backend.wake_ups.next_due() == 50
        assert armed(backend.wake_ups) == {RUN: 50, OTHER: 300}
        writer = Writer(backend, owner="next")
        writer.commit(write(expected_version=2, wake_up_at=0))
        assert armed(factory.reopen().wake_ups) == {OTHER: 300}

    def test_the_catalog_outlives_the_process(self, factory: Factory) -> None:
        facts, shop = Deployment("d", 4, 1), NamespaceRecord("id", "shop", 1, b"body")
        catalog = factory.open().catalog
        catalog.deployment(facts)
        catalog.create_namespace(shop)
        catalog = factory.reopen().catalog
        assert catalog.deployment(Deployment("other", 8, 1)) == facts
        assert catalog.namespace("shop") == shop

    def test_a_deleted_run_stays_deleted(self, factory: Factory) -> None:
        writer = Writer(factory.open())
        writer.commit(everything(writer, RUN), current=pointer(None))
        writer.backend.executions.delete_run(RUN, writer.shard, writer.range_id)
        backend = factory.reopen()
        assert_nothing_stored(backend, RUN)
        assert current(backend) is None

    def test_a_refused_transaction_is_not_there_after_reopening(self, factory: Factory) -> None:
        writer = Writer(factory.open())
        with pytest.raises(Conflict):
            writer.commit(everything(writer, RUN), current=pointer("nobody"))
        backend = factory.reopen()
        assert_no_trace(factory, backend, RUN)
