"""Callers that wait for a run themselves: a look never waits, the last one answers."""

import pytest
from temporalio.api.history.v1 import History, HistoryEvent
from temporalio.api.workflowservice.v1 import (
    GetWorkflowExecutionHistoryRequest,
    GetWorkflowExecutionHistoryResponse,
)

from durable_core.adapters.aws.answering import Answering, Limits
from durable_core.adapters.aws.sqs_queues import Addresses, SqsTaskQueues
from durable_core.adapters.decorators import ManualClock
from durable_core.model.errors import InvalidArgument
from durable_core.model.ids import RunKey
from durable_core.model.times import SECOND
from durable_core.services.calls import Rpc, Wait
from durable_core.wire.http import HttpRequest
from durable_core.wire.methods import WORKFLOW_SERVICE_NAME, MethodTable
from durable_core.wire.router import Router
from functions.frontend.waiting import AGAIN, Waits
from tests.unit.adapters.aws.sqs import FakeClients

NOW = 1_900_000_000 * SECOND
UNTIL = Limits(NOW + 60 * SECOND, NOW + 25 * SECOND)
END = GetWorkflowExecutionHistoryResponse(history=History(events=[HistoryEvent(event_id=5)]))
TOKEN = GetWorkflowExecutionHistoryResponse(next_page_token=b"token")


class System:
    """A run that ends at its time, and what its history's function was asked."""

    def __init__(self, ends_after=None):
        self.clock = ManualClock(NOW)
        self.runs = self
        self.ends_at = None if ends_after is None else NOW + int(ends_after * SECOND)
        self.asked = []
        queues = SqsTaskQueues(FakeClients(), Addresses("p", "https://sqs/1/service.fifo"))
        answering = Answering(self, queues, lambda seconds: self.clock.advance(int(seconds * SECOND)))
        self.waits = Waits(answering)

    def distrust(self):
        pass

    def history(self, context, request, call):
        self.asked.append(call)
        if self.ends_at is not None and self.clock.now() >= self.ends_at:
            return END
        return TOKEN if call.last else Wait((RunKey("ns", "w", "run-1"),), 20.0, resume="run-1")

    def run(self, **headers):
        table = {"GetWorkflowExecutionHistory": Rpc(self.history, waits=True)}
        said = {"content-type": "application/proto"}
        said |= {name.replace("_", "-"): value for name, value in headers.items()}
        body = GetWorkflowExecutionHistoryRequest(namespace="default").SerializeToString()
        path = f"/{WORKFLOW_SERVICE_NAME}/GetWorkflowExecutionHistory"
        call = Router(MethodTable({WORKFLOW_SERVICE_NAME: table})).route(
            HttpRequest("POST", path, "", said, body)
        )
        return self.waits.run(call, UNTIL)

    def elapsed(self):
        return self.clock.now() - NOW


def test_a_look_at_a_run_that_goes_on_says_come_again_at_once():
    system = System()
    answer, headers = system.run(perdure_wait="look")
    assert answer == GetWorkflowExecutionHistoryResponse()
    assert headers == {AGAIN: "run-1"}
    assert system.elapsed() == 0


def test_a_look_at_a_run_that_has_ended_is_the_answer():
    assert System(ends_after=0).run(perdure_wait="look") == (END, {})


def test_a_later_look_goes_on_with_the_same_run():
    system = System()
    assert system.run(perdure_wait="look", perdure_resume="run-0")[1] == {AGAIN: "run-1"}
    assert system.elapsed() == 0
    assert [call.resume for call in system.asked] == ["run-0"]


def test_the_last_look_is_answered_as_a_wait_that_ended():
    system = System()
    assert system.run(perdure_wait="last", perdure_resume="run-1") == (TOKEN, {})
    assert system.asked[0].last
    assert system.asked[0].resume == "run-1"


def test_who_does_not_wait_himself_is_waited_for():
    system = System(ends_after=7)
    assert system.run() == (END, {})
    assert system.elapsed() >= 7 * SECOND


def test_nonsense_is_refused():
    with pytest.raises(InvalidArgument, match="perdure-wait"):
        System().run(perdure_wait="soon")
