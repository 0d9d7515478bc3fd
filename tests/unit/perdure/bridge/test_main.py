"""`perdure bridge` as a process: what it says, how it ends, and what it refuses to start with."""

import os
import re
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import grpc
import pytest
from temporalio.api.workflowservice.v1 import (
    DescribeNamespaceRequest,
    GetSystemInfoRequest,
    WorkflowServiceStub,
)

from tests.unit.perdure.test_main import grpc_address, started

LIBRARY = Path(__file__).resolve().parents[4] / "lib"


def environment(**more):
    return {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(LIBRARY),
        "AWS_EC2_METADATA_DISABLED": "true",
        **more,
    }


def command(*arguments):
    return [sys.executable, "-m", "perdure", "bridge", "--port", "0", *arguments]


@contextmanager
def bridge(*arguments, **variables):
    """A bridge that is ready, and what it said until then."""
    process = subprocess.Popen(
        command(*arguments),
        env=environment(**variables),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    lines = []
    try:
        for line in process.stdout:
            lines.append(line.rstrip())
            if line.startswith("Ready"):
                break
        else:
            pytest.fail("\n".join(lines))
        yield process, lines
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def refused(*arguments, **variables):
    done = subprocess.run(
        command(*arguments),
        env=environment(**variables),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert "Traceback" not in done.stderr
    assert "Ready" not in done.stdout
    return done


def test_it_forwards_to_the_embedded_server_and_says_what_it_does():
    with started() as (_, said):
        url = re.search(r"http://\S+", "\n".join(said)).group()
        with bridge("--endpoint", url, "--auth", "none") as (_, lines):
            assert f"Endpoint    {url}" in lines
            assert "Polls       over HTTPS" in lines
            with grpc.insecure_channel(grpc_address(lines)) as channel:
                request = DescribeNamespaceRequest(namespace="default")
                answer = WorkflowServiceStub(channel).DescribeNamespace(request, timeout=10)
            assert answer.namespace_info.name == "default"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_drains_and_ends_it_well(number):
    with bridge("--endpoint", "http://127.0.0.1:1", "--auth", "none") as (process, _):
        process.send_signal(number)
        assert process.stdout.read().endswith("Draining\n")
        assert process.wait(20) == 0


def test_it_starts_before_its_endpoint_and_calls_are_unavailable_until_then():
    with bridge("--endpoint", "http://127.0.0.1:1", "--auth", "none") as (_, lines):
        assert "Endpoint    http://127.0.0.1:1  (it does not answer yet)" in lines
        with grpc.insecure_channel(grpc_address(lines)) as channel, pytest.raises(grpc.RpcError) as raised:
            WorkflowServiceStub(channel).GetSystemInfo(GetSystemInfoRequest(), timeout=10)
        assert raised.value.code() is grpc.StatusCode.UNAVAILABLE


def test_with_aws_credentials_it_signs_and_may_poll_at_sqs():
    keys = {"AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b", "AWS_REGION": "eu-west-1"}
    with bridge("--endpoint", "http://127.0.0.1:1", "--region", "eu-west-1", **keys) as (_, lines):
        assert "Authorized  by AWS Signature Version 4" in lines
        assert "Polls       at SQS, where the endpoint names the queue" in lines


def test_listening_beyond_loopback_comes_with_a_warning():
    arguments = ("--endpoint", "http://127.0.0.1:1", "--auth", "none", "--ip", "0.0.0.0")
    with bridge(*arguments) as (_, lines):
        assert any(line.startswith("Warning") for line in lines)


def test_without_credentials_it_says_so_and_does_not_start():
    done = refused("--endpoint", "https://x.execute-api.eu-west-1.amazonaws.com", HOME="/nowhere")
    assert done.returncode == 1
    assert done.stderr.startswith("perdure: no AWS credentials")


def test_polling_at_sqs_insists_on_credentials():
    done = refused("--endpoint", "http://127.0.0.1:1", "--auth", "none", "--poll", "sqs", HOME="/nowhere")
    assert done.returncode == 1
    assert done.stderr.startswith("perdure: no AWS credentials")


def test_an_unknown_region_is_asked_for():
    keys = {"AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b"}
    done = refused("--endpoint", "https://temporal.example.com", HOME="/nowhere", **keys)
    assert done.returncode == 1
    assert "give it with --region" in done.stderr


@pytest.mark.parametrize(
    "arguments, said",
    [
        ((), "--endpoint"),
        (("--endpoint", "ftp://x"), "is not the address of a deployment"),
        (("--endpoint", "https://x/?a=b"), "is not the address of a deployment"),
        (("--endpoint", "https://x", "--auth", "bearer"), "needs --token-env or --token-file"),
        (("--endpoint", "https://x", "--auth", "bearer", "--token-env", "NOPE"), "NOPE is not set"),
        (("--endpoint", "https://x", "--token-env", "A", "--token-file", "b"), "not allowed with"),
    ],
)
def test_what_makes_no_sense_is_refused_with_two(arguments, said):
    done = refused(*arguments)
    assert done.returncode == 2
    assert said in done.stderr
