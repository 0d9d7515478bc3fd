"""Waiting for a run: one look after another, until there is an answer or the caller's time is over."""

import asyncio
from contextlib import asynccontextmanager

import pytest
from temporalio.api.workflowservice.v1 import GetWorkflowExecutionHistoryRequest

from perdure.bridge import looking
from perdure.bridge.looking import AGAIN_HEADER, LOOKS, RESUME_HEADER, WAIT_HEADER, Looks
from tests.unit.perdure.bridge.far_ends import endpoint_at, far_end, proto

pytestmark = pytest.mark.asyncio
(HISTORY,) = LOOKS


class Run:
    """Answers that there is nothing yet so many times, then with its end; and to a last look with a token."""

    def __init__(self, looks):
        self.looks = looks
        self.asked = []

    async def answer(self, asked):
        self.asked.append((asked.headers[WAIT_HEADER], asked.headers.get(RESUME_HEADER)))
        if asked.headers[WAIT_HEADER] == "last":
            return proto(b"token")
        if len(self.asked) <= self.looks:
            return proto(b"", **{AGAIN_HEADER: "run-1"})
        return proto(b"the end of " + asked.body)


@asynccontextmanager
async def before(run):
    async with far_end(run.answer) as end, endpoint_at(end.url) as endpoint:
        yield Looks(endpoint), end


@pytest.fixture(autouse=True)
def soon(monkeypatch):
    monkeypatch.setattr(looking, "DELAY_SECONDS_MIN", 0.001)


async def test_an_answer_at_once_is_passed_on():
    run = Run(0)
    async with before(run) as (looks, end):
        assert await looks.call(HISTORY, b"x", {"client-name": "c"}, 60.0) == b"the end of x"
        assert run.asked == [("look", None)]
        assert end.asked[0].headers["client-name"] == "c"
        assert 59_000 < int(end.asked[0].headers["connect-timeout-ms"]) <= 60_000


async def test_it_looks_again_with_the_word_that_it_was_given():
    run = Run(3)
    async with before(run) as (looks, _):
        assert await looks.call(HISTORY, b"x", {}, 60.0) == b"the end of x"
        assert run.asked == [("look", None), *[("look", "run-1")] * 3]


def history_of(workflow_id, *, wait=True, kind="CLOSE_EVENT"):
    return GetWorkflowExecutionHistoryRequest(
        execution={"workflow_id": workflow_id},
        wait_new_event=wait,
        history_event_filter_type=f"HISTORY_EVENT_FILTER_TYPE_{kind}",
    ).SerializeToString()


async def test_the_first_look_at_what_was_just_started_waits_and_no_other_does(monkeypatch):
    monkeypatch.setattr(looking, "DELAY_SECONDS_MIN", 0.3)
    async with before(Run(0)) as (looks, _):
        now = asyncio.get_running_loop().time

        async def seconds(body):
            began = now()
            await looks.call(HISTORY, body, {}, 60.0)
            return now() - began

        looks.started("w")
        assert await seconds(history_of("w", wait=False)) < 0.2
        assert await seconds(history_of("w", kind="ALL_EVENT")) < 0.2
        assert await seconds(history_of("other")) < 0.2
        assert await seconds(history_of("w")) >= 0.29
        assert await seconds(history_of("w")) < 0.2
        looks.started("w")
        await asyncio.sleep(0.3)
        assert await seconds(history_of("w")) < 0.2
        looks.started("other")
        assert list(looks._started) == ["other"]


async def test_before_the_callers_deadline_the_last_look_brings_the_token():
    run = Run(1_000_000)
    async with before(run) as (looks, _):
        began = asyncio.get_running_loop().time()
        assert await looks.call(HISTORY, b"x", {}, 0.5) == b"token"
        assert asyncio.get_running_loop().time() - began < 0.5
        assert run.asked[-1] == ("last", "run-1")
        assert [said for said, _ in run.asked].count("last") == 1


async def test_draining_makes_each_look_for_the_last_time():
    run = Run(1_000_000)
    async with before(run) as (looks, end):
        waiting = asyncio.create_task(looks.call(HISTORY, b"x", {}, 60.0))
        await asyncio.wait_for(end.arrived.get(), 10)
        looks.drain()
        assert await waiting == b"token"


async def test_a_caller_without_a_deadline_is_answered_in_time_all_the_same(monkeypatch):
    monkeypatch.setattr(looking, "PATIENCE_SECONDS", 0.3)
    run = Run(1_000_000)
    async with before(run) as (looks, end):
        assert await looks.call(HISTORY, b"x", {}, None) == b"token"
        assert "connect-timeout-ms" not in end.asked[0].headers


async def test_a_service_that_does_not_heed_the_last_look_is_not_asked_for_ever():
    class Stubborn(Run):
        async def answer(self, asked):
            self.asked.append(asked.headers[WAIT_HEADER])
            return proto(b"", **{AGAIN_HEADER: "run-1"})

    run = Stubborn(0)
    async with before(run) as (looks, _):
        assert await looks.call(HISTORY, b"x", {}, 0.2) == b""
        assert run.asked[-1] == "last"


async def test_delays_grow_with_the_wait_and_have_a_ceiling():
    assert max(looking._delay(0.1) for _ in range(100)) <= looking.DELAY_SECONDS_MIN + 0.03
    longest = max(looking._delay(3600.0) for _ in range(100))
    assert longest <= looking.DELAY_SECONDS_MIN + looking.DELAY_SECONDS_MAX
