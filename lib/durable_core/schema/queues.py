"""Names of queues: what a task queue's SQS queue is called, and how its address follows from that.

What does not live here: creating or reading queues (`adapters/aws`), and the queues that a deployment creates itself
(`infra`). A newcomer's trap: the name is a hash, for a task queue's name may be longer than SQS allows and hold any
character; whose queue it is stands in the queue's tags.
"""

import hashlib

TASK_QUEUE_INFIX = "-q-"
HASH_BYTES = 20
FIFO_SUFFIX = ".fifo"

VISIBILITY_SECONDS = 30
"""How long a received task may stay unclaimed before another poller gets it."""
RETENTION_SECONDS = 14 * 24 * 3600
"""SQS's longest. A task that waits longer is dispatched anew before that."""

TASK_QUEUE_ATTRIBUTES = {
    "FifoQueue": "true",
    "ContentBasedDeduplication": "false",
    "DeduplicationScope": "messageGroup",
    "FifoThroughputLimit": "perMessageGroupId",
    "VisibilityTimeout": str(VISIBILITY_SECONDS),
    "MessageRetentionPeriod": str(RETENTION_SECONDS),
}
"""Every creator of a queue must ask for exactly these: SQS calls a second creation with others an error."""


def task_queue_name(prefix: str, namespace_id: str, kind: int, name: str) -> str:
    """The name of the SQS queue of a physical queue, at most 80 characters for a prefix of up to 30."""
    named = "\0".join((namespace_id, str(kind), name))
    digest = hashlib.blake2b(named.encode(), digest_size=HASH_BYTES).hexdigest()
    return f"{prefix}{TASK_QUEUE_INFIX}{digest}{FIFO_SUFFIX}"


def task_queue_pattern(prefix: str) -> str:
    """What all names of task queues of a deployment match, for permissions."""
    return f"{prefix}{TASK_QUEUE_INFIX}*"
