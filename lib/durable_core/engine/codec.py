"""A run's state in its stored form and back.

The core's first byte is the format version: code that reads a newer one than it knows must leave the run alone.
Entries of sections are encoded one by one, so a transition writes what it changed.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from durable_core.model.errors import Unavailable
from durable_core.model.section import Section
from durable_core.model.state import (
    SECTIONS,
    ActivityInfo,
    ChildInfo,
    Core,
    ExternalInfo,
    RunState,
    TimerInfo,
    UpdateInfo,
)
from durable_core.ports.executions import CurrentRun, StoredRun

FORMAT = b"\x01"

_encode = msgspec.msgpack.Encoder().encode
_decode_core = msgspec.msgpack.Decoder(Core).decode
_VALUE_TYPES: dict[str, Any] = {
    "activities": ActivityInfo,
    "timers": TimerInfo,
    "children": ChildInfo,
    "signals": ExternalInfo,
    "cancels": ExternalInfo,
    "buffered": bytes,
    "requests": int,
    "updates": UpdateInfo,
}
_DECODERS = {name: msgspec.msgpack.Decoder(kind).decode for name, kind in _VALUE_TYPES.items()}
_TEXT_KEYS = frozenset(("timers", "requests", "updates"))


class UnknownFormat(Unavailable):
    """The run was written by newer code: this process leaves it alone, another one can serve the call."""


class CurrentFacts(msgspec.Struct, frozen=True, array_like=True):
    """What a start needs to know of the current run: its status, who started it and when (ns)."""

    status: int
    start_request_id: str
    started_at: int


_decode_facts = msgspec.msgpack.Decoder(CurrentFacts).decode


def encode_core(core: Core) -> bytes:
    return FORMAT + _encode(core)


def encode_changes(state: RunState) -> dict[str, dict[str, bytes | None]]:
    """The changed entries of all sections; None for removed ones."""
    changes = {}
    for name in SECTIONS:
        section: Section[Any, Any] = getattr(state, name)
        if section.changes:
            changes[name] = {
                str(key): None if value is None else _encode(value) for key, value in section.changes.items()
            }
    return changes


def decode(stored: StoredRun) -> RunState:
    """Raises `UnknownFormat` for a run written by newer code."""
    if stored.core[:1] != FORMAT:
        raise UnknownFormat(f"the run has format {stored.core[:1].hex()}, this code knows {FORMAT.hex()}")
    state = RunState(_decode_core(memoryview(stored.core)[1:]), stored.version)
    for name, entries in stored.sections.items():
        setattr(state, name, Section(_decode_entries(name, entries)))
    return state


def _decode_entries(name: str, entries: Mapping[str, bytes]) -> dict[Any, Any]:
    decoder = _DECODERS[name]
    if name in _TEXT_KEYS:
        return {key: decoder(value) for key, value in entries.items()}
    numbered = {int(key): decoder(value) for key, value in entries.items()}
    return dict(sorted(numbered.items()))


def current_run(core: Core) -> CurrentRun:
    """The pointer that a run leaves for starts of the same workflow ID."""
    facts = CurrentFacts(core.status, core.start_request_id, core.started_at)
    return CurrentRun(core.run_id, core.closed_at == 0, _encode(facts))


def current_facts(current: CurrentRun) -> CurrentFacts:
    return _decode_facts(current.state)
