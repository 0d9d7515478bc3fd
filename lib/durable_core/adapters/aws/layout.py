"""What a transition leaves in the run document, and what moves beside it.

A write costs two units for every item and KB in it, so a document stays small while that pays:
- the tail of the history moves to a node when the node costs no more than what the next transition saves;
- entries of a section move to pages when there are many, and a page is rewritten only when enough changes to it have
  gathered in the document. So the cost of a transition follows what it changes.
What does not live here: items and their limits (`dynamo_transactions`).
A newcomer's trap: nothing here writes, and what is decided is decided again from the same values when a commit repeats.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import msgspec

from durable_core.adapters.aws.documents import (
    Body,
    Document,
    Entries,
    PageRef,
    TailNode,
    encode_body,
    encode_nodes,
    entries_size,
    tail_node,
)
from durable_core.model.errors import StorageError
from durable_core.ports.executions import HistoryNode, RunWrite

KB = 1024
OVERHEAD = 130
"""Bytes of a document's item besides its body: keys, names, version, token."""
SECTIONS_INLINE_MAX = 1_400
"""Bytes of entries that a document carries; more move to pages. Measured: more makes a run with many pending activities
dearer, and so does less."""
SECTIONS_INLINE_MAX_CLOSED = 64 * KB
"""The same for a closed run, which is not written again."""
TAIL_MAX = 64 * KB
"""Bytes of history that a document carries at most, whatever it costs to move them."""
PAGE_MIN = 4 * KB
PAGES_WANTED = 24
"""A large section has about so many pages: more would make the document grow, fewer would cost more to rewrite."""
PAGE_MAX = 200 * KB
SECTION_BACK = KB // 2
"""A section that shrank to so many bytes moves back into the document."""

Inline = dict[str, dict[str, bytes | None]]


@dataclass(frozen=True, slots=True)
class Layout:
    """The next document, and the values beside it that the transition writes."""

    document: Document
    nodes: tuple[TailNode, ...] = ()  # of the run's own branch, to be one item
    loose: tuple[HistoryNode, ...] = ()  # of other branches
    pages: Mapping[PageRef, Entries] = field(default_factory=dict)


def units(size: int) -> int:
    """Units of one KB that DynamoDB bills for an item."""
    return -(-size // KB) or 1


def next_layout(before: Document | None, write: RunWrite, token: str, beside: int) -> Layout:
    """`beside`: bytes that the transition adds to the document's item for the stream alone."""
    old = Body(b"", {}) if before is None else before.body
    version = write.expected_version + 1
    closed = write.retain_until > 0
    sections = _Sections(before, write.sections, version)
    sections.fold(SECTIONS_INLINE_MAX_CLOSED if closed else SECTIONS_INLINE_MAX)
    run_id = write.key.run_id
    own = [tail_node(node) for node in write.nodes if node.branch_id == run_id]
    loose = tuple(node for node in write.nodes if node.branch_id != run_id)
    end = _checked_end(old.next_event_id, own)
    branches = dict.fromkeys((*old.branches, *(node.branch_id for node in loose)))
    body = Body(
        core=write.core,
        sections=sections.inline,
        tail=(*old.tail, *own),
        core_blob=None,
        pages=sections.refs,
        next_page=sections.next_page,
        free_pages=tuple(sections.free),
        next_event_id=end,
        has_nodes=old.has_nodes,
        branches=tuple(branches),
        ancestors=tuple(write.ancestors) or old.ancestors,
    )
    nodes: tuple[TailNode, ...] = ()
    if body.tail and _tail_moves(body, beside, closed=closed):
        nodes = body.tail
        body = msgspec.structs.replace(body, tail=(), has_nodes=True)
    return Layout(Document(version, token, body, sections.pages), nodes, loose, sections.changed)


def _checked_end(next_event_id: int, own: list[TailNode]) -> int:
    for node in own:
        if node.first_event_id < next_event_id:
            raise StorageError(f"history goes on at event {next_event_id}, not at {node.first_event_id}")
        next_event_id = node.end
    return next_event_id


def _tail_moves(body: Body, beside: int, *, closed: bool) -> bool:
    if sum(len(node.events) for node in body.tail) > TAIL_MAX:
        return True
    if closed:
        return False
    carried = units(OVERHEAD + beside + len(encode_body(body)))
    if carried == 1:
        return False
    without = units(OVERHEAD + beside + len(encode_body(msgspec.structs.replace(body, tail=()))))
    return units(OVERHEAD // 2 + len(encode_nodes(body.tail))) <= carried - without


class _Sections:
    """The sections while they are laid out anew."""

    def __init__(
        self, before: Document | None, changes: Mapping[str, Mapping[str, bytes | None]], version: int
    ) -> None:
        old = Body(b"", {}) if before is None else before.body
        self.inline: Inline = dict(old.sections)
        self.refs: dict[str, tuple[PageRef, ...]] = dict(old.pages)
        self.pages: dict[PageRef, Entries] = {} if before is None else dict(before.pages)
        self.next_page = old.next_page
        self.free = list(old.free_pages)
        self.changed: dict[PageRef, Entries] = {}
        self._version = version
        for name, entries in changes.items():
            self._apply(name, entries)

    def _apply(self, name: str, changes: Mapping[str, bytes | None]) -> None:
        inline = dict(self.inline.get(name, {}))
        paged = [self.pages[ref] for ref in self.refs.get(name, ())]
        for entry, value in changes.items():
            if value is not None:
                inline[entry] = value
            elif any(entry in page for page in paged):
                inline[entry] = None
            else:
                inline.pop(entry, None)
        if inline:
            self.inline[name] = inline
        else:
            self.inline.pop(name, None)

    def fold(self, inline_max: int) -> None:
        """Move the largest sections' entries to pages until the document carries no more than it should."""
        sizes = {name: entries_size(entries) for name, entries in self.inline.items()}
        while sum(sizes.values()) > inline_max:
            largest = max(sizes, key=sizes.__getitem__)
            del sizes[largest]
            self._fold(largest)

    def _fold(self, name: str) -> None:
        changes = self.inline.pop(name)
        refs = list(self.refs.get(name, ()))
        contents = [dict(self.pages[ref]) for ref in refs]
        touched = [False] * len(contents)
        new: dict[str, bytes] = {}
        for entry, value in changes.items():
            home = next((number for number, page in enumerate(contents) if entry in page), None)
            if home is None:
                if value is not None:
                    new[entry] = value
                continue
            touched[home] = True
            if value is None:
                del contents[home][entry]
            else:
                contents[home][entry] = value
        total = entries_size(new) + sum(entries_size(page) for page in contents)
        if total <= SECTION_BACK:
            self._drop(name, refs)
            rest = {entry: value for page in (*contents, new) for entry, value in page.items()}
            if rest:
                self.inline[name] = dict(rest)
            return
        target = min(max(PAGE_MIN, total // PAGES_WANTED), PAGE_MAX)
        if new and contents and entries_size(contents[-1]) + entries_size(new) <= target:
            contents[-1].update(new)
            touched[-1] = True
            new = {}
        self._write(name, refs, contents, touched, new, target)

    def _write(
        self,
        name: str,
        refs: list[PageRef],
        contents: list[dict[str, bytes]],
        touched: list[bool],
        new: dict[str, bytes],
        target: int,
    ) -> None:
        """Give every changed page its content; pages that are too large or new become as many as they need."""
        kept: list[PageRef] = []
        for ref, content, changed in zip(refs, contents, touched, strict=True):
            if not changed:
                kept.append(ref)
                continue
            del self.pages[ref]
            if not content:
                self._free(ref)
                continue
            pieces = list(_split(content, 2 * target)) if entries_size(content) > 2 * target else [content]
            number = ref.number if ref.blob is None else self._number()
            kept.append(self._page(number, pieces[0]))
            kept.extend(self._page(self._number(), piece) for piece in pieces[1:])
        kept.extend(self._page(self._number(), piece) for piece in _split(new, target))
        self.refs[name] = tuple(kept)
        if not kept:
            del self.refs[name]

    def _page(self, number: int, content: dict[str, bytes]) -> PageRef:
        ref = PageRef(number, self._version)
        self.pages[ref] = content
        self.changed[ref] = content
        return ref

    def _drop(self, name: str, refs: list[PageRef]) -> None:
        for ref in refs:
            del self.pages[ref]
            self._free(ref)
        self.refs.pop(name, None)

    def _free(self, ref: PageRef) -> None:
        """A page of its own number may be written again; its item stays until then, and nobody reads it."""
        if ref.blob is None:
            self.free.append(ref.number)

    def _number(self) -> int:
        if self.free:
            return self.free.pop()
        self.next_page += 1
        return self.next_page - 1


def _split(entries: Mapping[str, bytes], size: int) -> Iterator[dict[str, bytes]]:
    """Pieces of about that many bytes, in order; an entry that is larger is a piece of its own."""
    piece: dict[str, bytes] = {}
    filled = 0
    for entry, value in entries.items():
        its = len(entry) + len(value) + 4
        if piece and filled + its > size:
            yield piece
            piece, filled = {}, 0
        piece[entry] = value
        filled += its
    if piece:
        yield piece
