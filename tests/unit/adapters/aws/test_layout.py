"""What a document holds after any transitions, and what they cost."""

import random
import uuid
from collections.abc import Mapping

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from durable_core.adapters.aws import layout
from durable_core.adapters.aws.documents import (
    Document,
    Entries,
    PageRef,
    decode_body,
    decode_entries,
    encode_body,
    encode_entries,
)
from durable_core.adapters.aws.dynamo_transactions import Preparation
from durable_core.adapters.aws.layout import next_layout, units
from durable_core.adapters.decorators.counting import item_size
from durable_core.model.errors import StorageError
from durable_core.model.ids import RunKey
from durable_core.ports.executions import HistoryNode, RunWrite, Transaction

KEY = RunKey("3f0e6f0a-6d4c-4d53-a9f2-3e9c1b7a2d10", "order-4711", "01890a5d-ac96-774b-bcce-b302099a8057")
SECOND = 1_000_000_000
NOW = 1_700_000_000 * SECOND

CHANGES = st.lists(
    st.dictionaries(
        st.sampled_from(["activities", "timers", "requests"]),
        st.dictionaries(st.integers(0, 25).map(str), st.none() | st.binary(max_size=30), max_size=12),
        max_size=3,
    ),
    max_size=25,
)


class Pages:
    """The items of pages, as they are overwritten."""

    def __init__(self) -> None:
        self._items: dict[int, tuple[int, bytes]] = {}

    def write(self, pages: Mapping[PageRef, Entries]) -> None:
        for ref, entries in pages.items():
            self._items[ref.number] = (ref.generation, encode_entries(entries))

    def read(self, ref: PageRef) -> Entries:
        generation, data = self._items[ref.number]
        assert generation == ref.generation, "a page that a document refers to was written over"
        return decode_entries(data)


def reread(document: Document, pages: Pages) -> Document:
    """The document as another process has it."""
    body = decode_body(encode_body(document.body))
    found = {ref: pages.read(ref) for refs in body.pages.values() for ref in refs}
    return Document(document.version, document.token, body, found)


@given(CHANGES, st.booleans())
def test_sections_hold_what_was_written_however_they_are_laid_out(changes, closed):
    before, pages = None, Pages()
    expected: dict[str, dict[str, bytes]] = {}
    cramped = {"SECTIONS_INLINE_MAX": 60, "SECTION_BACK": 30, "PAGE_MIN": 80, "PAGES_WANTED": 4}
    with pytest.MonkeyPatch.context() as patch:
        for name, value in cramped.items():
            patch.setattr(layout, name, value)
        for version, sections in enumerate(changes):
            write = RunWrite(KEY, version, b"core", sections, retain_until=NOW if closed else 0)
            laid_out = next_layout(before, write, f"token-{version}", 0)
            pages.write(laid_out.pages)
            before = reread(laid_out.document, pages)
            for name, entries in sections.items():
                its = expected.setdefault(name, {})
                its.update({entry: value for entry, value in entries.items() if value is not None})
                for entry in [entry for entry, value in entries.items() if value is None]:
                    its.pop(entry, None)
            stored = {name: dict(entries) for name, entries in before.stored_run().sections.items()}
            assert {name: its for name, its in stored.items() if its} == {
                name: its for name, its in expected.items() if its
            }


def test_what_was_laid_out_before_is_not_changed():
    first = next_layout(None, RunWrite(KEY, 0, b"core", {"timers": {"a": b"1"}}), "token", 0).document
    for version in range(1, 60):
        entries: dict[str, bytes | None] = {f"{version}": bytes(100), "a": None}
        next_layout(first, RunWrite(KEY, 1, b"core", {"timers": entries}), "token", 0)
    assert first.stored_run().sections == {"timers": {"a": b"1"}}


def test_a_large_section_is_rewritten_in_the_pages_that_changed_alone():
    entries: dict[str, bytes | None] = {
        str(number): random.Random(number).randbytes(150) for number in range(1_000)
    }
    whole = next_layout(None, RunWrite(KEY, 0, b"core", {"activities": entries}), "token", 0)
    assert 10 < len(whole.pages) < 60
    change: dict[str, bytes | None] = {str(number): None for number in range(50, 60)}
    change |= {"500": bytes(2_000)}
    following = next_layout(whole.document, RunWrite(KEY, 1, b"core", {"activities": change}), "token", 0)
    assert 0 < len(following.pages) <= 3


def test_a_section_that_shrank_moves_back_into_the_document():
    entries: dict[str, bytes | None] = {str(number): bytes(100) for number in range(100)}
    large = next_layout(None, RunWrite(KEY, 0, b"core", {"timers": entries}), "token", 0).document
    assert large.body.pages
    gone = dict.fromkeys(list(entries)[2:])
    first = next_layout(large, RunWrite(KEY, 1, b"core", {"timers": gone}), "token", 0).document
    # The changes gather in the document until they are worth a page.
    more: dict[str, bytes | None] = {"x": bytes(2_000)}
    second = next_layout(first, RunWrite(KEY, 2, b"core", {"timers": more}), "token", 0).document
    last = next_layout(second, RunWrite(KEY, 3, b"core", {"timers": {"x": None}}), "token", 0).document
    assert set(last.stored_run().sections["timers"]) == {"0", "1"}


def test_history_of_a_run_goes_on_where_it_ended():
    nodes = [HistoryNode(KEY.run_id, 1, 7, b"events", 3)]
    first = next_layout(None, RunWrite(KEY, 0, b"core", nodes=nodes), "token", 0).document
    with pytest.raises(StorageError, match="goes on at event 4"):
        next_layout(first, RunWrite(KEY, 1, b"core", nodes=nodes), "token", 0)


class Costs:
    """A run's transitions and what each costs, in write units, the shard's included."""

    def __init__(self, seed: int = 1) -> None:
        self._chance = random.Random(seed)
        self._document: Document | None = None
        self._event_id = 1

    def activity(self, number: int) -> bytes:
        """About what a pending activity takes."""
        scheduled_at = NOW + number * 977_003
        facts = [number, f"activity-{number}", "charge_card", "orders", scheduled_at, 0, 0, 10 * SECOND, 0]
        return msgspec.msgpack.encode(
            [*facts, [1.0, 2.0, 100], False, 1, scheduled_at, 0, "", b"", 77 + number]
        )

    def transition(self, activities: Mapping[str, bytes | None] | None = None, events: int = 3) -> int:
        version = 0 if self._document is None else self._document.version
        nodes = []
        if events:
            batch = b"".join(self._event(self._event_id + number) for number in range(events))
            nodes.append(HistoryNode(KEY.run_id, self._event_id, version, batch, events))
            self._event_id += events
        core = msgspec.msgpack.encode([*KEY, "default", "OrderWorkflow", "orders", version, self._event_id])
        write = RunWrite(KEY, version, core + bytes(80), {"activities": activities or {}}, nodes)
        token = str(uuid.UUID(int=self._chance.getrandbits(128)))
        prepared = Preparation(Transaction(5, 7, token, [write]), {KEY: self._document}, NOW).prepared()
        self._document = prepared.documents[KEY]
        assert not prepared.ahead
        return 2 + sum(2 * units(item_size(save.item.serialize())) for save in prepared.saves)

    def _event(self, event_id: int) -> bytes:
        told = f"event {event_id} charge_card orders worker@host.example".encode()
        return told + self._chance.randbytes(40)

    def average(self, *, pending: int, events: int, transitions: int = 300) -> float:
        """Of a run that always has so many activities pending, after so many events."""
        waiting = list(range(pending))
        self.transition({str(number): self.activity(number) for number in waiting})
        while self._event_id < events:
            self.transition(events=100)
        total = 0
        for number in range(pending, pending + transitions // 3):
            first = waiting.pop(0)
            total += self.transition({str(first): self.activity(first) + b"started"}, events=0)
            total += self.transition({str(first): None})
            total += self.transition({str(number): self.activity(number)}, events=4)
            waiting.append(number)
        return total / transitions


def test_a_transition_of_a_large_run_costs_at_most_a_fifth_more_than_one_of_a_small_run():
    small = Costs().average(pending=3, events=1)
    assert small <= 5
    assert Costs().average(pending=1_000, events=10_000) <= 1.2 * small
    assert Costs().average(pending=3, events=50_000) <= 1.2 * small
