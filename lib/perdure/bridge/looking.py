"""Waiting for what happens to a run, without a function that waits with us: we look again, less and less often.

A service that cannot wait for long answers a look with `perdure-again`; its value goes back with the next look. One
that can, such as `perdure dev`, knows nothing of this and simply answers late.
A workflow that was just started through us has hardly ended yet, so the first look at its end waits like the second.
What does not live here: polls for tasks (`polling`). A newcomer's trap: the caller wants an answer before its deadline,
with the token from which to go on. Only the service can write that, so the last look is announced as the last.
"""

import asyncio
from collections.abc import Mapping

from perdure.bridge.backoff import delay_seconds
from perdure.bridge.endpoint import Caller
from perdure.bridge.requests import workflow_awaited_by

LOOKS = frozenset({"/temporal.api.workflowservice.v1.WorkflowService/GetWorkflowExecutionHistory"})
WAIT_HEADER = "perdure-wait"
RESUME_HEADER = "perdure-resume"
AGAIN_HEADER = "perdure-again"

# How long a caller is taken to wait that did not say.
PATIENCE_SECONDS = 60.0
# The last look is made so long before the caller gives up, or at this share of a short patience.
MARGIN_SECONDS_MAX = 5.0
MARGIN_SHARE = 0.2
DELAY_SECONDS_MIN = 0.2
DELAY_SECONDS_MAX = 2.0
# A wait goes on for at most this share of what it took already, so that it is late by no more than that.
LATE_SHARE = 0.3


class Looks:
    """Answers calls that may wait for a run. `drain` makes each look for the last time."""

    def __init__(self, endpoint: Caller) -> None:
        self._endpoint = endpoint
        self._drained = asyncio.Event()
        # Workflows that were started a moment ago, and when.
        self._started: dict[str, float] = {}

    def drain(self) -> None:
        self._drained.set()

    def started(self, workflow_id: str) -> None:
        """The workflow was started right now."""
        now = asyncio.get_running_loop().time()
        self._started.pop(workflow_id, None)
        self._started[workflow_id] = now
        for each, at in list(self._started.items()):
            if now - at < DELAY_SECONDS_MIN:
                break
            del self._started[each]

    async def call(
        self, path: str, body: bytes, headers: Mapping[str, str], patience_seconds: float | None
    ) -> bytes:
        """The answer. Raises `CallFailed`."""
        now = asyncio.get_running_loop().time
        began = now()
        patience = PATIENCE_SECONDS if patience_seconds is None else patience_seconds
        last_at = began + patience - min(MARGIN_SECONDS_MAX, patience * MARGIN_SHARE)
        sent = {**headers, WAIT_HEADER: "look"}
        if self._is_just_started(body):
            await self._pause(min(DELAY_SECONDS_MIN, last_at - began))
        while True:
            left = None if patience_seconds is None else max(0.001, began + patience_seconds - now())
            answer = await self._endpoint.call(path, body, sent, left)
            again = answer.headers.get(AGAIN_HEADER)
            if again is None or sent[WAIT_HEADER] == "last":
                return answer.body
            sent[RESUME_HEADER] = again
            if now() < last_at and not self._drained.is_set():
                await self._pause(min(last_at - now(), _delay(now() - began)))
            if now() >= last_at or self._drained.is_set():
                sent[WAIT_HEADER] = "last"

    def _is_just_started(self, body: bytes) -> bool:
        workflow_id = workflow_awaited_by(body) if self._started else None
        at = self._started.pop(workflow_id, None) if workflow_id is not None else None
        return at is not None and asyncio.get_running_loop().time() - at < DELAY_SECONDS_MIN

    async def _pause(self, seconds: float) -> None:
        try:
            await asyncio.wait_for(self._drained.wait(), seconds)
        except TimeoutError:
            return


def _delay(waited_seconds: float) -> float:
    ceiling = min(DELAY_SECONDS_MAX, waited_seconds * LATE_SHARE)
    return DELAY_SECONDS_MIN + delay_seconds(1, ceiling)
