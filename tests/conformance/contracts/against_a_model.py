"""Random transactions, legal and not, against a dictionary that does the same, with reopening in between.

The dictionary is the port's docstring as code: after every step the backend holds what it holds. A backend's test
calls `run_against_a_model` with a way to make an empty factory.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from durable_core.model.errors import Conflict, ShardOwnershipLost
from durable_core.model.ids import RunKey, WorkflowKey, shard_of
from durable_core.model.tasks import Task
from durable_core.ports.executions import CurrentRun, CurrentRunWrite, HistoryNode, RunWrite, Transaction

from ..backend import Backend, Factory
from ..writing import Sections, Writer, armed, history, receive_all, sections, stored

SHARDS = 2
WORKFLOWS = [WorkflowKey("namespace", f"order-{number}") for number in range(3)]

Changes = dict[str, dict[str, bytes | None]]


@dataclass(frozen=True)
class Change:
    """What a transition does to a run, apart from whose it is."""

    core: bytes
    sections: Changes
    batches: list[int]
    tasks: int
    wake_up: int | None


CHANGES = st.builds(
    Change,
    core=st.binary(max_size=20),
    sections=st.dictionaries(
        st.sampled_from(["activities", "timers"]),
        st.dictionaries(st.sampled_from(["1", "2", "é"]), st.none() | st.binary(max_size=8), max_size=3),
        max_size=2,
    ),
    batches=st.lists(st.integers(1, 3), max_size=2),
    tasks=st.integers(0, 2),
    wake_up=st.none() | st.just(0) | st.integers(1, 50),
)
PICK = st.integers(0, 30)


@dataclass(frozen=True)
class Run:
    """A run as the dictionary has it."""

    version: int = 0
    core: bytes = b""
    sections: Sections = field(default_factory=dict)
    nodes: tuple[tuple[int, bytes], ...] = ()
    next_event_id: int = 1
    wake_up: int = 0


def merged(before: Sections, changes: Changes) -> Sections:
    after = {name: dict(entries) for name, entries in before.items()}
    for name, entries in changes.items():
        kept = after.setdefault(name, {})
        for entry, value in entries.items():
            if value is None:
                kept.pop(entry, None)
            else:
                kept[entry] = value
    return {name: entries for name, entries in after.items() if entries}


class AgainstAModel(RuleBasedStateMachine):
    def __init__(self, make: Callable[[], Factory]) -> None:
        super().__init__()
        self.factory = make()
        self.runs: dict[RunKey, Run] = {}
        self.pointers: dict[WorkflowKey, CurrentRun] = {}
        self.tasks: dict[tuple[RunKey, int], Task] = {}
        self.last: Transaction | None = None
        self.runs_started = 0

    def teardown(self) -> None:
        self.factory.close()

    @property
    def backend(self) -> Backend:
        return self.factory.open()

    @initialize()
    def take_shards(self) -> None:
        self.writers = [Writer(self.backend, shard) for shard in range(SHARDS)]

    # What transitions do. --------------------------------------------------------------------------------------------

    @rule(workflow=st.sampled_from(WORKFLOWS), change=CHANGES)
    def start(self, workflow: WorkflowKey, change: Change) -> None:
        before = self.pointers.get(workflow)
        if before is not None and before.open:
            return
        key = self._new_run(workflow)
        moved = CurrentRunWrite(
            workflow, before.run_id if before else None, CurrentRun(key.run_id, True, change.core)
        )
        self._commit([self._write(key, change)], moved)

    @precondition(lambda self: self.runs)
    @rule(pick=PICK, change=CHANGES)
    def update(self, pick: int, change: Change) -> None:
        self._commit([self._write(self._pick(pick), change)])

    @precondition(lambda self: self.runs)
    @rule(pick=PICK, change=CHANGES)
    def close(self, pick: int, change: Change) -> None:
        key = self._pick(pick)
        if not self._is_current(key):
            return
        closed = CurrentRunWrite(key.workflow, key.run_id, CurrentRun(key.run_id, False, b"closed"))
        self._commit([self._write(key, change)], closed)

    @precondition(lambda self: self.runs)
    @rule(pick=PICK, change=CHANGES)
    def continue_as_new(self, pick: int, change: Change) -> None:
        key = self._pick(pick)
        if not self._is_current(key):
            return
        successor = self._new_run(key.workflow)
        moved = CurrentRunWrite(key.workflow, key.run_id, CurrentRun(successor.run_id, True, b"new"))
        self._commit([self._write(key, change), self._write(successor, change)], moved)

    @precondition(lambda self: self.runs)
    @rule(pick=PICK)
    def delete_run(self, pick: int) -> None:
        key = self._pick(pick)
        writer = self._writer(key.workflow)
        self.backend.executions.delete_run(key, writer.shard, writer.range_id)
        del self.runs[key]
        self.tasks = {name: task for name, task in self.tasks.items() if name[0] != key}
        if self._is_current(key):
            del self.pointers[key.workflow]
        if self.last is not None and key in [write.key for write in self.last.runs]:
            self.last = None

    # What must change nothing. ---------------------------------------------------------------------------------------

    @precondition(lambda self: self.last)
    @rule()
    def repeat_the_last_transaction(self) -> None:
        assert self.last is not None
        self.backend.executions.commit(self.last)

    @precondition(lambda self: self.runs)
    @rule(pick=PICK, change=CHANGES, ahead=st.sampled_from([-1, 1, 7]))
    def write_at_a_wrong_version(self, pick: int, change: Change, ahead: int) -> None:
        write, _ = self._write(self._pick(pick), change)
        wrong = replace(write, expected_version=write.expected_version + ahead)
        fresh, _ = self._write(self._new_run(write.key.workflow), change)
        with pytest.raises(Conflict):
            self._writer(write.key.workflow).commit(fresh, wrong)

    @rule(workflow=st.sampled_from(WORKFLOWS), change=CHANGES)
    def write_with_a_wrong_pointer(self, workflow: WorkflowKey, change: Change) -> None:
        key = self._new_run(workflow)
        expected = "nobody" if workflow not in self.pointers else None
        moved = CurrentRunWrite(workflow, expected, CurrentRun(key.run_id, True, b""))
        write, _ = self._write(key, change)
        with pytest.raises(Conflict):
            self._writer(workflow).commit(write, current=moved)

    @rule(workflow=st.sampled_from(WORKFLOWS), change=CHANGES)
    def lose_the_shard(self, workflow: WorkflowKey, change: Change) -> None:
        stale = self._writer(workflow)
        self.writers[stale.shard] = Writer(self.factory.second(), stale.shard, "second")
        write, _ = self._write(self._new_run(workflow), change)
        with pytest.raises(ShardOwnershipLost):
            stale.commit(write)

    @rule()
    def reopen(self) -> None:
        backend = self.factory.reopen()
        for writer in self.writers:
            writer.backend = backend

    # Queues. ---------------------------------------------------------------------------------------------------------

    @rule(keep=st.sets(st.integers(0, 5)))
    def receive_and_delete(self, keep: set[int]) -> None:
        self.factory.pass_visibility_time()
        received = [one for one in receive_all(self.backend.task_queues) if one.task.run in self.runs]
        assert {(one.task.run, one.task.task_id): one.task for one in received} == self.tasks
        for number, one in enumerate(received):
            if number not in keep:
                self.backend.task_queues.delete(one)
                del self.tasks[one.task.run, one.task.task_id]

    # What the backend must hold. -------------------------------------------------------------------------------------

    @invariant()
    def it_holds_what_the_model_holds(self) -> None:
        for key, run in self.runs.items():
            assert (stored(self.backend, key).version, stored(self.backend, key).core) == (
                run.version,
                run.core,
            )
            assert sections(self.backend, key) == run.sections
            assert history(self.backend.histories, branch=key.run_id) == list(run.nodes)
        for workflow in WORKFLOWS:
            assert self.backend.executions.current(workflow) == self.pointers.get(workflow)
        assert armed(self.backend.wake_ups) == {
            key: run.wake_up for key, run in self.runs.items() if run.wake_up
        }

    def _writer(self, workflow: WorkflowKey) -> Writer:
        return self.writers[shard_of(workflow, SHARDS)]

    def _is_current(self, key: RunKey) -> bool:
        current = self.pointers.get(key.workflow)
        return current is not None and current.run_id == key.run_id

    def _pick(self, pick: int) -> RunKey:
        return list(self.runs)[pick % len(self.runs)]

    def _new_run(self, workflow: WorkflowKey) -> RunKey:
        self.runs_started += 1
        return workflow.run(f"run-{self.runs_started}")

    def _write(self, key: RunKey, change: Change) -> tuple[RunWrite, Run]:
        """The write that changes the run, and the run that it leaves."""
        writer, before = self._writer(key.workflow), self.runs.get(key, Run())
        nodes, next_event_id = [], before.next_event_id
        for count in change.batches:
            number = writer.next_task_id()
            events = f"{key.run_id}:{next_event_id}@{number}".encode()
            nodes.append(HistoryNode(key.run_id, next_event_id, number, events, count))
            next_event_id += count
        after = Run(
            version=before.version + 1,
            core=change.core,
            sections=merged(before.sections, change.sections),
            nodes=before.nodes + tuple((node.first_event_id, node.events) for node in nodes),
            next_event_id=next_event_id,
            wake_up=before.wake_up if change.wake_up is None else change.wake_up,
        )
        tasks = [writer.task(key) for _ in range(change.tasks)]
        write = RunWrite(key, before.version, change.core, change.sections, nodes, tasks, change.wake_up)
        return write, after

    def _commit(self, writes: list[tuple[RunWrite, Run]], current: CurrentRunWrite | None = None) -> None:
        writer = self._writer(writes[0][0].key.workflow)
        self.last = writer.commit(*(write for write, _ in writes), current=current)
        self.factory.relay()
        for write, after in writes:
            self.runs[write.key] = after
            self.tasks |= {(write.key, task.task_id): task for task in write.tasks}
        if current is not None:
            self.pointers[current.key] = current.current


def run_against_a_model(
    make: Callable[[], Factory], *, examples: int = 50, steps: int = 40, shrinks: bool = True
) -> None:
    """`shrinks`: look for the shortest way to a failure, which takes many runs."""
    phases = list(Phase) if shrinks else [Phase.explicit, Phase.reuse, Phase.generate]

    class OfThisBackend(AgainstAModel):
        def __init__(self) -> None:
            super().__init__(make)

    run_state_machine_as_test(
        OfThisBackend,
        settings=settings(max_examples=examples, stateful_step_count=steps, deadline=None, phases=phases),
    )
