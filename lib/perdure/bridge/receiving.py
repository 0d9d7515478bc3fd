"""Receiving for many polls at once: one long poll of SQS a queue, however many workers' polls wait for it.

What does not live here: which queue a poll means, and what is done with a message (`polling`).
A newcomer's trap: a message that was received is somebody's task. Whoever takes it and leaves must pass it on, to the
next poll that waits or back to the queue.
"""

import asyncio
import logging
from collections import deque

from perdure.bridge.backoff import delay_seconds
from perdure.bridge.errors import CallFailed
from perdure.bridge.sqs import Message, NoSuchQueue, NotAllowed, Sqs, SqsError

# A waiting poll's future gets its message, or None when its time is over, or the reason why there is none.
Waiter = asyncio.Future[Message | None]

log = logging.getLogger("perdure.bridge")


class Receiver:
    """Receives from one queue as long as somebody waits."""

    def __init__(self, sqs: Sqs, queue_url: str) -> None:
        self._sqs = sqs
        self._queue_url = queue_url
        self._waiters: deque[Waiter] = deque()
        self._receiving: asyncio.Task[None] | None = None
        self._releasing: set[asyncio.Task[None]] = set()
        self._draining = False

    @property
    def idle(self) -> bool:
        return self._receiving is None and not self._waiters and not self._releasing

    async def next(self, seconds: float) -> Message | None:
        """The next message for this caller, None when its time is over first.

        Raises `NoSuchQueue` or `NotAllowed`; what passes by itself is tried again until the time is over.
        """
        if self._draining:
            return None
        loop = asyncio.get_running_loop()
        waiter: Waiter = loop.create_future()
        self._waiters.append(waiter)
        if self._receiving is None:
            self._receiving = asyncio.create_task(self._receive(), name=f"receive {self._queue_url}")
        timer = loop.call_later(seconds, _time_is_over, waiter)
        try:
            return await waiter
        except asyncio.CancelledError:
            self._pass_on(waiter)
            raise
        finally:
            timer.cancel()
            if waiter in self._waiters:
                self._waiters.remove(waiter)

    def give_back(self, message: Message) -> None:
        """The message goes to the next who waits, or back to the queue."""
        while self._waiters:
            waiter = self._waiters.popleft()
            if not waiter.done():
                waiter.set_result(message)
                return
        task = asyncio.create_task(self._release(message), name=f"release {self._queue_url}")
        self._releasing.add(task)
        task.add_done_callback(self._releasing.discard)

    async def drain(self, seconds: float) -> None:
        """Answer all who wait with nothing, and give the receive under way so long to end."""
        self._draining = True
        for waiter in self._waiters:
            _time_is_over(waiter)
        if self._receiving is not None:
            await asyncio.wait((self._receiving,), timeout=seconds)
            if self._receiving is not None:
                self._receiving.cancel()
        if self._releasing:
            await asyncio.wait(tuple(self._releasing), timeout=seconds)

    async def _receive(self) -> None:
        failures = 0
        try:
            while self._waiters:
                try:
                    messages = await self._sqs.receive(self._queue_url, len(self._waiters))
                    failures = 0
                except (NoSuchQueue, NotAllowed) as error:
                    self._refuse_all(error)
                    return
                except (SqsError, CallFailed) as error:
                    failures += 1
                    log.warning("receiving tasks failed, trying again: %s", error)
                    await asyncio.sleep(delay_seconds(failures))
                    continue
                for message in messages:
                    self.give_back(message)
        finally:
            self._receiving = None

    def _refuse_all(self, error: SqsError) -> None:
        while self._waiters:
            waiter = self._waiters.popleft()
            if not waiter.done():
                waiter.set_exception(error)

    async def _release(self, message: Message) -> None:
        try:
            await self._sqs.release(self._queue_url, message)
        except (SqsError, CallFailed) as error:
            log.info("a message comes back to its queue later: %s", error)

    def _pass_on(self, waiter: Waiter) -> None:
        if waiter.done() and not waiter.cancelled() and waiter.exception() is None:
            message = waiter.result()
            if message is not None:
                self.give_back(message)


def _time_is_over(waiter: Waiter) -> None:
    if not waiter.done():
        waiter.set_result(None)
