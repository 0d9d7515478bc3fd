"""`python -m localstack up|down|test`: what `make aws-up`, `make aws-down` and `make test-aws` run.

What does not live here: starting and deploying (`local_aws`, `deployment`).
A newcomer's trap: AWS_ENDPOINT_URL decides. Where it is set, that local AWS is deployed to and nothing is started; so
the same command serves MiniStack, LocalStack, and whatever else speaks for AWS.
"""

import argparse
import io
import os
import subprocess
import sys
from pathlib import Path
from typing import cast

from localstack.bridge import bridge
from localstack.deployment import ROOT, CommandFailed, Deployed, Deployments
from localstack.local_aws import REGION, LocalAws, MiniStack, NotReady
from perdure.demo.server import free_port

STATE = ROOT / ".localstack"
PORT = 4566


def main() -> int:
    """Run the command that the arguments name; its exit code."""
    given = sys.argv[1:]
    end = given.index("--") if "--" in given else len(given)
    options = _parser().parse_args(given[:end])
    options.pytest = given[end + 1 :]
    # What is being done is told while it is done, also into a file.
    cast(io.TextIOWrapper, sys.stdout).reconfigure(line_buffering=True)
    try:
        match options.command:
            case "up":
                _explain(*_up(options))
            case "test":
                return _test(options)
            case _:
                _down(options)
    except (CommandFailed, NotReady) as failure:
        print(failure, file=sys.stderr)
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m localstack",
        description=__doc__.splitlines()[0],
        epilog="What follows `--` after `test` is pytest's.",
    )
    parser.add_argument("command", choices=("up", "down", "test"))
    parser.add_argument("--port", type=int, default=PORT, help="MiniStack's port (%(default)s)")
    parser.add_argument("--state", type=Path, default=STATE, help="where templates and logs go")
    parser.add_argument(
        "-c",
        "--parameter",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a parameter of the deployment; may be given several times",
    )
    return parser


def _up(options: argparse.Namespace) -> tuple[LocalAws, Deployed]:
    parameters = dict(given.split("=", 1) for given in options.parameter)
    given = os.environ.get("AWS_ENDPOINT_URL")
    if given:
        aws = LocalAws(given)
    else:
        print(f"Starting MiniStack on port {options.port}")
        aws = MiniStack(options.state, options.port).start()
        # MiniStack runs functions on the interpreter that it runs on itself.
        parameters.setdefault("bundle", "local")
    return aws, Deployments(aws, options.state, print).deploy(parameters)


def _test(options: argparse.Namespace) -> int:
    """Run tests that take a server's address against a deployment of their own; pytest's exit code."""
    options.state = options.state / "test"
    options.port = free_port()
    try:
        aws, deployed = _up(options)
        with bridge(aws, deployed.url, options.state) as running:
            print(f"Testing against {running.address}")
            environment = {**os.environ, "PERDURE_TEST_TARGET": running.address}
            command = [sys.executable, "-m", "pytest", *options.pytest]
            return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode
    finally:
        if not os.environ.get("AWS_ENDPOINT_URL"):
            MiniStack(options.state, options.port).stop()


def _explain(aws: LocalAws, deployed: Deployed) -> None:
    print(
        f"""
Ready: {deployed.url}

Any AWS client reaches it with
  export AWS_ENDPOINT_URL={aws.url} AWS_DEFAULT_REGION={REGION} AWS_ACCESS_KEY_ID=test AWS_SECRET_ACCESS_KEY=test
and any Temporal SDK or the temporal command line, after that, with
  perdure bridge --port 7233 --endpoint '{deployed.url}'"""
    )


def _down(options: argparse.Namespace) -> None:
    if os.environ.get("AWS_ENDPOINT_URL"):
        parameters = dict(given.split("=", 1) for given in options.parameter)
        Deployments(LocalAws(os.environ["AWS_ENDPOINT_URL"]), options.state, print).destroy(parameters)
    elif MiniStack(options.state, options.port).stop():
        print("MiniStack is stopped; it keeps nothing.")
    else:
        print("MiniStack was not running.")


if __name__ == "__main__":
    sys.exit(main())
