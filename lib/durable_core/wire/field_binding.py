"""Setting a message's field from a word of a path or a query: `execution.run_id=...`.

What does not live here: which words bind which fields (`http_routes`, `http_api`).
A newcomer's trap: names come as in the proto file and in camel case alike, and what no field knows is ignored, as
the Temporal server does; a value that does not fit its field is an error.
"""

import base64
from collections.abc import Sequence
from typing import Any

from google.protobuf import json_format
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from durable_core.model.errors import InvalidArgument

_INTEGERS = {
    FieldDescriptor.CPPTYPE_INT32,
    FieldDescriptor.CPPTYPE_INT64,
    FieldDescriptor.CPPTYPE_UINT32,
    FieldDescriptor.CPPTYPE_UINT64,
}
_FLOATS = {FieldDescriptor.CPPTYPE_FLOAT, FieldDescriptor.CPPTYPE_DOUBLE}
_URL_SAFE = str.maketrans("-_", "+/")
# The words that Go's strconv.ParseBool takes.
_TRUE = ("1", "t", "T", "TRUE", "true", "True")
_FALSE = ("0", "f", "F", "FALSE", "false", "False")


def canonical(descriptor: Any, name: str) -> str | None:
    """The field path with the names of the proto file, or None when there is no such field."""
    names = []
    at = descriptor
    for part in name.split("."):
        field = None if at is None else _field(at, part)
        if field is None:
            return None
        names.append(field.name)
        at = field.message_type
    return ".".join(names)


def bind(message: Message, path: str, values: Sequence[str]) -> None:
    """Set the field at a canonical path. A repeated field takes all values, another one the first.

    Raises `InvalidArgument` when a value does not fit.
    """
    *parents, name = path.split(".")
    target: Any = message
    for parent in parents:
        field = target.DESCRIPTOR.fields_by_name[parent]
        if field.is_repeated:
            raise InvalidArgument(f'field "{path}" is within a repeated field')
        target = getattr(target, parent)
        target.SetInParent()
    field = target.DESCRIPTOR.fields_by_name[name]
    try:
        # Protobuf's own JSON reader checks ranges, enumerations, base64, times and durations.
        tree = [_tree(field, value) for value in values] if field.is_repeated else _tree(field, values[0])
        json_format.ParseDict({name: tree}, target)
    except (json_format.ParseError, ValueError) as error:
        raise InvalidArgument(f'parsing field "{path}": {error}') from error


def _field(descriptor: Any, name: str) -> FieldDescriptor | None:
    field: FieldDescriptor | None = descriptor.fields_by_name.get(name)
    return field or descriptor.fields_by_camelcase_name.get(name)


def _tree(field: FieldDescriptor, word: str) -> Any:
    """The word as the JSON value that the field's type takes."""
    if field.cpp_type in _INTEGERS:
        return int(word)
    if field.cpp_type in _FLOATS:
        return float(word)
    if field.cpp_type == FieldDescriptor.CPPTYPE_BOOL:
        if word not in (*_TRUE, *_FALSE):
            raise ValueError(f'"{word}" is neither true nor false')
        return word in _TRUE
    if field.type == FieldDescriptor.TYPE_BYTES:
        # Protobuf's reader skips what is not base64; a damaged page token is to be refused instead.
        base64.b64decode(word.translate(_URL_SAFE) + "=" * (-len(word) % 4), validate=True)
        return word
    if field.cpp_type == FieldDescriptor.CPPTYPE_ENUM:
        return int(word) if word.lstrip("-").isdecimal() else word
    return word
