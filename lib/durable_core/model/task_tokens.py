"""Tokens that callers carry for us and do not look into: tasks, and pages of histories."""

import msgspec

from durable_core.model.errors import InvalidArgument


class WorkflowTaskToken(msgspec.Struct, frozen=True, array_like=True, tag="w"):
    namespace_id: str
    workflow_id: str
    run_id: str
    scheduled_event_id: int
    started_event_id: int
    attempt: int


class ActivityTaskToken(msgspec.Struct, frozen=True, array_like=True, tag="a"):
    namespace_id: str
    workflow_id: str
    run_id: str
    scheduled_event_id: int
    attempt: int
    activity_id: str


class QueryTaskToken(msgspec.Struct, frozen=True, array_like=True, tag="q"):
    namespace_id: str
    queue: str
    query_id: str


class HistoryPageToken(msgspec.Struct, frozen=True, array_like=True, tag="h"):
    """`next_event_id` is where the next page begins, `end_event_id` where the history ended when reading began.

    `was_open`: the run was open then, so that a reader who waits goes on after the end.
    """

    run_id: str
    next_event_id: int
    end_event_id: int
    was_open: bool


_TaskToken = WorkflowTaskToken | ActivityTaskToken | QueryTaskToken
_encode = msgspec.msgpack.Encoder().encode
_decode_task = msgspec.msgpack.Decoder(_TaskToken).decode
_decode_page = msgspec.msgpack.Decoder(HistoryPageToken).decode


def encode(token: "_TaskToken | HistoryPageToken") -> bytes:
    return _encode(token)


def _decoded(token: bytes) -> "_TaskToken":
    if not token:
        raise InvalidArgument("Task token not set on request.")
    try:
        return _decode_task(token)
    except msgspec.MsgspecError as error:
        raise InvalidArgument("Error deserializing task token.") from error


def workflow_task(token: bytes) -> WorkflowTaskToken:
    """Raises `InvalidArgument` for anything that is not a workflow task's token."""
    decoded = _decoded(token)
    if not isinstance(decoded, WorkflowTaskToken):
        raise InvalidArgument("Error deserializing task token.")
    return decoded


def activity_task(token: bytes) -> ActivityTaskToken:
    """Raises `InvalidArgument` for anything that is not an activity task's token."""
    decoded = _decoded(token)
    if not isinstance(decoded, ActivityTaskToken):
        raise InvalidArgument("Error deserializing task token.")
    return decoded


def query_task(token: bytes) -> QueryTaskToken:
    """Raises `InvalidArgument` for anything that is not a query task's token."""
    decoded = _decoded(token)
    if not isinstance(decoded, QueryTaskToken):
        raise InvalidArgument("Error deserializing task token.")
    return decoded


def workflow_id(token: bytes) -> str:
    """Whose task it is. Raises `InvalidArgument` for anything that is not the token of a run's task."""
    decoded = _decoded(token)
    if isinstance(decoded, QueryTaskToken):
        raise InvalidArgument("Error deserializing task token.")
    return decoded.workflow_id


def history_page(token: bytes) -> HistoryPageToken:
    """Raises `InvalidArgument` for anything that is not a history's page token."""
    try:
        return _decode_page(token)
    except msgspec.MsgspecError as error:
        raise InvalidArgument("Invalid NextPageToken.") from error
