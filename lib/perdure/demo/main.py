"""The demo's stage: a temporary folder, a server of its own, a log for the worker, and what is printed in the end.

Everything is removed again, on success, on failure and on Ctrl-C alike. What happens on the stage is in `story`.

The one thing a newcomer gets wrong: the demo needs nothing that runs already, and meets nothing that does. Ports are
free ones, and the database is in the temporary folder.
"""

import argparse
import asyncio
import contextlib
import logging
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

from temporalio.runtime import LogForwardingConfig, LoggingConfig, Runtime, TelemetryConfig, TelemetryFilter
from temporalio.service import RPCError

from perdure.demo.server import ServerError, ServerProcess, dev_command, free_port
from perdure.demo.story import DemoFailedError, Outcome, Progress, tell

_INTERRUPTED = 128 + signal.SIGINT


def run(_arguments: argparse.Namespace) -> int:
    """Tell the story; 0 when everything was survived, 1 when something was not, 130 after Ctrl-C."""
    progress = Progress()
    with tempfile.TemporaryDirectory(prefix="perdure-demo-") as name:
        folder = Path(name)
        port = free_port()
        server = ServerProcess(dev_command(port, free_port(), folder / "perdure.db"), folder / "server.log")
        progress.say(f"the database is {folder / 'perdure.db'}")
        with _worker_log(folder / "worker.log") as worker_log:
            try:
                outcome = asyncio.run(_tell(server, f"127.0.0.1:{port}", progress))
            except (KeyboardInterrupt, asyncio.CancelledError):
                print("\nInterrupted.", flush=True)
                return _INTERRUPTED
            except (DemoFailedError, ServerError, RPCError) as error:
                _explain(error, server, worker_log)
                return 1
            finally:
                server.stop()
    return _report(outcome)


async def _tell(server: ServerProcess, address: str, progress: Progress) -> Outcome:
    """The story, ended in order by SIGTERM as by Ctrl-C."""
    task = asyncio.current_task()
    assert task is not None
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    return await tell(server, address, _runtime(), progress)


def _runtime() -> Runtime:
    """The SDK's own log goes where its Python part logs: it complains, rightly, while the server is dead."""
    forwarding = LogForwardingConfig(logger=logging.getLogger("temporalio"))
    log_filter = TelemetryFilter(core_level="WARN", other_level="ERROR")
    return Runtime(telemetry=TelemetryConfig(logging=LoggingConfig(filter=log_filter, forwarding=forwarding)))


@contextlib.contextmanager
def _worker_log(path: Path) -> Iterator[Path]:
    """Send what the SDK logs to this file instead of the terminal."""
    logger = logging.getLogger("temporalio")
    handler = logging.FileHandler(path, encoding="utf-8")
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    logger.addHandler(handler)
    propagated, logger.propagate = logger.propagate, False
    try:
        yield path
    finally:
        logger.propagate = propagated
        logger.removeHandler(handler)
        handler.close()


def _explain(error: Exception, server: ServerProcess, worker_log: Path) -> None:
    print(f"\nThe demo failed: {error}")
    print(f"\nThe end of the server's log:\n{server.log_tail()}")
    lines = worker_log.read_text(encoding="utf-8").splitlines()
    print("\nThe end of the worker's log:", *lines[-25:], sep="\n", flush=True)


def _report(outcome: Outcome) -> int:
    print("\nThe order's history:", *outcome.timeline, sep="\n")
    print("\nWhat was survived:")
    for finding in outcome.findings:
        print(f"  {'ok  ' if finding.held else 'LOST'}  {finding.text}")
    survived = all(finding.held for finding in outcome.findings)
    print(
        "\nNothing was lost, and nothing happened twice." if survived else "\nSomething was lost.", flush=True
    )
    return 0 if survived else 1
