"""What the tests of this folder share: waiting for a condition, reading a history, and what is not there yet."""

import asyncio
import os
from collections.abc import Awaitable, Callable

import pytest
from temporalio.api.enums.v1 import EventType
from temporalio.api.history.v1 import HistoryEvent
from temporalio.client import WorkflowHandle

from perdure.timeline import event_name

WAIT_SECONDS_MAX = 15.0
AT_ONCE = 50
# Each call that comes to a deployment at once with others wakes a process of its own.
AT_ONCE_ELSEWHERE = 8
# Read at import, because each test's environment is swept clean.
GIVEN_TARGET = os.environ.get("PERDURE_TEST_TARGET")
# For what this project's server does not do yet. Another server is asked all the same, and the mark is strict: whoever
# adds the missing method learns here which tests are waiting for it.
later = pytest.mark.xfail(GIVEN_TARGET is None, reason="one of its methods is not implemented yet")


async def eventually(condition: Callable[[], Awaitable[bool]], seconds: float = WAIT_SECONDS_MAX) -> None:
    """Return as soon as the condition holds; fail when it does not within these seconds."""
    async with asyncio.timeout(seconds):
        while not await condition():  # noqa: ASYNC110 - the state is the server's; no event here tells of it
            await asyncio.sleep(0.05)


async def events(handle: WorkflowHandle) -> list[HistoryEvent]:
    """The whole history of the handle's run."""
    return list((await handle.fetch_history()).events)


async def event_names(handle: WorkflowHandle) -> list[str]:
    """The types of the history's events, in order."""
    return [event_name(event) for event in await events(handle)]


async def only(handle: WorkflowHandle, event_type: EventType.ValueType) -> HistoryEvent:
    """The one event of this type in the history."""
    (found,) = [event for event in await events(handle) if event.event_type == event_type]
    return found
