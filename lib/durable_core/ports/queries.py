"""Queries in flight: short-lived, kept outside histories, lost with the caller."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from durable_core.model.ids import RunKey


@dataclass(frozen=True, slots=True)
class PendingQuery:
    """`request` is a serialized `temporal.api.query.v1.WorkflowQuery`; `expires_at` in ns."""

    query_id: str
    run: RunKey
    request: bytes
    expires_at: int


@dataclass(frozen=True, slots=True)
class QueryAnswer:
    """`answer` is a serialized `temporal.api.query.v1.WorkflowQueryResult`, or `lost` says why there will be none."""

    answer: bytes = b""
    lost: str = ""


class Queries(Protocol):
    def put(self, query: PendingQuery) -> None: ...

    def get(self, query_id: str) -> PendingQuery | None:
        """The query, or None once it is answered, removed or expired."""

    def pending(self, run: RunKey) -> Sequence[PendingQuery]:
        """The unanswered queries of a run, oldest first."""

    def answer(self, query_id: str, answer: QueryAnswer) -> bool:
        """Record the answer; False when nobody waits for it any more. A first answer counts."""

    def take_answer(self, query_id: str) -> QueryAnswer | None: ...

    def remove(self, query_id: str) -> None: ...
