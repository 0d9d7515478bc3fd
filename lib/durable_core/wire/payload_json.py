"""Messages as the Temporal HTTP API's JSON: protobuf JSON in which payloads appear as the values they hold.

The Temporal server calls that payload shorthand: `"input": ["hello", {"a": 1}]` instead of base64 within payloads.
A payload is short when it is `binary/null`, `json/plain` without further metadata, or `json/protobuf` with only its
message type, which then stands in the object as `_protoMessageType`.
What does not live here: Connect's JSON, which is plain protobuf JSON.
A newcomer's trap: the shorthand depends on a field's type, never on how a value looks. A search attribute's payload
and a plain string look alike in JSON, so both directions walk along the message's descriptor.
"""

import base64
import json
from collections.abc import Callable
from typing import Any

from google.protobuf import json_format
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message
from temporalio.api.common.v1 import Payload

PAYLOAD = "temporal.api.common.v1.Payload"
PAYLOADS = "temporal.api.common.v1.Payloads"
_WELL_KNOWN = "google.protobuf."
_MESSAGE_TYPE = "_protoMessageType"

_Rewrite = Callable[[str, Any], Any]


def to_json(message: Message, *, shorthand: bool) -> Any:
    """The message as values for `json.dumps`."""
    tree = json_format.MessageToDict(message)
    return _walk(message.DESCRIPTOR, tree, _shorten) if shorthand else tree


def from_json(tree: Any, message: Message, *, shorthand: bool) -> None:
    """Fill the message. Raises `json_format.ParseError` for what does not fit, an unknown field among others."""
    if shorthand:
        tree = _walk(message.DESCRIPTOR, tree, _lengthen)
    json_format.ParseDict(tree, message)


def _walk(descriptor: Any, tree: Any, rewrite: _Rewrite) -> Any:
    """The tree with every payload in it rewritten."""
    name = descriptor.full_name
    if name in (PAYLOAD, PAYLOADS):
        return rewrite(name, tree)
    if not isinstance(tree, dict) or name.startswith(_WELL_KNOWN):
        return tree
    return {key: _walk_field(_field(descriptor, key), value, rewrite) for key, value in tree.items()}


def _walk_field(field: FieldDescriptor | None, value: Any, rewrite: _Rewrite) -> Any:
    if field is None or field.message_type is None or value is None:
        return value
    if field.message_type.GetOptions().map_entry:
        return _walk_map(field.message_type.fields_by_name["value"], value, rewrite)
    if field.is_repeated:
        if not isinstance(value, list):
            return value
        return [_walk(field.message_type, item, rewrite) for item in value]
    return _walk(field.message_type, value, rewrite)


def _walk_map(values: FieldDescriptor, tree: Any, rewrite: _Rewrite) -> Any:
    if values.message_type is None or not isinstance(tree, dict):
        return tree
    # The Temporal server drops a null in a map, whatever the map's values are.
    return {key: _walk(values.message_type, item, rewrite) for key, item in tree.items() if item is not None}


def _field(descriptor: Any, key: str) -> FieldDescriptor | None:
    field: FieldDescriptor | None = descriptor.fields_by_camelcase_name.get(key)
    return field or descriptor.fields_by_name.get(key)


def _shorten(name: str, tree: Any) -> Any:
    if name == PAYLOADS:
        short = [_short_value(payload) for payload in tree.get("payloads", [])]
        if all(is_short for is_short, _ in short):
            return [value for _, value in short]
        return {"payloads": [value for _, value in short]}
    return _short_value(tree)[1]


def _short_value(tree: dict[str, Any]) -> tuple[bool, Any]:
    """Whether the payload can be short, and the value that stands for it: its own tree if not."""
    metadata = {key: base64.b64decode(value) for key, value in tree.get("metadata", {}).items()}
    encoding = metadata.pop("encoding", b"")
    message_type = metadata.pop("messageType", b"")
    if encoding == b"binary/null":
        return True, None
    if metadata or encoding not in (b"json/plain", b"json/protobuf"):
        return False, tree
    try:
        value = json.loads(base64.b64decode(tree.get("data", "")))
    except ValueError:
        return False, tree
    if encoding == b"json/plain":
        return (False, tree) if message_type else (True, value)
    if not message_type or not isinstance(value, dict):
        return False, tree
    return True, {_MESSAGE_TYPE: message_type.decode(), **value}


def _lengthen(name: str, tree: Any) -> Any:
    if name == PAYLOADS:
        if isinstance(tree, list):
            return {"payloads": [_payload(item) for item in tree]}
        if isinstance(tree, dict) and isinstance(tree.get("payloads"), list):
            return {**tree, "payloads": [_payload(item) for item in tree["payloads"]]}
        return tree
    return _payload(tree)


def _payload(tree: Any) -> dict[str, Any]:
    """The payload that the JSON stands for: itself when it is written out, otherwise one that holds the value."""
    if _is_written_out(tree):
        return dict(tree)
    if tree is None:
        return _written_out({"encoding": b"binary/null"}, b"")
    if isinstance(tree, dict) and isinstance(tree.get(_MESSAGE_TYPE), str) and tree[_MESSAGE_TYPE]:
        rest = {key: value for key, value in tree.items() if key != _MESSAGE_TYPE}
        metadata = {"encoding": b"json/protobuf", "messageType": tree[_MESSAGE_TYPE].encode()}
        return _written_out(metadata, _compact(rest))
    return _written_out({"encoding": b"json/plain"}, _compact(tree))


def _is_written_out(tree: Any) -> bool:
    if not isinstance(tree, dict):
        return False
    payload = Payload()
    try:
        json_format.ParseDict(tree, payload)
    except json_format.ParseError:
        return False
    return bool(payload.metadata) and (
        bool(payload.data) or payload.metadata.get("encoding") == b"binary/null"
    )


def _written_out(metadata: dict[str, bytes], data: bytes) -> dict[str, Any]:
    return {
        "metadata": {key: base64.b64encode(value).decode() for key, value in metadata.items()},
        "data": base64.b64encode(data).decode(),
    }


def _compact(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
