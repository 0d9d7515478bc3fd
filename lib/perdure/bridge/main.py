"""The `perdure bridge` process: authorization, what it says at start, signals, exit code.

What does not live here: forwarding (`server`). A newcomer's trap: whoever starts us waits for the line that begins with
`Ready`. It comes although the endpoint may not answer yet: workers that start before it must find us.
"""

import asyncio
import ipaddress
import logging
import signal
import sys
from dataclasses import dataclass
from pathlib import Path

import uvloop

from perdure.bridge.authorization import Authorization, Aws, Bearer, CannotAuthorize, Nobody, sqs_endpoint
from perdure.bridge.endpoint import Endpoint, http_session
from perdure.bridge.polling import Polls
from perdure.bridge.server import BridgeServer
from perdure.bridge.sqs import Sqs
from perdure.bridge.turns import InTurns
from perdure.listening import address_of

EXIT_REFUSED = 1


@dataclass(frozen=True, slots=True)
class BridgeOptions:
    """`port` 0 takes any free port. `auth` is iam, bearer or none; `poll` is auto, sqs or https."""

    endpoint: str
    ip: str
    port: int
    auth: str
    region: str | None
    token: str | None
    token_file: Path | None
    poll: str
    log_level: str


def run(options: BridgeOptions) -> int:
    """Forward until SIGTERM or SIGINT; the exit code, which is 1 when the bridge could not start."""
    logging.basicConfig(
        level=options.log_level.upper(), stream=sys.stderr, format="%(asctime)s %(levelname)s %(message)s"
    )
    try:
        authorization, aws = _authorization(options)
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(_serve(options, authorization, aws))
    except (CannotAuthorize, OSError) as refusal:
        print(f"perdure: {refusal}", file=sys.stderr)
        return EXIT_REFUSED
    return 0


def _authorization(options: BridgeOptions) -> tuple[Authorization, Aws | None]:
    """Who we are to the endpoint, and the AWS account for SQS; None to poll over HTTPS only."""
    aws = _aws(options)
    if options.auth == "iam":
        assert aws is not None
        return aws.signer("execute-api", options.endpoint), None if options.poll == "https" else aws
    if options.auth == "bearer":
        return Bearer(options.token, options.token_file), aws
    return Nobody(), aws


def _aws(options: BridgeOptions) -> Aws | None:
    if options.auth != "iam" and options.poll == "https":
        return None
    try:
        return Aws(options.region)
    except CannotAuthorize:
        if options.auth == "iam" or options.poll == "sqs":
            raise
        return None


async def _serve(options: BridgeOptions, authorization: Authorization, aws: Aws | None) -> None:
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    async with http_session() as session:
        sqs = None if aws is None else Sqs(session, aws, sqs_endpoint())
        endpoint = InTurns(Endpoint(options.endpoint, session, authorization))
        polls = Polls(endpoint, sqs, insists=options.poll == "sqs")
        server = BridgeServer(endpoint, polls, with_authorization=options.auth == "none")
        port = await server.start(options.ip, options.port)
        answers = await server.endpoint_answers()
        print("\n".join(_announcement(options, port, sqs, answers)))
        print("Ready", flush=True)
        await stop.wait()
        print("Draining", flush=True)
        await server.drain()


def _announcement(options: BridgeOptions, port: int, sqs: Sqs | None, answers: bool) -> list[str]:
    """What a person wants to know at start, a line each."""
    lines = [
        f"gRPC        {address_of(options.ip, port)}",
        f"Endpoint    {options.endpoint}" + ("" if answers else "  (it does not answer yet)"),
        f"Authorized  {_identity(options)}",
        f"Polls       {'at SQS, where the endpoint names the queue' if sqs is not None else 'over HTTPS'}",
    ]
    if not _is_loopback(options.ip):
        lines.append("Warning     whoever reaches this address acts with these credentials")
    return lines


def _identity(options: BridgeOptions) -> str:
    match options.auth:
        case "iam":
            return "by AWS Signature Version 4"
        case "bearer":
            source = options.token_file or "the environment"
            return f"by a bearer token from {source}"
        case _:
            return "not at all; the callers' own authorization is passed on"


def _is_loopback(ip: str) -> bool:
    try:
        return ipaddress.ip_address(ip).is_loopback
    except ValueError:
        return ip == "localhost"
