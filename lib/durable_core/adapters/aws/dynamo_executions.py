"""Shards, runs and pointers on DynamoDB: the `Executions` port.

One `commit` is one DynamoDB transaction: the shard's range ID as a condition (or as the claim), the run documents on
the condition of their versions, the pointer on the condition of the run it names. Tasks and wake-ups travel in the
documents, and the table's stream carries them on.
What does not live here: how a transition becomes items (`layout`, `dynamo_transactions`).

Idempotency: a document keeps the token of the transition that wrote it last. A repeated transaction fails on the
version and finds its own token there, so it is a success; the client request token makes the SDK's own repetitions
harmless.
A newcomer's trap: the document is written whole, so a commit needs the one before. It is the one that was read for the
decision; where it is not at hand any more it is read again, and may turn out to be another one.
"""

import logging
from collections.abc import Mapping
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError
from pynamodb.exceptions import CancellationReason, PynamoDBException, TransactWriteError

from durable_core.adapters.aws import keys
from durable_core.adapters.aws.documents import Document
from durable_core.adapters.aws.dynamo_chores import Chores
from durable_core.adapters.aws.dynamo_database import THROTTLING, Database, code_of
from durable_core.adapters.aws.dynamo_documents import Documents
from durable_core.adapters.aws.dynamo_items import PointerItem, RunItem, ShardItem
from durable_core.adapters.aws.dynamo_transactions import Preparation, Prepared
from durable_core.model.errors import (
    AmbiguousCommit,
    Conflict,
    ShardOwnershipLost,
    StorageError,
    Throttled,
    Unavailable,
)
from durable_core.model.ids import RunKey, WorkflowKey
from durable_core.model.times import SECOND
from durable_core.ports.clock import Clock
from durable_core.ports.executions import CurrentRun, RunWrite, StoredRun, Transaction, View

REFUSED = "ConditionalCheckFailed"
IN_THE_WAY = frozenset(("TransactionConflict", "TransactionConflictException"))
REPEATED = frozenset(("IdempotentParameterMismatchException", "IdempotentParameterMismatch"))
CERTAINLY_NOT = frozenset(
    (
        "ValidationException",
        "ResourceNotFoundException",
        "AccessDeniedException",
        "UnrecognizedClientException",
        "ItemCollectionSizeLimitExceededException",
    )
)
"""Errors of requests that changed nothing. What is named nowhere here may have been committed."""
TOKEN_MAX = 36

log = logging.getLogger("perdure")


class DynamoExecutions:
    def __init__(self, database: Database, documents: Documents, chores: Chores, clock: Clock) -> None:
        self._database = database
        self._documents = documents
        self._chores = chores
        self._clock = clock

    def acquire_shard(self, shard: int, owner: str) -> int:
        while True:
            found = self._range_id(shard)
            item = ShardItem(pk=shard, range_id=found + 1, owner=owner)
            condition = ShardItem.pk.does_not_exist() if found == 0 else ShardItem.range_id == found
            if self._database.put(item, condition):
                return found + 1

    def view(self, shard: int, *, run: RunKey | None = None, current: WorkflowKey | None = None) -> View:
        wanted: list[tuple[Any, str, str | None]] = [(ShardItem, str(shard), None)]
        if run is not None:
            wanted.append((RunItem, *keys.document(run)))
        if current is not None:
            wanted.append((PointerItem, *keys.pointer(current)))
        found = self._database.batch(wanted)
        owned = found.get((str(shard), ""))
        document = None if run is None else self._documents.complete(run, found.get(keys.document(run)))
        return View(
            0 if owned is None else int(owned["range_id"]["N"]),
            None if document is None else document.stored_run(),
            None if current is None else self._pointer(found.get(keys.pointer(current))),
        )

    def load(self, key: RunKey) -> StoredRun | None:
        document = self._documents.load(key)
        return None if document is None else document.stored_run()

    def current(self, key: WorkflowKey) -> CurrentRun | None:
        return self._pointer(self._database.raw(PointerItem, *keys.pointer(key)))

    def commit(self, transaction: Transaction) -> None:
        befores = {write.key: self._before(write) for write in transaction.runs}
        if any(not _fits(write, befores[write.key]) for write in transaction.runs):
            self._judge(transaction)
            return
        for document in befores.values():
            if document is not None and document.body.unsettled:
                self._chores.settle(document.body.unsettled)
        prepared = Preparation(transaction, befores, self._clock.now()).prepared()
        if prepared.ahead:
            self._database.put_all(prepared.ahead)
        self._send(transaction, prepared)
        for key, document in prepared.documents.items():
            self._documents.remember(key, self._settled(key, document))

    def delete_run(self, key: RunKey, shard: int, range_id: int) -> None:
        """See the port. What is stored beside the document goes first, so that what is left can be deleted again."""
        document = self._documents.load(key)
        if self._range_id(shard) != range_id:
            raise ShardOwnershipLost(f"shard {shard} is not at range {range_id}")
        if document is not None:
            self._chores.remove_parts(key, document, self._clock.now() // SECOND)
        self._remove(key, shard, range_id)
        self._documents.forget(key)

    # Before the transaction. -----------------------------------------------------------------------------------------

    def _before(self, write: RunWrite) -> Document | None:
        """The document that the write goes on from, as far as is known."""
        if write.expected_version == 0:
            return None
        cached = self._documents.cached(write.key)
        if cached is not None and cached.version == write.expected_version:
            return cached
        return self._documents.load(write.key)

    def _range_id(self, shard: int) -> int:
        item = self._database.get(ShardItem, str(shard))
        return 0 if item is None else int(item.range_id)

    def _pointer(self, raw: Mapping[str, Any] | None) -> CurrentRun | None:
        item = None if raw is None else PointerItem.from_raw_data(dict(raw))
        if item is None or self._documents.is_expired(item):
            return None
        return CurrentRun(item.run_id, bool(item.open), item.state)

    # The transaction. ------------------------------------------------------------------------------------------------

    def _send(self, transaction: Transaction, prepared: Prepared) -> None:
        database = self._database
        checks, puts = [], []
        if prepared.claim is None:
            held = ShardItem.range_id == transaction.range_id
            checks.append(database.check(ShardItem, str(transaction.shard), None, held))
        else:
            puts.append(database.save(prepared.claim, _follows(transaction.range_id)))
        puts += [database.save(save.item, save.condition, tells=save.tells) for save in prepared.saves]
        try:
            database.connection.transact_write_items(
                checks, (), puts, (), client_request_token=_token(transaction.token)
            )
        except TransactWriteError as error:
            self._refused(transaction, error)

    def _refused(self, transaction: Transaction, error: TransactWriteError) -> None:
        """Raise what the error means; return where it means that the transaction was committed before."""
        code = code_of(error)
        if code in REPEATED:
            self._judge(transaction)
            return
        if code in THROTTLING:
            raise Throttled(str(error)) from error
        if code in IN_THE_WAY:
            raise Conflict(str(error)) from error
        if code in CERTAINLY_NOT:
            raise StorageError(str(error)) from error
        if code != "TransactionCanceledException":
            raise AmbiguousCommit(str(error)) from error
        reasons = error.cancellation_reasons
        codes = {reason.code for reason in reasons if reason is not None}
        if self._was_committed(transaction, reasons[1 : 1 + len(transaction.runs)]):
            return
        for write in transaction.runs:
            self._documents.forget(write.key)
        if reasons and reasons[0] is not None and reasons[0].code == REFUSED:
            raise ShardOwnershipLost(
                f"shard {transaction.shard} is not at range {transaction.range_id} any more"
            )
        if REFUSED in codes or codes & IN_THE_WAY:
            raise Conflict(", ".join(sorted(codes))) from error
        if codes & THROTTLING:
            raise Throttled(str(error)) from error
        raise StorageError(f"the transaction was refused: {reasons}") from error

    def _was_committed(self, transaction: Transaction, reasons: list[CancellationReason | None]) -> bool:
        """Whether the documents bear the transaction's token: the attempt is a repetition."""
        if not transaction.runs or len(reasons) < len(transaction.runs):
            return False
        for write, reason in zip(transaction.runs, reasons, strict=True):
            if reason is not None and reason.raw_item is not None:
                token = reason.raw_item.get("token", {}).get("S")
            elif reason is None or reason.code == REFUSED:
                token = self._stored_token(write.key)
            else:
                return False
            if token != transaction.token:
                return False
        return True

    def _stored_token(self, key: RunKey) -> str | None:
        item = self._database.get(RunItem, *keys.document(key))
        return None if item is None else item.token

    def _judge(self, transaction: Transaction) -> None:
        """The documents are not what the transaction expects: raise why, or return because it is done already."""
        if all(self._stored_token(write.key) == transaction.token for write in transaction.runs):
            return
        for write in transaction.runs:
            self._documents.forget(write.key)
        expected = transaction.range_id - 1 if transaction.claim else transaction.range_id
        if self._range_id(transaction.shard) != expected:
            raise ShardOwnershipLost(f"shard {transaction.shard} is not at range {expected}")
        raise Conflict("a run is not at the expected version")

    def _settled(self, key: RunKey, document: Document) -> Document:
        """After the commit: its blobs are referred to now. Should this fail, the next commit or the stream does it."""
        if not document.body.unsettled:
            return document
        try:
            self._chores.settle(document.body.unsettled)
        except (Throttled, Unavailable) as error:
            log.warning("parts of run %s are left to be settled: %s", key.run_id, error)
            return document
        return document.without_unsettled()

    # Deleting. -------------------------------------------------------------------------------------------------------

    def _remove(self, key: RunKey, shard: int, range_id: int) -> None:
        database = self._database
        current = self.current(key.workflow)
        removals = [database.removal(RunItem, *keys.document(key))]
        if current is not None and current.run_id == key.run_id:
            named = PointerItem.run_id == key.run_id
            removals.append(database.removal(PointerItem, *keys.pointer(key.workflow), named))
        held = ShardItem.range_id == range_id
        try:
            database.connection.transact_write_items(
                [database.check(ShardItem, str(shard), None, held)], removals, (), ()
            )
        except TransactWriteError as error:
            codes = [reason.code for reason in error.cancellation_reasons if reason is not None]
            first = next(iter(error.cancellation_reasons), None)
            if first is not None and first.code == REFUSED:
                raise ShardOwnershipLost(f"shard {shard} is not at range {range_id}") from error
            if codes:
                raise Conflict(", ".join(codes)) from error
            raise Unavailable(f"deleting a run: {error}") from error
        except (PynamoDBException, ClientError, BotoCoreError) as error:
            raise Unavailable(f"deleting a run: {error}") from error


def _fits(write: RunWrite, before: Document | None) -> bool:
    return write.expected_version == (0 if before is None else before.version)


def _follows(range_id: int) -> Any:
    """The condition of a claim: the shard is at the range ID before, or nobody ever took it."""
    return ShardItem.pk.does_not_exist() if range_id == 1 else ShardItem.range_id == range_id - 1


def _token(token: str) -> str:
    """DynamoDB takes tokens of up to 36 characters."""
    return token if len(token) <= TOKEN_MAX else keys.blob_name(token, 0)
