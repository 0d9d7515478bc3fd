"""Chains of runs: continue-as-new, retries of workflows, cron.

Here live the ways in which one run brings on the next. Newcomers forget that the old run's closing event
names the new run.
"""

from __future__ import annotations

from typing import Any

from ..environment import Environment
from ..raw_worker import (
    RawWorker,
    application_failure,
    command,
    complete_workflow,
    continue_as_new,
    fail_workflow,
    payload,
    payloads,
    seconds,
    seen,
    start_child,
)
from . import scenario


async def _new_run(env: Environment, run_id: str) -> str:
    """The run that a closed run names as its successor."""
    last = (await env.events(env.id(), run_id))[-1]
    attributes = getattr(last, str(last.WhichOneof("attributes")))
    return str(attributes.new_execution_run_id)


async def _record_chain(env: Environment, run_id: str) -> list[str]:
    """Record a run and all that follow it."""
    runs: list[str] = []
    while run_id:
        runs.append(run_id)
        await env.record(env.id(), run_id, label=f"run {len(runs)}")
        last = (await env.events(env.id(), run_id))[-1]
        attributes = getattr(last, str(last.WhichOneof("attributes")))
        run_id = str(getattr(attributes, "new_execution_run_id", ""))
    return runs


@scenario
async def continue_as_new_plain(env: Environment) -> None:
    """Time-outs, memo, search attributes and retry policy are carried on only if the command says so."""
    worker = RawWorker(env)
    first = await env.start(
        memo={"fields": {"memo": payload("first")}},
        search_attributes={"indexed_fields": {"BatcherUser": payload("first")}},
        header={"fields": {"header": payload("first")}},
        workflow_execution_timeout=seconds(1000),
        workflow_run_timeout=seconds(100),
        workflow_task_timeout=seconds(7),
        retry_policy={"maximum_attempts": 9},
        user_metadata={"summary": payload("summary")},
        priority={"priority_key": 2},
    )
    await worker.step(continue_as_new(env, input=payloads("second")))
    second = await _new_run(env, first)
    await env.record(env.id(), second, label="new run before its task")
    env.note("description of the new run", await env.describe(run_id=second))
    env.note("description of the old run", await env.describe(run_id=first))
    task = await worker.workflow_task()
    env.note("task", seen(task))
    await worker.complete(task, complete_workflow())
    await _record_chain(env, first)


@scenario
async def continue_as_new_with_everything(env: Environment) -> None:
    """All attributes of the command reach the new run, which may have another type and queue."""
    worker = RawWorker(env)
    first = await env.start()
    await worker.step(
        continue_as_new(
            env,
            workflow_type={"name": "Other"},
            task_queue={"name": env.queue("other")},
            input=payloads("input"),
            workflow_run_timeout=seconds(200),
            workflow_task_timeout=seconds(5),
            retry_policy={"maximum_attempts": 4},
            header={"fields": {"header": payload("second")}},
            memo={"fields": {"memo": payload("second")}},
            search_attributes={"indexed_fields": {"BatcherUser": payload("second")}},
            initiator="CONTINUE_AS_NEW_INITIATOR_WORKFLOW",
            last_completion_result=payloads("last"),
            failure=application_failure("carried"),
            backoff_start_interval=seconds(1),
        )
    )
    other = RawWorker(env, env.queue("other"))
    await other.step(complete_workflow())
    await _record_chain(env, first)


@scenario
async def continue_as_new_twice_keeps_the_first_run(env: Environment) -> None:
    """firstExecutionRunId stays, continuedExecutionRunId and auto reset points grow."""
    worker = RawWorker(env)
    first = await env.start()
    await worker.step(continue_as_new(env))
    await worker.step(continue_as_new(env))
    await worker.step(complete_workflow())
    await _record_chain(env, first)
    env.note("description", await env.describe())
    await env.attempt("terminate by first run", env.terminate(first_execution_run_id=first))


@scenario
async def continue_as_new_takes_signals_along(env: Environment) -> None:
    """A signal during the task refuses the command; one after it goes to the new run."""
    worker = RawWorker(env)
    first = await env.start()
    task = await worker.workflow_task()
    await env.signal("during")
    await env.attempt("refused", worker.complete(task, continue_as_new(env)))
    await worker.step(continue_as_new(env))
    await env.signal("after")
    await worker.step(complete_workflow())
    await _record_chain(env, first)


@scenario
async def workflow_is_retried_until_maximum_attempts(env: Environment) -> None:
    """A failure starts a new run with the next attempt after a backoff."""
    worker = RawWorker(env)
    first = await env.start(
        input=payloads("input"),
        retry_policy={"maximum_attempts": 3, "initial_interval": seconds(1), "backoff_coefficient": 1.0},
        memo={"fields": {"memo": payload("kept")}},
        header={"fields": {"header": payload("kept")}},
        search_attributes={"indexed_fields": {"BatcherUser": payload("kept")}},
    )
    await worker.step(fail_workflow("one"))
    second = await _new_run(env, first)
    env.note("description while it waits", await env.describe(run_id=second))
    await worker.step(fail_workflow("two"))
    await worker.step(fail_workflow("three"))
    await _record_chain(env, first)


@scenario
async def workflow_is_not_retried(env: Environment) -> None:
    """Non-retryable failures, by flag and by type, and a cancelled workflow."""
    worker = RawWorker(env)
    policy = {"maximum_attempts": 3, "non_retryable_error_types": ["Fatal"]}
    endings = {
        "flag": fail_workflow(non_retryable=True),
        "type": fail_workflow(kind="Fatal"),
        "cancelled": command("CANCEL_WORKFLOW_EXECUTION"),
        "other-failure": command(
            "FAIL_WORKFLOW_EXECUTION", failure={"message": "m", "canceled_failure_info": {}}
        ),
        "terminated-failure": command("FAIL_WORKFLOW_EXECUTION", failure={"terminated_failure_info": {}}),
    }
    for name, ending in endings.items():
        await env.start(env.id(name), retry_policy=policy)
        await worker.step(ending)
        await env.record(env.id(name))


@scenario
async def workflow_retry_would_exceed_execution_timeout(env: Environment) -> None:
    """A backoff beyond the execution time-out ends the retries."""
    worker = RawWorker(env)
    await env.start(workflow_execution_timeout=seconds(30), retry_policy={"initial_interval": seconds(60)})
    await worker.step(fail_workflow())
    await env.record()


@scenario
async def workflow_retry_delay_is_set_by_the_failure(env: Environment) -> None:
    """next_retry_delay of a workflow's failure."""
    worker = RawWorker(env)
    first = await env.start(retry_policy={"initial_interval": seconds(1000), "maximum_attempts": 2})
    await worker.step(fail_workflow(next_retry_delay=seconds(1)))
    await worker.step(complete_workflow())
    await _record_chain(env, first)


@scenario
async def workflow_is_retried_after_run_timeout(env: Environment) -> None:
    """A run time-out counts as a failed attempt."""
    worker = RawWorker(env)
    policy = {"initial_interval": seconds(1), "maximum_attempts": 2}
    first = await env.start(workflow_run_timeout=seconds(1), retry_policy=policy)
    await env.until_event("WORKFLOW_EXECUTION_TIMED_OUT", run_id=first)
    await worker.step(complete_workflow())
    await _record_chain(env, first)


@scenario
async def continue_as_new_resets_the_attempt(env: Environment) -> None:
    """A retried run that continues as new begins at attempt one."""
    worker = RawWorker(env)
    policy: dict[str, Any] = {"initial_interval": seconds(0.1), "maximum_attempts": 2}
    first = await env.start(retry_policy=policy)
    await worker.step(fail_workflow("one"))
    await worker.step(continue_as_new(env, retry_policy=policy))
    await worker.step(fail_workflow("two"))
    await worker.step(complete_workflow())
    await _record_chain(env, first)


@scenario
async def cron_runs_again_and_again(env: Environment) -> None:
    """Completion and failure both lead to the next run; results are carried on."""
    worker = RawWorker(env)
    first = await env.start(
        cron_schedule="@every 1s", input=payloads("input"), memo={"fields": {"m": payload("m")}}
    )
    env.note("waiting", (await env.describe()).workflow_execution_info.status)
    await worker.step(complete_workflow("first result"))
    await worker.step(fail_workflow("second fails"))
    task = await worker.workflow_task()
    await worker.complete(task)
    await env.terminate()
    await _record_chain(env, first)


@scenario
async def cron_with_retry_policy_retries_first(env: Environment) -> None:
    """A failing cron run is retried within its schedule before the next one starts."""
    worker = RawWorker(env)
    policy = {"maximum_attempts": 2, "initial_interval": seconds(1)}
    first = await env.start(cron_schedule="@every 1s", retry_policy=policy)
    await worker.step(fail_workflow("attempt one"))
    await worker.step(fail_workflow("attempt two"))
    await worker.step()
    await env.terminate()
    await _record_chain(env, first)


@scenario
async def cron_is_cancelled(env: Environment) -> None:
    """A cancelled cron workflow does not run again; a terminated one neither."""
    worker = RawWorker(env)
    first = await env.start(cron_schedule="@every 1s")
    task = await worker.workflow_task()
    await worker.complete(task, command("CANCEL_WORKFLOW_EXECUTION"))
    await _record_chain(env, first)


@scenario
async def cron_waits_for_a_calendar_time(env: Environment) -> None:
    """A calendar schedule: the first task waits; a signal and a cancel request meanwhile."""
    await env.start(cron_schedule="0 0 1 1 *")
    await env.signal()
    await env.record(label="signalled")
    await env.call("RequestCancelWorkflowExecution", workflow_execution={"workflow_id": env.id()})
    await env.record(label="cancel requested")


@scenario
async def cron_continues_as_new(env: Environment) -> None:
    """An explicit continue-as-new within a cron run goes on at once, with the schedule it is given."""
    worker = RawWorker(env)
    first = await env.start(cron_schedule="@every 1s")
    await worker.step(continue_as_new(env, cron_schedule="@every 1s"))
    await worker.step(complete_workflow("result"))
    await worker.step()
    await env.terminate()
    await _record_chain(env, first)


@scenario
async def cron_run_times_out(env: Environment) -> None:
    """A run that times out is followed by the next one; so is one that fails for good."""
    worker = RawWorker(env)
    first = await env.start(cron_schedule="@every 1s", workflow_run_timeout=seconds(2))
    await env.until_event("WORKFLOW_EXECUTION_TIMED_OUT", run_id=first)
    await worker.step(fail_workflow(non_retryable=True))
    await worker.step()
    await env.terminate()
    await _record_chain(env, first)


@scenario
async def continue_as_new_with_a_child(env: Environment) -> None:
    """What becomes of a child when its parent continues as new."""
    parent = RawWorker(env)
    await env.start()
    policies = ("TERMINATE", "ABANDON", "REQUEST_CANCEL")
    for count, policy in enumerate(policies, 1):
        child = start_child(env, env.id(policy), parent_close_policy=f"PARENT_CLOSE_POLICY_{policy}")
        await parent.step(child)
        await env.until_event("CHILD_WORKFLOW_EXECUTION_STARTED", n=count)
    await parent.step(continue_as_new(env))
    await parent.step(complete_workflow())
    await env.until_event("WORKFLOW_EXECUTION_TERMINATED", env.id("TERMINATE"))
    await env.until_event("WORKFLOW_EXECUTION_CANCEL_REQUESTED", env.id("REQUEST_CANCEL"))
    for policy in policies:
        await env.record(env.id(policy))
