"""The clients of the load: each starts the workflows of one ID, one after the other, and signals them.

What does not live here: workers (workers.py), and when a workflow ends (decider.py).
A newcomer's mistake: to give a repeated request a new request ID. The same ID is what makes the repetition harmless.
"""

from __future__ import annotations

import asyncio

from google.protobuf.duration_pb2 import Duration
from temporalio.api.common.v1 import WorkflowExecution, WorkflowType
from temporalio.api.enums.v1 import WorkflowExecutionStatus, WorkflowIdConflictPolicy, WorkflowIdReusePolicy
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflowservice.v1 import (
    DescribeWorkflowExecutionRequest,
    DescribeWorkflowExecutionResponse,
    SignalWorkflowExecutionRequest,
    SignalWorkflowExecutionResponse,
    StartWorkflowExecutionRequest,
    StartWorkflowExecutionResponse,
)

from tests.durability.api import Refused, Unanswered
from tests.durability.decider import TASK_QUEUE, WORKFLOW_TASK_TIMEOUT_SECONDS, WORKFLOW_TYPE, payloads
from tests.durability.ledger import Signal, Start
from tests.durability.link import Link
from tests.durability.world import Slot

NAMESPACE = "default"
THINK_SECONDS_MAX = 0.5
SIGNAL_NAME = "count"


async def drive_slot(link: Link, slot: Slot) -> None:
    """Keep one workflow ID busy until the server ends; when draining, until its last workflow is closed."""
    while not link.ends.is_set():
        try:
            if slot.start is not None and not slot.start.run_id:
                await _start(link, slot.start)
            elif slot.signal is not None:
                await _signal(link, slot, slot.signal)
            elif link.world.draining:
                if slot.closed or await _is_closed(link, slot):
                    return
            elif slot.closed:
                link.world.begin(slot)
                continue
            else:
                link.world.next_signal(slot)
                continue
        except Unanswered as silence:
            await link.after_silence(silence)
        else:
            await asyncio.sleep(link.world.chance.uniform(0, THINK_SECONDS_MAX))


async def _start(link: Link, start: Start) -> None:
    request = StartWorkflowExecutionRequest(
        namespace=NAMESPACE,
        workflow_id=start.workflow_id,
        workflow_type=WorkflowType(name=WORKFLOW_TYPE),
        task_queue=TaskQueue(name=TASK_QUEUE),
        input=payloads(start.request_id),
        workflow_task_timeout=Duration(seconds=WORKFLOW_TASK_TIMEOUT_SECONDS),
        identity=start.request_id,
        request_id=start.request_id,
        workflow_id_reuse_policy=WorkflowIdReusePolicy.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
        workflow_id_conflict_policy=WorkflowIdConflictPolicy.WORKFLOW_ID_CONFLICT_POLICY_FAIL,
    )
    start.attempts += 1
    try:
        reply = await link.api.call(request, StartWorkflowExecutionResponse)
    except Refused as refusal:
        # Nothing of this ID is open but what this very request may have started, so there is no ground for a refusal.
        link.world.ledger.surprises.append(f"{start.workflow_id} {start.request_id}: {refusal}")
        raise
    start.run_id = reply.run_id


async def _signal(link: Link, slot: Slot, signal: Signal) -> None:
    request = SignalWorkflowExecutionRequest(
        namespace=NAMESPACE,
        workflow_execution=WorkflowExecution(workflow_id=signal.workflow_id),
        signal_name=SIGNAL_NAME,
        input=payloads(str(signal.number)),
        identity=signal.request_id,
        request_id=signal.request_id,
    )
    try:
        await link.send(signal, request, SignalWorkflowExecutionResponse)
    except Refused:
        slot.closed = True
    slot.signal = None


async def _is_closed(link: Link, slot: Slot) -> bool:
    request = DescribeWorkflowExecutionRequest(
        namespace=NAMESPACE, execution=WorkflowExecution(workflow_id=slot.workflow_id)
    )
    reply = await link.api.call(request, DescribeWorkflowExecutionResponse)
    open_status = WorkflowExecutionStatus.WORKFLOW_EXECUTION_STATUS_RUNNING
    return reply.workflow_execution_info.status != open_status
