"""Whether a search attribute's value is of the attribute's type."""

import json
from collections.abc import Callable
from datetime import datetime
from typing import Any

from temporalio.api.common.v1 import Payload
from temporalio.api.enums.v1 import IndexedValueType

from durable_core.model.errors import InvalidArgument

_T = IndexedValueType


def _is_datetime(value: Any) -> bool:
    try:
        datetime.fromisoformat(value)
    except (TypeError, ValueError):
        return False
    return True


def _is_int(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


_FITS: dict[int, Callable[[Any], bool]] = {
    _T.INDEXED_VALUE_TYPE_TEXT: _is_text,
    _T.INDEXED_VALUE_TYPE_KEYWORD: _is_text,
    _T.INDEXED_VALUE_TYPE_INT: _is_int,
    _T.INDEXED_VALUE_TYPE_DOUBLE: lambda value: _is_int(value) or isinstance(value, float),
    _T.INDEXED_VALUE_TYPE_BOOL: lambda value: isinstance(value, bool),
    _T.INDEXED_VALUE_TYPE_DATETIME: _is_datetime,
    _T.INDEXED_VALUE_TYPE_KEYWORD_LIST: _is_text,
}


def check(name: str, kind: "IndexedValueType.ValueType", payload: Payload) -> None:
    """Raise `InvalidArgument` unless the payload is JSON of the type, a list of one such value, or null."""
    if payload.metadata.get("encoding") == b"binary/null" or not payload.data:
        return
    words = IndexedValueType.Name(kind).removeprefix("INDEXED_VALUE_TYPE_").split("_")
    title = "".join(word.capitalize() for word in words)
    try:
        value = json.loads(payload.data)
    except ValueError as error:
        raise InvalidArgument(
            f"invalid value for search attribute {name} of type {title}: {error}"
        ) from error
    if value is None:
        return
    many = isinstance(value, list)
    values = value if many else [value]
    single = kind != _T.INDEXED_VALUE_TYPE_KEYWORD_LIST
    if not all(_FITS[kind](each) for each in values) or (many and single and len(values) > 1):
        raise InvalidArgument(f"invalid value for search attribute {name} of type {title}: {value}")
