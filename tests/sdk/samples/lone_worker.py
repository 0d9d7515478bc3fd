"""A worker as a program of its own, for tests that kill it: `python -m tests.sdk.samples.lone_worker HOST:PORT QUEUE`.

With `--stuck` its workflow code never yields, so that the workflow tasks it takes are never answered.
"""

import argparse
import asyncio
import time
from datetime import timedelta

from temporalio import workflow
from temporalio.client import Client
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

from tests.sdk.samples.conversations import ConversationWorkflow


@workflow.defn(name="ConversationWorkflow")
class StuckWorkflow:
    @workflow.run
    async def run(self, *_: str) -> list[str]:
        time.sleep(3600)  # noqa: ASYNC251 - blocking is what makes this workflow stuck
        return []

    @workflow.signal
    def finish(self) -> None:
        pass


async def main(target: str, task_queue: str, stuck: bool) -> None:
    client = await Client.connect(target)
    worker = Worker(
        client,
        task_queue=task_queue,
        workflows=[StuckWorkflow if stuck else ConversationWorkflow],
        workflow_runner=UnsandboxedWorkflowRunner(),
        sticky_queue_schedule_to_start_timeout=timedelta(seconds=1),
    )
    await worker.run()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="A worker that is there to be killed.")
    parser.add_argument("target")
    parser.add_argument("task_queue")
    parser.add_argument("--stuck", action="store_true")
    arguments = parser.parse_args()
    asyncio.run(main(arguments.target, arguments.task_queue, arguments.stuck))
