"""The loop of try and wait: how often a function is called, with what, and what becomes of its defects."""

import asyncio

import pytest
from temporalio.api.workflowservice.v1 import DescribeNamespaceRequest, PollWorkflowTaskQueueRequest

from durable_core.model.errors import Internal, NamespaceNotFound
from durable_core.services.calls import NS_PER_SECOND, Rpc, Wait
from perdure.dev.answering import Answering
from perdure.dev.notifications import InProcessNotifications
from tests.unit.perdure.systems import POLL, TinySystem, describe_namespace, poll, queue, until

pytestmark = pytest.mark.asyncio

REQUEST = PollWorkflowTaskQueueRequest(task_queue={"name": "q"})


class Parts:
    def __init__(self):
        self.system = TinySystem()
        self.notifications = InProcessNotifications()
        self.commits = 0
        self.answering = Answering(self.system, self.notifications, self.system.clock, self._committed)

    def _committed(self):
        self.commits += 1

    async def polling(self, rpc=POLL):
        """A poll that waits."""
        waiting = self.notifications.waiting(queue("q"))
        task = asyncio.create_task(self.answering.call(rpc, REQUEST, 30.0, {"a": "b"}))
        await until(lambda: self.notifications.waiting(queue("q")) > waiting)
        return task


async def test_what_is_there_is_answered_at_once():
    parts = Parts()
    parts.system.words["q"] = [b"word"]
    answer = await parts.answering.call(POLL, REQUEST, 30.0, {})
    assert answer.task_token == b"word"
    assert len(parts.system.tried) == parts.commits == 1


async def test_a_notification_calls_the_function_again_with_what_it_wants_to_resume():
    parts = Parts()
    task = await parts.polling()
    parts.notifications.publish(queue("q"))
    await until(lambda: len(parts.system.tried) == 2)
    parts.system.words["q"] = [b"word"]
    parts.notifications.publish(queue("q"))
    assert (await task).task_token == b"word"
    assert [(call.resume, call.last) for call in parts.system.tried] == [
        (None, False),
        (1, False),
        (2, False),
    ]
    assert all(call.headers == {"a": "b"} for call in parts.system.tried)


async def test_the_last_try_comes_before_the_callers_deadline_and_answers():
    parts = Parts()
    began = parts.system.clock.now()
    answer = await parts.answering.call(POLL, REQUEST, 0.2, {})
    took = parts.system.clock.now() - began
    assert answer.task_token == b""
    assert [call.last for call in parts.system.tried] == [False, True]
    assert took > 0.15 * NS_PER_SECOND
    assert parts.system.tried[-1].deadline >= began + 0.2 * NS_PER_SECOND


async def test_the_last_try_comes_when_the_services_own_time_is_over_though_the_caller_would_wait():
    parts = Parts()
    parts.system.wait_seconds = 0.05
    answer = await parts.answering.call(POLL, REQUEST, 3600.0, {})
    assert answer.task_token == b""
    assert [call.last for call in parts.system.tried] == [False, True]


async def test_notifications_do_not_make_a_services_time_longer():
    parts = Parts()
    parts.system.wait_seconds = 0.1
    task = await parts.polling()
    while not task.done():
        parts.notifications.publish(queue("q"))
        await asyncio.sleep(0.005)
    assert [call.last for call in parts.system.tried][-2:] == [False, True]
    assert len(parts.system.tried) > 3


async def test_draining_makes_every_wait_answer():
    parts = Parts()
    tasks = [await parts.polling(), await parts.polling()]
    parts.answering.drain()
    assert [answer.task_token for answer in await asyncio.gather(*tasks)] == [b"", b""]
    assert [call.last for call in parts.system.tried] == [False, False, True, True]


async def test_a_caller_that_leaves_is_told_to_the_service_with_what_it_was_to_resume():
    parts = Parts()
    task = await parts.polling()
    task.cancel()
    assert await parts.system.abandoned.get() == ("q", 1)
    assert parts.notifications.waiting(queue("q")) == 0


async def test_a_service_without_abandon_is_just_left():
    parts = Parts()
    task = await parts.polling(Rpc(poll, waits=True))
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_an_error_of_the_service_is_the_answer():
    parts = Parts()
    with pytest.raises(NamespaceNotFound):
        await parts.answering.call(
            Rpc(describe_namespace), DescribeNamespaceRequest(namespace="no"), None, {}
        )


async def test_a_defect_is_an_internal_error_and_logged(caplog):
    parts = Parts()
    with pytest.raises(Internal, match="ZeroDivisionError: a defect"):
        parts.answering.run(describe_namespace, DescribeNamespaceRequest(namespace="broken"))
    assert "describe_namespace failed" in caplog.text
    assert "ZeroDivisionError" in caplog.text


async def test_a_service_that_waits_after_its_last_try_is_a_defect():
    def stubborn(context, request, call):
        return Wait((queue("q"),), 30.0)

    with pytest.raises(Internal, match="after its last try"):
        await Parts().answering.call(Rpc(stubborn, waits=True), REQUEST, 0.01, {})
