"""The fast path: right after a commit its writer sends what must not wait for the stream, tasks and near wake-ups.

Best effort: what is not sent here, relay and arm send. A task that is sent twice counts once (see `sqs_queues`), and a
wake-up that comes twice finds the second time that nobody waits for it.
A newcomer's trap: the caller waits for us, so we give up soon and never raise.
"""

import logging
from collections.abc import Sequence

from durable_core.adapters.aws.sqs_queues import Rejected, SqsTaskQueues
from durable_core.adapters.aws.wake_ups import SqsWakeUps
from durable_core.model.errors import Unavailable
from durable_core.model.tasks import Task
from durable_core.model.times import SECOND
from durable_core.ports.clock import Clock
from durable_core.ports.wake_ups import WakeUp

SOON = 5 * SECOND
"""A wake-up further away is early enough when the stream brings it."""
READ_SECONDS = 1.5
ATTEMPTS = 1

log = logging.getLogger("perdure")


class FastPath:
    """`queues` and `wake_ups` are to have clients of their own, with `READ_SECONDS` and `ATTEMPTS`."""

    def __init__(self, queues: SqsTaskQueues, wake_ups: SqsWakeUps, clock: Clock) -> None:
        self._queues = queues
        self._wake_ups = wake_ups
        self._clock = clock

    def dispatch(self, tasks: Sequence[Task], wake_ups: Sequence[WakeUp]) -> None:
        try:
            self._queues.send(tasks)
            latest = self._clock.now() + SOON
            self._wake_ups.arm([wake_up for wake_up in wake_ups if wake_up.due <= latest])
        except (Unavailable, Rejected) as error:
            log.warning("the fast path failed, the stream will do it: %s", error)
