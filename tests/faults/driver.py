"""Clients and workers of a deployment, one call at a time, until all workflows are done.

Whoever gets no answer asks again with the same request ID or token, as SDKs do.
"""

from dataclasses import dataclass, field
from typing import Any

from temporalio.api.common.v1 import WorkflowExecution, WorkflowType
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflowservice.v1 import (
    PollActivityTaskQueueRequest,
    PollWorkflowTaskQueueRequest,
    RespondActivityTaskCompletedRequest,
    RespondWorkflowTaskCompletedRequest,
    SignalWorkflowExecutionRequest,
    StartWorkflowExecutionRequest,
)

from durable_core.model.errors import NotFound, ServiceError, Unavailable
from tests.properties.world import QUEUE
from tests.simulation.worker import FROM_OUTSIDE, SIGNALS, answer

from .deployment import NAMESPACE, Deployment

TURNS_MAX = 3_000
TRIES_MAX = 50


@dataclass
class Driver:
    """`relays` and `fires` switch the stream's readers off. `processes` of each function take turns by chance."""

    deployment: Deployment
    processes: int = 2
    relays: bool = True
    trace: list[str] = field(default_factory=list)

    def run(self, *workflow_ids: str) -> None:
        """Start these and work until nothing is open. Raises `AssertionError` when that takes for ever."""
        for workflow_id in workflow_ids:
            self.start(workflow_id)
        signals = [(name, number) for name in workflow_ids for number in range(SIGNALS)]
        for turn in range(TURNS_MAX):
            if signals and turn % 3 == 0:
                self.signal(*signals.pop(0))
            self.turn()
            if turn % 10 == 0 and not signals and not self.open_runs():
                return
        raise AssertionError(f"nothing comes to an end: {self.open_runs()}\n" + "\n".join(self.trace[-40:]))

    def open_runs(self) -> list[str]:
        return [str(run.key) for run in self.deployment.runs() if run.state.is_open]

    def turn(self) -> None:
        """Somebody does something."""
        deployment = self.deployment
        jobs = [deployment.arm, deployment.serve, deployment.fire, self.work, self.work, self.act]
        if self.relays:
            jobs.append(deployment.relay)
        job = deployment.chance.choice(jobs)
        self.trace.append(f"{deployment.clock.now()} {job.__name__}")
        try:
            job()
        except ServiceError as refusal:
            self.trace.append(f"  {refusal!r}")

    def start(self, workflow_id: str) -> None:
        self.insist(
            "StartWorkflowExecution",
            StartWorkflowExecutionRequest(
                namespace=NAMESPACE,
                workflow_id=workflow_id,
                workflow_type=WorkflowType(name="Work"),
                task_queue=TaskQueue(name=QUEUE),
                request_id=f"start-{workflow_id}",
            ),
        )

    def signal(self, workflow_id: str, number: int) -> None:
        request = SignalWorkflowExecutionRequest(
            namespace=NAMESPACE,
            workflow_execution=WorkflowExecution(workflow_id=workflow_id),
            signal_name=FROM_OUTSIDE,
            request_id=f"signal-{number}",
        )
        try:
            self.insist("SignalWorkflowExecution", request)
        except NotFound:
            # Only the next run of a workflow that goes on as a new one waits for no signals.
            if workflow_id != "c":
                raise

    def work(self) -> None:
        poll = PollWorkflowTaskQueueRequest(namespace=NAMESPACE, task_queue=TaskQueue(name=QUEUE))
        task = self._call("poll", "PollWorkflowTaskQueue", poll)
        if task is None or not task.task_token:
            return
        workflow_id = task.workflow_execution.workflow_id
        commands = answer(workflow_id, task.history.events)
        self.trace.append(f"  {workflow_id}: {len(commands)} commands")
        done = RespondWorkflowTaskCompletedRequest(
            namespace=NAMESPACE, task_token=task.task_token, commands=commands
        )
        self._insist_or_late("RespondWorkflowTaskCompleted", done)

    def act(self) -> None:
        poll = PollActivityTaskQueueRequest(namespace=NAMESPACE, task_queue=TaskQueue(name=QUEUE))
        task = self._call("poll", "PollActivityTaskQueue", poll)
        if task is None or not task.task_token:
            return
        self.trace.append(f"  {task.workflow_execution.workflow_id}: {task.activity_id}")
        done = RespondActivityTaskCompletedRequest(namespace=NAMESPACE, task_token=task.task_token)
        self._insist_or_late("RespondActivityTaskCompleted", done)

    def insist(self, method: str, request: Any) -> Any:
        """Call until there is an answer."""
        for _ in range(TRIES_MAX):
            try:
                reply = self._call("frontend", method, request)
            except Unavailable:
                continue
            if reply is not None:
                return reply
        raise AssertionError(f"{method} is never answered")

    def _insist_or_late(self, method: str, request: Any) -> None:
        try:
            self.insist(method, request)
        except NotFound:
            self.trace.append("  too late, or done already")

    def _call(self, function: str, method: str, request: Any) -> Any:
        number = self.deployment.chance.randrange(self.processes)
        return self.deployment.call(f"{function}-{number}", method, request)
