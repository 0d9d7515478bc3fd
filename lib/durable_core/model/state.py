"""The state of a run: the always-needed core and its sections.

Most of it is the fold of the history. What Temporal, too, keeps out of histories is marked `# outside history` and has
one owner: the machine that is named there. Structures inside are frozen; `Core` alone is changed in place, on a fork.
Times and durations are whole nanoseconds; 0 means none. Protobuf values that the engine does not look into are kept
serialized. The structures are stored by position: add fields at the end only, with a default, and never remove one.
"""

from copy import copy
from enum import IntEnum

import msgspec

from durable_core.model.section import Section

BUFFERED_EVENT_ID = -123
"""The ID of an event that waits in the buffer for the open workflow task to end (as on the Temporal server)."""


class RetryPolicy(msgspec.Struct, frozen=True, array_like=True):
    """A retry policy with its defaults filled in. `maximum_attempts` 0 means no bound."""

    initial_interval: int
    coefficient: float
    maximum_interval: int
    maximum_attempts: int
    non_retryable_types: tuple[str, ...] = ()


class Parent(msgspec.Struct, frozen=True, array_like=True):
    """The parent's run and the event of it that initiated this one."""

    namespace: str
    namespace_id: str
    workflow_id: str
    run_id: str
    initiated_event_id: int


class Root(msgspec.Struct, frozen=True, array_like=True):
    workflow_id: str
    run_id: str


class BranchSpan(msgspec.Struct, frozen=True, array_like=True):
    """A part of an ancestor branch that this history uses: events up to `end_event_id` (excluded)."""

    branch_id: str
    end_event_id: int


class WorkflowTaskInfo(msgspec.Struct, frozen=True, array_like=True):
    """The pending workflow task. Started when `started_event_id` is set.

    A transient one (attempt > 1) has no events in the history: its event IDs are those it would get.
    """

    scheduled_event_id: int
    attempt: int
    timeout: int
    scheduled_at: int
    original_scheduled_at: (
        int  # outside history (workflow_task): older than the task if it only kept one alive
    )
    queue: str
    sticky: bool
    stamp: int  # outside history (workflow_task): unique for each dispatch, so that stale messages are told
    started_event_id: int = 0
    started_at: int = 0
    request_id: str = ""
    identity: str = ""
    suggest_continue_as_new: bool = False
    suggest_reasons: tuple[int, ...] = ()
    history_bytes: int = 0
    worker_version: bytes = b""
    speculative: bool = (
        False  # outside history (workflow_task): it only brings updates, and may leave no trace
    )


class UpdateStage(IntEnum):
    """How far an update has come. REJECTED is kept for a while, for its caller to read."""

    ADMITTED = 1
    SENT = 2
    ACCEPTED = 3
    COMPLETED = 4
    REJECTED = 5


class UpdateInfo(msgspec.Struct, frozen=True, array_like=True):
    """An update of the run. What comes before its acceptance is outside history (update)."""

    update_id: str
    stage: int
    request: bytes = b""  # temporal.api.update.v1.Request, until the update is accepted
    accepted_event_id: int = 0
    completed_event_id: int = 0
    rejection: bytes = b""  # temporal.api.failure.v1.Failure of a rejected one
    changed_at: int = 0
    admission: str = ""  # tells this update from a later one with the same ID, after a rejection
    admitted_event_id: int = 0  # of one that a reset reapplied: its request is in the history


class ActivityInfo(msgspec.Struct, frozen=True, array_like=True):
    """A pending activity. Its attempts, its heartbeat and its start are outside history (activity) until it ends."""

    scheduled_event_id: int
    activity_id: str
    activity_type: str
    queue: str
    scheduled_at: int
    schedule_to_close: int
    schedule_to_start: int
    start_to_close: int
    heartbeat_timeout: int
    retry: RetryPolicy | None
    cancel_requested: bool = False
    attempt: int = 1  # outside history (activity)
    attempt_scheduled_at: int = 0  # outside history (activity)
    stamp: int = 1  # outside history (activity)
    started_at: int = 0  # outside history (activity)
    started_event_id: int = 0  # BUFFERED_EVENT_ID or an ID once the started event is written
    request_id: str = ""  # outside history (activity)
    identity: str = ""  # outside history (activity)
    heartbeat_at: int = 0  # outside history (activity)
    heartbeat_details: bytes = b""  # outside history (activity)
    last_failure: bytes = b""  # outside history (activity)
    last_identity: str = ""  # outside history (activity)
    last_completed_at: int = 0  # outside history (activity)
    cancel_requested_event_id: int = 0
    dispatched: bool = True  # outside history (activity): False while it backs off before its next attempt
    priority: bytes = b""
    last_ended_at: int = 0  # outside history (activity): of the attempt before, also when it timed out


class TimerInfo(msgspec.Struct, frozen=True, array_like=True):
    timer_id: str
    started_event_id: int
    fires_at: int


class ChildInfo(msgspec.Struct, frozen=True, array_like=True):
    """A child that was initiated and has not closed. `started_event_id` 0: its start is not recorded yet."""

    initiated_event_id: int
    namespace: str
    namespace_id: str
    workflow_id: str
    workflow_type: str
    parent_close_policy: int
    request_id: str  # outside history (child_workflow): makes the child's start idempotent
    run_id: str = ""
    started_event_id: int = 0


class ExternalInfo(msgspec.Struct, frozen=True, array_like=True):
    """A signal or a cancel request to another execution that has not been answered."""

    initiated_event_id: int
    namespace: str
    namespace_id: str
    workflow_id: str
    run_id: str
    request_id: str  # outside history (external): makes the request idempotent at its target
    child_only: bool = False


class Core(msgspec.Struct, array_like=True):
    """The always-needed part of a run's state."""

    namespace_id: str = ""
    namespace: str = ""
    workflow_id: str = ""
    run_id: str = ""
    workflow_type: str = ""
    queue: str = ""
    first_run_id: str = ""
    original_run_id: str = ""
    status: int = 0  # temporal.api.enums.v1.WorkflowExecutionStatus
    next_event_id: int = 1
    history_bytes: int = 0
    transitions: int = 0  # outside history (execution)
    start_request_id: str = ""  # outside history (execution)
    started_at: int = 0
    execution_at: int = 0  # when the first workflow task is due: start time plus back-off
    backoff_pending: bool = False  # the first workflow task waits for execution_at
    closed_at: int = 0
    close_event_id: int = 0
    execution_timeout: int = 0
    run_timeout: int = 0
    workflow_task_timeout: int = 0
    execution_expires_at: int = 0
    run_expires_at: int = 0
    attempt: int = 1
    retry: RetryPolicy | None = None
    cron: str = ""
    parent: Parent | None = None
    root: Root | None = None
    memo: dict[str, bytes] = {}
    search_attributes: dict[str, bytes] = {}  # but for TemporalReportedProblems, which is in no event
    last_completion_result: bytes = b""
    last_failure: bytes = b""
    cancel_requested: bool = False
    cancel_request_id: str = ""  # outside history (execution)
    continued_run_id: str = ""
    branch_id: str = ""
    ancestors: tuple[BranchSpan, ...] = ()
    workflow_task: WorkflowTaskInfo | None = None
    workflow_task_attempt: int = (
        1  # outside history (workflow_task): of the next one, which is transient if above 1
    )
    workflow_task_stamp: int = 0  # outside history (workflow_task)
    workflow_task_failed_at: int = 0  # outside history (workflow_task)
    last_workflow_task_completed_id: int = 0
    last_workflow_task_started_id: int = 0
    last_workflow_task_original_scheduled_at: int = 0  # outside history (workflow_task)
    sticky_queue: str = ""  # outside history (workflow_task)
    sticky_timeout: int = 0  # outside history (workflow_task)
    signals: int = 0
    close_attempted: bool = (
        False  # outside history (workflow_task): a closing command lost a race with an event
    )
    armed_at: int = 0  # outside history (deadlines): the armed wake-up
    buffer_sequence: int = 0  # outside history (buffering)
    worker_version: bytes = b""
    reset_points: tuple[bytes, ...] = ()  # but for their expiry, which a following run sets
    user_metadata: bytes = b""
    priority: bytes = b""
    has_priority: bool = False
    waits_for_parent: bool = (
        False  # outside history (execution): no workflow task until the parent recorded the start
    )
    completion_callbacks: tuple[bytes, ...] = ()
    start_links: tuple[bytes, ...] = ()
    attached_requests: dict[str, int] = {}  # request IDs of attached starts, and their events
    reset_run_id: str = ""  # outside history (resetting): the run that a reset made of this one
    reset_requests: tuple[str, ...] = ()  # outside history (resetting): requests that led to this run
    reset_at: int = 0  # outside history (resetting): a reset run's start and time-outs count from here
    original_started_at: int = 0  # outside history (resetting): when the run that was reset had started
    queries_wait: bool = False  # outside history (workflow_task): some may ride along with the next one


SECTIONS = ("activities", "timers", "children", "signals", "cancels", "buffered", "requests", "updates")


class RunState:
    """A run's core and sections, and the version under which it was stored (0: not yet)."""

    __slots__ = ("core", "version", *SECTIONS)

    def __init__(self, core: Core, version: int = 0) -> None:
        self.core = core
        self.version = version
        self.activities: Section[int, ActivityInfo] = Section()
        self.timers: Section[str, TimerInfo] = Section()
        self.children: Section[int, ChildInfo] = Section()
        self.signals: Section[int, ExternalInfo] = Section()
        self.cancels: Section[int, ExternalInfo] = Section()
        self.buffered: Section[int, bytes] = Section()
        self.requests: Section[str, int] = Section()
        self.updates: Section[str, UpdateInfo] = Section()

    def fork(self) -> "RunState":
        """A state to decide on: nothing done to it is seen here until it is absorbed."""
        fork = RunState.__new__(RunState)
        fork.core = copy(self.core)
        fork.version = self.version
        fork.activities = self.activities.fork()
        fork.timers = self.timers.fork()
        fork.children = self.children.fork()
        fork.signals = self.signals.fork()
        fork.cancels = self.cancels.fork()
        fork.buffered = self.buffered.fork()
        fork.requests = self.requests.fork()
        fork.updates = self.updates.fork()
        return fork

    def absorb(self) -> None:
        """Call once this state is committed."""
        for name in SECTIONS:
            section = getattr(self, name)
            if section.changes:
                section.absorb()

    @property
    def is_open(self) -> bool:
        return self.core.closed_at == 0
