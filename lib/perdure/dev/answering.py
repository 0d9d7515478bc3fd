"""Answering a call, whatever protocol brought it: run its function, and wait where the function says so.

What does not live here: how long a service wants to wait, or for what (`services.calls.Wait` says that).
A newcomer's trap: the last try comes before the caller's own deadline. Whoever answers exactly at the deadline
answers into the void, and a poll that claims a task then loses it until that task times out.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping
from typing import Any

from durable_core.model import limits
from durable_core.model.errors import Internal, ServiceError
from durable_core.ports.clock import Clock
from durable_core.services.calls import NS_PER_SECOND, Call, Rpc, Wait
from perdure.dev.notifications import InProcessNotifications

# How long a caller is taken to wait that did not say.
PATIENCE_SECONDS = 60.0
# How long before the caller's deadline it is answered: this share of its patience, and at most the margin in `limits`.
MARGIN_SHARE = 0.1

log = logging.getLogger("perdure")


class Answering:
    """Runs service functions in the event loop's thread. `drain` makes every waiting call answer with what it has."""

    def __init__(
        self, context: Any, notifications: InProcessNotifications, clock: Clock, committed: Callable[[], None]
    ) -> None:
        """`committed` is called whenever a function has run, for it may have changed what is due."""
        self._context = context
        self._notifications = notifications
        self._clock = clock
        self._committed = committed
        self._draining = False

    def drain(self) -> None:
        self._draining = True
        self._notifications.wake_everybody()

    async def call(
        self, rpc: Rpc, request: Any, seconds_left: float | None, headers: Mapping[str, str]
    ) -> Any:
        """The answer of any function. `seconds_left` is the caller's patience. Raises nothing but `ServiceError`."""
        if not rpc.waits:
            return self.run(rpc.function, request)
        return await self._wait_for_answer(rpc, request, seconds_left, dict(headers))

    async def _wait_for_answer(
        self, rpc: Rpc, request: Any, seconds_left: float | None, headers: dict[str, str]
    ) -> Any:
        patience = PATIENCE_SECONDS if seconds_left is None else seconds_left
        deadline = self._clock.now() + int(patience * NS_PER_SECOND)
        margin = min(limits.long_poll_margin / NS_PER_SECOND, patience * MARGIN_SHARE)
        now = asyncio.get_running_loop().time
        began = now()
        answer_by = began + patience - margin
        resume = None
        while True:
            last = self._draining or now() >= answer_by
            polls_until = 0 if last else deadline
            outcome = self.run(rpc.function, request, Call(deadline, last, resume, headers, polls_until))
            if not isinstance(outcome, Wait):
                return outcome
            if last:
                raise Internal("the service wants to wait on after its last try")
            resume = outcome.resume
            answer_by = min(answer_by, began + outcome.seconds)
            seconds = max(0.0, answer_by - now())
            if outcome.look_again:
                seconds = min(seconds, outcome.look_again)
            try:
                await self._notifications.wait(outcome.topics, seconds)
            except asyncio.CancelledError:
                if rpc.abandon is not None:
                    self.run(rpc.abandon, request, resume)
                raise

    def run(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call a service function with our context.

        The edge is where a defect becomes an answer: whatever a function raises leaves here as a `ServiceError`.
        """
        try:
            outcome = function(self._context, *arguments)
        except ServiceError:
            raise
        except Exception as defect:
            raise internal(function, defect) from defect
        self._committed()
        return outcome


def internal(function: Callable[..., Any], defect: Exception) -> ServiceError:
    """The answer to a call whose function is broken. What broke is for the log."""
    name = getattr(function, "__name__", str(function))
    log.error("%s failed", name, exc_info=defect)
    return Internal(f"{name}: {type(defect).__name__}: {defect}")
