"""A deployment with clients, workers and time, run until all its workflows are done.

What lives here: who does what. Which of them goes on is the scheduler's, what must hold is in the tests.
A newcomer's trap: a request that was not acknowledged is sent again with the same request ID, by whatever process.
"""

from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any, Literal

from temporalio.api.common.v1 import WorkflowExecution, WorkflowType
from temporalio.api.enums.v1 import WorkflowIdReusePolicy
from temporalio.api.failure.v1 import Failure
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflowservice.v1 import (
    PollActivityTaskQueueRequest,
    PollWorkflowTaskQueueRequest,
    RecordActivityTaskHeartbeatRequest,
    RegisterNamespaceRequest,
    RespondActivityTaskCompletedRequest,
    RespondActivityTaskFailedRequest,
    RespondWorkflowTaskCompletedRequest,
    RespondWorkflowTaskFailedRequest,
    SignalWorkflowExecutionRequest,
    StartWorkflowExecutionRequest,
    TerminateWorkflowExecutionRequest,
)

from durable_core.adapters.decorators import ManualClock
from durable_core.adapters.sqlite import open_store
from durable_core.model.errors import NotFound, ServiceError, WorkflowExecutionAlreadyStarted
from durable_core.model.ids import QueueKind, RunKey, WorkflowKey
from durable_core.model.times import DAY, MILLISECOND, SECOND, duration
from durable_core.services import service_tasks
from durable_core.services.context import Context
from durable_core.services.frontend.record_activity_task_heartbeat import record_activity_task_heartbeat
from durable_core.services.frontend.register_namespace import register_namespace
from durable_core.services.frontend.respond_activity_task_completed import respond_activity_task_completed
from durable_core.services.frontend.respond_activity_task_failed import respond_activity_task_failed
from durable_core.services.frontend.respond_workflow_task_completed import respond_workflow_task_completed
from durable_core.services.frontend.respond_workflow_task_failed import respond_workflow_task_failed
from durable_core.services.frontend.signal_workflow_execution import signal_workflow_execution
from durable_core.services.frontend.start_workflow_execution import start_workflow_execution
from durable_core.services.frontend.terminate_workflow_execution import terminate_workflow_execution
from durable_core.services.matching.poll_activity_task_queue import poll_activity_task_queue
from durable_core.services.matching.poll_workflow_task_queue import poll_workflow_task_queue
from durable_core.services.timers.fire_wake_up import fire_wake_up
from tests.properties import invariants
from tests.properties.world import LAST_TRY, NAMESPACE, QUEUE, START_OF_TIME

from .owner import Faults, context
from .scheduler import Scheduler
from .worker import FROM_OUTSIDE, SIGNALS, answer

WORKFLOWS = ("a", "b", "c")
TERMINATED = "d"
TURNS_MAX = 100_000
IDLE_TURNS = 40


@dataclass(frozen=True, slots=True)
class Request:
    """What a client wants of a workflow."""

    kind: Literal["start", "signal", "terminate"]
    workflow_id: str
    request_id: str = ""


def _wanted() -> list[Request]:
    starts = [Request("start", name, f"start-{name}") for name in (*WORKFLOWS, TERMINATED)]
    signals = [Request("signal", name, f"signal-{number}") for name in WORKFLOWS for number in range(SIGNALS)]
    return [*starts, *signals, Request("terminate", TERMINATED)]


@dataclass
class Simulation:
    """`requests` are not acknowledged yet, `acknowledged` are."""

    path: Path
    seed: int
    owners: int = 2
    faults: Faults = field(default_factory=Faults)
    requests: list[Request] = field(default_factory=_wanted)
    acknowledged: list[Request] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.chance = Random(self.seed)
        self.clock = ManualClock(START_OF_TIME)
        self.scheduler = Scheduler(self.chance)
        self.trace = self.scheduler.trace
        self._born = 0
        self._idle = 0
        self.open()
        setup = self._context("set-up")
        register_namespace(
            setup,
            RegisterNamespaceRequest(namespace=NAMESPACE, workflow_execution_retention_period=duration(DAY)),
        )
        self.namespace_id = setup.namespaces.named(NAMESPACE).namespace_id
        for number in range(self.owners):
            name = f"owner-{number}"
            self.scheduler.add(name, lambda name=name: self._live(name))

    def open(self) -> None:
        self.store = open_store(str(self.path), self.clock, durable=False)

    def close(self) -> None:
        for name in self.scheduler.names:
            self.scheduler.end(name)
        self.store.close()

    def _context(self, name: str) -> Context:
        self._born += 1
        return context(name, self._born, self.store, self.clock, self.chance, self.scheduler, self.faults)

    def run(self) -> None:
        """Until everything is done. Raises `AssertionError` when that takes for ever, or an invariant is broken."""
        for turn in range(TURNS_MAX):
            self.scheduler.turn()
            if self.chance.random() < self.faults.crashes:
                self.scheduler.crash(self.chance.choice(self.scheduler.names))
            if self.chance.random() < self.faults.crashes / 10:
                self._crash_all()
            self._pass_time()
            if turn % 500 == 0:
                self.check()
                if self.is_done():
                    return
        raise AssertionError(f"nothing comes to an end: {self.left_over()}")

    def _crash_all(self) -> None:
        """The machine stops: nothing is written any more, and whatever was committed is found again."""
        self.trace.append("all crash")
        for name in self.scheduler.names:
            self.scheduler.end(name)
        self.store._connection.close()
        self.open()
        for name in self.scheduler.names:
            self.scheduler.crash(name)

    def _pass_time(self) -> None:
        """Seldom while there is something to do; else to the next wake-up, or past the visibility time of tasks."""
        if self._idle > IDLE_TURNS:
            self._idle = 0
            due = self.store.wake_ups.next_due()
            far = self.clock.now() + 31 * SECOND
            self.clock.set(max(self.clock.now() + MILLISECOND, min(due or far, far)))
        elif self.chance.random() < 0.01:
            self.clock.advance(self.chance.randrange(2 * SECOND))

    # What a process does. ---------------------------------------------------------------------------------------------

    def _live(self, name: str) -> None:
        services = self._context(name)
        jobs = (self._client, self._workflow_worker, self._activity_worker, self._service, self._timer)
        while True:
            job = self.chance.choice(jobs)
            services.runs.distrust()
            try:
                busy = job(services)
            except ServiceError as refusal:
                self.trace.append(f"{name} {job.__name__} refused: {refusal.message}")
                busy = True
            else:
                if busy:
                    self.trace.append(f"{name} {job.__name__} {busy}")
            self._idle = 0 if busy else self._idle + 1
            self.scheduler.give_way("between jobs")

    def _client(self, services: Context) -> object:
        if not self.requests:
            return None
        request = self.chance.choice(self.requests)
        try:
            match request.kind:
                case "start":
                    self._start(services, request)
                case "signal":
                    self._signal(services, request)
                case "terminate":
                    self._terminate(services, request)
        except NotFound as error:
            if "already completed" not in error.message or self._is_open(request.workflow_id):
                return None
            self._take(request)
            return f"came too late: {request}"
        self._take(request)
        self.acknowledged.append(request)
        return request

    def _take(self, request: Request) -> None:
        """Another client may have had the same answer."""
        if request in self.requests:
            self.requests.remove(request)

    def _signal(self, services: Context, request: Request) -> None:
        signal_workflow_execution(
            services,
            SignalWorkflowExecutionRequest(
                namespace=NAMESPACE,
                workflow_execution=WorkflowExecution(workflow_id=request.workflow_id),
                signal_name=FROM_OUTSIDE,
                request_id=request.request_id,
            ),
        )

    def _terminate(self, services: Context, request: Request) -> None:
        terminate_workflow_execution(
            services,
            TerminateWorkflowExecutionRequest(
                namespace=NAMESPACE, workflow_execution=WorkflowExecution(workflow_id=request.workflow_id)
            ),
        )

    def _start(self, services: Context, request: Request) -> None:
        """Only the current run's request IDs are known, so a start that comes again later must be refused by policy."""
        start = StartWorkflowExecutionRequest(
            namespace=NAMESPACE,
            workflow_id=request.workflow_id,
            workflow_type=WorkflowType(name="Work"),
            task_queue=TaskQueue(name=QUEUE),
            request_id=request.request_id,
            workflow_id_reuse_policy=WorkflowIdReusePolicy.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE,
        )
        try:
            start_workflow_execution(services, start)
        except WorkflowExecutionAlreadyStarted:
            self.trace.append(f"{request.workflow_id} was started before")

    def _workflow_worker(self, services: Context) -> object:
        poll = PollWorkflowTaskQueueRequest(namespace=NAMESPACE, task_queue=TaskQueue(name=QUEUE))
        task: Any = poll_workflow_task_queue(services, poll, LAST_TRY)
        if not task.task_token:
            return None
        assert not task.next_page_token
        workflow_id = task.workflow_execution.workflow_id
        luck = self.chance.random()
        services.runs.distrust()
        if luck < 0.05:
            return f"forgets {workflow_id}"
        if luck < 0.1:
            respond_workflow_task_failed(
                services, RespondWorkflowTaskFailedRequest(namespace=NAMESPACE, task_token=task.task_token)
            )
            return f"fails {workflow_id}"
        commands = answer(workflow_id, task.history.events)
        respond_workflow_task_completed(
            services,
            RespondWorkflowTaskCompletedRequest(
                namespace=NAMESPACE, task_token=task.task_token, commands=commands
            ),
        )
        return f"answers {workflow_id} {task.started_event_id} with {len(commands)} commands"

    def _activity_worker(self, services: Context) -> object:
        poll = PollActivityTaskQueueRequest(namespace=NAMESPACE, task_queue=TaskQueue(name=QUEUE))
        task: Any = poll_activity_task_queue(services, poll, LAST_TRY)
        if not task.task_token:
            return None
        what = f"{task.workflow_execution.workflow_id} {task.activity_id} {task.attempt}"
        luck = self.chance.random()
        services.runs.distrust()
        token = {"namespace": NAMESPACE, "task_token": task.task_token}
        if luck < 0.1:
            return f"forgets {what}"
        if luck < 0.3:
            record_activity_task_heartbeat(services, RecordActivityTaskHeartbeatRequest(**token))
            services.runs.distrust()
        if luck > 0.8:
            failure = Failure(message="no")
            failure.application_failure_info.SetInParent()
            respond_activity_task_failed(services, RespondActivityTaskFailedRequest(failure=failure, **token))
            return f"fails {what}"
        respond_activity_task_completed(services, RespondActivityTaskCompletedRequest(**token))
        return f"completes {what}"

    def _service(self, services: Context) -> object:
        return service_tasks.run_next(services)

    def _timer(self, services: Context) -> object:
        due = self.store.wake_ups.due(self.clock.now(), 10)
        if not due:
            return None
        wake_up = self.chance.choice(due)
        self.scheduler.give_way("before a wake-up")
        fire_wake_up(services, wake_up)
        return f"fires {wake_up.run.workflow_id}"

    # What can be seen from outside. -----------------------------------------------------------------------------------

    def _is_open(self, workflow_id: str) -> bool:
        current = self.store.executions.current(WorkflowKey(self.namespace_id, workflow_id))
        return current is not None and current.open

    def runs(self) -> list[invariants.Run]:
        found = self.store._connection.execute(
            "SELECT namespace_id, workflow_id, run_id FROM runs ORDER BY run"
        ).fetchall()
        loaded = [invariants.load(self.observed(), RunKey(*key)) for key in found]
        return [run for run in loaded if run is not None]

    def observed(self) -> Any:
        """The database as the checks of invariants want to see it, without taking part in anything."""
        quiet = context(
            "observer", 0, self.store, self.clock, Random(0), self.scheduler, Faults(0.0, 0.0, 0.0)
        )
        return SimpleNamespace(store=self.store, context=quiet)

    def check(self) -> None:
        invariants.check_all(self.observed(), self.runs())

    def is_done(self) -> bool:
        return not self.requests and not self.left_over()

    def left_over(self) -> list[str]:
        """Open runs, and tasks of the history service."""
        still_open = [str(run.key) for run in self.runs() if run.state.is_open]
        undone = invariants.undone(self.store)
        return still_open + [str(task) for task in undone if task.queue_kind == QueueKind.SERVICE]
