"""Plays a scenario: starts its workflow on a queue where a worker polls, takes the steps, and checks what came of it.

What lives elsewhere: the scenarios (`scenarios`) and the workers (`languages`).

The one thing a newcomer gets wrong: nothing here knows which language the worker is written in, and nothing may.
"""

import asyncio
from collections.abc import Iterable
from typing import Any

from temporalio.api.history.v1 import HistoryEvent
from temporalio.client import (
    Client,
    WithStartWorkflowOperation,
    WorkflowFailureError,
    WorkflowHandle,
    WorkflowQueryFailedError,
    WorkflowUpdateFailedError,
    WorkflowUpdateStage,
)
from temporalio.common import WorkflowIDConflictPolicy

from perdure.timeline import event_name
from tests.sdk.common import scenarios
from tests.sdk.common.scenarios import Scenario, Step
from tests.sdk.waiting import event_names, events, eventually

SCENARIO_SECONDS_MAX = 60.0


async def failures(client: Client, queue: str, at_once: int) -> list[str]:
    """Play all scenarios, so many at once, and tell of each that failed how it did."""
    turns = asyncio.Semaphore(at_once)

    async def in_turn(scenario: Scenario, number: int) -> str | None:
        async with turns:
            return await _outcome(client, scenario, queue, f"{queue}-{number}")

    outcomes = await asyncio.gather(
        *(in_turn(scenario, number) for number, scenario in enumerate(scenarios.SCENARIOS))
    )
    return [outcome for outcome in outcomes if outcome is not None]


async def _outcome(client: Client, scenario: Scenario, queue: str, workflow_id: str) -> str | None:
    try:
        async with asyncio.timeout(SCENARIO_SECONDS_MAX):
            await play(client, scenario, queue, workflow_id)
    except Exception as error:  # noqa: BLE001 - whatever went wrong is what the report is there to tell
        seen = await event_names(client.get_workflow_handle(workflow_id))
        return f"{scenario.name}\n    {type(error).__name__}: {error}\n    history: {', '.join(seen)}"
    return None


async def play(client: Client, scenario: Scenario, queue: str, workflow_id: str) -> None:
    """One scenario from its start to its checks; what is not as it must be is an AssertionError."""
    handle = await _start(client, scenario, queue, workflow_id)
    first = client.get_workflow_handle(workflow_id, run_id=handle.first_execution_run_id or handle.run_id)
    for step in scenario.steps:
        await _take(handle, step)
    await _check_end(handle, scenario)
    for step in scenario.after:
        await _take(handle, step)
    _check_history(scenario, await events(first))
    await _check_chain(client, scenario, first)


async def _start(client: Client, scenario: Scenario, queue: str, workflow_id: str) -> WorkflowHandle:
    options: dict[str, Any] = {
        "args": scenario.arguments,
        "id": workflow_id,
        "task_queue": queue,
        "memo": scenario.memo or None,
    }
    if scenario.start_update is not None:
        update = scenario.start_update
        start = WithStartWorkflowOperation(
            scenario.workflow, id_conflict_policy=WorkflowIDConflictPolicy.FAIL, **options
        )
        result = await client.execute_update_with_start_workflow(
            update.name, update.argument, start_workflow_operation=start
        )
        _equal(f"the result of {update.name}", result, update.result)
        return await start.workflow_handle()
    if scenario.start_signal is not None:
        options |= {
            "start_signal": scenario.start_signal.name,
            "start_signal_args": _arguments(scenario.start_signal.argument),
        }
    return await client.start_workflow(scenario.workflow, **options)


async def _take(handle: WorkflowHandle, step: Step) -> None:
    match step:
        case scenarios.Signal(name, argument):
            await handle.signal(name, args=_arguments(argument))
        case scenarios.Query(name, answer, argument):
            _equal(f"the answer to {name}", await handle.query(name, args=_arguments(argument)), answer)
        case scenarios.FailingQuery(name, message):
            await _fails_to_answer(handle, name, message)
        case scenarios.Update(name, argument, result, accepted_first):
            _equal(f"the result of {name}", await _update(handle, name, argument, accepted_first), result)
        case scenarios.FailedUpdate(name, argument, message):
            await _fails_to_update(handle, name, argument, message)
        case scenarios.ActivityRuns():
            await eventually(lambda: _activity_runs(handle))
        case scenarios.Happened(event, seen):
            await eventually(lambda: _happened(handle, event, seen))
        case scenarios.Cancel():
            await handle.cancel()


async def _update(handle: WorkflowHandle, name: str, argument: Any, accepted_first: bool) -> Any:
    if not accepted_first:
        return await handle.execute_update(name, argument)
    update = await handle.start_update(name, argument, wait_for_stage=WorkflowUpdateStage.ACCEPTED)
    return await update.result()


async def _fails_to_update(handle: WorkflowHandle, name: str, argument: Any, message: str) -> None:
    try:
        result = await handle.execute_update(name, argument)
    except WorkflowUpdateFailedError as error:
        _equal(f"the failure of {name}", getattr(error.cause, "message", None), message)
    else:
        raise AssertionError(f"{name} must fail with {message!r} and gave {result!r}")


async def _fails_to_answer(handle: WorkflowHandle, name: str, message: str) -> None:
    try:
        answer = await handle.query(name)
    except WorkflowQueryFailedError as error:
        said = str(error)
    else:
        raise AssertionError(f"{name} must fail with {message!r} and answered {answer!r}")
    assert message in said, f"{name} must fail with {message!r} and failed with {said!r}"


async def _activity_runs(handle: WorkflowHandle) -> bool:
    pending = (await handle.describe()).raw_description.pending_activities
    return len(pending) == 1 and pending[0].HasField("last_started_time")


async def _happened(handle: WorkflowHandle, event: str, seen: bool) -> bool:
    names = await event_names(handle)
    return event in names and (not seen or "WorkflowTaskCompleted" in names[names.index(event) :])


async def _check_end(handle: WorkflowHandle, scenario: Scenario) -> None:
    expected = scenario.result
    if isinstance(expected, str):
        expected = expected.replace(scenarios.ID, handle.id)
    try:
        result, failure = await handle.result(), None
    except WorkflowFailureError as error:
        result, failure = None, error.cause
    status = (await handle.describe()).status
    _equal(f"the status (failure: {failure!r})", status and status.name, scenario.status)
    _equal("the result", result, expected)


def _check_history(scenario: Scenario, history: list[HistoryEvent]) -> None:
    names = [event_name(event) for event in history]
    told = [name for name in names if not name.startswith("WorkflowTask")]
    if scenario.ordered:
        _equal("the events", told, list(scenario.events))
    else:
        _equal("the events, in any order", sorted(told), sorted(scenario.events))
    trouble = [name for name in names if name in {"WorkflowTaskFailed", "WorkflowTaskTimedOut"}]
    _equal("the workflow tasks that went wrong", trouble, [])
    if scenario.workflow_tasks is not None:
        _equal("the number of workflow tasks", names.count("WorkflowTaskScheduled"), scenario.workflow_tasks)
    for fact in scenario.facts:
        (event,) = [event for event in history if event_name(event) == fact.event]
        value: Any = getattr(event, event.WhichOneof("attributes") or "")
        for field in fact.path.split("."):
            value = getattr(value, field)
        _equal(f"{fact.event}.{fact.path}", value, fact.value)


async def _check_chain(client: Client, scenario: Scenario, first: WorkflowHandle) -> None:
    """The runs follow each other, each but the last says which one it goes on in, and the memo is in all of them."""
    handle, runs = first, 1
    while following := _following(await events(handle)):
        _equal(f"the memo of run {runs}", await (await handle.describe()).memo(), dict(scenario.memo))
        handle, runs = client.get_workflow_handle(first.id, run_id=following), runs + 1
    _equal("the memo of the last run", await (await handle.describe()).memo(), dict(scenario.memo))
    _equal("the number of runs", runs, scenario.runs)


def _following(history: Iterable[HistoryEvent]) -> str:
    *_, last = history
    return last.workflow_execution_continued_as_new_event_attributes.new_execution_run_id


def _arguments(argument: Any) -> list[Any]:
    return [] if argument is None else [argument]


def _equal(what: str, is_now: Any, must_be: Any) -> None:
    assert is_now == must_be, f"{what} must be {must_be!r} and is {is_now!r}"
