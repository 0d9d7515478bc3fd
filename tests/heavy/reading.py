"""Histories read page by page, as a client with the usual bound of 4 MB a message must be able to.

The one thing a newcomer gets wrong: a page may end anywhere between two transitions, and the last may be empty.
"""

from typing import Any

from temporalio.api.common.v1 import WorkflowExecution

from tests.parity.environment import Environment

MESSAGE_BYTES_MAX = 4 * 1024 * 1024


async def pages(
    env: Environment, workflow_id: str, run_id: str = "", *, reverse: bool = False, **fields: Any
) -> list[list[Any]]:
    """The events of each page; a page that is too large for a message fails."""
    method = f"GetWorkflowExecutionHistory{'Reverse' if reverse else ''}"
    execution = WorkflowExecution(workflow_id=workflow_id, run_id=run_id)
    found: list[list[Any]] = []
    token = b""
    while True:
        page = await env.call(method, execution=execution, next_page_token=token, **fields)
        assert page.ByteSize() < MESSAGE_BYTES_MAX, f"page {len(found) + 1} has {page.ByteSize()} bytes"
        found.append(list(page.history.events))
        token = page.next_page_token
        if not token:
            return found


async def history(env: Environment, workflow_id: str, run_id: str = "") -> list[Any]:
    """The whole history; its IDs are 1, 2, 3 and so on, and it reads the same from the end."""
    forward = [event for page in await pages(env, workflow_id, run_id) for event in page]
    assert [event.event_id for event in forward] == list(range(1, len(forward) + 1))
    backward = [event for page in await pages(env, workflow_id, run_id, reverse=True) for event in page]
    assert backward == forward[::-1]
    return forward


async def rest_of_task(env: Environment, task: Any, workflow_id: str) -> list[Any]:
    """The history that a workflow task brings: what comes with it, and the pages that its token leads to."""
    events, token = list(task.history.events), task.next_page_token
    execution = WorkflowExecution(workflow_id=workflow_id, run_id=task.workflow_execution.run_id)
    while token:
        page = await env.call("GetWorkflowExecutionHistory", execution=execution, next_page_token=token)
        assert page.ByteSize() < MESSAGE_BYTES_MAX
        events.extend(page.history.events)
        token = page.next_page_token
    return events
