"""Which search attributes there are: the system's own, and the fields that custom ones are stored in.

What does not live here: the predefined ones that a client may set (`engine.checks`), and a namespace's custom ones.
As in the Temporal server with an SQL store, a namespace has a fixed number of fields of each type, and a custom search
attribute is an alias of one of them.
A newcomer's trap: a type is written in two ways, `KeywordList` in field names and messages and KEYWORD_LIST in the
protocol's enumeration.
"""

from temporalio.api.enums.v1 import IndexedValueType

_KEYWORD = IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD
_KEYWORD_LIST = IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD_LIST
_DATETIME = IndexedValueType.INDEXED_VALUE_TYPE_DATETIME
_INT = IndexedValueType.INDEXED_VALUE_TYPE_INT

SYSTEM_TYPES: dict[str, "IndexedValueType.ValueType"] = {
    "WorkflowId": _KEYWORD,
    "RunId": _KEYWORD,
    "WorkflowType": _KEYWORD,
    "StartTime": _DATETIME,
    "ExecutionTime": _DATETIME,
    "CloseTime": _DATETIME,
    "ExecutionStatus": _KEYWORD,
    "TaskQueue": _KEYWORD,
    "HistoryLength": _INT,
    "ExecutionDuration": _INT,
    "StateTransitionCount": _INT,
    "HistorySizeBytes": _INT,
    "ParentWorkflowId": _KEYWORD,
    "ParentRunId": _KEYWORD,
    "RootWorkflowId": _KEYWORD,
    "RootRunId": _KEYWORD,
    "TemporalExternalPayloadCount": _INT,
    "TemporalExternalPayloadSizeBytes": _INT,
    "TemporalUsedWorkerDeploymentVersions": _KEYWORD_LIST,
}
"""Set by the server alone."""

FIELD_COUNTS: dict["IndexedValueType.ValueType", int] = {
    IndexedValueType.INDEXED_VALUE_TYPE_BOOL: 3,
    _DATETIME: 3,
    IndexedValueType.INDEXED_VALUE_TYPE_DOUBLE: 3,
    _INT: 3,
    _KEYWORD: 10,
    _KEYWORD_LIST: 3,
    IndexedValueType.INDEXED_VALUE_TYPE_TEXT: 3,
}
"""How many custom search attributes of each type a namespace can have."""


def type_word(value_type: "IndexedValueType.ValueType") -> str:
    """The type as messages and field names have it, such as `KeywordList`."""
    words = IndexedValueType.Name(value_type).removeprefix("INDEXED_VALUE_TYPE_").split("_")
    return "".join(word.capitalize() for word in words)


def fields_of(value_type: "IndexedValueType.ValueType") -> list[str]:
    """The names of the fields of a type, in order; none for a type that cannot be custom."""
    word = type_word(value_type)
    return [f"{word}{number:02}" for number in range(1, FIELD_COUNTS.get(value_type, 0) + 1)]


FIELD_TYPES: dict[str, "IndexedValueType.ValueType"] = {
    field: value_type for value_type in FIELD_COUNTS for field in fields_of(value_type)
}
"""The type of each field."""
