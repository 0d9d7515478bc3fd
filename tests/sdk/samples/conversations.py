"""Workflows that are spoken to: signals, queries, timers, cancellation, continue-as-new."""

import asyncio
from datetime import timedelta

from temporalio import workflow
from temporalio.common import SearchAttributeKey
from temporalio.exceptions import ApplicationError

COLOUR = SearchAttributeKey.for_keyword("SdkTestColour")
NUMBER = SearchAttributeKey.for_int("SdkTestNumber")


@workflow.defn
class ConversationWorkflow:
    """Collects what it is told until it is told to end."""

    def __init__(self) -> None:
        self._heard: list[str] = []
        self._done = False

    @workflow.run
    async def run(self, *_: str) -> list[str]:
        await workflow.wait_condition(lambda: self._done)
        return self._heard

    @workflow.signal
    async def say(self, text: str) -> None:
        self._heard.append(text)

    @workflow.signal
    def finish(self) -> None:
        self._done = True

    @workflow.query
    def heard(self) -> list[str]:
        return self._heard

    @workflow.query
    def first(self, count: int) -> list[str]:
        return self._heard[:count]

    @workflow.query
    def broken(self) -> str:
        raise ApplicationError("this query always fails")


@workflow.defn
class TimerWorkflow:
    @workflow.run
    async def run(self, milliseconds: int) -> float:
        began = workflow.now()
        await workflow.sleep(timedelta(milliseconds=milliseconds), summary="the nap")
        return (workflow.now() - began).total_seconds()


@workflow.defn
class RaceWorkflow:
    """Two timers race; the loser is cancelled."""

    @workflow.run
    async def run(self) -> str:
        tasks = {
            asyncio.create_task(asyncio.sleep(0.05), name="hare"),
            asyncio.create_task(asyncio.sleep(60), name="tortoise"),
        }
        done, late = await workflow.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in late:
            task.cancel()
        await workflow.sleep(timedelta(milliseconds=50))
        return done.pop().get_name()


@workflow.defn
class DeadlineWorkflow:
    """Waits for a signal with a deadline."""

    def __init__(self) -> None:
        self._come = False

    @workflow.run
    async def run(self, milliseconds: int) -> str:
        try:
            await workflow.wait_condition(lambda: self._come, timeout=timedelta(milliseconds=milliseconds))
        except TimeoutError:
            return "too late"
        return "in time"

    @workflow.signal
    def come(self) -> None:
        self._come = True


@workflow.defn
class CountdownWorkflow:
    """Every run counts one down and continues as new; the last one tells how many runs there were."""

    @workflow.run
    async def run(self, left: int, runs: int) -> int:
        if left > 0:
            workflow.continue_as_new(args=[left - 1, runs + 1])
        return runs


@workflow.defn
class CleaningWorkflow:
    """Cleans up when it is cancelled, within a shield, and is then cancelled."""

    def __init__(self) -> None:
        self._state = "running"

    @workflow.run
    async def run(self) -> None:
        try:
            await workflow.wait_condition(lambda: False)
        except asyncio.CancelledError:
            await asyncio.shield(self._clean())
            raise

    async def _clean(self) -> None:
        await asyncio.sleep(0.05)
        self._state = "clean"

    @workflow.query
    def state(self) -> str:
        return self._state


@workflow.defn
class StubbornWorkflow:
    """Completes although it is cancelled."""

    @workflow.run
    async def run(self) -> str:
        try:
            await workflow.wait_condition(lambda: False)
        except asyncio.CancelledError:
            return "no"
        return "unreachable"


@workflow.defn
class CronWorkflow:
    """Hands its count on from run to run."""

    @workflow.run
    async def run(self) -> int:
        if not workflow.has_last_completion_result():
            return 1
        last: int = workflow.get_last_completion_result(type_hint=int)
        return last + 1


@workflow.defn
class FailingWorkflow:
    """Fails on every run but the third of its retries."""

    @workflow.run
    async def run(self) -> int:
        attempt = workflow.info().attempt
        if attempt < 3:
            raise ApplicationError(f"run {attempt} fails", type="RunFailed")
        return attempt


@workflow.defn
class AttributesWorkflow:
    """Adds to the memo and the search attributes it was started with."""

    @workflow.run
    async def run(self) -> None:
        workflow.upsert_memo({"added": {"by": "workflow"}})
        workflow.upsert_search_attributes([COLOUR.value_set("green"), NUMBER.value_unset()])
