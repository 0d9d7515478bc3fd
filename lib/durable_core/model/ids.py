"""Identifiers: how runs, workflows, shards, queues and tasks are named.

What does not live here: the generation of random identifiers (that is the `Ids` port).
Keys are named tuples because they are hashed many times a request.
A newcomer's trap: a task ID is only rising within one shard; comparing task IDs of two shards means nothing.
"""

import hashlib
import re
from enum import IntEnum
from typing import NamedTuple

TASK_ID_SEQUENCE_BITS = 24
TASK_ID_SEQUENCE_MAX = (1 << TASK_ID_SEQUENCE_BITS) - 1


class WorkflowKey(NamedTuple):
    """Names a workflow ID, whatever its runs: the unit that lives on one shard."""

    namespace_id: str
    workflow_id: str

    def run(self, run_id: str) -> "RunKey":
        return RunKey(self.namespace_id, self.workflow_id, run_id)


class RunKey(NamedTuple):
    """Names one run of a workflow ID."""

    namespace_id: str
    workflow_id: str
    run_id: str

    @property
    def workflow(self) -> WorkflowKey:
        return WorkflowKey(self.namespace_id, self.workflow_id)


class QueueKind(IntEnum):
    """What a physical queue carries. SERVICE queues are read by the history service, never by workers."""

    WORKFLOW = 1
    ACTIVITY = 2
    SERVICE = 3

    # An enum hashes its name in Python code; the number does as well, and costs nothing.
    __hash__ = int.__hash__


class QueueKey(NamedTuple):
    """Names a physical queue. `name` is the task queue's name, or a sticky queue's."""

    namespace_id: str
    name: str
    kind: QueueKind


SERVICE_QUEUE = QueueKey("", "history", QueueKind.SERVICE)


def shard_of(key: WorkflowKey, shards: int) -> int:
    """The shard of a workflow ID, in [0, shards). Stable for ever: stored data depends on it."""
    if shards == 1:
        return 0
    digest = hashlib.blake2b(f"{key.namespace_id}/{key.workflow_id}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") % shards


def task_id(range_id: int, sequence: int) -> int:
    """Unique for ever and rising within a shard: the range ID is the high bits."""
    if not 0 <= sequence <= TASK_ID_SEQUENCE_MAX:
        raise ValueError(f"task sequence {sequence} does not fit {TASK_ID_SEQUENCE_BITS} bits")
    return range_id << TASK_ID_SEQUENCE_BITS | sequence


_UUID = re.compile(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")


def is_uuid(text: str) -> bool:
    """Whether a run ID has the form of one."""
    return _UUID.fullmatch(text) is not None
