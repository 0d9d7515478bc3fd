"""Calls that change one run take turns: each is sent when the one before it is answered.

A run is one document, and a change of it is one transaction. Fifty at once would make fifty functions read it, and
forty-nine of them do so in vain, again and again. One after the other they find a function that has it in hand.
What does not live here: correctness. The service decides who was first, wherever a call comes from.
A newcomer's trap: a call that waits for the run (an update, a query, a long poll) must have no turn, for what it waits
for needs one.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

import grpc

from perdure.bridge.endpoint import Answer, Caller
from perdure.bridge.errors import CallFailed
from perdure.bridge.requests import workflow_changed_by

# A call that hangs keeps the others waiting no longer than this.
TURN_SECONDS_MAX = 2.0


class InTurns:
    """A caller that lets calls which change one workflow take turns."""

    def __init__(self, endpoint: Caller, seconds_max: float = TURN_SECONDS_MAX) -> None:
        self._endpoint = endpoint
        self._seconds_max = seconds_max
        # An event tells a call that its turn has come. The first of a queue is the one whose turn it is.
        self._queues: dict[str, deque[asyncio.Event]] = {}

    async def call(
        self, path: str, body: bytes, headers: Mapping[str, str], timeout_seconds: float | None
    ) -> Answer:
        """See `Endpoint.call`. The time that a call waits for its turn is the caller's, too."""
        workflow_id = workflow_changed_by(path, body, headers)
        if workflow_id is None:
            return await self._endpoint.call(path, body, headers, timeout_seconds)
        now = asyncio.get_running_loop().time
        came_at = now()
        async with self._turn(workflow_id):
            left = None if timeout_seconds is None else timeout_seconds - (now() - came_at)
            if left is not None and left <= 0:
                message = "the calls before this one, which change the same workflow, took all of its time"
                raise CallFailed(grpc.StatusCode.DEADLINE_EXCEEDED, message)
            return await self._endpoint.call(path, body, headers, left)

    @asynccontextmanager
    async def _turn(self, workflow_id: str) -> AsyncIterator[None]:
        """Wait for a turn, and have it for the time of the context, or for the longest time that one may last."""
        turn = asyncio.Event()
        queue = self._queues.setdefault(workflow_id, deque())
        queue.append(turn)
        timer = None
        try:
            if queue[0] is not turn:
                await turn.wait()
            timer = asyncio.get_running_loop().call_later(self._seconds_max, self._end, workflow_id, turn)
            yield
        finally:
            if timer is not None:
                timer.cancel()
            self._end(workflow_id, turn)

    def _end(self, workflow_id: str, turn: asyncio.Event) -> None:
        """The turn is over, or its call has left; more than once does no harm."""
        queue = self._queues.get(workflow_id)
        if queue is None or turn not in queue:
            return
        was_first = queue[0] is turn
        queue.remove(turn)
        if not queue:
            del self._queues[workflow_id]
        elif was_first:
            queue[0].set()
