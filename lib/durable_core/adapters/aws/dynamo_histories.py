"""Reading histories from nodes and from the tails that documents carry: the `Histories` port.

The run that writes a branch gives it its own ID, so the branch names the document. History only grows: a tail that was
read once is true for ever, as far as it goes.
A newcomer's trap: the document is read before the nodes. The other way round, a tail that moves to a node in between
would be in neither.
"""

from collections.abc import Iterator, Sequence

from durable_core.adapters.aws import keys
from durable_core.adapters.aws.documents import Blob, TailNode, decode_body, decode_nodes
from durable_core.adapters.aws.dynamo_database import Database
from durable_core.adapters.aws.dynamo_documents import Documents
from durable_core.adapters.aws.dynamo_items import PartItem, RunItem
from durable_core.ports.histories import BranchRange


class DynamoHistories:
    def __init__(self, database: Database, documents: Documents) -> None:
        self._database = database
        self._documents = documents

    def read(
        self, span: BranchRange, *, nodes_max: int, reverse: bool = False
    ) -> Sequence[tuple[int, bytes]]:
        tail = self._known_tail(span)
        if tail is None:
            tail = self._tail(span.branch_id)
        nodes = _Nodes(span, nodes_max)
        nodes.add(tail if reverse else ())
        if not tail or tail[0].first_event_id > span.first_event_id:
            end = tail[0].first_event_id if tail else span.end_event_id
            self._read_nodes(span, min(end, span.end_event_id), nodes, reverse=reverse)
        nodes.add(() if reverse else tail)
        return nodes.result(reverse=reverse)

    def _known_tail(self, span: BranchRange) -> Sequence[TailNode] | None:
        """The tail of a cached document that goes as far as the range: what is before that tail is in nodes."""
        document = self._documents.of_branch(span.branch_id)
        if document is None or document.body.next_event_id < span.end_event_id:
            return None
        return document.body.tail

    def _tail(self, branch_id: str) -> Sequence[TailNode]:
        begins = RunItem.sk.startswith(keys.DOCUMENT)
        tail: list[TailNode] = []
        for item in self._database.query(RunItem, branch_id, begins):
            tail.extend(decode_body(item.body or b"").tail)
        return tail

    def _read_nodes(self, span: BranchRange, end: int, nodes: "_Nodes", *, reverse: bool) -> None:
        """Add the nodes that are items and begin before `end`, until there are enough."""
        if end <= 1 or nodes.are_enough():
            return
        page = nodes.missing()
        if reverse:
            for item in self._items(
                span.branch_id, keys.NODE, keys.first_node(end), forward=False, page=page
            ):
                nodes.add(self._content(item))
                if nodes.are_enough() or _first_event_id(item) <= span.first_event_id:
                    return
            return
        first = self._start(span) if span.first_event_id > 1 else keys.NODE
        for item in self._items(span.branch_id, first, keys.first_node(end), forward=True, page=page):
            nodes.add(self._content(item))
            if nodes.are_enough():
                return

    def _start(self, span: BranchRange) -> str:
        """The key of the last item that begins at the range's first event or before it."""
        upto = keys.first_node(span.first_event_id) + keys.AFTER
        for item in self._items(span.branch_id, keys.NODE, upto, forward=False, page=1):
            # A node written again has the same first event: begin with the first of them.
            return keys.first_node(_first_event_id(item))
        return keys.first_node(span.first_event_id)

    def _items(self, branch_id: str, first: str, end: str, *, forward: bool, page: int) -> Iterator[PartItem]:
        """Items with keys from `first` to `end` (excluded: our keys go on after what `first_node` gives)."""
        between = PartItem.sk.between(first, end)
        yield from self._database.query(PartItem, branch_id, between, forward=forward, page=page)

    def _content(self, item: PartItem) -> Sequence[TailNode]:
        if not item.blob:
            return decode_nodes(item.value or b"")
        blob = Blob(item.blob, int(item.chunks or 0))
        return decode_nodes(self._documents.blobs(item.pk, [blob])[blob])


def _first_event_id(item: PartItem) -> int:
    return int(item.sk.split("/")[1], 16)


class _Nodes:
    """The nodes of a range, as they are found: of those with one first event the highest transaction counts."""

    def __init__(self, span: BranchRange, nodes_max: int) -> None:
        self._span = span
        self._nodes_max = nodes_max
        self._found: dict[int, TailNode] = {}

    def add(self, nodes: Sequence[TailNode]) -> None:
        span = self._span
        for node in nodes:
            if node.first_event_id >= span.end_event_id or node.end <= span.first_event_id:
                continue
            known = self._found.get(node.first_event_id)
            if known is None or known.transaction_id < node.transaction_id:
                self._found[node.first_event_id] = node

    def missing(self) -> int:
        """How many more nodes make them enough, if none is found twice."""
        return self._nodes_max + 1 - len(self._found)

    def are_enough(self) -> bool:
        """One more than asked for, so that no later item can hold another version of one that is given."""
        return len(self._found) > self._nodes_max

    def result(self, *, reverse: bool) -> list[tuple[int, bytes]]:
        ordered = sorted(self._found.items(), reverse=reverse)
        return [(first, node.events) for first, node in ordered[: self._nodes_max]]
