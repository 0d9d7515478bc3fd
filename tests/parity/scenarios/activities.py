"""Activities: retries, heartbeats, completion by token and by ID.

Here lives everything about an activity but its time-outs and its cancellation. Newcomers forget that
ActivityTaskStarted is written only when the activity ends.
"""

from __future__ import annotations

from typing import Any

from ..environment import Environment
from ..raw_worker import (
    RawWorker,
    activity_scheduled,
    application_failure,
    complete_and_record,
    complete_workflow,
    event_names,
    payloads,
    pending,
    schedule_activity,
    seconds,
    seen,
)
from . import scenario


@scenario
async def activity_completes_by_token(env: Environment) -> None:
    """All attributes reach the task; the started event is written with the completion."""
    worker = await activity_scheduled(
        env,
        input=payloads("input"),
        header={"fields": {"key": payloads("header")["payloads"][0]}},
        schedule_to_close_timeout=seconds(100),
        heartbeat_timeout=seconds(5),
        user_metadata={"summary": payloads("summary")["payloads"][0]},
    )
    task = await worker.activity_task()
    env.note("task", seen(task))
    await env.record(label="while it runs")
    env.note("description", await env.describe())
    env.note("reply", await worker.complete_activity(task))
    await env.attempt("completed twice", worker.complete_activity(task))
    await env.attempt("failed after completion", worker.fail_activity(task))
    await env.attempt("heartbeat after completion", worker.heartbeat(task))
    await complete_and_record(env, worker)


@scenario
async def activity_fails_without_retry(env: Environment) -> None:
    """One attempt only: the maximum number of attempts is reached."""
    worker = await activity_scheduled(env, retry_policy={"maximum_attempts": 1})
    task = await worker.activity_task()
    failure = application_failure("boom", details=payloads("detail"))
    cause = {"cause": application_failure("root cause", kind="Root"), "stack_trace": "stack"}
    response = await env.call(
        "RespondActivityTaskFailed", task_token=task.task_token, failure=failure | cause
    )
    env.note("reply", response)
    await complete_and_record(env, worker)


@scenario
async def activity_is_retried_until_maximum_attempts(env: Environment) -> None:
    """Attempts, backoff and the last failure show in the description; the history has one started event."""
    policy = {"initial_interval": seconds(0.1), "maximum_attempts": 3, "backoff_coefficient": 3.0}
    worker = await activity_scheduled(env, retry_policy=policy | {"maximum_interval": seconds(0.2)})
    for attempt in (1, 2, 3):
        task = await worker.activity_task()
        env.note(f"attempt {attempt}", seen(task))
        await worker.heartbeat(task, f"beat {attempt}")
        if attempt == 3:
            env.note("pending before the last failure", pending(await env.describe()))
        await worker.fail_activity(task, message=f"failure {attempt}")
    await complete_and_record(env, worker)


@scenario
async def activity_waits_between_attempts(env: Environment) -> None:
    """While it backs off, the description says when it runs again and what it failed with."""
    worker = await activity_scheduled(env, retry_policy={"initial_interval": seconds(100)})
    await worker.fail_activity(await worker.activity_task(), details=payloads("detail"))
    env.note("pending", pending(await env.describe()))
    await env.terminate()
    await env.record()


@scenario
async def activity_fails_with_a_non_retryable_failure(env: Environment) -> None:
    """Marked by the failure itself, or by its type in the retry policy."""
    worker = RawWorker(env)
    await env.start()
    policy = {"non_retryable_error_types": ["Fatal"], "maximum_attempts": 5}
    await worker.step(
        schedule_activity(env, "a"),
        schedule_activity(env, "b", retry_policy=policy),
    )
    tasks = {task.activity_id: task for task in (await worker.activity_task(), await worker.activity_task())}
    await worker.fail_activity(tasks["a"], message="marked", non_retryable=True)
    await worker.step()
    await worker.fail_activity(tasks["b"], message="by type", kind="Fatal")
    await complete_and_record(env, worker)


@scenario
async def activity_failure_sets_the_next_delay(env: Environment) -> None:
    """next_retry_delay overrides the policy's backoff and its maximum."""
    policy = {"initial_interval": seconds(1000), "maximum_attempts": 2}
    worker = await activity_scheduled(env, retry_policy=policy)
    await worker.fail_activity(await worker.activity_task(), next_retry_delay=seconds(0.1))
    second = await worker.activity_task()
    env.note("second", seen(second))
    await worker.complete_activity(second)
    await complete_and_record(env, worker)


@scenario
async def activity_fails_with_other_kinds_of_failure(env: Environment) -> None:
    """Server failures, time-out failures and cancelled failures have rules of their own for retrying."""
    worker = RawWorker(env)
    await env.start()
    policy = {"maximum_attempts": 2, "initial_interval": seconds(1000)}
    failures: dict[str, Any] = {
        "a server": {"message": "m", "server_failure_info": {"non_retryable": True}},
        "b terminated": {"message": "m", "terminated_failure_info": {}},
        "c canceled": {"message": "m", "canceled_failure_info": {}},
        "d start to close": {
            "message": "m",
            "timeout_failure_info": {"timeout_type": "TIMEOUT_TYPE_START_TO_CLOSE"},
        },
        "e schedule to close": {
            "message": "m",
            "timeout_failure_info": {"timeout_type": "TIMEOUT_TYPE_SCHEDULE_TO_CLOSE"},
        },
        "f none": None,
    }
    await worker.step(*(schedule_activity(env, name, retry_policy=policy) for name in failures))
    tasks = [await worker.activity_task() for _ in failures]
    for activity in sorted(tasks, key=lambda one: str(one.activity_id)):
        failure = failures[activity.activity_id]
        response = env.call("RespondActivityTaskFailed", task_token=activity.task_token, failure=failure)
        await env.attempt(activity.activity_id, response)
    still_there = (await env.describe()).pending_activities
    attempts = sorted((one.activity_id, one.attempt, one.last_failure.message) for one in still_there)
    env.note("attempts", attempts)
    await env.terminate()
    await env.record()


@scenario
async def activity_completes_by_id(env: Environment) -> None:
    """Heartbeat, failure and completion name the activity instead of carrying its token."""
    worker = await activity_scheduled(env, retry_policy={"initial_interval": seconds(0.1)})
    by_id: dict[str, Any] = {"workflow_id": env.id(), "activity_id": "activity"}
    await worker.activity_task()
    heartbeat = env.call("RecordActivityTaskHeartbeatById", details=payloads("beat"), **by_id)
    await env.attempt("heartbeat", heartbeat)
    failure = application_failure("by id")
    await env.attempt("failure", env.call("RespondActivityTaskFailedById", failure=failure, **by_id))
    second = await worker.activity_task()
    env.note("second", seen(second))
    completion = env.call("RespondActivityTaskCompletedById", result=payloads("by id"), **by_id)
    await env.attempt("completion", completion)
    await env.attempt("again", env.call("RespondActivityTaskCompletedById", **by_id))
    unknown: dict[str, Any] = {"workflow_id": env.id(), "activity_id": "unknown"}
    for method in (
        "RespondActivityTaskCompletedById",
        "RespondActivityTaskFailedById",
        "RespondActivityTaskCanceledById",
        "RecordActivityTaskHeartbeatById",
    ):
        await env.attempt(f"{method} unknown activity", env.call(method, **unknown))
        await env.attempt(
            f"{method} unknown workflow", env.call(method, **unknown | {"workflow_id": "no-such"})
        )
    await complete_and_record(env, worker)


@scenario
async def activity_is_answered_by_id_before_it_started(env: Environment) -> None:
    """Completion by ID needs no start; the history shows one all the same, or the call is refused."""
    worker = RawWorker(env)
    await env.start()
    names = ("completed", "failed", "canceled", "heartbeat")
    await worker.step(*(schedule_activity(env, name) for name in names))
    methods = {
        "completed": "RespondActivityTaskCompletedById",
        "failed": "RespondActivityTaskFailedById",
        "canceled": "RespondActivityTaskCanceledById",
        "heartbeat": "RecordActivityTaskHeartbeatById",
    }
    for name in names:
        extra: dict[str, Any] = {"failure": application_failure()} if name == "failed" else {}
        call = env.call(methods[name], workflow_id=env.id(), activity_id=name, **extra)
        await env.attempt(name, call)
    env.note("pending", pending(await env.describe()))
    await env.terminate()
    await env.record()


@scenario
async def activity_fails_with_last_heartbeat_details(env: Environment) -> None:
    """A failure may carry the last heartbeat; the next attempt sees it."""
    worker = await activity_scheduled(env, retry_policy={"initial_interval": seconds(0.1)})
    first = await worker.activity_task()
    await worker.heartbeat(first, "recorded")
    await env.call(
        "RespondActivityTaskFailed",
        task_token=first.task_token,
        failure=application_failure(),
        last_heartbeat_details=payloads("with the failure"),
    )
    second = await worker.activity_task()
    env.note("second", seen(second))
    await worker.complete_activity(second)
    await complete_and_record(env, worker)


@scenario
async def activity_completes_while_workflow_task_runs(env: Environment) -> None:
    """Its completion is buffered until the task is answered."""
    worker = await activity_scheduled(env)
    activity = await worker.activity_task()
    await env.signal()
    task = await worker.workflow_task()
    await worker.complete_activity(activity)
    await env.record(label="buffered")
    env.note("pending", pending(await env.describe()))
    await worker.complete(task)
    last = await worker.workflow_task()
    env.note("last", event_names(last))
    await worker.complete(last, complete_workflow())
    await env.record(label="closed")


@scenario
async def activity_scheduled_in_closing_task(env: Environment) -> None:
    """An activity scheduled together with the completion is never run; its answer is not found."""
    worker = await activity_scheduled(env)
    task = await worker.activity_task()
    await env.signal()
    await complete_and_record(env, worker)
    await env.attempt("completion", worker.complete_activity(task))
    await env.attempt("heartbeat", worker.heartbeat(task))
    await env.attempt("failure", worker.fail_activity(task))


@scenario
async def bad_task_tokens_are_refused(env: Environment) -> None:
    """Tokens that are empty or no tokens at all."""
    for method in (
        "RespondActivityTaskCompleted",
        "RespondActivityTaskFailed",
        "RespondActivityTaskCanceled",
        "RecordActivityTaskHeartbeat",
        "RespondWorkflowTaskCompleted",
        "RespondWorkflowTaskFailed",
    ):
        await env.attempt(f"{method} without token", env.call(method))


@scenario
async def eager_activity_comes_with_the_reply(env: Environment) -> None:
    """An activity on the workflow's own queue may be started with the reply, if the worker asks for it."""
    worker = RawWorker(env)
    await env.start()
    task = await worker.workflow_task()
    reply = await worker.complete(task, schedule_activity(env, request_eager_execution=True))
    env.note("eager tasks", [seen(activity) for activity in reply.activity_tasks])
    for activity in reply.activity_tasks:
        await worker.complete_activity(activity)
    await complete_and_record(env, worker)


@scenario
async def activity_id_is_free_after_completion(env: Environment) -> None:
    """The same ID may be scheduled again once the first has ended."""
    worker = await activity_scheduled(env)
    await worker.complete_activity(await worker.activity_task(), "first")
    await worker.step(schedule_activity(env))
    await worker.complete_activity(await worker.activity_task(), "second")
    await complete_and_record(env, worker)


@scenario
async def activity_of_a_given_run_by_id(env: Environment) -> None:
    """Calls by ID may name the run; a bad, an unknown and a closed run are refused."""
    worker = await activity_scheduled(env)
    await worker.activity_task()
    run_id = (await env.describe()).workflow_execution_info.execution.run_id
    by_id: dict[str, Any] = {"workflow_id": env.id(), "activity_id": "activity"}
    method = "RespondActivityTaskCompletedById"
    for name, run in {"bad": "not-a-run-id", "unknown": "11111111-2222-4333-8444-555555555555"}.items():
        await env.attempt(name, env.call(method, run_id=run, **by_id))
    await env.attempt("no activity ID", env.call(method, workflow_id=env.id()))
    await env.attempt("no workflow ID", env.call(method, activity_id="activity"))
    await env.attempt("right", env.call(method, run_id=run_id, **by_id))
    await complete_and_record(env, worker)
    await env.attempt("closed", env.call(method, run_id=run_id, **by_id))


@scenario
async def activity_start_names_the_build_of_its_answer(env: Environment) -> None:
    """The build ID that an answer brings is in the started event; that of a poll or a heartbeat is not."""
    worker = RawWorker(env)
    await env.start()
    names = ("a completed", "b heartbeat", "c failed", "d retried")
    soon = {"initial_interval": seconds(0.1), "maximum_attempts": 2}
    await worker.step(*(schedule_activity(env, name, retry_policy=soon) for name in names))

    async def poll() -> Any:
        return await env.call(
            "PollActivityTaskQueue",
            task_queue={"name": env.queue()},
            worker_version_capabilities={"build_id": "polled"},
            identity="worker",
        )

    async def answer(method: str, name: str, **fields: Any) -> None:
        build = {"worker_version": {"build_id": "answered"}}
        await env.call(method, task_token=tasks[name].task_token, identity="worker", **build | fields)

    tasks = {task.activity_id: task for task in [await poll() for _ in names]}
    await answer("RespondActivityTaskCompleted", "a completed")
    await worker.heartbeat(tasks["b heartbeat"])
    await worker.complete_activity(tasks["b heartbeat"])
    await answer("RespondActivityTaskFailed", "c failed", failure=application_failure(non_retryable=True))
    await answer("RespondActivityTaskFailed", "d retried", failure=application_failure())
    await worker.complete_activity(await poll())
    await env.terminate()
    await env.record()
