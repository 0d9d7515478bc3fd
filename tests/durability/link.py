"""The load's connection to one life of the server, and what an answer or silence means for the request that was sent.

What does not live here: what is sent (clients.py, workers.py).
A newcomer's mistake: to count a refusal of a repeated request. The first attempt may have acted, and that is why the
repetition was refused.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from google.protobuf.message import Message

from tests.durability.api import TRANSIENT, Api, Refused, Reply, Unanswered
from tests.durability.ledger import ActivityAnswer, Outcome, Signal, TaskAnswer
from tests.durability.world import Answer, World

PAUSE_AFTER_SILENCE_SECONDS = 0.02
# A worker that dies with the server never repeats its answer; the server's time-out must bring the task back.
SHARE_REPEATED = 0.7


@dataclass
class Link:
    """What every loop of one life of the server shares. ``ends`` is set just before the server is killed."""

    world: World
    api: Api
    ends: asyncio.Event

    async def send(
        self, entry: Signal | TaskAnswer | ActivityAnswer, request: Message, reply_type: type[Reply]
    ) -> Reply:
        """Send a request, once more or for the first time, and enter what is known of its outcome."""
        entry.attempts += 1
        try:
            reply = await self.api.call(request, reply_type)
        except Refused:
            if entry.attempts == 1:
                entry.outcome = Outcome.REFUSED
            raise
        entry.outcome = Outcome.ACKNOWLEDGED
        return reply

    async def answer(self, answer: Answer, reply_type: type[Reply]) -> Reply | None:
        """Send a worker's answer; keep it for the next life when nobody knows whether it arrived."""
        try:
            return await self.send(answer.entry, answer.request, reply_type)
        except Refused:
            return None
        except Unanswered as silence:
            if self.world.chance.random() < SHARE_REPEATED:
                self.world.outbox.append(answer)
            await self.after_silence(silence)
            return None

    async def after_silence(self, silence: Unanswered) -> None:
        """Enter an error that no living server should give, and pause so that a loop does not spin."""
        if not self.ends.is_set() and silence.code not in TRANSIENT:
            self.world.ledger.surprises.append(str(silence))
        await asyncio.sleep(PAUSE_AFTER_SILENCE_SECONDS)
