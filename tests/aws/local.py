"""A local AWS for tests: one MiniStack a test process, and in it an account of its own for every test.

What does not live here: deploying to it (`localstack`). A newcomer's trap: a 12-digit access key is an account, so what
one test makes no other test sees, and nothing needs cleaning but the server.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import botocore.session
from botocore.config import Config

from durable_core.adapters.aws.dynamo_database import Access
from durable_core.schema import tables
from localstack.local_aws import REGION, LocalAws, NotReady
from perdure.demo.server import free_port

PREFIX = "test"
READY_SECONDS = 90.0
STOP_SECONDS = 15.0
POLL_SECONDS = 0.1

_accounts = count(100_000_000_001)


@cache
def session() -> botocore.session.Session:
    """One for all clients of this process: reading the services' descriptions takes longer than most tests."""
    return botocore.session.Session()


@dataclass(frozen=True, slots=True)
class Account:
    """An account in the local AWS, which is empty at first."""

    url: str
    number: str

    @property
    def access(self) -> Access:
        return Access(REGION, self.url, self.number, "test")

    @property
    def environment(self) -> dict[str, str]:
        """What sends every client of a process to it."""
        return {
            "AWS_ENDPOINT_URL": self.url,
            "AWS_ACCESS_KEY_ID": self.number,
            "AWS_SECRET_ACCESS_KEY": "test",
            "AWS_DEFAULT_REGION": REGION,
        }

    def client(self, service: str) -> Any:
        return session().create_client(
            service,
            region_name=REGION,
            endpoint_url=self.url,
            aws_access_key_id=self.number,
            aws_secret_access_key="test",
            config=Config(parameter_validation=False),
        )


@dataclass
class _Server:
    """A running MiniStack and how many use it."""

    process: "subprocess.Popen[bytes]"
    folder: "TemporaryDirectory[str]"
    url: str
    users: int = 0

    def stop(self) -> None:
        # Functions run in processes of their own: the whole group ends.
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGTERM)
        try:
            self.process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        self.folder.cleanup()


_running: list[_Server] = []


@contextmanager
def local_aws() -> Iterator[str]:
    """The address of this process' MiniStack. It runs as long as anybody uses it."""
    if not _running:
        _running.append(_start())
    server = _running[0]
    server.users += 1
    try:
        yield server.url
    finally:
        server.users -= 1
        if not server.users:
            _running.clear()
            server.stop()


def _start() -> _Server:
    folder = TemporaryDirectory(prefix="ministack-")
    port = free_port()
    environment = {
        **{name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
        "GATEWAY_PORT": str(port),
        "BIND_HOST": "127.0.0.1",
        "IOT_MTLS_ENABLED": "0",
        "SFTP_ENABLED": "0",
        "LOG_LEVEL": "WARNING",
        "TMPDIR": folder.name,
    }
    with (Path(folder.name) / "ministack.log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "ministack"],
            cwd=folder.name,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    aws = LocalAws(f"http://127.0.0.1:{port}")
    deadline = time.monotonic() + READY_SECONDS
    while not aws.answers():
        if process.poll() is not None or time.monotonic() > deadline:
            raise NotReady(Path(log.name).read_text(errors="replace")[-2000:])
        time.sleep(POLL_SECONDS)
    return _Server(process, folder, aws.url)


def new_account(url: str) -> Account:
    return Account(url, str(next(_accounts)))


def create_tables(account: Account, prefix: str = PREFIX) -> None:
    """The tables as a deployment has them, but for what costs money."""
    client = account.client("dynamodb")
    for table in tables.TABLES:
        kinds = ("HASH", "RANGE")
        asked: dict[str, Any] = {
            "TableName": table.name(prefix),
            "BillingMode": "PAY_PER_REQUEST",
            "KeySchema": [
                {"AttributeName": key.name, "KeyType": kind}
                for key, kind in zip(table.keys, kinds, strict=False)
            ],
            "AttributeDefinitions": [
                {"AttributeName": key.name, "AttributeType": key.type} for key in table.keys
            ],
        }
        if table.streamed:
            asked["StreamSpecification"] = {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"}
        client.create_table(**asked)


class Stream:
    """The stream of the runs table, from its beginning on, record by record."""

    def __init__(self, account: Account, prefix: str = PREFIX) -> None:
        self._client = account.client("dynamodbstreams")
        self._arn = account.client("dynamodb").describe_table(TableName=tables.RUNS.name(prefix))["Table"][
            "LatestStreamArn"
        ]
        self._iterators: dict[str, str] = {}

    def records(self) -> list[dict[str, Any]]:
        """What came since the last call, as Lambda gives it but with binary values as bytes."""
        found: list[dict[str, Any]] = []
        described = self._client.describe_stream(StreamArn=self._arn)["StreamDescription"]
        for shard in described["Shards"]:
            name = shard["ShardId"]
            iterator = self._iterators.get(name)
            if iterator is None:
                iterator = self._client.get_shard_iterator(
                    StreamArn=self._arn, ShardId=name, ShardIteratorType="TRIM_HORIZON"
                )["ShardIterator"]
            while True:
                answer = self._client.get_records(ShardIterator=iterator)
                found.extend(answer["Records"])
                iterator = answer.get("NextShardIterator") or iterator
                if not answer["Records"]:
                    break
            self._iterators[name] = iterator
        return found
