"""What a message says: a task, or a wake-up, as text.

A message names its task and carries no payload, so it is far smaller than SQS allows.
A newcomer's trap: messages outlive deployments. Decoding ignores fields it does not know, and refuses kinds of tasks
that it does not know; the message then stays for a process that does.
"""

import base64
import binascii
import hashlib

import msgspec

from durable_core.model.tasks import QueryTask, Task
from durable_core.ports.wake_ups import WakeUp

_encode = msgspec.msgpack.Encoder().encode
_decode_task = msgspec.msgpack.Decoder(Task).decode
_decode_wake_up = msgspec.msgpack.Decoder(WakeUp).decode

HASH_BYTES = 16


def of_task(task: Task) -> str:
    return base64.b64encode(_encode(task)).decode()


def to_task(body: str) -> Task:
    """Raises `ValueError` for what is no task."""
    return _decode_task(_bytes(body))


def of_wake_up(wake_up: WakeUp) -> str:
    return base64.b64encode(_encode(wake_up)).decode()


def to_wake_up(body: str) -> WakeUp:
    """Raises `ValueError` for what is no wake-up."""
    return _decode_wake_up(_bytes(body))


def task_name(task: Task) -> str:
    """Names a task among all tasks: for a FIFO queue's deduplication, and as a group that holds nothing else."""
    body = task.body
    unique = body.query_id if isinstance(body, QueryTask) else str(task.task_id)
    return f"{_digest(task.namespace_id, task.workflow_id, task.run_id)}-{unique}"


def schedule_name(wake_up: WakeUp, at: int) -> str:
    """Names a wake-up's schedule for the second `at`: the same one has the same name whoever makes it."""
    run = wake_up.run
    return f"w-{_digest(run.namespace_id, run.workflow_id, run.run_id, str(wake_up.due), str(at))}"


def _digest(*parts: str) -> str:
    return hashlib.blake2b("\0".join(parts).encode(), digest_size=HASH_BYTES).hexdigest()


def _bytes(body: str) -> bytes:
    try:
        return base64.b64decode(body, validate=True)
    except binascii.Error as error:
        raise ValueError(f"not base64: {error}") from error
