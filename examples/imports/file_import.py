"""A long import as one activity: it says that it lives, goes on where it was, and stops when it is asked to.

    python -m examples.imports.file_import worker
    python -m examples.imports.file_import run some-file.csv
    python -m examples.imports.file_import cancel

The one thing a newcomer gets wrong: without a heartbeat time-out the server learns of a dead worker only when
the whole activity should have ended, and without heartbeats an activity never learns that it is cancelled.
"""

import argparse
import asyncio
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from temporalio import activity, workflow
from temporalio.client import Client
from temporalio.common import RetryPolicy
from temporalio.worker import Worker

TASK_QUEUE = "example-imports"
WORKFLOW_ID = "import"


@dataclass(frozen=True)
class Import:
    """Which file to read, and how fast at most."""

    path: str
    lines_per_second: float = 20.0


@dataclass(frozen=True)
class Imported:
    """How far an import came."""

    lines: int
    complete: bool


@activity.defn
async def import_file(what: Import) -> Imported:
    """Import line by line; each heartbeat carries the number of lines that are done for good."""
    details = activity.info().heartbeat_details
    done = int(details[0]) if details else 0
    lines = await asyncio.to_thread(Path(what.path).read_text, encoding="utf-8")
    try:
        for number, line in enumerate(lines.splitlines()):
            if number < done:
                continue
            await store(line, what)
            done = number + 1
            activity.heartbeat(done)
    except asyncio.CancelledError:
        # Here is the place to close what is half open. What was stored stays, and the caller learns how much that is.
        return Imported(done, complete=False)
    return Imported(done, complete=True)


async def store(line: str, what: Import) -> None:
    """Stands for the write of one line to a database."""
    activity.logger.debug("stored %d characters", len(line))
    await asyncio.sleep(1 / what.lines_per_second)


@workflow.defn
class ImportWorkflow:
    """Runs one import, and tells how far it came even when it is cancelled."""

    @workflow.run
    async def run(self, what: Import) -> Imported:
        """Import the file."""
        return await workflow.execute_activity(
            import_file,
            what,
            start_to_close_timeout=timedelta(hours=6),
            heartbeat_timeout=timedelta(seconds=5),
            retry_policy=RetryPolicy(initial_interval=timedelta(seconds=1)),
            # The workflow waits for the activity's own end, so that it can return what the activity says.
            cancellation_type=workflow.ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
        )


def make_worker(client: Client, task_queue: str = TASK_QUEUE) -> Worker:
    """A worker for imports."""
    return Worker(
        client,
        task_queue=task_queue,
        workflows=[ImportWorkflow],
        activities=[import_file],
        # A cancellation is told in answer to a heartbeat, so heartbeats must not be held back for long.
        max_heartbeat_throttle_interval=timedelta(milliseconds=500),
    )


async def main(options: argparse.Namespace) -> None:
    """Do what the command says."""
    client = await Client.connect(options.address)
    match options.command:
        case "worker":
            print(f"Working on {TASK_QUEUE} at {options.address}; Ctrl-C ends it.")
            await make_worker(client).run()
        case "cancel":
            await client.get_workflow_handle(WORKFLOW_ID).cancel()
        case _:
            what = Import(str(options.path))
            print(
                await client.execute_workflow(ImportWorkflow.run, what, id=WORKFLOW_ID, task_queue=TASK_QUEUE)
            )


def absolute(path: str) -> Path:
    """The worker may run in another folder."""
    return Path(path).resolve()


def parse() -> argparse.Namespace:
    """The command line's words."""
    parser = argparse.ArgumentParser(description="Import a file, whatever happens meanwhile.")
    parser.add_argument("command", choices=["worker", "run", "cancel"])
    parser.add_argument("path", nargs="?", type=absolute, default=__file__, help="the file (this one)")
    parser.add_argument("--address", default="127.0.0.1:7233", help="the server (%(default)s)")
    return parser.parse_args()


if __name__ == "__main__":
    asyncio.run(main(parse()))
