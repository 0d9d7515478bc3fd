"""In-process notifications: futures of the one event loop that serves all.

What does not live here: what happened. A notification is a hint, and who is woken looks for itself.
A newcomer's trap: everything runs in the event loop's thread. `publish` is called from inside service functions, so
between a function's "wait for this" and our registering of the waiter nothing can be published.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Sequence

from durable_core.model.ids import QueueKey
from durable_core.ports.notifications import Topic

# A waiter's future gets the topic that woke it, or None when its time is over.
Waiter = asyncio.Future[Topic | None]


class InProcessNotifications:
    """Implements `ports.notifications.Notifications`, and the waiting for what it publishes."""

    def __init__(self) -> None:
        self._waiters: dict[Topic, OrderedDict[Waiter, None]] = {}

    def publish(self, topic: Topic) -> None:
        waiters = self._waiters.get(topic)
        if not waiters:
            return
        if isinstance(topic, QueueKey):
            _wake_first(waiters, topic)
            return
        for waiter in waiters:
            if not waiter.done():
                waiter.set_result(topic)

    async def wait(self, topics: Sequence[Topic], seconds: float) -> bool:
        """Sleep until one of the topics is published (True) or the time is over (False)."""
        loop = asyncio.get_running_loop()
        waiter: Waiter = loop.create_future()
        for topic in topics:
            self._waiters.setdefault(topic, OrderedDict())[waiter] = None
        timer = loop.call_later(seconds, _time_is_over, waiter)
        try:
            return await waiter is not None
        except asyncio.CancelledError:
            self._pass_on(waiter)
            raise
        finally:
            timer.cancel()
            self._forget(topics, waiter)

    def wake_everybody(self) -> None:
        """End every wait at once, as if its time were over: the server drains."""
        for waiters in self._waiters.values():
            for waiter in waiters:
                _time_is_over(waiter)

    def waiting(self, topic: Topic) -> int:
        """How many wait for the topic now."""
        return len(self._waiters.get(topic, ()))

    def _pass_on(self, waiter: Waiter) -> None:
        """A waiter left: what woke it, if anything, wakes the next one. A queue's task must not lose its only hint."""
        if waiter.done() and not waiter.cancelled():
            topic = waiter.result()
            if isinstance(topic, QueueKey):
                self.publish(topic)

    def _forget(self, topics: Sequence[Topic], waiter: Waiter) -> None:
        for topic in topics:
            waiters = self._waiters.get(topic)
            if waiters is None:
                continue
            waiters.pop(waiter, None)
            if not waiters:
                del self._waiters[topic]


def _wake_first(waiters: OrderedDict[Waiter, None], topic: Topic) -> None:
    """Wake who waits longest, skipping those that were woken already and have not run yet."""
    while waiters:
        waiter, _ = waiters.popitem(last=False)
        if not waiter.done():
            waiter.set_result(topic)
            return


def _time_is_over(waiter: Waiter) -> None:
    if not waiter.done():
        waiter.set_result(None)
