"""Take out of an observation what no two runs share, and nothing else.

Each rule says why it exists. Everything that a rule does not name must be equal on both servers. Newcomers
forget that a rule added for one scenario holds for all of them: rather write the scenario so that it needs
none.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import math
import re
from datetime import datetime, timedelta
from typing import Any

_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|\b[0-9a-f]{32}\b")
_TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
# The SDK writes wall-clock times into the marker of a local activity.
_CLOCK_IN_MARKER = re.compile(r'\{"seconds":\d+,"nanos":\d+\}')

# Values that differ by nature, by field name.
_OPAQUE = {
    # Task IDs order events for replication; the reference server draws them from a shard's counter.
    "taskId": "<task id>",
    # Tokens are opaque to clients by contract.
    "taskToken": "<token>",
    "nextPageToken": "<token>",
    # Bytes as the server happens to store them.
    "historySizeBytes": "<bytes>",
    # Counts the server's own commits.
    "stateTransitionCount": "<count>",
    # How long the run took, by the wall clock.
    "executionDuration": "<duration>",
    # What the server calls its own build.
    "serverVersion": "<version>",
}
# The request ID of a workflow task that came in the reply to the one before.
_IN_A_REPLY = "request-from-RespondWorkflowTaskCompleted"
# Sets that the SDK sends in random order.
_UNORDERED = ("coreUsedFlags", "langUsedFlags")
# Durations that the server computes from two readings of its clock: rounded to a hundredth of a second.
_CLOCK_DIFFERENCES = ("currentRetryInterval",)


# Longer texts are compared by length and digest, so that a difference can be read.
LONGEST_SHOWN = 10_000


class Normaliser:
    """Rewrites one observation; the names it gives follow the order of first appearance in it."""

    def __init__(self, *, sdk_worker: bool = False) -> None:
        """`sdk_worker`: whether it gets its next task in a reply or by a poll is a race; both are named alike."""
        self._sdk_worker = sdk_worker
        self._replies = 0
        self._names: dict[str, str] = {}

    def observation(
        self, notes: dict[str, Any], histories: dict[str, list[dict[str, Any]]]
    ) -> dict[str, Any]:
        """The observation as it is compared."""
        # Notes are walked by label, for scenarios that wait for two things at once take them in any order.
        ordered = {label: notes[label] for label in sorted(notes)}
        return {"histories": self._walk("", histories), "notes": self._walk("", ordered)}

    def _walk(self, key: str, value: Any) -> Any:
        if key in _OPAQUE:
            return _OPAQUE[key]
        if key in _UNORDERED:
            return sorted(value)
        if key in _CLOCK_DIFFERENCES and isinstance(value, str):
            return f"{float(value.removesuffix('s')):.2f}s"
        if isinstance(value, dict):
            if "eventTime" in value:
                value = _relate(value)
            if set(value) <= {"metadata", "data"} and "metadata" in value:
                value = _readable_payload(value)
            return {self._text(name): self._walk(name, item) for name, item in value.items()}
        if isinstance(value, list):
            return [self._walk(key, item) for item in value]
        if key == "requestId" and value == _IN_A_REPLY and self._sdk_worker:
            self._replies += 1
            return self._name(f"reply {self._replies}")
        if isinstance(value, str):
            return self._text(value)
        return value

    def _text(self, text: str) -> str:
        """Times of the wall clock, and random IDs (run IDs, request IDs, sticky queues of SDK workers) by order."""
        if _TIMESTAMP.fullmatch(text):
            return "<time>"
        if len(text) > LONGEST_SHOWN:
            digest = hashlib.sha256(text.encode()).hexdigest()
            return f"<{len(text)} characters, {digest}>"
        text = _CLOCK_IN_MARKER.sub("<time>", text)
        return _UUID.sub(lambda match: self._name(match.group()), text)

    def _name(self, uuid: str) -> str:
        return self._names.setdefault(uuid, f"<uuid {len(self._names) + 1}>")


def _relate(event: dict[str, Any]) -> dict[str, Any]:
    """An event whose attributes speak of times to come relative to its own time: only a started event has them."""
    start = datetime.fromisoformat(event["eventTime"])
    related = {}
    for name, item in event.items():
        related[name] = item
        if isinstance(item, dict):
            related[name] = attributes = {**item}
            if "firstWorkflowTaskBackoff" in item:
                attributes["firstWorkflowTaskBackoff"] = _backoff(item["firstWorkflowTaskBackoff"], start)
            if "workflowExecutionExpirationTime" in item:
                later = datetime.fromisoformat(item["workflowExecutionExpirationTime"]) - start
                attributes["workflowExecutionExpirationTime"] = f"start + {round(later.total_seconds())} s"
    return related


def _backoff(backoff: str, start: datetime) -> str:
    """A new run within a second of the old one's start waits for the rest of that second: whole seconds are compared.

    A long one waits for a time of the calendar: that time is compared.
    """
    wait = math.ceil(float(backoff.removesuffix("s")))
    if wait < 60:
        return f"{wait}s"
    return f"until {(start + timedelta(seconds=wait)).replace(microsecond=0).isoformat()}"


def _readable_payload(value: dict[str, Any]) -> dict[str, Any]:
    """Payload bytes as text, so that a difference can be read; no information is lost."""
    readable = {**value, "metadata": {key: _decode(item) for key, item in value["metadata"].items()}}
    if "data" in value:
        readable["data"] = _decode(value["data"])
    return readable


def _decode(encoded: Any) -> Any:
    try:
        return base64.b64decode(encoded, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError, TypeError):
        return encoded
