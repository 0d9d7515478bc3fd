"""The command line: `perdure dev`, `perdure demo`, `perdure bridge`, `perdure cost`.

What does not live here: what a command does; each is a module that is only loaded when it is run.
A newcomer's trap: an import at the top of this file is paid by every `perdure --help`, and by the time to ready.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    _Commands = argparse._SubParsersAction[argparse.ArgumentParser]  # noqa: SLF001 - it has no public name

DEFAULT_PORT = 7233
DEFAULT_HTTP_PORT = 8233
LOG_LEVELS = ("debug", "info", "warning", "error")
AUTHORIZATIONS = ("iam", "bearer", "none")
POLL_MODES = ("auto", "sqs", "https")


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
    if options.command == "bridge":
        return _bridge(parser, options)
    if options.command == "cost":
        return _cost(parser, options)
    parser.print_help()
    return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="perdure",
        description="Durable execution that speaks the Temporal protocol. To begin: perdure dev",
    )
    parser.add_argument("--version", action="store_true", help="print the version and exit")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    _add_dev(commands)
    commands.add_parser(
        "demo", help="run an order workflow, kill its server in the middle, and see it finish"
    )
    _add_bridge(commands)
    _add_cost(commands)
    return parser


def _add_dev(commands: "_Commands") -> None:
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
        metavar="PORT",
        help="Connect and the Temporal HTTP API; 0 takes any free port (%(default)s)",
    )
    dev.add_argument(
        "--db", type=Path, metavar="FILE", help="keep data in this file; without, data ends with the server"
    )
    dev.add_argument(
        "--namespace",
        action="append",
        default=[],
        metavar="NAME",
        help="a namespace to create besides 'default'; may be given several times",
    )
    dev.add_argument(
        "--spread",
        action="store_true",
        help="use all cores; by default the server stays on one, which is faster",
    )
    _add_log_level(dev)


def _add_bridge(commands: "_Commands") -> None:
    bridge = commands.add_parser(
        "bridge",
        help="let workers and clients talk gRPC to a deployment behind HTTPS",
        description="Serve gRPC on loopback and forward each call over HTTPS, with credentials, to a deployment.",
    )
    bridge.add_argument("--endpoint", type=_url, required=True, metavar="URL", help="where the deployment is")
    bridge.add_argument("--ip", default="127.0.0.1", help="address to listen on (%(default)s)")
    bridge.add_argument(
        "--port", type=_port, default=DEFAULT_PORT, help="gRPC; 0 takes any free port (%(default)s)"
    )
    bridge.add_argument(
        "--auth",
        choices=AUTHORIZATIONS,
        default="iam",
        help="sign with AWS credentials, send a token, or pass on what the callers send (%(default)s)",
    )
    bridge.add_argument("--region", help="of the deployment, where its address does not say it")
    token = bridge.add_mutually_exclusive_group()
    token.add_argument("--token-env", metavar="NAME", help="the environment variable that holds the token")
    token.add_argument(
        "--token-file",
        type=Path,
        metavar="FILE",
        help="the file that holds the token; read again when it changes",
    )
    bridge.add_argument(
        "--poll",
        choices=POLL_MODES,
        default="auto",
        help="wait for tasks at SQS, or hold an HTTPS request; auto: SQS where it is allowed (%(default)s)",
    )
    _add_log_level(bridge)


def _add_cost(commands: "_Commands") -> None:
    cost = commands.add_parser(
        "cost",
        help="price a workload that runs on the local AWS, next to what others ask for it",
        description="Count what a workload takes of each AWS service and price it at list price.",
    )
    source = cost.add_mutually_exclusive_group(required=True)
    source.add_argument("--counts", type=Path, metavar="FILE", help="take the counts from this file")
    source.add_argument(
        "--upstream", type=_url, metavar="URL", help="count what passes to the local AWS at this address"
    )
    cost.add_argument("--port", type=_port, default=0, help="where calls to be counted go; 0: any free port")
    cost.add_argument(
        "--workflows", type=int, metavar="N", help="divide by this number and not by the starts seen"
    )
    cost.add_argument("--write", type=Path, metavar="FILE", help="write the counts to this file, too")
    cost.add_argument("--calls", action="store_true", help="list the AWS calls as well")
    cost.add_argument(
        "workload", nargs="*", metavar="COMMAND", help="runs the workload; without, count until interrupted"
    )


def _add_log_level(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--log-level", choices=LOG_LEVELS, default="warning", help="what goes to stderr (%(default)s)"
    )


def _url(text: str) -> str:
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
        raise argparse.ArgumentTypeError(
            f"{text} is not the address of a deployment: https://HOST or https://HOST/STAGE"
        )
    return text.rstrip("/")


def _port(text: str) -> int:
    if not text.isdecimal() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"{text} is not a port")
    return int(text)


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
            spread=options.spread,
        )
    )


def _demo(options: argparse.Namespace) -> int:
    from perdure.demo import run

    return run(options)


def _bridge(parser: argparse.ArgumentParser, options: argparse.Namespace) -> int:
    if options.auth == "bearer" and options.token_env is None and options.token_file is None:
        parser.error("--auth bearer needs --token-env or --token-file")
    token = None
    if options.token_env is not None:
        token = os.environ.get(options.token_env)
        if not token:
            parser.error(f"the environment variable {options.token_env} is not set")
    try:
        from perdure.bridge.main import BridgeOptions, run
    except ModuleNotFoundError as missing:
        print(
            f"perdure: {missing.name} is missing: install the extra: pip install '.[bridge]' in the source tree",
            file=sys.stderr,
        )
        return 1

    return run(
        BridgeOptions(
            endpoint=options.endpoint,
            ip=options.ip,
            port=options.port,
            auth=options.auth,
            region=options.region,
            token=token,
            token_file=options.token_file,
            poll=options.poll,
            log_level=options.log_level,
        )
    )


def _cost(parser: argparse.ArgumentParser, options: argparse.Namespace) -> int:
    if options.workflows is not None and options.workflows < 1:
        parser.error("--workflows must be at least 1")
    try:
        from perdure.cost.main import CostOptions, run
    except ModuleNotFoundError as missing:
        print(
            f"perdure: {missing.name} is missing: install the extra: pip install '.[bridge]' in the source tree",
            file=sys.stderr,
        )
        return 1

    return run(
        CostOptions(
            counts=options.counts,
            upstream=options.upstream,
            port=options.port,
            command=tuple(options.workload),
            workflows=options.workflows,
            write=options.write,
            with_calls=options.calls,
        )
    )


if __name__ == "__main__":
    sys.exit(main())
