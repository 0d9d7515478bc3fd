"""Workers' long polls: over HTTPS, each cut into pieces that the gateway lets live, or at SQS, with a call to claim.

The service tells which queue a poll means: the answer to a poll with `perdure-poll-seconds` names the SQS queue in
`perdure-queue-url`. From then on the bridge long-polls that queue itself, so that an idle worker holds no function, and
calls the service only with a message in hand (`perdure-task`), which the service claims and deletes.
What does not live here: receiving (`receiving`). A newcomer's trap: an empty body is an answer of this protocol. It
says that there is no task; to a worker it may go only when the worker's own time is over.
"""

import asyncio
import base64
import json
import logging
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from typing import Any

import grpc

from perdure.bridge.backoff import delay_seconds
from perdure.bridge.endpoint import Answer, Caller
from perdure.bridge.errors import CallFailed
from perdure.bridge.receiving import Receiver
from perdure.bridge.sqs import Message, NoSuchQueue, NotAllowed, Sqs, SqsError

WORKFLOW_SERVICE = "/temporal.api.workflowservice.v1.WorkflowService"
POLLS = frozenset(
    f"{WORKFLOW_SERVICE}/{name}"
    for name in ("PollWorkflowTaskQueue", "PollActivityTaskQueue", "PollNexusTaskQueue")
)

POLL_SECONDS_HEADER = "perdure-poll-seconds"
QUEUE_HEADER = "perdure-queue-url"
TASK_HEADER = "perdure-task"

# How long a worker is taken to wait that did not say.
PATIENCE_SECONDS = 60.0
# API Gateway ends a request after 30 s.
HTTPS_POLL_SECONDS_MAX = 29.0
# A poll is answered this share of its patience, and at most so long, before its worker gives up.
MARGIN_SHARE = 0.1
MARGIN_SECONDS_MAX = 3.0
# For so long the service may count on us to watch a queue. We say it again well before that, by a worker's next poll.
WATCH_SECONDS = 300.0
RENEW_SECONDS = 200.0
# How long polls wait for the first of their kind to learn which queue they mean.
FIRST_ANSWER_SECONDS = 5.0
# After SQS refused us.
HTTPS_ONLY_SECONDS = 600.0
# An empty answer that comes sooner than this is not the end of a long poll, and the next one waits a little.
EMPTY_SECONDS_MIN = 1.0
# A claim is one transaction, and perhaps a cold start.
CLAIM_SECONDS_MAX = 25.0
# What the gateway answers, in place of the service, to a poll that outlived it.
_GATEWAY_TIME_OUTS = frozenset({503, 504})
_LONG_SECONDS = 20.0

log = logging.getLogger("perdure.bridge")


@dataclass(frozen=True, slots=True)
class Poll:
    """One call of a worker. `came_at` and `answer_by` are in the event loop's time."""

    path: str
    body: bytes
    headers: Mapping[str, str]
    came_at: float
    answer_by: float

    def seconds_left(self) -> float:
        return self.answer_by - asyncio.get_running_loop().time()

    def seconds_waited(self) -> float:
        return asyncio.get_running_loop().time() - self.came_at


# A poll's path and body.
_Key = tuple[str, bytes]


@dataclass(slots=True)
class _Watched:
    """A queue that we watch for a poll; until when we said so, and whether somebody is saying it again right now."""

    receiver: Receiver
    renew_at: float
    until: float
    renewing: bool = False


class Polls:
    """Answers polls. Without `sqs` it polls over HTTPS only; `insists`: what SQS refuses is the worker's to know."""

    def __init__(self, endpoint: Caller, sqs: Sqs | None, *, insists: bool = False) -> None:
        self._endpoint = endpoint
        self._sqs = sqs
        self._insists = insists
        # What a poll asks for is told apart by its very bytes: the same worker repeats them.
        self._watched: dict[_Key, _Watched] = {}
        self._receivers: dict[str, Receiver] = {}
        self._asking: dict[_Key, asyncio.Future[None]] = {}
        self._names_no_queues = False
        self._https_until = 0.0
        self._drained = asyncio.Event()

    async def poll(
        self, path: str, body: bytes, headers: Mapping[str, str], patience_seconds: float | None
    ) -> bytes:
        """A task, or empty when none came in time. Raises `CallFailed`."""
        if self._drained.is_set():
            return b""
        patience = PATIENCE_SECONDS if patience_seconds is None else patience_seconds
        margin = min(MARGIN_SECONDS_MAX, patience * MARGIN_SHARE)
        now = asyncio.get_running_loop().time()
        poll = Poll(path, body, headers, now, now + patience - margin)
        answer = await self._once(poll)
        while not answer and not self._drained.is_set() and poll.seconds_left() > EMPTY_SECONDS_MIN:
            answer = await self._once(poll)
        return answer

    async def drain(self, seconds: float) -> None:
        """Answer all polls with nothing; messages in hand go back to their queues."""
        self._drained.set()
        await asyncio.gather(*(receiver.drain(seconds) for receiver in self._receivers.values()))

    async def _once(self, poll: Poll) -> bytes:
        now = asyncio.get_running_loop().time()
        if self._sqs is None or now < self._https_until:
            return await self._over_https(poll)
        key = (poll.path, poll.body)
        watched = self._watched.get(key)
        if watched is None or now >= watched.until:
            if await self._is_asked(key, poll):
                return b""
            return await self._first_probe(key, poll)
        if now >= watched.renew_at and not watched.renewing:
            watched.renewing = True
            try:
                return await self._probe(poll)
            finally:
                watched.renewing = False
        return await self._at_sqs(poll, watched.receiver)

    async def _is_asked(self, key: _Key, poll: Poll) -> bool:
        """Whether a poll for the same queue asks already; then its answer was waited for, but not for long.

        A worker's polls come at once. Without this each of them would wake a function of its own.
        """
        asked = self._asking.get(key)
        if asked is None or self._names_no_queues:
            return False
        seconds = max(0.0, min(FIRST_ANSWER_SECONDS, poll.seconds_left()))
        await asyncio.wait((asked,), timeout=seconds)
        return asked.done()

    async def _first_probe(self, key: _Key, poll: Poll) -> bytes:
        asked: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        if key not in self._asking:
            self._asking[key] = asked
        try:
            return await self._probe(poll)
        finally:
            if self._asking.get(key) is asked:
                del self._asking[key]
            asked.set_result(None)

    async def _over_https(self, poll: Poll) -> bytes:
        answer = await self._long_call(poll, poll.headers)
        return b"" if answer is None else answer.body

    async def _probe(self, poll: Poll) -> bytes:
        """Ask for a task at hand, and for the queue to watch. A service that knows of no queues holds this poll."""
        headers = {**poll.headers, POLL_SECONDS_HEADER: f"{WATCH_SECONDS:.0f}"}
        answer = await self._long_call(poll, headers, lambda answer: QUEUE_HEADER in answer.headers)
        if answer is None:
            return b""
        self._names_no_queues = QUEUE_HEADER not in answer.headers
        self._watch(poll, answer.headers.get(QUEUE_HEADER))
        return answer.body

    async def _at_sqs(self, poll: Poll, receiver: Receiver) -> bytes:
        try:
            message = await receiver.next(max(0.0, poll.seconds_left()))
        except NoSuchQueue:
            self._watched.pop((poll.path, poll.body), None)
            return b""
        except NotAllowed as error:
            return self._without_sqs(error)
        return b"" if message is None else await self._claim(poll, receiver, message)

    async def _claim(self, poll: Poll, receiver: Receiver, message: Message) -> bytes:
        """The task of a message, or empty when the service found it stale."""
        if poll.seconds_left() <= 0 or self._drained.is_set():
            receiver.give_back(message)
            return b""
        said = {
            "body": message.body,
            "receipt": message.receipt,
            "waited_ms": int(poll.seconds_waited() * 1000),
        }
        word = json.dumps(said, separators=(",", ":"))
        headers = {**poll.headers, TASK_HEADER: base64.urlsafe_b64encode(word.encode()).decode()}
        try:
            return (await self._endpoint.call(poll.path, poll.body, headers, CLAIM_SECONDS_MAX)).body
        except CallFailed:
            # Claimed or not, giving it back is right: whoever receives a claimed task finds its message stale.
            receiver.give_back(message)
            raise

    def _watch(self, poll: Poll, queue_url: str | None) -> None:
        """Remember the queue that this poll means, or that there is none to watch."""
        now = asyncio.get_running_loop().time()
        key = (poll.path, poll.body)
        if queue_url is None or self._sqs is None:
            self._watched.pop(key, None)
            return
        if not self._sqs.trusts(queue_url):
            log.error("the endpoint names a queue outside AWS, polling over HTTPS: %s", queue_url)
            self._https_until = now + HTTPS_ONLY_SECONDS
            return
        self._forget_unused(now)
        receiver = self._receivers.get(queue_url)
        if receiver is None:
            receiver = self._receivers[queue_url] = Receiver(self._sqs, queue_url)
        self._watched[key] = _Watched(receiver, now + RENEW_SECONDS, now + WATCH_SECONDS)

    def _forget_unused(self, now: float) -> None:
        self._watched = {key: each for key, each in self._watched.items() if now < each.until}
        used = {id(each.receiver) for each in self._watched.values()}
        self._receivers = {
            url: each for url, each in self._receivers.items() if id(each) in used or not each.idle
        }

    def _without_sqs(self, error: SqsError) -> bytes:
        if self._insists:
            raise CallFailed(grpc.StatusCode.PERMISSION_DENIED, str(error)) from error
        now = asyncio.get_running_loop().time()
        if now >= self._https_until:
            log.warning("polling over HTTPS for %.0f s: %s", HTTPS_ONLY_SECONDS, error)
            self._https_until = now + HTTPS_ONLY_SECONDS
        return b""

    async def _long_call(
        self, poll: Poll, headers: Mapping[str, str], quick: Callable[[Answer], bool] = lambda _: False
    ) -> Answer | None:
        """One piece of a long poll; None when the gateway ended it, or when we drain.

        `quick` says which empty answers may come at once; after another one we wait a little before the next piece.
        """
        began = asyncio.get_running_loop().time()
        seconds = min(max(0.001, poll.seconds_left()), HTTPS_POLL_SECONDS_MAX)
        try:
            answer = await self._unless_drained(self._endpoint.call(poll.path, poll.body, headers, seconds))
        except CallFailed as failure:
            took = asyncio.get_running_loop().time() - began
            if failure.gateway_status in _GATEWAY_TIME_OUTS and took >= _LONG_SECONDS:
                return None
            raise
        took = asyncio.get_running_loop().time() - began
        if answer is not None and not answer.body and not quick(answer) and took < EMPTY_SECONDS_MIN:
            await asyncio.sleep(min(max(0.0, poll.seconds_left()), delay_seconds(1, EMPTY_SECONDS_MIN)))
        return answer

    async def _unless_drained(self, call: Coroutine[Any, Any, Answer]) -> Answer | None:
        calling = asyncio.create_task(call)
        draining = asyncio.create_task(self._drained.wait())
        try:
            await asyncio.wait((calling, draining), return_when=asyncio.FIRST_COMPLETED)
            return calling.result() if calling.done() else None
        finally:
            calling.cancel()
            draining.cancel()
