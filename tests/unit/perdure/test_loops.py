"""The loops: a timer fires when it is due, also one armed while we slept, and service tasks run when they come."""

import asyncio

import pytest

from durable_core.model.errors import Conflict
from durable_core.model.ids import SERVICE_QUEUE
from durable_core.services.calls import NS_PER_SECOND
from perdure.dev import loops as loops_module
from perdure.dev.loops import Loops
from perdure.dev.notifications import InProcessNotifications
from tests.unit.perdure.systems import TinySystem, until

pytestmark = pytest.mark.asyncio


class Parts:
    def __init__(self):
        self.system = TinySystem()
        self.notifications = InProcessNotifications()
        self.loops = Loops(self.system, self.notifications, self.system.clock)
        self.fired = asyncio.Event()
        self.system.fire = self._fire

    def _fire(self):
        assert self.system.due is not None
        assert self.system.clock.now() >= self.system.due
        self.system.due = None
        self.fired.set()

    def arm(self, seconds):
        self.system.due = self.system.clock.now() + int(seconds * NS_PER_SECOND)


async def test_what_is_due_at_start_fires():
    parts = Parts()
    parts.arm(-1)
    parts.loops.start()
    await asyncio.wait_for(parts.fired.wait(), 4)
    await parts.loops.stop()


async def test_a_timer_armed_while_we_sleep_towards_a_later_one_fires_in_its_time():
    parts = Parts()
    parts.arm(3600)
    parts.loops.start()
    await asyncio.sleep(0)
    parts.arm(0.05)
    parts.loops.look()
    await asyncio.wait_for(parts.fired.wait(), loops_module.SLEEP_SECONDS_MAX - 1)
    await parts.loops.stop()


async def test_no_failure_and_no_defect_ends_the_timers(monkeypatch, caplog):
    monkeypatch.setattr(loops_module, "RETRY_SECONDS", 0.01)
    parts = Parts()
    failures = [Conflict("once"), ZeroDivisionError("twice")]
    fire = parts.system.fire

    def fail_first():
        if failures:
            raise failures.pop(0)
        fire()

    parts.system.fire = fail_first
    parts.arm(-1)
    parts.loops.start()
    await asyncio.wait_for(parts.fired.wait(), 4)
    await parts.loops.stop()
    assert caplog.text.count("trying again") == 2


async def test_service_tasks_run_until_there_is_none_and_again_when_one_comes():
    parts = Parts()
    parts.system.service_tasks = ["a", "b"]
    parts.loops.start()
    await until(lambda: parts.notifications.waiting(SERVICE_QUEUE))
    assert parts.system.service_tasks == []
    parts.system.service_tasks.append("c")
    parts.notifications.publish(SERVICE_QUEUE)
    await until(lambda: not parts.system.service_tasks)
    await parts.loops.stop()
