"""One receive a queue serves all polls that wait, and no message is kept by somebody who left."""

import asyncio
from contextlib import asynccontextmanager

import pytest

from perdure.bridge import receiving
from perdure.bridge.endpoint import http_session
from perdure.bridge.receiving import Receiver
from perdure.bridge.sqs import Message, NoSuchQueue, NotAllowed, Sqs
from tests.unit.perdure.bridge.far_ends import SqsFake, far_end, some_aws
from tests.unit.perdure.systems import until

pytestmark = pytest.mark.asyncio
QUEUE = "https://sqs.eu-west-1.amazonaws.com/1/q.fifo"


@pytest.fixture
def receiver(monkeypatch):
    """A receiver of a queue; with the queue, inside `async with`."""
    aws = some_aws(monkeypatch)

    @asynccontextmanager
    async def opened():
        fake = SqsFake()
        async with far_end(fake.answer) as end, http_session() as session:
            one = Receiver(Sqs(session, aws, end.url), QUEUE)
            try:
                yield one, fake
            finally:
                await one.drain(0)

    return opened


async def test_a_message_goes_to_who_waits(receiver):
    async with receiver() as (one, fake):
        waiting = asyncio.create_task(one.next(20))
        await until(lambda: fake.receiving)
        await fake.send("task")
        message = await waiting
        assert message.body == "task"
        assert fake.hidden == {message.receipt: "task"}
        assert fake.receives[0]["QueueUrl"] == QUEUE
        assert fake.receives[0]["WaitTimeSeconds"] == 20


async def test_many_who_wait_share_one_receive(receiver):
    async with receiver() as (one, fake):
        waiting = [asyncio.create_task(one.next(20)) for _ in range(7)]
        await until(lambda: fake.receiving)
        await fake.send(*"abcdefg")
        assert sorted(each.body for each in await asyncio.gather(*waiting)) == list("abcdefg")
        assert [receive["MaxNumberOfMessages"] for receive in fake.receives] == [7]


async def test_a_receive_asks_for_no_more_than_sqs_gives(receiver):
    async with receiver() as (one, fake):
        waiting = [asyncio.create_task(one.next(20)) for _ in range(12)]
        await until(lambda: fake.receiving)
        await fake.send(*"abcdefghijkl")
        assert sorted(each.body for each in await asyncio.gather(*waiting)) == list("abcdefghijkl")
        assert [receive["MaxNumberOfMessages"] for receive in fake.receives] == [10, 2]


async def test_whose_time_is_over_gets_nothing_and_the_receive_serves_the_next(receiver):
    async with receiver() as (one, fake):
        assert await one.next(0.05) is None
        assert fake.receiving == 1
        waiting = asyncio.create_task(one.next(20))
        await asyncio.sleep(0)
        await fake.send("task")
        assert (await waiting).body == "task"
        assert len(fake.receives) == 1


async def test_a_message_that_nobody_waits_for_any_more_goes_back_at_once(receiver):
    async with receiver() as (one, fake):
        waiting = asyncio.create_task(one.next(20))
        await until(lambda: fake.receiving)
        waiting.cancel()
        await asyncio.wait((waiting,))
        await fake.send("task")
        assert await asyncio.wait_for(fake.released.get(), 10) == "task"
        assert fake.hidden == {}
        await until(lambda: one.idle)


async def test_who_leaves_with_a_message_in_hand_passes_it_on(receiver):
    async with receiver() as (one, fake):
        waiting = [asyncio.create_task(one.next(20)) for _ in range(2)]
        await until(lambda: fake.receiving)
        # The message is there and its waiter has not run yet: now it is cancelled.
        one.give_back(Message("task", "receipt"))
        waiting[0].cancel()
        assert (await waiting[1]).body == "task"
        assert waiting[0].cancelled()


@pytest.mark.parametrize(
    "error, raised",
    [
        ((400, "QueueDoesNotExist"), NoSuchQueue),
        ((400, "AWS.SimpleQueueService.NonExistentQueue"), NoSuchQueue),
        ((403, "AccessDeniedException"), NotAllowed),
        ((400, "AccessDenied"), NotAllowed),
        ((403, "InvalidClientTokenId"), NotAllowed),
    ],
)
async def test_a_refusal_is_told_to_all_who_wait(receiver, error, raised):
    async with receiver() as (one, fake):
        fake.error = error
        outcomes = await asyncio.gather(one.next(20), one.next(20), return_exceptions=True)
        assert [type(each) for each in outcomes] == [raised, raised]


@pytest.mark.parametrize("error", [(500, "InternalError"), (400, "RequestThrottled"), (503, "Unavailable")])
async def test_what_passes_by_itself_is_tried_again(receiver, error, monkeypatch):
    tries = []
    monkeypatch.setattr(receiving, "delay_seconds", lambda failures: tries.append(failures) or 0.0)
    async with receiver() as (one, fake):
        fake.error = error
        waiting = asyncio.create_task(one.next(20))
        await until(lambda: len(tries) >= 3)
        fake.error = None
        await fake.send("task")
        assert (await waiting).body == "task"
        assert tries[:3] == [1, 2, 3]


async def test_draining_answers_all_who_wait_and_gives_back_what_still_comes(receiver):
    async with receiver() as (one, fake):
        waiting = asyncio.create_task(one.next(20))
        await until(lambda: fake.receiving)
        draining = asyncio.create_task(one.drain(20))
        assert await waiting is None
        await fake.send("task")
        await draining
        assert fake.released.get_nowait() == "task"
        assert await one.next(20) is None


async def test_only_aws_or_the_configured_endpoint_is_trusted_with_signed_requests(monkeypatch):
    aws = some_aws(monkeypatch)
    async with http_session() as session:
        plain = Sqs(session, aws, None)
        assert plain.trusts(QUEUE)
        assert plain.trusts("https://sqs.cn-north-1.amazonaws.com.cn/1/q")
        assert not plain.trusts("https://evil.example.com/1/q")
        assert not plain.trusts("https://amazonaws.com.evil.example/1/q")
        assert not plain.trusts("http://sqs.eu-west-1.amazonaws.com/1/q")
        assert Sqs(session, aws, "http://127.0.0.1:4566").trusts("http://localhost:4566/0/q")
