"""What DynamoDB's refusals and silences mean, told apart: which may be repeated, and which was done already."""

from collections.abc import Iterator

import pytest

from durable_core.model.errors import (
    AmbiguousCommit,
    Conflict,
    ShardOwnershipLost,
    StorageError,
    Throttled,
    Unavailable,
)
from durable_core.ports.executions import Transaction
from tests.conformance.writing import OTHER, RUN, Writer, history, node, pointer, stored, write

from .local import Account
from .stores import Answer, Tables, counting, failing, lost_reply, lost_request, opened, refusal

pytestmark = pytest.mark.aws

ATTEMPTS = 3
"""How often the client sends a request before it gives up."""


@pytest.fixture
def deployed(account: Account, monkeypatch: pytest.MonkeyPatch) -> Iterator[Tables]:
    with opened(account, monkeypatch) as made:
        yield made


def cancelled(*reasons: str) -> Answer:
    return refusal("TransactionCanceledException", reasons=list(reasons))


@pytest.mark.parametrize(
    "answer, error",
    [
        (cancelled("None", "TransactionConflict"), Conflict),
        (cancelled("TransactionConflict", "None"), Conflict),
        (cancelled("None", "ConditionalCheckFailed"), Conflict),
        (cancelled("ConditionalCheckFailed", "None"), ShardOwnershipLost),
        (cancelled("ConditionalCheckFailed", "ConditionalCheckFailed"), ShardOwnershipLost),
        (cancelled("None", "ThrottlingError"), Throttled),
        (cancelled("ProvisionedThroughputExceeded", "None"), Throttled),
        (cancelled("None", "ValidationError"), StorageError),
        (refusal("TransactionConflictException"), Conflict),
        (refusal("ValidationException"), StorageError),
        (refusal("ResourceNotFoundException"), StorageError),
        (refusal("AccessDeniedException"), StorageError),
    ],
)
def test_refusals_are_told_apart_and_change_nothing(
    deployed: Tables, answer: Answer, error: type[StorageError]
):
    store = deployed.process()
    writer = Writer(store)
    writer.commit(write(OTHER))
    failing(store, "TransactWriteItems", answer)
    transaction = writer.transaction(write(nodes=[node(1, branch=RUN.run_id)]))
    with pytest.raises(error) as raised:
        store.executions.commit(transaction)
    assert type(raised.value) is error
    assert store.executions.load(RUN) is None
    store.executions.commit(transaction)
    assert stored(store).version == 1


@pytest.mark.parametrize("code", ["ThrottlingException", "ProvisionedThroughputExceededException"])
def test_throttling_that_outlasts_the_clients_patience_is_throttling(deployed: Tables, code: str):
    store = deployed.process()
    writer = Writer(store)
    failing(store, "TransactWriteItems", *[refusal(code)] * ATTEMPTS)
    with pytest.raises(Throttled):
        writer.commit(write())
    assert store.executions.load(RUN) is None


@pytest.mark.parametrize("status", [500, 503])
def test_a_failing_service_leaves_the_outcome_open(deployed: Tables, status: int):
    store = deployed.process()
    writer = Writer(store)
    failing(store, "TransactWriteItems", *[refusal("InternalServerError", status)] * ATTEMPTS)
    transaction = writer.transaction(write())
    with pytest.raises(AmbiguousCommit):
        store.executions.commit(transaction)
    store.executions.commit(transaction)
    assert stored(store).version == 1


@pytest.mark.parametrize("done", [False, True])
@pytest.mark.parametrize("claims", [False, True])
def test_a_commit_that_was_never_answered_is_found_out_by_repeating_it(
    deployed: Tables, done: bool, claims: bool
):
    store = deployed.process()
    if claims:
        transaction = _claim()
    else:
        transaction = Writer(store).transaction(
            write(nodes=[node(1, branch=RUN.run_id)]), current=pointer(None)
        )
    fault = lost_reply(store) if done else lost_request
    failing(store, "TransactWriteItems", *[fault] * ATTEMPTS)
    with pytest.raises(AmbiguousCommit):
        store.executions.commit(transaction)
    for process in (store, deployed.process()):
        process.executions.commit(transaction)
    assert stored(store).version == 1
    assert store.executions.view(0).range_id == 1


def test_a_reply_that_is_lost_once_costs_a_repetition_and_no_error(deployed: Tables):
    store = deployed.process()
    writer = Writer(store)
    failing(store, "TransactWriteItems", lost_reply(store))
    writer.commit(write(), current=pointer(None))
    assert stored(store).version == 1


def test_an_update_whose_reply_was_lost_is_a_success_for_whoever_repeats_it(deployed: Tables):
    first, second = deployed.process(), deployed.process()
    writer = Writer(first)
    writer.commit(write())
    transaction = writer.transaction(write(expected_version=1, nodes=[node(1, branch=RUN.run_id)]))
    failing(first, "TransactWriteItems", *[lost_reply(first)] * ATTEMPTS)
    with pytest.raises(AmbiguousCommit):
        first.executions.commit(transaction)
    second.executions.commit(transaction)
    first.executions.commit(transaction)
    assert stored(first).version == 2
    assert history(first.histories, branch=RUN.run_id) == [(1, b"run-1:1+1@1")]


@pytest.mark.parametrize("operation", ["GetItem", "BatchGetItem", "Query"])
@pytest.mark.parametrize(
    "fault", [refusal("ThrottlingException"), refusal("InternalServerError", 500), lost_request]
)
def test_reading_that_fails_asks_the_caller_to_try_again(deployed: Tables, operation: str, fault: Answer):
    store = deployed.process()
    Writer(store).commit(write(nodes=[node(1)]))
    reader = deployed.process()
    failing(reader, operation, *[fault] * ATTEMPTS)
    with pytest.raises(Unavailable):
        {
            "GetItem": lambda: reader.executions.load(RUN),
            "BatchGetItem": lambda: reader.executions.view(0, run=RUN),
            "Query": lambda: history(reader.histories),
        }[operation]()
    assert stored(reader).version == 1


def test_a_commit_that_cannot_succeed_is_not_sent_where_that_is_known(deployed: Tables):
    first, second = deployed.process(), deployed.process()
    writer = Writer(first)
    writer.commit(write())
    counted = counting(second)
    other = Writer(second, owner="second")
    counted.take()
    with pytest.raises(Conflict):
        other.commit(write(expected_version=4))
    assert counted.take().transactions == []


def _claim() -> Transaction:
    return Transaction(0, 1, "claiming", [write()], claim=True, owner="first")
