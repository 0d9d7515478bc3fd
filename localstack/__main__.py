"""`python -m localstack up|down`: what `make aws-up` and `make aws-down` run.

What does not live here: starting and deploying (`local_aws`, `deployment`).
A newcomer's trap: AWS_ENDPOINT_URL decides. Where it is set, that local AWS is deployed to and nothing is started; so
the same command serves MiniStack, LocalStack, and whatever else speaks for AWS.
"""

import argparse
import io
import os
import sys
from pathlib import Path
from typing import cast

from localstack.deployment import ROOT, CommandFailed, Deployed, Deployments
from localstack.local_aws import REGION, LocalAws, MiniStack, NotReady

STATE = ROOT / ".localstack"
PORT = 4566


def main() -> int:
    """Run the command that the arguments name; its exit code."""
    options = _parser().parse_args()
    # What is being done is told while it is done, also into a file.
    cast(io.TextIOWrapper, sys.stdout).reconfigure(line_buffering=True)
    try:
        if options.command == "up":
            _up(options)
        else:
            _down(options)
    except (CommandFailed, NotReady) as failure:
        print(failure, file=sys.stderr)
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m localstack", description=__doc__.splitlines()[0])
    parser.add_argument("command", choices=("up", "down"))
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


def _up(options: argparse.Namespace) -> None:
    parameters = dict(given.split("=", 1) for given in options.parameter)
    given = os.environ.get("AWS_ENDPOINT_URL")
    if given:
        aws = LocalAws(given)
    else:
        print(f"Starting MiniStack on port {options.port}")
        aws = MiniStack(options.state, options.port).start()
        # MiniStack runs functions on the interpreter that it runs on itself.
        parameters.setdefault("bundle", "local")
    deployed = Deployments(aws, options.state, print).deploy(parameters)
    _explain(aws, deployed)


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
