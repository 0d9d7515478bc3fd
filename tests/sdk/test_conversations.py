"""Signals, queries and timers as a client sees them."""

import asyncio

import pytest
from temporalio.api.enums.v1 import EventType, TaskQueueType
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflowservice.v1 import DescribeTaskQueueRequest
from temporalio.client import (
    Client,
    WorkflowHandle,
    WorkflowQueryFailedError,
    WorkflowQueryRejectedError,
)
from temporalio.common import QueryRejectCondition
from temporalio.service import RPCError, RPCStatusCode
from temporalio.worker import Worker

from tests.sdk.samples.conversations import (
    ConversationWorkflow,
    DeadlineWorkflow,
    RaceWorkflow,
    TimerWorkflow,
)
from tests.sdk.waiting import event_names, eventually, only

pytestmark = pytest.mark.asyncio

WORKFLOWS = [ConversationWorkflow, DeadlineWorkflow, RaceWorkflow, TimerWorkflow]


def worker(client: Client, task_queue: str) -> Worker:
    return Worker(client, task_queue=task_queue, workflows=WORKFLOWS)


async def converse(client: Client, unique: str) -> WorkflowHandle:
    return await client.start_workflow(ConversationWorkflow.run, id=unique, task_queue=unique)


async def test_a_timer_fires_when_it_is_due_and_not_before(client, unique):
    async with worker(client, unique):
        handle = await client.start_workflow(TimerWorkflow.run, 300, id=unique, task_queue=unique)
        assert 0.3 <= await handle.result() < 3
    started = await only(handle, EventType.EVENT_TYPE_TIMER_STARTED)
    fired = await only(handle, EventType.EVENT_TYPE_TIMER_FIRED)
    took = fired.event_time.ToNanoseconds() - started.event_time.ToNanoseconds()
    assert took >= started.timer_started_event_attributes.start_to_fire_timeout.ToNanoseconds()
    assert started.user_metadata.summary.data == b'"the nap"'


async def test_the_loser_of_two_timers_is_cancelled(client, unique):
    async with worker(client, unique):
        handle = await client.start_workflow(RaceWorkflow.run, id=unique, task_queue=unique)
        assert await handle.result() == "hare"
    names = await event_names(handle)
    assert (names.count("TimerStarted"), names.count("TimerFired"), names.count("TimerCanceled")) == (3, 2, 1)


async def test_a_deadline_passes_when_no_signal_comes(client, unique):
    async with worker(client, unique):
        handle = await client.start_workflow(DeadlineWorkflow.run, 200, id=unique, task_queue=unique)
        assert await handle.result() == "too late"


async def test_a_signal_in_time_cancels_the_deadline(client, unique):
    async with worker(client, unique):
        handle = await client.start_workflow(DeadlineWorkflow.run, 60_000, id=unique, task_queue=unique)
        await handle.signal(DeadlineWorkflow.come)
        assert await handle.result() == "in time"


async def test_signals_arrive_in_the_order_they_were_acknowledged(client, unique):
    said = [f"word {number}" for number in range(30)]
    async with worker(client, unique):
        handle = await converse(client, unique)
        for text in said:
            await handle.signal(ConversationWorkflow.say, text)
        await handle.signal(ConversationWorkflow.finish)
        assert await handle.result() == said


async def test_signals_at_once_all_arrive_once(client, unique, at_once):
    said = {f"word {number}" for number in range(min(30, at_once))}
    async with worker(client, unique):
        handle = await converse(client, unique)
        await asyncio.gather(*(handle.signal(ConversationWorkflow.say, text) for text in said))
        await handle.signal(ConversationWorkflow.finish)
        heard = await handle.result()
    assert len(heard) == len(said)
    assert set(heard) == said


async def test_signals_sent_before_any_worker_runs_are_kept(client, unique):
    handle = await converse(client, unique)
    await handle.signal(ConversationWorkflow.say, "early")
    await handle.signal(ConversationWorkflow.finish)
    async with worker(client, unique):
        assert await handle.result() == ["early"]


async def test_signal_with_start_starts_once_and_signals_every_time(client, unique):
    async with worker(client, unique):
        runs = set()
        for text in ("first", "second"):
            handle = await client.start_workflow(
                ConversationWorkflow.run,
                id=unique,
                task_queue=unique,
                start_signal="say",
                start_signal_args=[text],
            )
            runs.add((await handle.describe()).run_id)
        await handle.signal(ConversationWorkflow.finish)
        assert await handle.result() == ["first", "second"]
    assert len(runs) == 1


async def test_a_signal_to_nobody_says_so(client, unique):
    with pytest.raises(RPCError, match="workflow not found for ID") as caught:
        await client.get_workflow_handle(unique).signal("say", "hello?")
    assert caught.value.status == RPCStatusCode.NOT_FOUND


async def test_a_signal_to_a_closed_workflow_says_so(client, unique):
    async with worker(client, unique):
        handle = await converse(client, unique)
        await handle.signal(ConversationWorkflow.finish)
        await handle.result()
        with pytest.raises(RPCError, match="workflow execution already completed") as caught:
            await handle.signal(ConversationWorkflow.say, "too late")
    assert caught.value.status == RPCStatusCode.NOT_FOUND


async def test_a_query_sees_every_signal_acknowledged_before_it(client, unique):
    async with worker(client, unique):
        handle = await converse(client, unique)
        for count in range(1, 6):
            await handle.signal(ConversationWorkflow.say, f"word {count}")
            assert len(await handle.query(ConversationWorkflow.heard)) == count
        assert await handle.query(ConversationWorkflow.first, 2) == ["word 1", "word 2"]
        await handle.terminate()


async def test_a_closed_workflow_answers_queries(client, unique):
    async with worker(client, unique):
        handle = await converse(client, unique)
        await handle.signal(ConversationWorkflow.say, "last words")
        await handle.signal(ConversationWorkflow.finish)
        await handle.result()
        assert await handle.query(ConversationWorkflow.heard) == ["last words"]


async def test_a_query_may_refuse_a_closed_workflow(client, unique):
    async with worker(client, unique):
        handle = await converse(client, unique)
        await handle.signal(ConversationWorkflow.finish)
        await handle.result()
        with pytest.raises(WorkflowQueryRejectedError):
            await handle.query(ConversationWorkflow.heard, reject_condition=QueryRejectCondition.NOT_OPEN)


async def test_a_failing_query_fails_its_caller_and_nothing_else(client, unique):
    async with worker(client, unique):
        handle = await converse(client, unique)
        with pytest.raises(WorkflowQueryFailedError, match="this query always fails"):
            await handle.query(ConversationWorkflow.broken)
        with pytest.raises(WorkflowQueryFailedError, match="nobody_wrote_this"):
            await handle.query("nobody_wrote_this")
        await handle.signal(ConversationWorkflow.finish)
        assert await handle.result() == []


async def test_a_query_before_the_first_workflow_task_waits_for_it(client, unique):
    handle = await converse(client, unique)
    query = asyncio.create_task(handle.query(ConversationWorkflow.heard))
    async with worker(client, unique):
        assert await query == []
        await handle.terminate()


async def test_queries_leave_no_events(client, unique):
    async with worker(client, unique):
        handle = await converse(client, unique)
        await handle.query(ConversationWorkflow.heard)
        before = await event_names(handle)
        for _ in range(3):
            await handle.query(ConversationWorkflow.heard)
        assert await event_names(handle) == before
        await handle.terminate()


async def test_a_worker_is_seen_at_its_task_queue(client, unique):
    async def has_poller() -> bool:
        answer = await client.workflow_service.describe_task_queue(
            DescribeTaskQueueRequest(
                namespace="default",
                task_queue=TaskQueue(name=unique),
                task_queue_type=TaskQueueType.TASK_QUEUE_TYPE_WORKFLOW,
            )
        )
        return any(poller.identity == client.identity for poller in answer.pollers)

    async with worker(client, unique):
        await eventually(has_poller)
