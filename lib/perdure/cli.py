"""The command line: `perdure dev`, `perdure demo`.

What does not live here: what a command does; each is a module that is only loaded when it is run.
A newcomer's trap: an import at the top of this file is paid by every `perdure --help`, and by the time to ready.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

DEFAULT_PORT = 7233
DEFAULT_HTTP_PORT = 8233
LOG_LEVELS = ("debug", "info", "warning", "error")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command that the arguments name; its exit code."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.version:
        return _version()
    if options.command == "dev":
        return _dev(options)
    if options.command == "demo":
        return _demo(options)
    parser.print_help()
    return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="perdure", description="Durable execution that speaks the Temporal protocol."
    )
    parser.add_argument("--version", action="store_true", help="print the version and exit")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    commands.add_parser(
        "demo", help="run an order workflow, kill its server in the middle, and see it finish"
    )
    dev = commands.add_parser(
        "dev",
        help="run the whole system in this process",
        description="Serve workers and clients from this process; data lives in memory or in one SQLite file.",
    )
    dev.add_argument("--ip", default="127.0.0.1", help="address to listen on (%(default)s)")
    dev.add_argument(
        "--port", type=_port, default=DEFAULT_PORT, help="gRPC; 0 takes any free port (%(default)s)"
    )
    dev.add_argument(
        "--http-port",
        type=_port,
        default=DEFAULT_HTTP_PORT,
        help="Connect and the Temporal HTTP API; 0 takes any free port (%(default)s)",
    )
    dev.add_argument(
        "--db", type=Path, metavar="FILE", help="keep data in this file; without, it ends with us"
    )
    dev.add_argument(
        "--namespace",
        action="append",
        default=[],
        metavar="NAME",
        help="a namespace to create besides 'default'; may be given several times",
    )
    dev.add_argument(
        "--log-level", choices=LOG_LEVELS, default="warning", help="what goes to stderr (%(default)s)"
    )
    return parser


def _port(text: str) -> int:
    port = int(text)
    if not 0 <= port <= 65535:
        raise argparse.ArgumentTypeError(f"{port} is not a port")
    return port


def _version() -> int:
    from importlib.metadata import PackageNotFoundError, version

    try:
        print(f"perdure {version('perdure')}")
    except PackageNotFoundError:
        print("perdure, run from its source tree")
    return 0


def _dev(options: argparse.Namespace) -> int:
    from perdure.dev.main import run
    from perdure.dev.server import ServerOptions

    return run(
        ServerOptions(
            ip=options.ip,
            port=options.port,
            http_port=options.http_port,
            database=options.db,
            namespaces=tuple(dict.fromkeys(["default", *options.namespace])),
            log_level=options.log_level,
        )
    )


def _demo(options: argparse.Namespace) -> int:
    from perdure.demo import run

    return run(options)


if __name__ == "__main__":
    sys.exit(main())
