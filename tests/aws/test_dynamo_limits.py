"""State that fits no item and no transaction: it is split, becomes visible at once, and leaves nothing behind."""

import random
from collections.abc import Iterator
from dataclasses import replace

import pytest

from durable_core.adapters.aws.dynamo_documents import Documents
from durable_core.adapters.aws.dynamo_transactions import UNSETTLED_EXPIRY
from durable_core.model.errors import Conflict
from durable_core.model.ids import QueueKey, QueueKind
from durable_core.model.times import DAY, SECOND
from durable_core.ports.executions import HistoryNode, RunWrite
from durable_core.schema import tables
from tests.conformance.writing import (
    RUN,
    SUCCESSOR,
    Writer,
    history,
    node,
    pointer,
    sections,
    stored,
    write,
)

from .local import Account
from .stores import NOW, Tables, counting, failing, opened, refusal

pytestmark = pytest.mark.aws

MB = 1024 * 1024
BRANCH = RUN.run_id
RETAINED = NOW + 3 * DAY


@pytest.fixture
def deployed(account: Account, monkeypatch: pytest.MonkeyPatch) -> Iterator[Tables]:
    with opened(account, monkeypatch) as made:
        yield made


def noise(size: int, seed: int = 1) -> bytes:
    """Nothing makes it smaller."""
    return random.Random(seed).randbytes(size)


def own(first: int, count: int, events: bytes, transaction_id: int = 1) -> HistoryNode:
    return node(first, count, branch=BRANCH, events=events, transaction_id=transaction_id)


def test_one_transition_schedules_2000_activities(deployed: Tables):
    backend = deployed.process()
    writer = Writer(backend)
    activities = {str(number): noise(180, number) for number in range(2_000)}
    queue = QueueKey(RUN.namespace_id, "a-queue-with-a-name-of-its-own", QueueKind.ACTIVITY)
    tasks = [writer.task(RUN, queue) for _ in range(2_000)]
    events = own(1, 2_000, noise(700_000))
    writer.commit(write(nodes=[own(1, 1, b"start")]), current=pointer(None))
    writer.commit(
        write(
            expected_version=1,
            sections={"activities": activities},
            nodes=[own(2, 2_000, events.events)],
            tasks=tasks,
            wake_up_at=77,
        )
    )
    other = deployed.process()
    assert sections(other) == {"activities": activities}
    assert history(other.histories, branch=BRANCH) == [(1, b"start"), (2, events.events)]
    assert deployed.tasks() == tasks
    writer.commit(write(expected_version=2, sections={"activities": {"7": None, "1999": b"started"}}))
    expected = {**activities, "1999": b"started"}
    del expected["7"]
    assert sections(deployed.process()) == {"activities": expected}
    assert sections(backend) == {"activities": expected}


def test_tasks_too_large_for_an_item_travel_in_items_of_their_own(deployed: Tables):
    backend = deployed.process()
    writer = Writer(backend)
    chance = random.Random(3)
    names = ["".join(chance.choices("abcdefghijklmnopqrstuvwxyz0123456789", k=1_000)) for _ in range(1_500)]
    tasks = [writer.task(RUN, QueueKey(RUN.namespace_id, name, QueueKind.ACTIVITY)) for name in names]
    writer.commit(write(tasks=tasks))
    assert sorted(deployed.tasks(), key=lambda task: task.task_id) == tasks


@pytest.mark.parametrize("size", [2 * MB, 5 * MB])
def test_an_event_a_core_and_an_entry_of_any_size_are_stored_whole(deployed: Tables, size: int):
    backend = deployed.process()
    large = noise(size)
    Writer(backend).commit(
        write(core=large, sections={"buffered": {"1": large, "2": b"small"}}, nodes=[own(1, 3, large)])
    )
    for process in (backend, deployed.process()):
        assert stored(process).core == large
        assert sections(process) == {"buffered": {"1": large, "2": b"small"}}
        assert history(process.histories, branch=BRANCH) == [(1, large)]
    assert set(deployed.parts().values()) == {None}


def test_50000_events_are_read_in_pages_both_ways(deployed: Tables):
    backend = deployed.process()
    writer = Writer(backend)
    for version in range(500):
        events = noise(8_000, version)
        writer.commit(write(expected_version=version, nodes=[own(1 + 100 * version, 100, events)]))
    expected = [(1 + 100 * version, noise(8_000, version)) for version in range(500)]
    for process in (backend, deployed.process()):
        assert history(process.histories, branch=BRANCH) == expected
        assert history(process.histories, branch=BRANCH, reverse=True) == expected[::-1]
        assert history(process.histories, 40_050, branch=BRANCH, nodes_max=2) == expected[400:402]
        assert history(process.histories, 1, 40_001, branch=BRANCH, nodes_max=2, reverse=True) == [
            expected[399],
            expected[398],
        ]
    assert stored(deployed.process()).version == 500


def test_what_a_failed_commit_wrote_ahead_is_never_read_and_expires(deployed: Tables):
    backend = deployed.process()
    writer = Writer(backend)
    failing(
        backend,
        "TransactWriteItems",
        refusal("TransactionCanceledException", reasons=["TransactionConflict"]),
    )
    with pytest.raises(Conflict):
        writer.commit(write(nodes=[own(1, 3, noise(MB, 1))]))
    expiries = set(deployed.parts().values())
    assert expiries == {(NOW + UNSETTLED_EXPIRY) // SECOND}
    assert backend.executions.load(RUN) is None
    assert history(backend.histories, branch=BRANCH) == []
    writer.commit(write(nodes=[own(1, 3, noise(MB, 2), transaction_id=2)]))
    assert history(deployed.process().histories, branch=BRANCH) == [(1, noise(MB, 2))]


@pytest.mark.parametrize("who", ["the next commit", "the stream"])
def test_parts_that_were_not_settled_are_settled_later(deployed: Tables, who: str):
    backend = deployed.process()
    writer = Writer(backend)
    throttled = refusal("ProvisionedThroughputExceededException")
    failing(backend, "UpdateItem", *[throttled] * 3)
    writer.commit(write(nodes=[own(1, 3, noise(MB))]))
    assert any(deployed.parts().values())
    other = deployed.process()
    if who == "the stream":
        assert deployed.do_chores(other) == 1
    else:
        writer.backend = other
        assert stored(other).version == 1
        writer.commit(write(expected_version=1))
    assert not any(deployed.parts().values())


def test_a_run_that_is_closed_expires_with_all_it_has(deployed: Tables):
    backend = deployed.process()
    writer = Writer(backend)
    activities = {str(number): noise(100, number) for number in range(100)}
    writer.commit(
        write(sections={"activities": activities}, nodes=[own(1, 3, noise(MB))]), current=pointer(None)
    )
    assert not any(deployed.parts().values())
    closed = write(expected_version=1, nodes=[own(4, 1, b"closed")])
    closed = _retained(closed)
    writer.commit(closed, current=pointer(RUN.run_id, is_open=False))
    assert deployed.do_chores(deployed.process()) >= 1
    assert set(deployed.parts().values()) == {RETAINED // SECOND}
    assert stored(deployed.process()).version == 2
    runs = {item["sk"]["S"].split("/")[0]: item["expires_at"]["N"] for item in deployed.items(tables.RUNS)}
    assert set(runs.values()) == {str(RETAINED // SECOND)}
    # DynamoDB removes it days later; for us it is gone at its time.
    deployed.clock.set(RETAINED)
    for process in (backend, deployed.process()):
        assert process.executions.load(RUN) is None
        assert process.executions.current(RUN.workflow) is None
    writer.commit(write(SUCCESSOR), current=pointer(None, SUCCESSOR))
    assert backend.executions.current(RUN.workflow) is not None


def test_a_small_closed_run_leaves_no_chores(deployed: Tables):
    backend = deployed.process()
    writer = Writer(backend)
    writer.commit(write(nodes=[own(1, 3, b"start")], sections={"timers": {"1": b"1"}}), current=pointer(None))
    writer.commit(_retained(write(expected_version=1)), current=pointer(RUN.run_id, is_open=False))
    assert (deployed.do_chores(backend), deployed.parts()) == (0, {})


def test_history_that_another_run_goes_on_from_does_not_expire_before_it(deployed: Tables):
    backend = deployed.process()
    writer = Writer(backend)
    large = noise(MB)
    writer.commit(_retained(write(nodes=[own(1, 3, large)])), current=pointer(None))
    reset = write(SUCCESSOR, nodes=[node(4, branch=SUCCESSOR.run_id)])
    writer.commit(_with_ancestors(reset), current=pointer(RUN.run_id, SUCCESSOR))
    deployed.do_chores(deployed.process())
    assert not any(deployed.parts().values())
    deployed.clock.set(RETAINED + 10 * DAY)
    assert history(deployed.process().histories, branch=BRANCH) == [(1, large)]
    # The run that went on from it closes, and both are kept as long as that one.
    until = RETAINED + 20 * DAY
    writer.commit(_retained(write(SUCCESSOR, expected_version=1), until))
    deployed.do_chores(deployed.process())
    assert set(deployed.parts().values()) == {until // SECOND}
    documents = [item for item in deployed.items(tables.RUNS) if item["sk"]["S"].startswith("run/")]
    assert {item["expires_at"]["N"] for item in documents} == {str(until // SECOND)}


def test_a_page_that_is_newer_than_its_document_is_not_believed(deployed: Tables):
    first, second = deployed.process(), deployed.process()
    writer = Writer(first)
    entries = {str(number): noise(100, number) for number in range(100)}
    writer.commit(write(sections={"activities": entries}))
    old = next(item for item in deployed.items(tables.RUNS) if item["sk"]["S"].startswith("run/"))
    change = {str(number): noise(100, 7 * number) for number in range(100)}
    writer.commit(write(expected_version=1, sections={"activities": change}))
    documents = Documents(second.database, deployed.clock)
    read = documents.complete(RUN, old)
    assert read is not None
    assert (read.version, read.section("activities")) == (2, change)


def test_a_process_that_knows_a_run_reads_only_the_pages_that_changed(deployed: Tables):
    first, second = deployed.process(), deployed.process()
    writer = Writer(first)
    entries = {str(number): noise(200, number) for number in range(1_000)}
    writer.commit(write(sections={"activities": entries}))
    counted = counting(second)
    assert sections(second) == {"activities": entries}
    whole = counted.take().read_units
    change = {str(number): noise(200, number + 5_000) for number in range(10)}
    writer.commit(write(expected_version=1, sections={"activities": change}))
    assert sections(second) == {"activities": {**entries, **change}}
    assert counted.take().read_units < whole / 5


def _retained(closed: RunWrite, until: int = RETAINED) -> RunWrite:
    return replace(closed, retain_until=until)


def _with_ancestors(reset: RunWrite) -> RunWrite:
    return replace(reset, ancestors=(BRANCH,))
