"""Reads back what the server holds of the load at the end: histories, descriptions, the list of executions.

What does not live here: judging it (checker.py).
A newcomer's mistake: to read only the runs that were started. Each may have continued as new.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.enums.v1 import WorkflowExecutionStatus
from temporalio.api.history.v1 import HistoryEvent
from temporalio.api.workflowservice.v1 import (
    DescribeWorkflowExecutionRequest,
    DescribeWorkflowExecutionResponse,
    GetWorkflowExecutionHistoryRequest,
    GetWorkflowExecutionHistoryResponse,
    ListWorkflowExecutionsRequest,
    ListWorkflowExecutionsResponse,
)

from tests.durability.api import Api, Refused
from tests.durability.clients import NAMESPACE
from tests.durability.ledger import Ledger

RunKey = tuple[str, str]


@dataclass(frozen=True)
class Description:
    """What the server says of a run beside its history."""

    status: WorkflowExecutionStatus.ValueType
    history_length: int


@dataclass
class Evidence:
    """All that is judged: the driver's ledger and the server's own account."""

    ledger: Ledger
    # By workflow ID and run ID; chains in order: a run, then the runs that it continued as.
    histories: dict[RunKey, list[HistoryEvent]] = field(default_factory=dict)
    descriptions: dict[RunKey, Description] = field(default_factory=dict)
    # Every run that the list of executions shows; None when the server does not list.
    listed: set[RunKey] | None = None

    def events(self) -> int:
        return sum(len(history) for history in self.histories.values())


async def collect(api: Api, ledger: Ledger) -> Evidence:
    """Read everything of every chain that an acknowledged start began."""
    evidence = Evidence(ledger)
    for start in ledger.starts:
        run_id = start.run_id
        while run_id and (start.workflow_id, run_id) not in evidence.histories:
            execution = WorkflowExecution(workflow_id=start.workflow_id, run_id=run_id)
            history = await _history(api, execution)
            evidence.histories[start.workflow_id, run_id] = history
            evidence.descriptions[start.workflow_id, run_id] = await _describe(api, execution)
            run_id = _next_run(history)
    evidence.listed = await _listed(api)
    return evidence


def _next_run(history: list[HistoryEvent]) -> str:
    """Return the run that a history continues as, or nothing."""
    return (
        history[-1].workflow_execution_continued_as_new_event_attributes.new_execution_run_id
        if history
        else ""
    )


async def _history(api: Api, execution: WorkflowExecution) -> list[HistoryEvent]:
    request = GetWorkflowExecutionHistoryRequest(namespace=NAMESPACE, execution=execution)
    events: list[HistoryEvent] = []
    while True:
        try:
            page = await api.call(request, GetWorkflowExecutionHistoryResponse)
        except Refused:
            return events
        events += page.history.events
        if not page.next_page_token:
            return events
        request.next_page_token = page.next_page_token


async def _describe(api: Api, execution: WorkflowExecution) -> Description:
    request = DescribeWorkflowExecutionRequest(namespace=NAMESPACE, execution=execution)
    try:
        info = (await api.call(request, DescribeWorkflowExecutionResponse)).workflow_execution_info
    except Refused:
        return Description(WorkflowExecutionStatus.WORKFLOW_EXECUTION_STATUS_UNSPECIFIED, 0)
    return Description(info.status, info.history_length)


async def _listed(api: Api) -> set[RunKey] | None:
    request = ListWorkflowExecutionsRequest(namespace=NAMESPACE, page_size=1000)
    found: set[RunKey] = set()
    while True:
        try:
            page = await api.call(request, ListWorkflowExecutionsResponse)
        except Refused:
            return None
        found |= {(info.execution.workflow_id, info.execution.run_id) for info in page.executions}
        if not page.next_page_token:
            return found
        request.next_page_token = page.next_page_token
