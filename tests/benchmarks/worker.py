"""The worker process: ``python -m tests.benchmarks.worker ADDRESS TASK_QUEUE``.

It is a process of its own so that its processor time is counted apart from the server's. It prints ``ready`` once it
polls and ends on SIGTERM.
A newcomer's mistake: to leave the limits of the worker at their defaults and to measure those instead of the server.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import signal

from temporalio.client import Client
from temporalio.worker import UnsandboxedWorkflowRunner, Worker, WorkflowRunner
from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner

from tests.benchmarks.workflows import Hello, Long, Wide, greet

POLLERS = 10
TASKS_AT_ONCE = 400
CACHED_WORKFLOWS = 2_000


async def serve(address: str, task_queue: str, *, sandbox: bool) -> None:
    """Poll until SIGTERM."""
    ended = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, ended.set)
    runner: WorkflowRunner = SandboxedWorkflowRunner() if sandbox else UnsandboxedWorkflowRunner()
    client = await Client.connect(address)
    worker = Worker(
        client,
        task_queue=task_queue,
        workflows=[Hello, Wide, Long],
        activities=[greet],
        workflow_runner=runner,
        max_cached_workflows=CACHED_WORKFLOWS,
        max_concurrent_workflow_tasks=TASKS_AT_ONCE,
        max_concurrent_activities=TASKS_AT_ONCE,
        max_concurrent_workflow_task_polls=POLLERS,
        max_concurrent_activity_task_polls=POLLERS,
    )
    async with worker:
        print("ready", flush=True)
        await ended.wait()


def main() -> None:
    parser = argparse.ArgumentParser(description="The worker of the benchmarks.")
    parser.add_argument("address")
    parser.add_argument("task_queue")
    parser.add_argument(
        "--sandbox", action="store_true", help="run workflows in the SDK's sandbox, its default"
    )
    options = parser.parse_args()
    asyncio.run(serve(options.address, options.task_queue, sandbox=options.sandbox))
    # The SDK's threads may still run when the interpreter is taken down, which then aborts with a noisy fatal error.
    os._exit(0)


if __name__ == "__main__":
    main()
