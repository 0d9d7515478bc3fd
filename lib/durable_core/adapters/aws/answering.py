"""Answering a call in a function: run the service's function, and wait where it says so, but not for long.

A wait for a task queue is a long poll of its SQS queue; a wait for a run or a query is a short sleep and another look.
What does not live here: protocols (`wire`), and how long a service wants to wait (`services.calls.Wait`).
A newcomer's trap: API Gateway gives up after 30 s whatever we do, so we answer well before that, empty if need be, and
the caller comes again.
"""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from durable_core.adapters.aws.sqs_queues import SqsTaskQueues
from durable_core.model import limits
from durable_core.model.errors import Internal, InvalidArgument, ServiceError
from durable_core.model.ids import QueueKey
from durable_core.model.times import MILLISECOND, SECOND
from durable_core.ports.notifications import Topic
from durable_core.services.calls import Call, Rpc, Wait
from durable_core.services.context import Context

LOOK_AGAIN_FIRST = 100 * MILLISECOND
LOOK_AGAIN_MAX = 1 * SECOND
LOOK_AGAIN_FACTOR = 1.5
MARGIN_SHARE = 0.1
"""A caller is answered this share of its patience before its deadline, at most the margin in `limits`."""

log = logging.getLogger("perdure")


@dataclass(frozen=True, slots=True)
class Limits:
    """When a call must have been answered, in ns: `caller` for its own sake, `edge` because the edge gives up."""

    caller: int
    edge: int


@dataclass(frozen=True, slots=True)
class HandedOver:
    """A message that a caller fetched itself, for a poll that has waited so long (ns)."""

    body: str
    receipt: str
    waited: int = 0


class Answering:
    def __init__(self, context: Context, queues: SqsTaskQueues, pause: Callable[[float], None]) -> None:
        """`pause` waits that many seconds."""
        self._context = context
        self._queues = queues
        self._clock = context.clock
        self._pause = pause

    def call(self, rpc: Rpc, request: Any, until: Limits, headers: Mapping[str, str]) -> Any:
        """The answer of any function. Raises nothing but `ServiceError`."""
        if not rpc.waits:
            return self._run(rpc.function, request)
        try:
            return self._wait_for_answer(rpc, request, until, dict(headers))
        finally:
            self._queues.give_back()

    def probe(
        self, rpc: Rpc, request: Any, watches_until: int, headers: Mapping[str, str]
    ) -> tuple[Any, str]:
        """For a caller that watches the poll's queue itself until then: an answer or None, and the queue's URL.

        The URL is empty where there is nothing to watch.
        """
        call = Call(watches_until, headers=dict(headers), polls_until=watches_until)
        outcome = self._run(rpc.function, request, call)
        if not isinstance(outcome, Wait):
            return outcome, ""
        topic = outcome.topics[0]
        if not isinstance(topic, QueueKey):
            return None, ""
        self._queues.create(topic)
        return None, self._queues.url(topic)

    def claim(
        self, rpc: Rpc, request: Any, message: HandedOver, until: Limits, headers: Mapping[str, str]
    ) -> Any:
        """The answer to a poll whose caller fetched the message itself; empty when it is stale."""
        try:
            self._queues.offer(message.body, message.receipt)
        except ValueError as error:
            raise InvalidArgument(f"the message holds no task: {error}") from error
        try:
            began = self._clock.now() - message.waited
            call = Call(until.caller, last=True, resume=began, headers=dict(headers))
            answer = self._run(rpc.function, request, call)
            if self._queues.let_go_of_fetched():
                raise InvalidArgument("the task is not one of the queue that is polled")
            return answer
        finally:
            self._queues.give_back()

    def look(
        self, rpc: Rpc, request: Any, resume: str | None, until: Limits, headers: Mapping[str, str]
    ) -> tuple[Any, str | None]:
        """For a caller that waits itself: the answer, or None and the word to come again with."""
        outcome = self._run(rpc.function, request, Call(until.caller, resume=resume, headers=dict(headers)))
        return (None, str(outcome.resume)) if isinstance(outcome, Wait) else (outcome, None)

    def look_last(
        self, rpc: Rpc, request: Any, resume: str | None, until: Limits, headers: Mapping[str, str]
    ) -> Any:
        """What such a caller is answered when its time is over."""
        return self._run(rpc.function, request, Call(until.caller, True, resume, dict(headers)))

    def _wait_for_answer(self, rpc: Rpc, request: Any, until: Limits, headers: dict[str, str]) -> Any:
        began = self._clock.now()
        margin = min(limits.long_poll_margin, int((until.caller - began) * MARGIN_SHARE))
        answer_by = min(until.caller - margin, until.edge)
        resume = None
        interval = LOOK_AGAIN_FIRST
        while True:
            last = self._clock.now() >= answer_by
            call = Call(until.caller, last, resume, headers, polls_until=0 if last else answer_by)
            outcome = self._run(rpc.function, request, call)
            if not isinstance(outcome, Wait):
                return outcome
            if last:
                raise Internal("the service wants to wait on after its last try")
            resume = outcome.resume
            answer_by = min(answer_by, began + int(outcome.seconds * SECOND))
            self._wait(outcome.topics, answer_by, interval)
            interval = min(int(interval * LOOK_AGAIN_FACTOR), LOOK_AGAIN_MAX)

    def _wait(self, topics: tuple[Topic, ...], until: int, interval: int) -> None:
        """Wait for a while, at most until then."""
        queue = next((topic for topic in topics if isinstance(topic, QueueKey)), None)
        left = max(0, until - self._clock.now())
        if queue is None:
            self._pause(min(interval, left) / SECOND)
        elif left < SECOND:
            # SQS waits for whole seconds.
            self._pause(left / SECOND)
        else:
            self._queues.wait(queue, left // SECOND)

    def _run(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call a service function with our context; a defect leaves here as a `ServiceError`."""
        self._context.runs.distrust()
        try:
            return function(self._context, *arguments)
        except ServiceError:
            raise
        except Exception as defect:
            name = getattr(function, "__name__", str(function))
            log.exception("%s failed", name)
            raise Internal(f"{name}: {type(defect).__name__}: {defect}") from defect
