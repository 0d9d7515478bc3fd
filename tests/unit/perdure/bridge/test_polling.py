"""Polls: cut into pieces over HTTPS, or waiting at SQS and claiming with a message in hand."""

import asyncio
import base64
import json
from contextlib import asynccontextmanager

import grpc
import pytest
from aiohttp import web

from perdure.bridge import polling
from perdure.bridge.endpoint import http_session
from perdure.bridge.errors import CallFailed
from perdure.bridge.polling import POLL_SECONDS_HEADER, QUEUE_HEADER, TASK_HEADER, Polls
from perdure.bridge.sqs import Sqs
from tests.unit.perdure.bridge.far_ends import POLL, SqsFake, endpoint_at, far_end, never, proto, some_aws
from tests.unit.perdure.systems import until

pytestmark = pytest.mark.asyncio
QUEUE = "https://sqs.eu-west-1.amazonaws.com/1/q.fifo"


class Service:
    """An endpoint that names a queue, and claims what it is handed; `claims` are its answers by message body."""

    def __init__(self):
        self.probes = []
        self.claimed = []
        self.waited = []
        self.claims = {}
        self.queue = QUEUE
        self.at_hand = []

    async def answer(self, asked):
        task = asked.headers.get(TASK_HEADER)
        if task is None:
            self.probes.append(asked)
            body = self.at_hand.pop(0) if self.at_hand else b""
            return proto(body, **{QUEUE_HEADER: self.queue} if self.queue else {})
        message = json.loads(base64.urlsafe_b64decode(task))
        self.waited.append(message.pop("waited_ms"))
        self.claimed.append(message)
        outcome = self.claims.get(message["body"], b"claimed " + message["body"].encode())
        return outcome if isinstance(outcome, web.Response) else proto(outcome)


@pytest.fixture
def world(monkeypatch):
    """Polls, their service and their queue, inside `async with`."""
    aws = some_aws(monkeypatch)

    @asynccontextmanager
    async def opened(service=None, insists=False):
        service = service or Service()
        fake = SqsFake()
        async with (
            far_end(service.answer) as far,
            far_end(fake.answer) as queue,
            http_session() as session,
            endpoint_at(far.url) as endpoint,
        ):
            polls = Polls(endpoint, Sqs(session, aws, queue.url), insists=insists)
            try:
                yield polls, service, fake
            finally:
                await polls.drain(0)

    return opened


@asynccontextmanager
async def over_https(answer):
    async with far_end(answer) as end, endpoint_at(end.url) as endpoint:
        yield Polls(endpoint, None), end


async def test_a_task_over_https_is_passed_on_as_it_is():
    async def answer(asked):
        return proto(b"task for " + asked.body)

    async with over_https(answer) as (polls, end):
        assert await polls.poll(POLL, b"me", {"client-name": "x"}, 70.0) == b"task for me"
        assert end.asked[0].headers["client-name"] == "x"
        assert POLL_SECONDS_HEADER not in end.asked[0].headers


async def test_an_empty_answer_before_the_workers_deadline_means_poll_again(monkeypatch):
    monkeypatch.setattr(polling, "delay_seconds", lambda *_: 0.0)
    answers = [b"", b"", b"task"]

    async def answer(_):
        return proto(answers.pop(0))

    async with over_https(answer) as (polls, end):
        assert await polls.poll(POLL, b"", {}, 70.0) == b"task"
        assert len(end.asked) == 3


async def test_no_piece_is_longer_than_a_gateway_lives_nor_than_the_worker_waits():
    async def answer(_):
        return proto(b"task")

    async with over_https(answer) as (polls, end):
        await polls.poll(POLL, b"", {}, 70.0)
        await polls.poll(POLL, b"", {}, 10.0)
        await polls.poll(POLL, b"", {}, None)
        asked = [int(each.headers["connect-timeout-ms"]) for each in end.asked]
        assert asked[0] == asked[2] == 29_000
        assert 8_000 < asked[1] <= 9_000


async def test_a_worker_is_answered_with_nothing_before_its_deadline():
    async def answer(_):
        return proto(b"")

    async with over_https(answer) as (polls, _):
        began = asyncio.get_running_loop().time()
        assert await polls.poll(POLL, b"", {}, 0.5) == b""
        assert asyncio.get_running_loop().time() - began < 0.5


async def test_quick_empty_answers_are_not_repeated_in_a_hurry(monkeypatch):
    waited = []
    monkeypatch.setattr(polling, "delay_seconds", lambda *arguments: waited.append(arguments) or 0.01)
    answers = [b"", b"", b"task"]

    async def answer(_):
        return proto(answers.pop(0))

    async with over_https(answer) as (polls, _):
        await polls.poll(POLL, b"", {}, 70.0)
        assert waited == [(1, polling.EMPTY_SECONDS_MIN)] * 2


@pytest.mark.parametrize("status", [503, 504])
async def test_a_gateway_that_ends_a_long_poll_is_asked_again(monkeypatch, status):
    monkeypatch.setattr(polling, "_LONG_SECONDS", 0.0)
    answers = [web.json_response({"message": "time"}, status=status), proto(b"task")]

    async def answer(_):
        return answers.pop(0)

    async with over_https(answer) as (polls, _):
        assert await polls.poll(POLL, b"", {}, 70.0) == b"task"


async def test_a_gateway_that_refuses_at_once_is_an_error_for_the_worker():
    async def answer(_):
        return web.json_response({"message": "no capacity"}, status=503)

    async with over_https(answer) as (polls, end):
        with pytest.raises(CallFailed, match="no capacity") as raised:
            await polls.poll(POLL, b"", {}, 70.0)
        assert raised.value.code is grpc.StatusCode.UNAVAILABLE
        assert len(end.asked) == 1


async def test_a_cancelled_poll_over_https_hangs_up():
    async with over_https(never) as (polls, end):
        poll = asyncio.create_task(polls.poll(POLL, b"", {}, 70.0))
        await asyncio.wait_for(end.arrived.get(), 10)
        poll.cancel()
        await asyncio.wait_for(end.left.get(), 10)


async def test_draining_answers_polls_over_https_with_nothing():
    async with over_https(never) as (polls, end):
        poll = asyncio.create_task(polls.poll(POLL, b"", {}, 70.0))
        await asyncio.wait_for(end.arrived.get(), 10)
        await polls.drain(1.0)
        assert await poll == b""
        assert await polls.poll(POLL, b"", {}, 70.0) == b""


async def test_a_poll_waits_at_sqs_and_claims_with_the_message(world):
    async with world() as (polls, service, fake):
        poll = asyncio.create_task(polls.poll(POLL, b"request", {"client-name": "x"}, 70.0))
        await until(lambda: fake.receiving)
        assert [asked.headers[POLL_SECONDS_HEADER] for asked in service.probes] == ["300"]
        await fake.send("one")
        assert await poll == b"claimed one"
        (receipt,) = fake.hidden
        assert service.claimed == [{"body": "one", "receipt": receipt}]
        assert 0 <= service.waited[0] < 70_000


async def test_the_next_poll_of_the_worker_goes_straight_to_sqs(world):
    async with world() as (polls, service, fake):
        for name in ("one", "two", "three"):
            await fake.send(name)
            assert await polls.poll(POLL, b"request", {}, 70.0) == b"claimed " + name.encode()
        assert len(service.probes) == 1


async def test_another_request_asks_which_queue_it_means(world):
    async with world() as (polls, service, fake):
        await fake.send("one", "two")
        await polls.poll(POLL, b"request", {}, 70.0)
        await polls.poll(POLL, b"another", {}, 70.0)
        assert [asked.body for asked in service.probes] == [b"request", b"another"]


async def test_a_task_at_hand_is_taken_by_the_question_itself(world):
    async with world() as (polls, service, fake):
        service.at_hand = [b"at hand"]
        assert await polls.poll(POLL, b"request", {}, 70.0) == b"at hand"
        assert fake.receives == []


async def test_a_stale_message_leads_to_the_next(world):
    async with world() as (polls, service, fake):
        service.claims["stale"] = b""
        await fake.send("stale")
        poll = asyncio.create_task(polls.poll(POLL, b"request", {}, 70.0))
        await until(lambda: len(service.claimed) == 1)
        await fake.send("fresh")
        assert await poll == b"claimed fresh"
        assert fake.released.empty()


async def test_a_claim_that_fails_gives_the_message_back_and_tells_the_worker(world):
    async with world() as (polls, service, fake):
        service.claims["one"] = web.json_response({"code": "unavailable", "message": "busy"}, status=503)
        await fake.send("one")
        with pytest.raises(CallFailed, match="busy"):
            await polls.poll(POLL, b"request", {}, 70.0)
        assert await asyncio.wait_for(fake.released.get(), 10) == "one"


async def test_a_worker_that_left_loses_no_message(world):
    async with world() as (polls, _, fake):
        poll = asyncio.create_task(polls.poll(POLL, b"request", {}, 70.0))
        await until(lambda: fake.receiving)
        poll.cancel()
        await asyncio.wait((poll,))
        await fake.send("one")
        assert await asyncio.wait_for(fake.released.get(), 10) == "one"
        assert await polls.poll(POLL, b"request", {}, 70.0) == b"claimed one"


async def test_a_poll_at_sqs_ends_empty_before_the_workers_deadline(world):
    async with world() as (polls, _, fake):
        assert await polls.poll(POLL, b"request", {}, 0.5) == b""
        assert len(fake.receives) <= 1


async def test_many_polls_of_a_worker_watch_one_queue_by_one_receive(world):
    async with world() as (polls, service, fake):
        await polls.poll(POLL, b"request", {}, 0.2)
        waiting = [asyncio.create_task(polls.poll(POLL, b"request", {}, 70.0)) for _ in range(50)]
        await until(lambda: len(fake.receives) == 1)
        assert fake.receiving == 1
        assert len(service.probes) == 1
        await polls.drain(0)
        assert {await each for each in waiting} == {b""}


async def test_polls_that_come_at_once_ask_for_their_queue_once(world):
    async with world() as (polls, service, fake):
        waiting = [asyncio.create_task(polls.poll(POLL, b"request", {}, 70.0)) for _ in range(20)]
        await until(lambda: fake.receiving)
        assert len(service.probes) == 1
        await fake.send(*"abcdefghijklmnopqrst")
        assert len({await each for each in waiting}) == 20
        assert len(fake.receives) <= 4


async def test_polls_do_not_wait_long_for_one_that_is_held(world, monkeypatch):
    monkeypatch.setattr(polling, "FIRST_ANSWER_SECONDS", 0.05)

    class Holding(Service):
        async def answer(self, asked):
            self.probes.append(asked)
            return await never(asked)

    async with world(Holding()) as (polls, service, _):
        waiting = [asyncio.create_task(polls.poll(POLL, b"request", {}, 70.0)) for _ in range(5)]
        await until(lambda: len(service.probes) == 5)
        await polls.drain(0)
        assert {await each for each in waiting} == {b""}


async def test_a_service_that_names_no_queues_keeps_no_poll_waiting_for_another(world, monkeypatch):
    monkeypatch.setattr(polling, "FIRST_ANSWER_SECONDS", 3600.0)
    held = asyncio.Event()

    class Held(Service):
        async def answer(self, asked):
            self.probes.append(asked)
            if len(self.probes) > 1:
                await held.wait()
            return proto(b"task")

    async with world(Held()) as (polls, service, _):
        assert await polls.poll(POLL, b"request", {}, 70.0) == b"task"
        waiting = [asyncio.create_task(polls.poll(POLL, b"request", {}, 70.0)) for _ in range(5)]
        await until(lambda: len(service.probes) == 6)
        held.set()
        assert {await each for each in waiting} == {b"task"}


async def test_the_queue_is_asked_for_again_before_the_service_counts_us_out(world, monkeypatch):
    async with world() as (polls, service, fake):
        with monkeypatch.context() as patch:
            patch.setattr(polling, "RENEW_SECONDS", 0.0)
            await polls.poll(POLL, b"request", {}, 0.1)
        probes = len(service.probes)
        await fake.send("one", "two")
        await polls.poll(POLL, b"request", {}, 70.0)
        await polls.poll(POLL, b"request", {}, 70.0)
        assert len(service.probes) == probes + 1


async def test_a_service_that_names_no_queue_is_polled_over_https(world):
    async with world() as (polls, service, fake):
        service.queue = None
        service.at_hand = [b"a", b"b"]
        assert [await polls.poll(POLL, b"request", {}, 70.0) for _ in range(2)] == [b"a", b"b"]
        assert fake.receives == []


async def test_a_queue_that_is_gone_is_asked_for_again(world):
    async with world() as (polls, service, fake):
        await polls.poll(POLL, b"request", {}, 0.2)
        await until(lambda: fake.receiving or True)
        fake.error = (400, "QueueDoesNotExist")
        await fake.send("wakes the receive under way")
        await polls.poll(POLL, b"request", {}, 0.5)
        fake.error = None
        assert await polls.poll(POLL, b"request", {}, 70.0) == b"claimed wakes the receive under way"
        assert len(service.probes) >= 2


async def test_without_permission_for_sqs_it_polls_over_https(world, caplog):
    async with world() as (polls, service, fake):
        fake.error = (403, "AccessDeniedException")
        service.at_hand = [b"", b"task"]
        assert await polls.poll(POLL, b"request", {}, 70.0) == b"task"
        assert POLL_SECONDS_HEADER not in service.probes[1].headers
        assert "polling over HTTPS" in caplog.text


async def test_who_insists_on_sqs_is_told_what_it_refused(world):
    async with world(insists=True) as (polls, _, fake):
        fake.error = (403, "AccessDeniedException")
        with pytest.raises(CallFailed, match="AccessDenied") as raised:
            await polls.poll(POLL, b"request", {}, 70.0)
        assert raised.value.code is grpc.StatusCode.PERMISSION_DENIED


async def test_a_queue_outside_aws_gets_no_signed_request(monkeypatch, caplog):
    service = Service()
    service.queue = "https://evil.example.com/q"
    service.at_hand = [b"", b"task"]
    async with (
        far_end(service.answer) as far,
        http_session() as session,
        endpoint_at(far.url) as endpoint,
    ):
        polls = Polls(endpoint, Sqs(session, some_aws(monkeypatch), None))
        assert await polls.poll(POLL, b"request", {}, 70.0) == b"task"
        assert "outside AWS" in caplog.text


async def test_draining_gives_back_what_was_received(world):
    async with world() as (polls, _, fake):
        poll = asyncio.create_task(polls.poll(POLL, b"request", {}, 70.0))
        await until(lambda: fake.receiving)
        draining = asyncio.create_task(polls.drain(20.0))
        assert await poll == b""
        await fake.send("one")
        await draining
        assert fake.messages == ["one"]
