"""A worker that acts only when told: poll, look, respond.

Here live the polls and responses of workflow and activity workers as single steps, and short makers of
commands, so that a scenario fixes the order in which things happen. Newcomers forget that a poll whose client
went away may still take a task on the reference server: poll only when a task is there or surely comes.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from temporalio.api.command.v1 import Command
from temporalio.api.enums.v1 import CommandType

from .environment import Environment, as_plain, type_name

# Hints about load, and an opaque token: two polls on one server differ in them.
_HINTS = (
    "taskToken",
    "backlogCountHint",
    "pollerScalingDecision",
    "pollerGroupId",
    "pollerGroupsInfo",
    "pollerGroupInfos",
)


class RawWorker:
    """One worker on one task queue, driven step by step."""

    def __init__(self, env: Environment, queue: str | None = None, identity: str = "worker") -> None:
        self.env = env
        self.queue = queue or env.queue()
        self.identity = identity

    async def workflow_task(
        self, queue: str | None = None, sticky_of: str | None = None, **fields: Any
    ) -> Any:
        """Poll until a workflow task is there. `sticky_of` names the normal queue of a sticky `queue`."""
        task_queue: dict[str, Any] = {"name": queue or self.queue}
        if sticky_of is not None:
            task_queue |= {"kind": "TASK_QUEUE_KIND_STICKY", "normal_name": sticky_of}
        fields.setdefault("identity", self.identity)
        task = await self.env.call("PollWorkflowTaskQueue", task_queue=task_queue, **fields)
        assert task.task_token, f"no workflow task came on {task_queue}"
        return task

    async def complete(self, task: Any, *commands: Command, **fields: Any) -> Any:
        """Answer a workflow task with commands."""
        fields.setdefault("identity", self.identity)
        return await self.env.call(
            "RespondWorkflowTaskCompleted", task_token=task.task_token, commands=commands, **fields
        )

    async def fail(self, task: Any, cause: str, message: str = "told to fail", **fields: Any) -> Any:
        """Answer a workflow task with a failure."""
        fields.setdefault("identity", self.identity)
        fields.setdefault("failure", {"message": message})
        return await self.env.call(
            "RespondWorkflowTaskFailed",
            task_token=task.task_token,
            cause=f"WORKFLOW_TASK_FAILED_CAUSE_{cause}",
            **fields,
        )

    async def step(self, *commands: Command, **fields: Any) -> Any:
        """Poll a workflow task, answer it, and give the task."""
        task = await self.workflow_task()
        await self.complete(task, *commands, **fields)
        return task

    async def activity_task(self, queue: str | None = None) -> Any:
        """Poll until an activity task is there."""
        task = await self.env.call(
            "PollActivityTaskQueue", task_queue={"name": queue or self.queue}, identity=self.identity
        )
        assert task.task_token, "no activity task came"
        return task

    async def complete_activity(self, task: Any, result: str = "done") -> Any:
        """Answer an activity task with a result."""
        return await self.env.call(
            "RespondActivityTaskCompleted",
            task_token=task.task_token,
            result=payloads(result),
            identity=self.identity,
        )

    async def fail_activity(self, task: Any, **failure: Any) -> Any:
        """Answer an activity task with an application failure (see `application_failure`)."""
        return await self.env.call(
            "RespondActivityTaskFailed",
            task_token=task.task_token,
            failure=application_failure(**failure),
            identity=self.identity,
        )

    async def heartbeat(self, task: Any, details: str = "beat") -> Any:
        """Heartbeat with details."""
        return await self.env.call(
            "RecordActivityTaskHeartbeat",
            task_token=task.task_token,
            details=payloads(details),
            identity=self.identity,
        )


async def activity_scheduled(env: Environment, **attributes: Any) -> RawWorker:
    """The worker of a workflow whose first task has scheduled one activity."""
    worker = RawWorker(env)
    await env.start()
    await worker.step(schedule_activity(env, **attributes))
    return worker


async def complete_and_record(env: Environment, worker: RawWorker) -> None:
    """The workflow completes at its next task, and its history is recorded."""
    await worker.step(complete_workflow())
    await env.record()


async def two_seconds_pass(env: Environment, name: str = "clock") -> None:
    """Let the server's own clock show two seconds by a timer of another workflow.

    What fires into the buffer of a started task has no sign in the API that could be awaited.
    """
    clock = env.id(name)
    await env.start(clock, task_queue={"name": env.queue(name)})
    await RawWorker(env, env.queue(name)).step(start_timer("clock", 2))
    await env.until_event("TIMER_FIRED", clock)


def seen(task: Any) -> dict[str, Any]:
    """What a polled task shows, without its token and the hints about load."""
    shown: dict[str, Any] = as_plain(task)
    for hint in _HINTS:
        shown.pop(hint, None)
    return shown


def pending(description: Any) -> list[dict[str, Any]]:
    """The pending activities of a description by ID; the reference server gives them in random order."""
    return sorted(
        (as_plain(one) for one in description.pending_activities), key=lambda one: str(one["activityId"])
    )


def event_names(task: Any) -> list[str]:
    """The names of the events that a workflow task brings."""
    return [f"{event.event_id} {type_name(event)}" for event in task.history.events]


def payloads(*values: str) -> dict[str, Any]:
    """JSON strings as payloads."""
    return {"payloads": [payload(value) for value in values]}


def payload(value: str) -> dict[str, Any]:
    """One JSON string as a payload."""
    return {"metadata": {"encoding": b"json/plain"}, "data": f'"{value}"'.encode()}


def seconds(value: float) -> timedelta:
    """A duration."""
    return timedelta(seconds=value)


def application_failure(message: str = "boom", kind: str = "Kind", **info: Any) -> dict[str, Any]:
    """A failure of the application; `info` may hold `non_retryable`, `next_retry_delay`, `details`."""
    return {"message": message, "application_failure_info": {"type": kind, **info}}


def command(
    kind: str, user_metadata: Any = None, event_group_markers: Any = (), **attributes: Any
) -> Command:
    """A command by the name of its type; its attributes field follows from the name."""
    field = f"{kind.lower()}_command_attributes"
    built: Any = {"command_type": CommandType.Value(f"COMMAND_TYPE_{kind}"), field: attributes}
    built["event_group_markers"] = event_group_markers
    if user_metadata is not None:
        built["user_metadata"] = user_metadata
    return Command(**built)


def complete_workflow(result: str = "result") -> Command:
    """Complete the workflow."""
    return command("COMPLETE_WORKFLOW_EXECUTION", result=payloads(result))


def fail_workflow(message: str = "workflow failed", **info: Any) -> Command:
    """Fail the workflow."""
    return command("FAIL_WORKFLOW_EXECUTION", failure=application_failure(message, **info))


def start_timer(timer_id: str = "timer", after: float = 3600, **fields: Any) -> Command:
    """Start a timer; an hour stands for never."""
    return command("START_TIMER", timer_id=timer_id, start_to_fire_timeout=seconds(after), **fields)


def cancel_timer(timer_id: str = "timer") -> Command:
    """Cancel a timer."""
    return command("CANCEL_TIMER", timer_id=timer_id)


def schedule_activity(env: Environment, activity_id: str = "activity", **attributes: Any) -> Command:
    """Schedule an activity on the scenario's queue; a start-to-close time-out of an hour unless one is given."""
    attributes.setdefault("activity_type", {"name": "Activity"})
    attributes.setdefault("task_queue", {"name": env.queue()})
    if not {"start_to_close_timeout", "schedule_to_close_timeout"} & set(attributes):
        attributes["start_to_close_timeout"] = seconds(3600)
    return command("SCHEDULE_ACTIVITY_TASK", activity_id=activity_id, **attributes)


def start_child(env: Environment, workflow_id: str, **attributes: Any) -> Command:
    """Start a child on the scenario's queue `child`."""
    attributes.setdefault("workflow_type", {"name": "Child"})
    attributes.setdefault("task_queue", {"name": env.queue("child")})
    return command("START_CHILD_WORKFLOW_EXECUTION", workflow_id=workflow_id, **attributes)


def continue_as_new(env: Environment, **attributes: Any) -> Command:
    """Continue as new on the scenario's queue."""
    attributes.setdefault("workflow_type", {"name": "Workflow"})
    attributes.setdefault("task_queue", {"name": env.queue()})
    return command("CONTINUE_AS_NEW_WORKFLOW_EXECUTION", **attributes)
