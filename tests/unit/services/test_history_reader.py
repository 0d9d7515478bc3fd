"""How a page of a history is read from storage: in few calls, and with no more memory than a page needs."""

from collections.abc import Sequence

import pytest
from temporalio.api.history.v1 import History, HistoryEvent

from durable_core.model import limits
from durable_core.model.state import Core
from durable_core.ports.histories import BranchRange
from durable_core.services.history_reader import NODES_AT_ONCE, HistoryReader


class OneEventNodes:
    """A branch whose nodes hold one event each, and what was asked of it."""

    def __init__(self, events: int, node_bytes: int) -> None:
        self._events = events
        self._fill = "x" * node_bytes
        self.asked: list[int] = []

    def read(
        self, span: BranchRange, *, nodes_max: int, reverse: bool = False
    ) -> Sequence[tuple[int, bytes]]:
        self.asked.append(nodes_max)
        inside = list(range(span.first_event_id, min(span.end_event_id, self._events + 1)))
        return [(n, self._node(n)) for n in (inside[::-1] if reverse else inside)[:nodes_max]]

    def _node(self, event_id: int) -> bytes:
        event = HistoryEvent(event_id=event_id)
        event.workflow_execution_signaled_event_attributes.identity = self._fill
        return History(events=[event]).SerializeToString()


def run(events: int) -> Core:
    return Core(run_id="r", branch_id="b", next_event_id=events + 1)


@pytest.mark.parametrize("reverse", [False, True])
def test_a_page_of_small_nodes_takes_two_reads(reverse):
    nodes = OneEventNodes(1_000, node_bytes=50)
    reader = HistoryReader(nodes)
    page = (
        reader.page_reverse(run(1_000), 1_000, nodes_max=limits.history_page_nodes_max)
        if reverse
        else reader.page(run(1_000), 1, 1_001, nodes_max=limits.history_page_nodes_max)
    )
    assert len(page.events) == limits.history_page_nodes_max
    assert nodes.asked == [NODES_AT_ONCE, limits.history_page_nodes_max - NODES_AT_ONCE]


@pytest.mark.parametrize("reverse", [False, True])
def test_large_nodes_are_read_no_further_than_the_page_has_room(reverse):
    node_bytes = limits.history_page_bytes_max // (2 * NODES_AT_ONCE)
    nodes = OneEventNodes(1_000, node_bytes)
    reader = HistoryReader(nodes)
    page = (
        reader.page_reverse(run(1_000), 1_000, nodes_max=limits.history_page_nodes_max)
        if reverse
        else reader.page(run(1_000), 1, 1_001, nodes_max=limits.history_page_nodes_max)
    )
    assert sum(nodes.asked) * node_bytes <= limits.history_page_bytes_max + 2 * node_bytes
    assert sum(event.ByteSize() for event in page.events) <= limits.history_page_bytes_max
