"""`Histories`: what the commits of a run left, in order."""

import pytest

from ..backend import Backend, Factory
from ..writing import RUN, Writer, history, node, write

LARGE = 2 * 1024 * 1024


def told(*nodes: tuple[int, int]) -> list[tuple[int, bytes]]:
    return [(first, f"branch:{first}+{count}@1".encode()) for first, count in nodes]


def with_nodes(factory: Factory, *spans: tuple[int, int]) -> Backend:
    """A run whose history has these nodes (first event ID, number of events), each written by its own transition."""
    backend = factory.open()
    writer = Writer(backend)
    for version, (first, count) in enumerate(spans):
        writer.commit(write(expected_version=version, nodes=[node(first, count)]))
    return backend


class HistoriesContract:
    def test_a_branch_that_nobody_wrote_is_empty(self, factory: Factory) -> None:
        backend = factory.open()
        assert history(backend.histories) == []
        assert history(backend.histories, 5, 9, reverse=True) == []

    def test_nodes_come_in_the_order_of_their_events(self, factory: Factory) -> None:
        backend = factory.open()
        writer = Writer(backend)
        writer.commit(write(nodes=[node(1, 9), node(10, 2)]))
        writer.commit(write(expected_version=1, nodes=[node(12), node(13, 100)]))
        assert history(backend.histories) == told((1, 9), (10, 2), (12, 1), (13, 100))
        assert history(backend.histories, reverse=True) == told((13, 100), (12, 1), (10, 2), (1, 9))

    @pytest.mark.parametrize(
        "first, end, expected",
        [
            (1, 4, [(1, 3)]),
            (1, 5, [(1, 3), (4, 1)]),
            (2, 4, [(1, 3)]),
            (3, 5, [(1, 3), (4, 1)]),
            (4, 5, [(4, 1)]),
            (5, 6, [(5, 5)]),
            (6, 7, [(5, 5)]),
            (9, 10, [(5, 5)]),
            (4, 8, [(4, 1), (5, 5)]),
            (10, 11, []),
            (500, 600, []),
            (5, 5, []),
        ],
    )
    @pytest.mark.parametrize("reverse", [False, True])
    def test_a_range_gives_the_whole_nodes_that_overlap_it(
        self, factory: Factory, first: int, end: int, expected: list[tuple[int, int]], reverse: bool
    ) -> None:
        backend = with_nodes(factory, (1, 3), (4, 1), (5, 5))
        ordered = expected[::-1] if reverse else expected
        assert history(backend.histories, first, end, reverse=reverse) == told(*ordered)

    def test_at_most_nodes_max_nodes_come_from_the_end_where_reading_begins(self, factory: Factory) -> None:
        backend = with_nodes(factory, (1, 2), (3, 2), (5, 2), (7, 2))
        assert history(backend.histories, nodes_max=2) == told((1, 2), (3, 2))
        assert history(backend.histories, 4, nodes_max=2) == told((3, 2), (5, 2))
        assert history(backend.histories, nodes_max=2, reverse=True) == told((7, 2), (5, 2))
        assert history(backend.histories, 1, 6, nodes_max=1, reverse=True) == told((5, 2))

    def test_pages_joined_give_the_whole(self, factory: Factory) -> None:
        spans = [(1 + 3 * number, 3) for number in range(30)]
        backend = with_nodes(factory, *spans)
        forward: list[tuple[int, bytes]] = []
        while page := history(backend.histories, forward[-1][0] + 3 if forward else 1, nodes_max=7):
            forward += page
        backward: list[tuple[int, bytes]] = []
        while page := history(
            backend.histories, 1, backward[-1][0] if backward else 91, nodes_max=7, reverse=True
        ):
            backward += page
        assert forward == told(*spans)
        assert backward == forward[::-1]

    @pytest.mark.parametrize("ids", [(1, 2), (2, 1), (255, 256), (9, 10)])
    def test_of_nodes_with_the_same_first_event_the_highest_transaction_counts(
        self, factory: Factory, ids: tuple[int, int]
    ) -> None:
        backend = factory.open()
        writer = Writer(backend)
        for version, transaction_id in enumerate(ids):
            nodes = [node(1, 2), node(3, 2, transaction_id=transaction_id), node(5, transaction_id=7)]
            writer.commit(write(expected_version=version, nodes=nodes if version == 0 else nodes[1:2]))
        winner = (3, f"branch:3+2@{max(ids)}".encode())
        expected = [(1, b"branch:1+2@1"), winner, (5, b"branch:5+1@7")]
        assert history(backend.histories) == expected
        assert history(backend.histories, reverse=True) == expected[::-1]
        assert history(backend.histories, 4, 5) == [winner]
        assert history(backend.histories, nodes_max=2) == expected[:2]

    def test_branches_are_apart(self, factory: Factory) -> None:
        backend = factory.open()
        writer = Writer(backend)
        writer.commit(write(nodes=[node(1, branch="a"), node(2, branch="a"), node(2, branch="b")]))
        assert history(backend.histories, branch="a") == [(1, b"a:1+1@1"), (2, b"a:2+1@1")]
        assert history(backend.histories, branch="b") == [(2, b"b:2+1@1")]
        assert history(backend.histories, 1, 2, branch="b") == []

    def test_a_node_of_2_mb_is_stored_whole(self, factory: Factory) -> None:
        backend = factory.open()
        large = bytes(range(256)) * (LARGE // 256)
        Writer(backend).commit(write(nodes=[node(1, 3, events=large), node(4)]))
        assert history(backend.histories) == [(1, large), *told((4, 1))]

    def test_event_ids_order_by_number(self, factory: Factory) -> None:
        firsts = [1, 2, 9, 10, 99, 100, 255, 256, 65_535, 65_536, 1 << 33]
        spans = [
            (first, following - first)
            for first, following in zip(firsts, [*firsts[1:], 1 << 34], strict=True)
        ]
        backend = with_nodes(factory, *spans)
        assert history(backend.histories) == told(*spans)
        assert history(backend.histories, 50, 51) == told((10, 89))

    def test_history_is_read_without_its_run(self, factory: Factory) -> None:
        backend = with_nodes(factory, (1, 1))
        assert backend.executions.load(RUN) is not None
        assert history(factory.second().histories) == told((1, 1))
