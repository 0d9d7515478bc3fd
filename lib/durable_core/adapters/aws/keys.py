"""The keys of items in the runs and history tables.

A run's document is found by its run ID alone, so that whoever knows a branch of history (which has the ID of the run
that wrote it) finds the tail that the document carries. What does not live here: the names of the key attributes
(`schema.tables`). A newcomer's trap: event IDs in sort keys are written so that they sort as numbers.
"""

import base64
import hashlib

from durable_core.adapters.aws.documents import Blob
from durable_core.model.ids import RunKey, WorkflowKey
from durable_core.schema.tables import CURRENT

DOCUMENT = "run/"
CARRIER = "tasks/"
NODE = "n/"
PAGE = "p/"
CHUNK = "b/"
SHARED = "s/"
"""Before the ID of a run whose history goes on from the branch."""
ORPHANED = "orphaned"
"""The mark of a branch that others go on from though its own run is deleted."""
AFTER = "~"
"""Sorts after everything that follows a prefix in our keys."""
HASH_BYTES = 12
EVENT_ID_MAX = (1 << 48) - 1
"""More than a history can have; as the end of a range it means all of them."""


def document(key: RunKey) -> tuple[str, str]:
    """The workflow's name is hashed, for it may be longer than a sort key."""
    return key.run_id, DOCUMENT + _hash(f"{key.namespace_id}\0{key.workflow_id}")


def carrier(key: RunKey, number: int) -> tuple[str, str]:
    return key.run_id, f"{CARRIER}{_hash(f'{key.namespace_id}{chr(0)}{key.workflow_id}')}/{number}"


def pointer(key: WorkflowKey) -> tuple[str, str]:
    return f"{key.namespace_id}/{key.workflow_id}", CURRENT


def node(first_event_id: int, transaction_id: int) -> str:
    return f"{first_node(first_event_id)}/{transaction_id:016x}"


def first_node(first_event_id: int) -> str:
    """What the keys of nodes that begin with this event or a later one are not less than."""
    return f"{NODE}{min(first_event_id, EVENT_ID_MAX):012x}"


def page(number: int) -> str:
    return f"{PAGE}{number:x}"


def chunk(blob: Blob, number: int) -> str:
    return f"{CHUNK}{blob.name}/{number:x}"


def blob_name(token: str, number: int) -> str:
    """A name that no other transaction uses: what a failed one left behind is in nobody's way."""
    return f"{_hash(token)}-{number:x}"


def _hash(text: str) -> str:
    digest = hashlib.blake2b(text.encode(), digest_size=HASH_BYTES).digest()
    return base64.urlsafe_b64encode(digest).decode()
