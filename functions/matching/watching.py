"""Polls of a caller that watches its queue on SQS itself (`perdure bridge`), so that no function waits for it.

`perdure-poll-seconds: N` says that it watches for so long if we tell it the queue; `perdure-queue-url` tells. With
`perdure-task` it hands over a message that it fetched, to be claimed. What does not live here: what a poll does.
A newcomer's trap: what a caller hands over is its word, no more. The claim finds out whether there is such a task.
"""

import base64
import binascii
import json
from collections.abc import Mapping
from typing import Any

from durable_core.adapters.aws.answering import Answering, HandedOver, Limits
from durable_core.model.errors import InvalidArgument
from durable_core.model.times import MILLISECOND, SECOND
from durable_core.ports.clock import Clock
from durable_core.wire.http import HttpCall

SECONDS = "perdure-poll-seconds"
TASK = "perdure-task"
QUEUE_URL = "perdure-queue-url"
SECONDS_MAX = 600
WAITED_MS_MAX = 3_600_000


class Polls:
    """Runs polls: those of watchers, and those that wait here."""

    def __init__(self, answering: Answering, clock: Clock) -> None:
        self._answering = answering
        self._clock = clock

    def run(self, call: HttpCall, until: Limits) -> tuple[Any, Mapping[str, str]]:
        rpc = call.method.rpc
        assert rpc is not None
        if TASK in call.headers:
            handed_over = _handed_over(call.headers[TASK])
            return self._answering.claim(rpc, call.request, handed_over, until, call.headers), {}
        if SECONDS in call.headers:
            watches_until = self._clock.now() + _seconds(call.headers[SECONDS]) * SECOND
            answer, url = self._answering.probe(rpc, call.request, watches_until, call.headers)
            headers = {QUEUE_URL: url} if url else {}
            return (call.method.response() if answer is None else answer), headers
        return self._answering.call(rpc, call.request, until, call.headers), {}


def _seconds(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and 1 <= int(text) <= SECONDS_MAX):
        raise InvalidArgument(f'{SECONDS} must be a whole number from 1 to {SECONDS_MAX}: got "{text}"')
    return int(text)


def _handed_over(text: str) -> HandedOver:
    try:
        said = json.loads(base64.urlsafe_b64decode(text))
        body, receipt, waited = said["body"], said["receipt"], said.get("waited_ms", 0)
    except (binascii.Error, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InvalidArgument(f"{TASK} holds no message: {error}") from error
    if not (isinstance(body, str) and isinstance(receipt, str) and isinstance(waited, int)):
        raise InvalidArgument(f"{TASK} holds no message")
    return HandedOver(body, receipt, min(max(waited, 0), WAITED_MS_MAX) * MILLISECOND)
