"""The scenarios: what is started, what is done to it, and what a client must see of it, in whatever language.

No code runs here; `driver` gives the steps their meaning. Workflow types, signals, updates, queries and activities have
these very names in each worker.

The one thing a newcomer gets wrong: `events` are all of the first run's events but those of workflow tasks, whose
number depends on timing. Everything else in a history is decided by the workflow's code, so it is the same for every
SDK.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

ID = "{id}"
"""Stands for the workflow's ID in an expected result."""


@dataclass(frozen=True)
class Signal:
    """Send a signal."""

    name: str
    argument: Any = None


@dataclass(frozen=True)
class Query:
    """Ask once, for an answer sees all that was acknowledged before it."""

    name: str
    answer: Any
    argument: Any = None


@dataclass(frozen=True)
class FailingQuery:
    """Ask what the workflow's code cannot answer."""

    name: str
    message: str


@dataclass(frozen=True)
class Update:
    """Send an update and wait until it is completed. `accepted_first`: in two calls, the first for its acceptance."""

    name: str
    argument: Any
    result: Any
    accepted_first: bool = False


@dataclass(frozen=True)
class FailedUpdate:
    """Send an update that its validator rejects, or its handler fails: a client cannot tell them apart."""

    name: str
    argument: Any
    message: str


@dataclass(frozen=True)
class ActivityRuns:
    """Wait until a worker has the workflow's only activity."""


@dataclass(frozen=True)
class Happened:
    """Wait until the history has an event of this type, and, with `seen`, until a worker has answered to it."""

    event: str
    seen: bool = False


@dataclass(frozen=True)
class Cancel:
    """Ask the workflow to cancel."""


Step = Signal | Query | FailingQuery | Update | FailedUpdate | ActivityRuns | Happened | Cancel


@dataclass(frozen=True)
class Fact:
    """A field of the only event of a type, by its path from the event's attributes."""

    event: str
    path: str
    value: Any


@dataclass(frozen=True)
class Scenario:
    """One workflow from start to end.

    `events` come in this order, unless `ordered` is false: what another workflow does may fall between. `runs` is the
    length of the chain. `workflow_tasks` is given where it says something: how many the first run scheduled.
    """

    name: str
    workflow: str
    events: tuple[str, ...]
    arguments: tuple[Any, ...] = ()
    steps: tuple[Step, ...] = ()
    after: tuple[Step, ...] = ()
    result: Any = None
    status: str = "COMPLETED"
    facts: tuple[Fact, ...] = ()
    ordered: bool = True
    runs: int = 1
    workflow_tasks: int | None = None
    start_signal: Signal | None = None
    start_update: Update | None = None
    memo: Mapping[str, Any] = field(default_factory=dict)


STARTED, COMPLETED = "WorkflowExecutionStarted", "WorkflowExecutionCompleted"
CANCEL_REQUESTED, CANCELED = "WorkflowExecutionCancelRequested", "WorkflowExecutionCanceled"
SIGNALED, MARKER = "WorkflowExecutionSignaled", "MarkerRecorded"
ACCEPTED, UPDATED = "WorkflowExecutionUpdateAccepted", "WorkflowExecutionUpdateCompleted"
ACTIVITY = ("ActivityTaskScheduled", "ActivityTaskStarted", "ActivityTaskCompleted")
CHILD_INITIATED, CHILD_STARTED = "StartChildWorkflowExecutionInitiated", "ChildWorkflowExecutionStarted"

ACTIVITIES = (
    Scenario(
        "an activity's result comes back",
        "OneActivity",
        arguments=("Ada",),
        result="Hello, Ada!",
        events=(STARTED, *ACTIVITY, COMPLETED),
    ),
    Scenario(
        "an activity is tried again until it succeeds",
        "RetriedActivity",
        arguments=("Ada",),
        result="Hello, Ada, on attempt 3!",
        events=(STARTED, *ACTIVITY, COMPLETED),
        facts=(
            Fact("ActivityTaskStarted", "attempt", 3),
            Fact("ActivityTaskStarted", "last_failure.message", "attempt 2 fails"),
            Fact("ActivityTaskStarted", "last_failure.application_failure_info.type", "NotYet"),
        ),
    ),
    Scenario(
        "a failure that is not to be retried fails the activity and its workflow at once",
        "FailingActivity",
        arguments=("no use",),
        status="FAILED",
        events=(
            STARTED,
            "ActivityTaskScheduled",
            "ActivityTaskStarted",
            "ActivityTaskFailed",
            "WorkflowExecutionFailed",
        ),
        facts=(
            Fact("ActivityTaskStarted", "attempt", 1),
            Fact("ActivityTaskFailed", "failure.message", "no use"),
            Fact("ActivityTaskFailed", "retry_state", 2),
            Fact("WorkflowExecutionFailed", "failure.cause.application_failure_info.type", "Hopeless"),
            Fact(
                "WorkflowExecutionFailed", "failure.activity_failure_info.activity_type.name", "failForever"
            ),
        ),
    ),
    Scenario(
        "a local activity leaves a marker, however often it was tried",
        "LocalActivities",
        arguments=("Ada",),
        result=["Hello, Ada!", "Hello, Ada, on attempt 3!"],
        events=(STARTED, MARKER, MARKER, COMPLETED),
    ),
)

CONVERSATIONS = (
    Scenario(
        "signals arrive in the order they were sent",
        "Conversation",
        steps=(*(Signal("say", f"word {number}") for number in range(5)), Signal("finish")),
        result=[f"word {number}" for number in range(5)],
        events=(STARTED, *[SIGNALED] * 6, COMPLETED),
    ),
    Scenario(
        "a signal comes with the start",
        "Conversation",
        start_signal=Signal("say", "with the start"),
        steps=(Signal("finish"),),
        result=["with the start"],
        events=(STARTED, SIGNALED, SIGNALED, COMPLETED),
    ),
    Scenario(
        "queries see what was signalled before them, while the workflow runs and when it is over",
        "Conversation",
        steps=(
            Query("heard", []),
            Signal("say", "one"),
            Query("heard", ["one"]),
            Signal("say", "two"),
            Query("heard", ["one", "two"]),
            Query("heardFirst", ["one"], 1),
            FailingQuery("broken", "this query always fails"),
            Signal("finish"),
        ),
        after=(Query("heard", ["one", "two"]), Query("heardFirst", ["one"], 1)),
        result=["one", "two"],
        events=(STARTED, SIGNALED, SIGNALED, SIGNALED, COMPLETED),
        workflow_tasks=4,
    ),
    Scenario(
        "a timer fires",
        "Nap",
        arguments=(100,),
        result="awake",
        events=(STARTED, "TimerStarted", "TimerFired", COMPLETED),
    ),
)

UPDATES = (
    Scenario(
        "an update is accepted, completed and answered",
        "Account",
        arguments=(100,),
        steps=(
            Update("deposit", 20, 120),
            Update("deposit", 3, 123),
            Query("balance", 123),
            Signal("finish"),
        ),
        result=123,
        events=(STARTED, ACCEPTED, UPDATED, ACCEPTED, UPDATED, SIGNALED, COMPLETED),
    ),
    Scenario(
        "an update that its validator rejects leaves no trace",
        "Account",
        arguments=(100,),
        steps=(
            Query("balance", 100),
            FailedUpdate("deposit", -20, "an amount must be positive"),
            Query("balance", 100),
            Signal("finish"),
        ),
        result=100,
        events=(STARTED, SIGNALED, COMPLETED),
        workflow_tasks=2,
    ),
    Scenario(
        "an update is accepted first and completed when its activity is done",
        "Account",
        arguments=(100,),
        steps=(Update("depositAfterAudit", 5, 105, accepted_first=True), Signal("finish")),
        result=105,
        events=(STARTED, ACCEPTED, *ACTIVITY, UPDATED, SIGNALED, COMPLETED),
    ),
    Scenario(
        "an update whose handler fails has a failure for its outcome, and the workflow goes on",
        "Account",
        arguments=(100,),
        steps=(
            FailedUpdate("withdraw", 500, "only 100 there"),
            Update("withdraw", 40, 60),
            Signal("finish"),
        ),
        result=60,
        events=(STARTED, ACCEPTED, UPDATED, ACCEPTED, UPDATED, SIGNALED, COMPLETED),
    ),
    Scenario(
        "an update comes with the start",
        "Account",
        arguments=(100,),
        start_update=Update("deposit", 7, 107),
        steps=(Signal("finish"),),
        result=107,
        events=(STARTED, ACCEPTED, UPDATED, SIGNALED, COMPLETED),
    ),
)

FAMILIES = (
    Scenario(
        "a child's result comes back to its parent",
        "Parent",
        arguments=("Ada",),
        result=f"Ada, child of {ID}",
        events=(STARTED, CHILD_INITIATED, CHILD_STARTED, "ChildWorkflowExecutionCompleted", COMPLETED),
        facts=(Fact("ChildWorkflowExecutionCompleted", "workflow_type.name", "Child"),),
    ),
    Scenario(
        "a child's failure comes to its parent with its type",
        "ParentOfFailure",
        arguments=("no use",),
        result="Hopeless",
        events=(STARTED, CHILD_INITIATED, CHILD_STARTED, "ChildWorkflowExecutionFailed", COMPLETED),
        facts=(Fact("ChildWorkflowExecutionFailed", "failure.message", "no use"),),
    ),
    Scenario(
        "a parent signals its child",
        "SignallingParent",
        arguments=("hear me",),
        result="hear me",
        events=(
            STARTED,
            CHILD_INITIATED,
            CHILD_STARTED,
            "SignalExternalWorkflowExecutionInitiated",
            "ExternalWorkflowExecutionSignaled",
            "ChildWorkflowExecutionCompleted",
            COMPLETED,
        ),
        ordered=False,
    ),
    Scenario(
        "a parent's cancellation reaches its child",
        "CancelledParent",
        steps=(Happened(CHILD_STARTED, seen=True), Cancel()),
        status="CANCELED",
        events=(
            STARTED,
            CHILD_INITIATED,
            CHILD_STARTED,
            CANCEL_REQUESTED,
            "RequestCancelExternalWorkflowExecutionInitiated",
            "ExternalWorkflowExecutionCancelRequested",
            "ChildWorkflowExecutionCanceled",
            CANCELED,
        ),
        ordered=False,
    ),
)

CHAINS = (
    Scenario(
        "a workflow continues as new until it is done, and its memo goes along",
        "Countdown",
        arguments=(3, 0),
        memo={"kept": "by every run"},
        result=3,
        events=(STARTED, "WorkflowExecutionContinuedAsNew"),
        runs=4,
    ),
)

CANCELLATIONS = (
    Scenario(
        "a cancelled workflow cleans up with an activity and is then cancelled",
        "CleaningUp",
        steps=(Query("state", "waiting"), Cancel()),
        after=(Query("state", "clean"),),
        status="CANCELED",
        events=(STARTED, CANCEL_REQUESTED, *ACTIVITY, CANCELED),
    ),
    Scenario(
        "a cancelled workflow cancels its timer and may complete all the same",
        "CancelledTimer",
        steps=(Happened("TimerStarted"), Cancel()),
        result="woken",
        events=(STARTED, "TimerStarted", CANCEL_REQUESTED, "TimerCanceled", COMPLETED),
    ),
    Scenario(
        "a cancelled workflow cancels its activity, which is told at its next heartbeat",
        "CancelledActivity",
        steps=(ActivityRuns(), Cancel()),
        result="the activity was cancelled",
        events=(
            STARTED,
            "ActivityTaskScheduled",
            CANCEL_REQUESTED,
            "ActivityTaskCancelRequested",
            "ActivityTaskStarted",
            "ActivityTaskCanceled",
            COMPLETED,
        ),
    ),
)

SCENARIOS = (*ACTIVITIES, *CONVERSATIONS, *UPDATES, *FAMILIES, *CHAINS, *CANCELLATIONS)
