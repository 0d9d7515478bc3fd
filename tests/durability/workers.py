"""The workers of the load: they poll, think a moment, answer, and sometimes fail or fall silent.

What does not live here: which commands are chosen (decider.py) and what an unanswered answer means (link.py).
A newcomer's mistake: to let a worker wait for the server to come back. Each life of the server has workers of its own.
"""

from __future__ import annotations

import asyncio

from google.protobuf.message import Message
from temporalio.api.enums.v1 import WorkflowTaskFailedCause
from temporalio.api.failure.v1 import ApplicationFailureInfo, Failure
from temporalio.api.history.v1 import HistoryEvent
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflowservice.v1 import (
    GetWorkflowExecutionHistoryRequest,
    GetWorkflowExecutionHistoryResponse,
    PollActivityTaskQueueRequest,
    PollActivityTaskQueueResponse,
    PollWorkflowTaskQueueRequest,
    PollWorkflowTaskQueueResponse,
    RecordActivityTaskHeartbeatRequest,
    RecordActivityTaskHeartbeatResponse,
    RespondActivityTaskCompletedByIdRequest,
    RespondActivityTaskCompletedByIdResponse,
    RespondActivityTaskCompletedRequest,
    RespondActivityTaskCompletedResponse,
    RespondActivityTaskFailedRequest,
    RespondActivityTaskFailedResponse,
    RespondWorkflowTaskCompletedRequest,
    RespondWorkflowTaskCompletedResponse,
    RespondWorkflowTaskFailedRequest,
    RespondWorkflowTaskFailedResponse,
)

from tests.durability.acknowledged import check_details
from tests.durability.api import POLL_SECONDS, Refused, Unanswered
from tests.durability.clients import NAMESPACE
from tests.durability.decider import CLOSING_COMMANDS, TASK_QUEUE, decide, payloads, text_of
from tests.durability.ledger import (
    ActivityAnswer,
    ActivityAttempt,
    Heartbeats,
    Outcome,
    TaskAnswer,
    WorkflowTaskKey,
)
from tests.durability.link import Link
from tests.durability.world import Answer

THINK_SECONDS_MAX = 0.01
SHARE_SILENT = 0.02
SHARE_TASK_FAILED = 0.03
SHARE_TASK_IN_REPLY = 0.3
SHARE_TASK_FORCED = 0.03
SHARE_HEARTBEATS = 0.3
SHARE_ACTIVITY_FAILED = 0.15
SHARE_FAILED_FOR_GOOD = 0.2
SHARE_BY_ID = 0.2

_REPLIES: dict[type[Message], type[Message]] = {
    RespondWorkflowTaskCompletedRequest: RespondWorkflowTaskCompletedResponse,
    RespondWorkflowTaskFailedRequest: RespondWorkflowTaskFailedResponse,
    RespondActivityTaskCompletedRequest: RespondActivityTaskCompletedResponse,
    RespondActivityTaskCompletedByIdRequest: RespondActivityTaskCompletedByIdResponse,
    RespondActivityTaskFailedRequest: RespondActivityTaskFailedResponse,
}


async def repeat(link: Link, answer: Answer) -> None:
    """Send an answer of an earlier life once more."""
    await _answer(link, answer)


async def work_on_workflows(link: Link) -> None:
    """Poll and answer workflow tasks until the server ends."""
    request = PollWorkflowTaskQueueRequest(namespace=NAMESPACE, task_queue=TaskQueue(name=TASK_QUEUE))
    while not link.ends.is_set():
        try:
            task = await link.api.call(request, PollWorkflowTaskQueueResponse, seconds=POLL_SECONDS)
            following: PollWorkflowTaskQueueResponse | None = task if task.task_token else None
            while following is not None:
                following = await _work_on_workflow(link, following)
        except Unanswered as silence:
            await link.after_silence(silence)


async def _work_on_workflow(
    link: Link, task: PollWorkflowTaskQueueResponse
) -> PollWorkflowTaskQueueResponse | None:
    """Answer one workflow task; return the next one when it came with the reply."""
    world, chance = link.world, link.world.chance
    execution = task.workflow_execution
    world.ledger.runs_seen.add((execution.workflow_id, execution.run_id))
    world.ledger.workflow_tasks[WorkflowTaskKey(execution.run_id, task.started_event_id, task.attempt)] += 1
    history = await _whole_history(link, task)
    await asyncio.sleep(chance.uniform(0, THINK_SECONDS_MAX))
    if chance.random() < SHARE_SILENT and not world.draining:
        return None
    slot = world.slots[execution.workflow_id]
    mark = world.mark("task-")
    if task.attempt == 1 and chance.random() < SHARE_TASK_FAILED and not world.draining:
        await _answer(link, _failed(task, mark, slot.generation))
        return None
    commands = decide(history, mark, chance, may_end=slot.may_end(), draining=world.draining)
    closing = any(command.command_type in CLOSING_COMMANDS for command in commands)
    request = RespondWorkflowTaskCompletedRequest(
        namespace=NAMESPACE,
        task_token=task.task_token,
        identity=mark,
        commands=commands,
        return_new_workflow_task=chance.random() < SHARE_TASK_IN_REPLY,
        force_create_new_workflow_task=not closing and chance.random() < SHARE_TASK_FORCED,
    )
    entry = TaskAnswer(execution.workflow_id, execution.run_id, mark, commands, fails=False)
    reply = await _answer(link, Answer(entry, request, slot.generation))
    if isinstance(reply, RespondWorkflowTaskCompletedResponse) and reply.workflow_task.task_token:
        return reply.workflow_task
    return None


async def _whole_history(link: Link, task: PollWorkflowTaskQueueResponse) -> list[HistoryEvent]:
    """Return the history of a task with the pages that did not fit."""
    events = list(task.history.events)
    if events and events[0].event_id == 1 and not task.next_page_token:
        return events
    request = GetWorkflowExecutionHistoryRequest(namespace=NAMESPACE, execution=task.workflow_execution)
    events.clear()
    while True:
        page = await link.api.call(request, GetWorkflowExecutionHistoryResponse)
        events += page.history.events
        if not page.next_page_token:
            return [event for event in events if event.event_id <= task.started_event_id]
        request.next_page_token = page.next_page_token


def _failed(task: PollWorkflowTaskQueueResponse, mark: str, generation: int) -> Answer:
    request = RespondWorkflowTaskFailedRequest(
        namespace=NAMESPACE,
        task_token=task.task_token,
        identity=mark,
        cause=WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_WORKFLOW_WORKER_UNHANDLED_FAILURE,
        failure=Failure(message=mark),
    )
    execution = task.workflow_execution
    entry = TaskAnswer(execution.workflow_id, execution.run_id, mark, (), fails=True)
    return Answer(entry, request, generation)


async def work_on_activities(link: Link) -> None:
    """Poll and answer activity tasks until the server ends."""
    request = PollActivityTaskQueueRequest(namespace=NAMESPACE, task_queue=TaskQueue(name=TASK_QUEUE))
    while not link.ends.is_set():
        try:
            task = await link.api.call(request, PollActivityTaskQueueResponse, seconds=POLL_SECONDS)
            if task.task_token:
                await _work_on_activity(link, task)
        except Unanswered as silence:
            await link.after_silence(silence)


async def _work_on_activity(link: Link, task: PollActivityTaskQueueResponse) -> None:
    world, chance = link.world, link.world.chance
    attempt = ActivityAttempt(task.workflow_execution.run_id, task.activity_id, task.attempt)
    world.ledger.activity_attempts[attempt] += 1
    details = text_of(task.heartbeat_details)
    world.ledger.surprises += check_details(world.ledger.heartbeats, attempt, details)
    await asyncio.sleep(chance.uniform(0, THINK_SECONDS_MAX))
    while chance.random() < SHARE_HEARTBEATS:
        if not await _heartbeat(link, task, attempt):
            return
    if chance.random() < SHARE_SILENT and not world.draining:
        return
    await _answer(link, _activity_answer(link, task))


async def _heartbeat(link: Link, task: PollActivityTaskQueueResponse, attempt: ActivityAttempt) -> bool:
    """Send one heartbeat; return whether the attempt is still worth working on."""
    beats = link.world.ledger.heartbeats.setdefault(attempt, Heartbeats())
    beats.sent += 1
    number = beats.sent
    details = payloads(f"{attempt.attempt}-{number}")
    request = RecordActivityTaskHeartbeatRequest(
        namespace=NAMESPACE, task_token=task.task_token, details=details
    )
    try:
        await link.api.call(request, RecordActivityTaskHeartbeatResponse)
    except Refused:
        return False
    beats.acknowledged = number
    return True


def _activity_answer(link: Link, task: PollActivityTaskQueueResponse) -> Answer:
    chance, execution = link.world.chance, task.workflow_execution
    mark = link.world.mark("activity-")
    entry = ActivityAnswer(
        execution.workflow_id, execution.run_id, task.activity_id, task.attempt, mark, fails=False
    )
    generation = link.world.slots[execution.workflow_id].generation
    if chance.random() < SHARE_ACTIVITY_FAILED:
        entry.fails = True
        for_good = ApplicationFailureInfo(type="load", non_retryable=chance.random() < SHARE_FAILED_FOR_GOOD)
        failure = Failure(message=mark, application_failure_info=for_good)
        failed = RespondActivityTaskFailedRequest(
            namespace=NAMESPACE, task_token=task.task_token, identity=mark, failure=failure
        )
        return Answer(entry, failed, generation)
    if chance.random() < SHARE_BY_ID:
        entry.by_id = True
        by_id = RespondActivityTaskCompletedByIdRequest(
            namespace=NAMESPACE,
            workflow_id=execution.workflow_id,
            run_id=execution.run_id,
            activity_id=task.activity_id,
            identity=mark,
            result=payloads(mark),
        )
        return Answer(entry, by_id, generation)
    by_token = RespondActivityTaskCompletedRequest(
        namespace=NAMESPACE, task_token=task.task_token, identity=mark, result=payloads(mark)
    )
    return Answer(entry, by_token, generation)


async def _answer(link: Link, answer: Answer) -> Message | None:
    """Enter an answer, send it, and close the slot when the answer ended its workflow."""
    entry, world = answer.entry, link.world
    if entry.attempts == 0 and isinstance(entry, TaskAnswer):
        world.ledger.task_answers.append(entry)
    elif entry.attempts == 0 and isinstance(entry, ActivityAnswer):
        world.ledger.activity_answers.append(entry)
    reply = await link.answer(answer, _REPLIES[type(answer.request)])
    if entry.outcome is Outcome.ACKNOWLEDGED and isinstance(entry, TaskAnswer) and entry.completes_workflow():
        slot = world.slots[entry.workflow_id]
        if slot.generation == answer.generation:
            slot.closed = True
    return reply
