"""Reading the history of a run across the branches it is made of."""

from collections.abc import Iterator
from dataclasses import dataclass

from temporalio.api.history.v1 import History, HistoryEvent

from durable_core.model import limits
from durable_core.model.errors import Internal
from durable_core.model.state import Core
from durable_core.ports.histories import BranchRange, Histories


@dataclass(frozen=True, slots=True)
class Page:
    """Events, and the ID of the next event to read (0: that was all).

    A page that is exactly full is followed by one more, which may be empty, as on the Temporal server.
    """

    events: list[HistoryEvent]
    next_event_id: int


class HistoryReader:
    """Histories are read in nodes: a page is bounded by their number, as on the Temporal server."""

    def __init__(self, histories: Histories) -> None:
        self._histories = histories

    def event(self, core: Core, event_id: int) -> HistoryEvent:
        """One event of the history."""
        for event in self.page(core, event_id, event_id + 1, nodes_max=1).events:
            return event
        raise Internal(f"event {event_id} of run {core.run_id} is missing")

    def page(self, core: Core, first: int, end: int, *, nodes_max: int) -> Page:
        """Events `first` to `end` (excluded), forward, at most `nodes_max` nodes of them."""
        events: list[HistoryEvent] = []
        left = nodes_max
        position = first
        for span in spans(core, first, end):
            for first_id, blob in self._histories.read(span, nodes_max=left):
                for event in History.FromString(blob).events:
                    if span.first_event_id <= event.event_id < span.end_event_id:
                        events.append(event)
                        position = event.event_id + 1
                left -= 1
                _check(first_id, span)
            if left <= 0:
                break
        return Page(events, position if position < end or left <= 0 else 0)

    def events(self, core: Core, first: int, end: int) -> Iterator[HistoryEvent]:
        """All events `first` to `end` (excluded)."""
        position = first
        while position and position < end:
            page = self.page(core, position, end, nodes_max=limits.history_page_nodes_max)
            yield from page.events
            position = page.next_event_id

    def ends_a_node(self, core: Core, event_id: int) -> bool:
        """Whether the event is the last one that its transition wrote at once."""
        for span in spans(core, event_id, event_id + 1):
            for _, blob in self._histories.read(span, nodes_max=1):
                return History.FromString(blob).events[-1].event_id == event_id
        return False

    def page_reverse(self, core: Core, last: int, *, nodes_max: int) -> Page:
        """Events from `last` down, at most `nodes_max` nodes of them; `next_event_id` continues downwards."""
        events: list[HistoryEvent] = []
        left = nodes_max
        position = last + 1
        for span in reversed(list(spans(core, 1, last + 1))):
            for _, blob in self._histories.read(span, nodes_max=left, reverse=True):
                for event in reversed(History.FromString(blob).events):
                    if span.first_event_id <= event.event_id < span.end_event_id:
                        events.append(event)
                        position = event.event_id
                left -= 1
            if left <= 0:
                break
        return Page(events, max(position - 1, 0) if position > 1 or left > 0 else -1)


def _check(first_id: int, span: BranchRange) -> None:
    if first_id >= span.end_event_id:
        raise Internal(f"branch {span.branch_id} gave a node beyond its range")


def spans(core: Core, first: int, end: int) -> Iterator[BranchRange]:
    """The parts of branches that hold events `first` to `end` (excluded), in order."""
    position = first
    for ancestor in core.ancestors:
        if position < min(ancestor.end_event_id, end):
            yield BranchRange(ancestor.branch_id, position, min(ancestor.end_event_id, end))
            position = ancestor.end_event_id
    if position < end:
        yield BranchRange(core.branch_id, position, end)
