"""A whole system in memory whose time and identifiers are the test's, and a worker that answers as it is told.

What lives here: doing things. What must hold afterwards is in `invariants`.
A newcomer's trap: the real services run here, so a `ServiceError` is an answer like any other; anything else is a
defect and is never caught.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from google.protobuf.duration_pb2 import Duration
from temporalio.api.command.v1 import Command
from temporalio.api.common.v1 import Payload, Payloads, RetryPolicy, WorkflowExecution, WorkflowType
from temporalio.api.failure.v1 import Failure
from temporalio.api.protocol.v1 import Message
from temporalio.api.taskqueue.v1 import StickyExecutionAttributes, TaskQueue
from temporalio.api.update.v1 import Input, Meta
from temporalio.api.update.v1 import Request as UpdateRequest
from temporalio.api.workflowservice.v1 import (
    PollActivityTaskQueueRequest,
    PollActivityTaskQueueResponse,
    PollWorkflowTaskQueueRequest,
    PollWorkflowTaskQueueResponse,
    RecordActivityTaskHeartbeatRequest,
    RegisterNamespaceRequest,
    RequestCancelWorkflowExecutionRequest,
    ResetWorkflowExecutionRequest,
    RespondActivityTaskCanceledRequest,
    RespondActivityTaskCompletedByIdRequest,
    RespondActivityTaskCompletedRequest,
    RespondActivityTaskFailedRequest,
    RespondWorkflowTaskCompletedRequest,
    RespondWorkflowTaskFailedRequest,
    SignalWithStartWorkflowExecutionRequest,
    SignalWorkflowExecutionRequest,
    StartWorkflowExecutionRequest,
    TerminateWorkflowExecutionRequest,
    UpdateWorkflowExecutionRequest,
)

from durable_core.adapters.decorators import ManualClock
from durable_core.bootstrap import Embedded, embedded
from durable_core.config import Settings
from durable_core.model.errors import ServiceError
from durable_core.model.ids import RunKey, WorkflowKey
from durable_core.model.state import RunState
from durable_core.model.times import DAY, SECOND, duration
from durable_core.ports.notifications import Topic
from durable_core.services.calls import Call, Wait
from durable_core.services.context import Context
from durable_core.services.frontend.record_activity_task_heartbeat import record_activity_task_heartbeat
from durable_core.services.frontend.register_namespace import register_namespace
from durable_core.services.frontend.request_cancel_workflow_execution import request_cancel_workflow_execution
from durable_core.services.frontend.reset_workflow_execution import reset_workflow_execution
from durable_core.services.frontend.respond_activity_task_canceled import respond_activity_task_canceled
from durable_core.services.frontend.respond_activity_task_completed import (
    respond_activity_task_completed,
    respond_activity_task_completed_by_id,
)
from durable_core.services.frontend.respond_activity_task_failed import respond_activity_task_failed
from durable_core.services.frontend.respond_workflow_task_completed import respond_workflow_task_completed
from durable_core.services.frontend.respond_workflow_task_failed import respond_workflow_task_failed
from durable_core.services.frontend.signal_with_start_workflow_execution import (
    signal_with_start_workflow_execution,
)
from durable_core.services.frontend.signal_workflow_execution import signal_workflow_execution
from durable_core.services.frontend.start_workflow_execution import start_workflow_execution
from durable_core.services.frontend.terminate_workflow_execution import terminate_workflow_execution
from durable_core.services.frontend.update_workflow_execution import update_workflow_execution
from durable_core.services.matching.poll_activity_task_queue import poll_activity_task_queue
from durable_core.services.matching.poll_workflow_task_queue import poll_workflow_task_queue
from durable_core.services.timers.fire_wake_up import fire_wake_up

START_OF_TIME = 1_700_000_000 * SECOND
NAMESPACE = "test"
QUEUE = "work"
STICKY_QUEUE = "sticky-of-one-worker"
LAST_TRY = Call(deadline=1 << 62, last=True)


class CountedIds:
    """The `Ids` port: numbers instead of chance, in the form of UUIDs. `first` keeps two sources apart."""

    def __init__(self, first: int = 0) -> None:
        self._last = first

    def run_id(self, now: int) -> str:
        return self.unique()

    def unique(self) -> str:
        self._last += 1
        return f"00000000-0000-4000-8000-{self._last:012x}"

    def jitter(self) -> float:
        return 0.0


class Silence:
    """The `Notifications` port: nobody waits, so nobody is told."""

    def publish(self, topic: Topic) -> None:
        pass


@dataclass
class World:
    """One system. `workflow_tasks` and `activity_tasks` are what workers hold and have not answered."""

    clock: ManualClock = field(default_factory=lambda: ManualClock(START_OF_TIME))
    workflow_tasks: list[PollWorkflowTaskQueueResponse] = field(default_factory=list)
    activity_tasks: list[PollActivityTaskQueueResponse] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.system: Embedded = embedded(Settings(), Silence(), self.clock, CountedIds())
        register_namespace(
            self.context,
            RegisterNamespaceRequest(namespace=NAMESPACE, workflow_execution_retention_period=duration(DAY)),
        )

    @property
    def context(self) -> Context:
        return self.system.context

    def close(self) -> None:
        self.system.close()

    def runs(self) -> list[tuple[RunKey, int]]:
        """Every stored run, with its version."""
        found = self.system.store._connection.execute(
            "SELECT namespace_id, workflow_id, run_id, version FROM runs ORDER BY run"
        )
        return [(RunKey(*key), version) for *key, version in found]

    def state(self, workflow_id: str) -> RunState | None:
        """The current run of a workflow ID."""
        namespace_id = self.context.namespaces.named(NAMESPACE).namespace_id
        key = WorkflowKey(namespace_id, workflow_id)
        current = self.system.store.executions.current(key)
        return None if current is None else self.context.runs.find(key.run(current.run_id))

    def start(self, workflow_id: str, **fields: Any) -> str | None:
        request = StartWorkflowExecutionRequest(
            namespace=NAMESPACE,
            workflow_id=workflow_id,
            workflow_type=WorkflowType(name="Work"),
            task_queue=TaskQueue(name=QUEUE),
            **fields,
        )
        reply = refused_or(lambda: start_workflow_execution(self.context, request))
        if reply is None:
            return None
        if reply.HasField("eager_workflow_task"):
            self.workflow_tasks.append(reply.eager_workflow_task)
        return reply.run_id

    def signal(self, workflow_id: str, request_id: str = "") -> bool:
        request = SignalWorkflowExecutionRequest(
            namespace=NAMESPACE,
            workflow_execution=WorkflowExecution(workflow_id=workflow_id),
            signal_name="news",
            request_id=request_id,
        )
        return refused_or(lambda: signal_workflow_execution(self.context, request)) is not None

    def request_cancel(self, workflow_id: str, request_id: str = "") -> None:
        request = RequestCancelWorkflowExecutionRequest(
            namespace=NAMESPACE,
            workflow_execution=WorkflowExecution(workflow_id=workflow_id),
            request_id=request_id,
        )
        refused_or(lambda: request_cancel_workflow_execution(self.context, request))

    def terminate(self, workflow_id: str) -> None:
        request = TerminateWorkflowExecutionRequest(
            namespace=NAMESPACE, workflow_execution=WorkflowExecution(workflow_id=workflow_id)
        )
        refused_or(lambda: terminate_workflow_execution(self.context, request))

    def signal_with_start(self, workflow_id: str, request_id: str) -> None:
        request = SignalWithStartWorkflowExecutionRequest(
            namespace=NAMESPACE,
            workflow_id=workflow_id,
            workflow_type=WorkflowType(name="Work"),
            task_queue=TaskQueue(name=QUEUE),
            signal_name="news",
            request_id=request_id,
        )
        refused_or(lambda: signal_with_start_workflow_execution(self.context, request))

    def update(self, workflow_id: str, update_id: str) -> None:
        """Send an update, and leave before it is answered."""
        request = UpdateWorkflowExecutionRequest(
            namespace=NAMESPACE,
            workflow_execution=WorkflowExecution(workflow_id=workflow_id),
            request=UpdateRequest(meta=Meta(update_id=update_id), input=Input(name="change")),
        )
        refused_or(lambda: update_workflow_execution(self.context, request, LAST_TRY))

    def reset(self, workflow_id: str, event_id: int, request_id: str) -> None:
        """Go on from just before an event of the current run."""
        request = ResetWorkflowExecutionRequest(
            namespace=NAMESPACE,
            workflow_execution=WorkflowExecution(workflow_id=workflow_id),
            workflow_task_finish_event_id=event_id,
            request_id=request_id,
        )
        refused_or(lambda: reset_workflow_execution(self.context, request))

    def poll_workflow_task(self, queue: str = QUEUE) -> bool:
        request = PollWorkflowTaskQueueRequest(namespace=NAMESPACE, task_queue=TaskQueue(name=queue))
        reply = poll_workflow_task_queue(self.context, request, LAST_TRY)
        assert not isinstance(reply, Wait)
        if reply.task_token:
            self.workflow_tasks.append(reply)
        return bool(reply.task_token)

    def poll_activity_task(self) -> bool:
        request = PollActivityTaskQueueRequest(namespace=NAMESPACE, task_queue=TaskQueue(name=QUEUE))
        reply = poll_activity_task_queue(self.context, request, LAST_TRY)
        assert not isinstance(reply, Wait)
        if reply.task_token:
            self.activity_tasks.append(reply)
        return bool(reply.task_token)

    def complete(
        self,
        task: PollWorkflowTaskQueueResponse,
        commands: Sequence[Command] = (),
        *,
        sticky: bool = False,
        new_task_in_reply: bool = False,
        force_new: bool = False,
        messages: Sequence[Message] = (),
    ) -> bool:
        """Answer a workflow task, which is held no longer; whether its commands were accepted."""
        self.workflow_tasks.remove(task)
        request = RespondWorkflowTaskCompletedRequest(
            namespace=NAMESPACE,
            task_token=task.task_token,
            commands=commands,
            messages=messages,
            return_new_workflow_task=new_task_in_reply,
            force_create_new_workflow_task=force_new,
        )
        if sticky:
            request.sticky_attributes.CopyFrom(
                StickyExecutionAttributes(
                    worker_task_queue=TaskQueue(name=STICKY_QUEUE),
                    schedule_to_start_timeout=Duration(seconds=5),
                )
            )
        reply = refused_or(lambda: respond_workflow_task_completed(self.context, request))
        if reply is None:
            return False
        self.activity_tasks.extend(reply.activity_tasks)
        if reply.HasField("workflow_task"):
            self.workflow_tasks.append(reply.workflow_task)
        return True

    def fail_workflow_task(self, task: PollWorkflowTaskQueueResponse) -> None:
        self.workflow_tasks.remove(task)
        request = RespondWorkflowTaskFailedRequest(namespace=NAMESPACE, task_token=task.task_token)
        refused_or(lambda: respond_workflow_task_failed(self.context, request))

    def complete_activity(self, task: PollActivityTaskQueueResponse) -> None:
        self.activity_tasks.remove(task)
        request = RespondActivityTaskCompletedRequest(namespace=NAMESPACE, task_token=task.task_token)
        refused_or(lambda: respond_activity_task_completed(self.context, request))

    def complete_activity_by_id(self, workflow_id: str, activity_id: str) -> None:
        request = RespondActivityTaskCompletedByIdRequest(
            namespace=NAMESPACE, workflow_id=workflow_id, activity_id=activity_id
        )
        refused_or(lambda: respond_activity_task_completed_by_id(self.context, request))

    def fail_activity(self, task: PollActivityTaskQueueResponse, *, for_good: bool) -> None:
        self.activity_tasks.remove(task)
        failure = Failure(message="no")
        failure.application_failure_info.non_retryable = for_good
        request = RespondActivityTaskFailedRequest(
            namespace=NAMESPACE, task_token=task.task_token, failure=failure
        )
        refused_or(lambda: respond_activity_task_failed(self.context, request))

    def cancel_activity(self, task: PollActivityTaskQueueResponse) -> None:
        self.activity_tasks.remove(task)
        request = RespondActivityTaskCanceledRequest(namespace=NAMESPACE, task_token=task.task_token)
        refused_or(lambda: respond_activity_task_canceled(self.context, request))

    def heartbeat(self, task: PollActivityTaskQueueResponse) -> None:
        details = Payloads(payloads=[Payload(data=b"so far")])
        request = RecordActivityTaskHeartbeatRequest(
            namespace=NAMESPACE, task_token=task.task_token, details=details
        )
        refused_or(lambda: record_activity_task_heartbeat(self.context, request))

    def pass_time(self, nanoseconds: int) -> None:
        """Time passes in one leap; what became due meanwhile is fired at its end."""
        self.clock.advance(nanoseconds)
        self.fire_due()

    def fire_due(self) -> None:
        while due := self.system.store.wake_ups.due(self.clock.now(), 100):
            for wake_up in due:
                fire_wake_up(self.context, wake_up)

    def run_service_task(self) -> bool:
        return self.system.run_service_task()

    def settle(self) -> None:
        """Run all the tasks of the history service."""
        while self.run_service_task():
            pass


def refused_or(call: Callable[[], Any]) -> Any:
    """The reply, or None where the service refused the request."""
    try:
        return call()
    except ServiceError:
        return None


def retried(attempts: int) -> RetryPolicy:
    """A policy with a back-off of a second that doubles."""
    return RetryPolicy(initial_interval=Duration(seconds=1), maximum_attempts=attempts)
