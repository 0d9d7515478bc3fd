"""Reading the history of a run across the branches it is made of."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from temporalio.api.history.v1 import History, HistoryEvent

from durable_core.model import limits
from durable_core.model.errors import Internal
from durable_core.model.state import Core
from durable_core.ports.histories import BranchRange, Histories

NODES_AT_ONCE = 32
"""How many nodes are read before their size is known; from then on as many as are likely to fit on the page."""


@dataclass(frozen=True, slots=True)
class Page:
    """Events, and the ID of the next event to read (0: that was all).

    A page that is exactly full is followed by one more, which may be empty, as on the Temporal server.
    """

    events: list[HistoryEvent]
    next_event_id: int


class HistoryReader:
    """Histories are read in nodes: a page is bounded by their number, as on the Temporal server, and by its bytes."""

    def __init__(self, histories: Histories) -> None:
        self._histories = histories
        # The branch and the events of the node that an event was last read from: activities that one task scheduled
        # are polled one after the other.
        self._last_node: tuple[str, Sequence[HistoryEvent]] = ("", ())

    def event(self, core: Core, event_id: int) -> HistoryEvent:
        """One event of the history, not to be changed."""
        (span,) = spans(core, event_id, event_id + 1)
        branch_id, events = self._last_node
        if branch_id != span.branch_id or not events[0].event_id <= event_id <= events[-1].event_id:
            events = self._node(core, span)
            self._last_node = (span.branch_id, events)
        return events[event_id - events[0].event_id]

    def _node(self, core: Core, span: BranchRange) -> Sequence[HistoryEvent]:
        """The events of the node in which the range begins."""
        for _, blob in self._histories.read(span, nodes_max=1):
            events = History.FromString(blob).events
            if events[0].event_id <= span.first_event_id <= events[-1].event_id:
                return events
        raise Internal(f"event {span.first_event_id} of run {core.run_id} is missing")

    def page(self, core: Core, first: int, end: int, *, nodes_max: int) -> Page:
        """Events `first` to `end` (excluded), forward, at most `nodes_max` nodes of them."""
        events, full = _filled(self._forward(core, first, end, nodes_max), nodes_max)
        position = events[-1].event_id + 1 if events else first
        return Page(events, position if position < end or full else 0)

    def events(self, core: Core, first: int, end: int) -> Iterator[HistoryEvent]:
        """All events `first` to `end` (excluded)."""
        position = first
        while position and position < end:
            page = self.page(core, position, end, nodes_max=limits.history_page_nodes_max)
            yield from page.events
            position = page.next_event_id

    def ends_a_node(self, core: Core, event_id: int) -> bool:
        """Whether the event is the last one that its transition wrote at once."""
        (span,) = spans(core, event_id, event_id + 1)
        return self._node(core, span)[-1].event_id == event_id

    def page_reverse(self, core: Core, last: int, *, nodes_max: int) -> Page:
        """Events from `last` down, at most `nodes_max` nodes of them; `next_event_id` continues downwards.

        After a full page that ends with the first event it is -1: one more, empty page follows.
        """
        events, full = _filled(self._backward(core, last, nodes_max), nodes_max)
        position = events[-1].event_id if events else last + 1
        if position > 1:
            return Page(events, position - 1)
        return Page(events, -1 if full else 0)

    def _forward(
        self, core: Core, first: int, end: int, nodes_max: int
    ) -> Iterator[tuple[list[HistoryEvent], int]]:
        """The events of each node in the range with the node's bytes, read a few nodes at a time."""
        pace = _Pace(nodes_max)
        for span in spans(core, first, end):
            position = span.first_event_id
            while position < span.end_event_id:
                rest = BranchRange(span.branch_id, position, span.end_event_id)
                at_once = pace.nodes_next()
                nodes = self._histories.read(rest, nodes_max=at_once)
                for _, blob in nodes:
                    inside = _inside(blob, rest)
                    position = inside[-1].event_id + 1
                    pace.saw(len(blob))
                    yield inside, len(blob)
                if len(nodes) < at_once:
                    break

    def _backward(self, core: Core, last: int, nodes_max: int) -> Iterator[tuple[list[HistoryEvent], int]]:
        pace = _Pace(nodes_max)
        for span in reversed(list(spans(core, 1, last + 1))):
            end = span.end_event_id
            while span.first_event_id < end:
                rest = BranchRange(span.branch_id, span.first_event_id, end)
                at_once = pace.nodes_next()
                nodes = self._histories.read(rest, nodes_max=at_once, reverse=True)
                for _, blob in nodes:
                    inside = _inside(blob, rest)
                    end = inside[0].event_id
                    pace.saw(len(blob))
                    yield inside[::-1], len(blob)
                if len(nodes) < at_once:
                    break


class _Pace:
    """How many nodes to read next: few calls for small nodes, little memory for large ones."""

    def __init__(self, nodes_max: int) -> None:
        self._nodes_max = nodes_max
        self._nodes = 0
        self._bytes = 0

    def saw(self, node_bytes: int) -> None:
        self._nodes += 1
        self._bytes += node_bytes

    def nodes_next(self) -> int:
        missing = max(1, self._nodes_max - self._nodes)
        if not self._nodes:
            return min(missing, NODES_AT_ONCE)
        room = max(0, limits.history_page_bytes_max - self._bytes)
        return max(1, min(missing, room * self._nodes // max(1, self._bytes)))


def _inside(blob: bytes, span: BranchRange) -> list[HistoryEvent]:
    """A node's events that belong to the range; there is at least one."""
    events = [
        event
        for event in History.FromString(blob).events
        if span.first_event_id <= event.event_id < span.end_event_id
    ]
    if not events:
        raise Internal(f"branch {span.branch_id} gave a node beyond its range")
    return events


def _filled(
    nodes: Iterator[tuple[list[HistoryEvent], int]], nodes_max: int
) -> tuple[list[HistoryEvent], bool]:
    """The events of the nodes that fit on one page, at least one node's, and whether the page is full with them."""
    events: list[HistoryEvent] = []
    size = 0
    for number, (node, node_bytes) in enumerate(nodes, 1):
        size += node_bytes
        if events and size > limits.history_page_bytes_max:
            return events, True
        events.extend(node)
        if number >= nodes_max:
            return events, True
    return events, False


def spans(core: Core, first: int, end: int) -> Iterator[BranchRange]:
    """The parts of branches that hold events `first` to `end` (excluded), in order."""
    position = first
    for ancestor in core.ancestors:
        if position < min(ancestor.end_event_id, end):
            yield BranchRange(ancestor.branch_id, position, min(ancestor.end_event_id, end))
            position = ancestor.end_event_id
    if position < end:
        yield BranchRange(core.branch_id, position, end)
