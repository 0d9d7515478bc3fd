"""`TaskQueues`: what was committed is delivered, at least once, until it is deleted."""

from durable_core.model.ids import SERVICE_QUEUE, QueueKey, QueueKind
from durable_core.model.tasks import (
    ActivityTask,
    ApplyParentClosePolicy,
    CancelExternal,
    NotifyParent,
    QueryTask,
    SignalExternal,
    StartChild,
    Task,
    TaskBody,
    WorkflowTask,
)

from ..backend import Backend, Factory
from ..writing import ORDERS, OTHER, RUN, Writer, receive_all, tasks_of, write


def with_task(factory: Factory, count: int = 1) -> tuple[Backend, list[Task]]:
    """A run that emitted tasks, which the outbox has carried to their queue."""
    backend = factory.open()
    writer = Writer(backend)
    tasks = [writer.task(RUN) for _ in range(count)]
    writer.commit(write(tasks=tasks))
    factory.relay()
    return backend, tasks


class TaskQueuesContract:
    def test_an_empty_queue_gives_nothing(self, factory: Factory) -> None:
        queues = factory.open().task_queues
        assert queues.receive(ORDERS) is None
        assert queues.backlog(ORDERS) == 0

    def test_a_committed_task_is_delivered_though_nobody_sends_it(self, factory: Factory) -> None:
        backend, tasks = with_task(factory, 3)
        assert tasks_of(receive_all(backend.task_queues)) == tasks

    def test_sending_a_committed_task_delivers_it_once(self, factory: Factory) -> None:
        backend = factory.open()
        writer = Writer(backend)
        task = writer.task(RUN)
        writer.commit(write(tasks=[task]))
        backend.task_queues.send([task])
        factory.relay()
        backend.task_queues.send([task, task])
        assert tasks_of(receive_all(backend.task_queues)) == [task]

    def test_a_received_task_is_not_received_again_at_once(self, factory: Factory) -> None:
        backend, tasks = with_task(factory)
        assert tasks_of(receive_all(backend.task_queues)) == tasks
        backend.task_queues.send(tasks)
        assert receive_all(backend.task_queues) == []

    def test_a_task_that_is_not_deleted_comes_again(self, factory: Factory) -> None:
        backend, _ = with_task(factory, 2)
        received = receive_all(backend.task_queues)
        backend.task_queues.delete(received[0])
        factory.pass_visibility_time()
        assert tasks_of(receive_all(backend.task_queues)) == [received[1].task]
        factory.pass_visibility_time()
        assert tasks_of(receive_all(backend.task_queues)) == [received[1].task]

    def test_a_deleted_task_does_not_come_again(self, factory: Factory) -> None:
        backend, _ = with_task(factory)
        for received in receive_all(backend.task_queues):
            backend.task_queues.delete(received)
            backend.task_queues.delete(received)
        factory.pass_visibility_time()
        assert receive_all(backend.task_queues) == []
        assert backend.task_queues.backlog(ORDERS) == 0

    def test_deleting_late_deletes_all_the_same(self, factory: Factory) -> None:
        backend, _ = with_task(factory)
        (late,) = receive_all(backend.task_queues)
        factory.pass_visibility_time()
        again = receive_all(backend.task_queues)
        backend.task_queues.delete(late)
        for received in again:
            backend.task_queues.delete(received)
        factory.pass_visibility_time()
        assert receive_all(backend.task_queues) == []

    def test_queues_are_told_apart_by_namespace_name_and_kind(self, factory: Factory) -> None:
        backend = factory.open()
        writer = Writer(backend)
        other_namespace = OTHER.workflow.run("r")
        queues = [
            ORDERS,
            QueueKey("namespace", "orders", QueueKind.ACTIVITY),
            QueueKey("namespace", "Orders", QueueKind.WORKFLOW),
            QueueKey("namespace", "sticky:ö/17", QueueKind.WORKFLOW),
        ]
        tasks = [writer.task(RUN, queue) for queue in queues]
        foreign = Task(
            writer.next_task_id(),
            "other",
            "order-17",
            other_namespace.run_id,
            "orders",
            1,
            WorkflowTask(2, 1),
        )
        writer.commit(write(tasks=tasks))
        backend.task_queues.send([foreign])
        factory.relay()
        for queue, task in zip(queues, tasks, strict=True):
            assert tasks_of(receive_all(backend.task_queues, queue)) == [task]
        assert tasks_of(receive_all(backend.task_queues, foreign.queue)) == [foreign]

    def test_service_tasks_of_all_namespaces_come_through_one_queue(self, factory: Factory) -> None:
        backend = factory.open()
        writer = Writer(backend)
        bodies: list[TaskBody] = [
            StartChild(5),
            SignalExternal(6),
            CancelExternal(7),
            NotifyParent(),
            ApplyParentClosePolicy(),
        ]
        tasks = [writer.task(RUN, SERVICE_QUEUE, body) for body in bodies]
        writer.commit(write(tasks=tasks))
        factory.relay()
        assert tasks_of(receive_all(backend.task_queues, SERVICE_QUEUE)) == tasks

    def test_a_task_arrives_as_it_was_sent(self, factory: Factory) -> None:
        backend = factory.open()
        writer = Writer(backend)
        task = writer.task(RUN, body=ActivityTask(scheduled_event_id=7, attempt=3, stamp=9))
        writer.commit(write(tasks=[task]))
        factory.relay()
        (received,) = receive_all(backend.task_queues)
        assert received.task == task
        assert received.task.body == ActivityTask(7, 3, 9)

    def test_queries_are_told_apart_though_they_have_no_task_id(self, factory: Factory) -> None:
        backend = factory.open()
        queries = [
            Task(0, RUN.namespace_id, RUN.workflow_id, RUN.run_id, ORDERS.name, ORDERS.kind, QueryTask(name))
            for name in ("q1", "q2")
        ]
        backend.task_queues.send(queries)
        received = receive_all(backend.task_queues)
        assert sorted(one.task.body.query_id for one in received if isinstance(one.task.body, QueryTask)) == [
            "q1",
            "q2",
        ]
        for one in received:
            backend.task_queues.delete(one)
        factory.pass_visibility_time()
        assert receive_all(backend.task_queues) == []

    def test_tasks_of_two_shards_may_have_the_same_id(self, factory: Factory) -> None:
        backend = factory.open()
        tasks = []
        for shard, key in ((1, RUN), (2, OTHER)):
            writer = Writer(backend, shard=shard)
            tasks.append(writer.task(key))
            writer.commit(write(key, tasks=tasks[-1:]))
        assert tasks[0].task_id == tasks[1].task_id
        factory.relay()
        received = receive_all(backend.task_queues)
        assert tasks_of(received) == tasks
        backend.task_queues.delete(received[0])
        factory.pass_visibility_time()
        assert tasks_of(receive_all(backend.task_queues)) == [received[1].task]

    def test_the_backlog_counts_what_waits(self, factory: Factory) -> None:
        backend, _ = with_task(factory, 5)
        assert backend.task_queues.backlog(ORDERS) == 5
        received = backend.task_queues.receive(ORDERS)
        assert received is not None
        assert backend.task_queues.backlog(ORDERS) == 4
        backend.task_queues.delete(received)
        assert backend.task_queues.backlog(ORDERS) == 4

    def test_what_is_known_of_the_longest_waiting_task_is_no_invention(self, factory: Factory) -> None:
        """A backend may not know; one that does forgets it when nothing waits any more."""
        backend, _ = with_task(factory, 2)
        since = backend.task_queues.waiting_since(ORDERS)
        for one in receive_all(backend.task_queues):
            backend.task_queues.delete(one)
            factory.relay()
        assert since is None or since >= 0
        assert backend.task_queues.waiting_since(ORDERS) == (None if since is None else 0)

    def test_two_processes_share_the_queue(self, factory: Factory) -> None:
        first, tasks = with_task(factory, 2)
        second = factory.second()
        received = [first.task_queues.receive(ORDERS), second.task_queues.receive(ORDERS)]
        assert tasks_of([one for one in received if one is not None]) == tasks
