"""The `perdure dev` process: settings, database, namespaces, signals, exit code.

What does not live here: serving (`server`). What a person is told at start and at the end is here.
A newcomer's trap: whoever starts us waits for the line that begins with `Ready`; it comes after everything answers.
"""

import asyncio
import logging
import os
import signal
import sys
from typing import Any

import uvloop
from google.protobuf.duration_pb2 import Duration
from temporalio.api.workflowservice.v1 import RegisterNamespaceRequest

from durable_core.adapters.sqlite import CannotOpen, DatabaseInUse, NewerFormat, NotOurDatabase
from durable_core.bootstrap import embedded
from durable_core.config import Settings
from durable_core.model import limits
from durable_core.model.errors import InvalidArgument, NamespaceAlreadyExists, ShardsMismatch
from durable_core.model.times import SECOND
from durable_core.services.frontend.register_namespace import register_namespace
from durable_core.services.rpcs import OPERATOR_SERVICE, WORKFLOW_SERVICE
from durable_core.wire.methods import OPERATOR_SERVICE_NAME, WORKFLOW_SERVICE_NAME, MethodTable
from perdure.dev.notifications import InProcessNotifications
from perdure.dev.server import Server, ServerOptions

EXIT_REFUSED = 1


class NamespaceRefused(Exception):
    """A name that no namespace may have. Says which, and why."""


# Reasons that a person can do something about; anything else is a defect and shows its traceback.
_CANNOT_START = (CannotOpen, DatabaseInUse, NewerFormat, NotOurDatabase, NamespaceRefused, ShardsMismatch)


def run(options: ServerOptions) -> int:
    """Serve until SIGTERM or SIGINT; the exit code, which is 1 when the server could not start."""
    logging.basicConfig(
        level=options.log_level.upper(), stream=sys.stderr, format="%(asctime)s %(levelname)s %(message)s"
    )
    if not options.spread:
        _stay_on_one_core()
    try:
        # uvloop, for a call costs this event loop about a fifth less than asyncio's own.
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(_serve(options))
    except (*_CANNOT_START, OSError) as refusal:
        print(f"perdure: {refusal}", file=sys.stderr)
        return EXIT_REFUSED
    return 0


def _stay_on_one_core() -> None:
    """One event loop does all the work; on several cores its helper threads only cost by waking each other across them.

    Measured: about a seventh less processor time a call, and half as many calls again a second. Which core is left to
    chance (the process ID), so that several servers do not meet on one.
    """
    if not hasattr(os, "sched_setaffinity"):
        return
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {cores[os.getpid() % len(cores)]})


async def _serve(options: ServerOptions) -> None:
    notifications = InProcessNotifications()
    system = embedded(Settings(database=options.database), notifications)
    _create_namespaces(system.context, options.namespaces)
    table = MethodTable({WORKFLOW_SERVICE_NAME: WORKFLOW_SERVICE, OPERATOR_SERVICE_NAME: OPERATOR_SERVICE})
    server = Server(options, system, table, notifications)
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    try:
        await server.start()
        print("\n".join(server.announcement()))
        print("Ready", flush=True)
        await stop.wait()
        print("Draining", flush=True)
    finally:
        await server.drain()


def _create_namespaces(context: Any, names: tuple[str, ...]) -> None:
    for name in names:
        retention = Duration(seconds=limits.retention_default // SECOND)
        request = RegisterNamespaceRequest(namespace=name, workflow_execution_retention_period=retention)
        try:
            register_namespace(context, request)
        except NamespaceAlreadyExists:
            continue
        except InvalidArgument as refusal:
            raise NamespaceRefused(f"--namespace {name!r}: {refusal}") from refusal
