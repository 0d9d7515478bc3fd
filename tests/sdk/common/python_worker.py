"""The Python worker of the common scenarios: `python -m tests.sdk.common.python_worker HOST:PORT QUEUE`.

Its workflows are `python_workflows`. It says `ready` on standard output before it polls, and ends at SIGTERM.

The one thing a newcomer gets wrong: each language's worker keeps to this same contract, so change them together.
"""

import asyncio
import signal
import sys

from temporalio.client import Client
from temporalio.worker import Worker

from tests.sdk.common import python_workflows


async def main(address: str, task_queue: str) -> None:
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    client = await Client.connect(address)
    async with Worker(
        client,
        task_queue=task_queue,
        workflows=python_workflows.WORKFLOWS,
        activities=python_workflows.ACTIVITIES,
    ):
        print("ready", flush=True)
        await stop.wait()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
