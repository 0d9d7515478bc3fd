"""Where several processes share the shards: what each may believe, and for how long."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field

import pytest

from durable_core.adapters.decorators import Fault, FaultyExecutions, ManualClock, by_script
from durable_core.adapters.sqlite import Store, open_store
from durable_core.adapters.system import SystemIds
from durable_core.engine.transition import Transition
from durable_core.model import limits
from durable_core.model.errors import (
    Conflict,
    FailedPrecondition,
    NotFound,
    ShardOwnershipLost,
    Unavailable,
)
from durable_core.model.ids import RunKey, WorkflowKey
from durable_core.model.state import Core, RunState
from durable_core.model.tasks import NotifyParent, Task
from durable_core.ports.executions import CurrentRun, Executions, StoredRun, Transaction, View
from durable_core.services.history_reader import HistoryReader
from durable_core.services.unit_of_work import Start, UnitOfWork, UnitSettings

LEASE = 1_000
SHARDS = 8
KEY = WorkflowKey("namespace", "order-17")
RUN = KEY.run("run-1")


@dataclass
class Calls:
    """An `Executions` that says what it was asked."""

    inner: Executions
    asked: list[str] = field(default_factory=list)

    def acquire_shard(self, shard: int, owner: str) -> int:
        self.asked.append("acquire")
        return self.inner.acquire_shard(shard, owner)

    def view(self, shard: int, *, run: RunKey | None = None, current: WorkflowKey | None = None) -> View:
        self.asked.append("view")
        return self.inner.view(shard, run=run, current=current)

    def load(self, key: RunKey) -> StoredRun | None:
        self.asked.append("load")
        return self.inner.load(key)

    def current(self, key: WorkflowKey) -> CurrentRun | None:
        self.asked.append("current")
        return self.inner.current(key)

    def commit(self, transaction: Transaction) -> None:
        self.asked.append("commit")
        self.inner.commit(transaction)

    def delete_run(self, key: RunKey, shard: int, range_id: int) -> None:
        self.asked.append("delete")
        self.inner.delete_run(key, shard, range_id)

    def take(self) -> list[str]:
        asked, self.asked = self.asked, []
        return asked


class Silent:
    def publish(self, topic: object) -> None:
        pass


@dataclass
class World:
    """One store that any number of processes share."""

    clock: ManualClock = field(default_factory=ManualClock)
    dispatched: list[Task] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.store: Store = open_store(None, self.clock)

    def process(
        self, name: str, wrap: Callable[[Executions], Executions] = lambda inner: inner
    ) -> tuple[UnitOfWork, Calls]:
        calls = Calls(self.store.executions)
        unit = UnitOfWork(
            wrap(calls),
            HistoryReader(self.store.histories),
            self.clock,
            SystemIds(),
            Silent(),
            lambda namespace_id: 10**15,
            lambda queue, now: False,
            lambda seconds: None,
            UnitSettings(SHARDS, name, 100, lease=LEASE, expires=True),
            lambda tasks, wake_ups: self.dispatched.extend(tasks),
        )
        return unit, calls


@pytest.fixture
def world() -> Iterator[World]:
    made = World()
    yield made
    made.store.close()


def start(unit: UnitOfWork, run: RunKey = RUN) -> None:
    def decide(current: RunState | None) -> Start[None]:
        assert current is None
        core = Core(namespace_id=run.namespace_id, workflow_id=run.workflow_id, run_id=run.run_id)
        return Start(None, new=unit.fork(RunState(core)))

    unit.start(run.workflow, decide)


def add(unit: UnitOfWork, run: RunKey = RUN) -> int:
    """A transition that counts; the count after it."""

    def decide(t: Transition) -> int:
        t.state.core.signals += 1
        t.is_dirty = True
        return t.state.core.signals

    return unit.update(run, decide)


def look(unit: UnitOfWork) -> int:
    """A decision that commits nothing."""
    return unit.update(RUN, lambda t: t.state.core.signals)


def refuse(t: Transition) -> None:
    raise FailedPrecondition(f"at {t.state.core.signals}")


def test_a_start_looks_and_commits_once(world: World) -> None:
    unit, calls = world.process("a")
    start(unit)
    assert calls.take() == ["view", "commit"]


def test_a_process_looks_once_more_after_it_took_a_shard_and_then_commits_without_looking(
    world: World,
) -> None:
    unit, calls = world.process("a")
    start(unit)
    calls.take()
    for expected in (["view", "commit"], ["commit"], ["commit"]):
        unit.distrust()
        add(unit)
        assert calls.take() == expected


def test_a_lease_that_is_over_is_looked_at_again(world: World) -> None:
    unit, calls = world.process("a")
    start(unit)
    for _ in range(2):
        unit.distrust()
        add(unit)
    calls.take()
    for _ in range(3):
        unit.distrust()
        world.clock.advance(LEASE - 1)
        add(unit)
        assert calls.take() == ["commit"]
    unit.distrust()
    world.clock.advance(LEASE)
    add(unit)
    assert calls.take() == ["view", "commit"]


def test_two_processes_that_take_turns_never_pay_for_a_failed_commit(world: World) -> None:
    (first, calls), (second, others) = world.process("a"), world.process("b")
    start(first)
    calls.take()
    for number in range(1, 9, 2):
        for unit, its, count in ((second, others, number), (first, calls, number + 1)):
            unit.distrust()
            assert add(unit) == count
            assert its.take() == ["view", "commit"]


def test_a_process_that_lost_its_shard_within_the_lease_decides_again(world: World) -> None:
    (first, calls), (second, _) = world.process("a"), world.process("b")
    start(first)
    for _ in range(2):
        first.distrust()
        add(first)
    assert add(second) == 3
    first.distrust()
    calls.take()
    assert add(first) == 4
    assert calls.take() == ["commit", "view", "commit"]


def test_what_commits_nothing_is_decided_on_what_was_read_for_it(world: World) -> None:
    (first, calls), (second, _) = world.process("a"), world.process("b")
    start(first)
    for _ in range(2):
        first.distrust()
        add(first)
    add(second)
    first.distrust()
    calls.take()
    assert look(first) == 3
    assert calls.take() == ["view"]
    first.distrust()
    with pytest.raises(FailedPrecondition, match="at 3"):
        first.update(RUN, refuse)


def test_a_run_is_read_once_a_call(world: World) -> None:
    (first, calls), (second, _) = world.process("a"), world.process("b")
    start(first)
    first.distrust()
    calls.take()
    assert first.read(RUN).core.signals == 0
    assert first.find(RUN) is not None
    assert look(first) == 0
    assert calls.take() == ["view"]
    add(second)
    assert first.read(RUN).core.signals == 0
    first.distrust()
    assert first.read(RUN).core.signals == 1
    add(second)
    first.forget(RUN)
    assert first.read(RUN).core.signals == 2
    add(second)
    world.clock.advance(LEASE)
    assert first.read(RUN).core.signals == 3


def test_what_is_not_there_is_told_apart_from_what_a_decision_does_not_find(world: World) -> None:
    unit, _ = world.process("a")

    def miss(t: Transition) -> None:
        raise NotFound("no such activity")

    assert unit.update_if_there(RUN, miss) is None
    with pytest.raises(NotFound, match="workflow execution not found"):
        unit.update(RUN, miss)
    start(unit)
    with pytest.raises(NotFound, match="no such activity"):
        unit.update_if_there(RUN, miss)


def test_tasks_of_a_commit_are_dispatched_once_and_only_after_it(world: World) -> None:
    unit, _ = world.process("a", lambda inner: FaultyExecutions(inner, by_script([None, Fault.CONFLICT])))
    start(unit)
    assert world.dispatched == []

    def decide(t: Transition) -> None:
        t.service_task(NotifyParent())

    unit.update(RUN, decide)
    assert [task.body for task in world.dispatched] == [NotifyParent()]


@pytest.mark.parametrize("fault", [Fault.LOST_REQUEST, Fault.LOST_REPLY])
def test_a_claim_whose_outcome_is_unknown_is_repeated_until_it_is_known(world: World, fault: Fault) -> None:
    unit, calls = world.process("a", lambda inner: FaultyExecutions(inner, by_script([fault, fault])))
    start(unit)
    unit.distrust()
    assert add(unit) == 1
    assert calls.take().count("view") == 2


class Once(Calls):
    """Stands for a process that comes with another change as soon as it has heard what became of the last one."""

    def commit(self, transaction: Transaction) -> None:
        try:
            super().commit(transaction)
        except (Conflict, ShardOwnershipLost) as error:
            raise Unavailable("the next round is over only after the others' commits") from error


def test_one_who_changes_the_run_all_the_time_does_not_keep_others_from_it(world: World) -> None:
    busy, _ = world.process("busy", Once)
    unit, calls = world.process("patient")
    start(busy)
    disturbed = 0

    def decide(t: Transition) -> None:
        nonlocal disturbed
        disturbed += 1
        busy.distrust()
        with suppress(Unavailable):
            add(busy)
        t.state.core.signals += 100
        t.is_dirty = True

    unit.update(RUN, decide)
    assert disturbed == limits.commit_attempts_unfenced + 1
    assert unit.read(RUN).core.signals == 100 + limits.commit_attempts_unfenced
    assert calls.take()[-3:] == ["acquire", "view", "commit"]


def test_task_ids_are_never_used_twice(world: World) -> None:
    (first, _), (second, _) = world.process("a"), world.process("b")
    start(first)
    for unit in (first, second, second, first, second, first, first):
        unit.distrust()
        unit.update(RUN, lambda t: t.service_task(NotifyParent()))
    ids = [task.task_id for task in world.dispatched]
    assert len(ids) == len(set(ids)) == 7
    assert ids == sorted(ids)


def test_a_shard_that_is_always_lost_ends_as_unavailable(world: World) -> None:
    faults = [None, *[Fault.STOLEN_SHARD] * 50]
    unit, _ = world.process("a", lambda inner: FaultyExecutions(inner, by_script(faults)))
    start(unit)
    with pytest.raises(Unavailable):
        add(unit)
