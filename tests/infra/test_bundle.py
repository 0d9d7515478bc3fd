"""The bundle holds what runs and no more, is the same archive each time, and starts where there is nothing else."""

import json
import re
import subprocess
import sys
import threading
import tomllib
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from infra.bundle import archive, contents
from infra.bundle.build import REQUIREMENTS, ROOT, ZIPPED_BYTES_MAX, Bundle, build
from infra.bundle.measure import ON_LAMBDA, cold_import
from infra.bundle.target import Target
from infra.bundle.wheels import WheelsUnavailable, wheels
from infra.constructs.functions import Work

ANSWERED = """
import base64, json, sys
sys.path.insert(0, sys.argv[1])
from MODULE import handler

class Context:
    function_name, memory_limit_in_mb, aws_request_id = "frontend", 1024, "a-request"
    function_version, invoked_function_arn = "1", "arn:aws:lambda:us-east-1:000000000000:function:frontend"

    def get_remaining_time_in_millis(self):
        return 29_000

event = {
    "version": "2.0", "rawPath": "/temporal.api.workflowservice.v1.WorkflowService/GetSystemInfo",
    "rawQueryString": "", "headers": {"content-type": "application/json"}, "body": "{}", "isBase64Encoded": False,
    "requestContext": {"http": {"method": "POST", "path": "/"}, "timeEpoch": 0, "requestId": "a", "stage": "$default"},
}
answer = handler(event, Context())
assert answer["statusCode"] == 200, answer
print(base64.b64decode(answer["body"]).decode())
"""
ACCOUNT_URL = "http://127.0.0.1:9/000000000000"
SETTINGS = {
    **ON_LAMBDA,
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_ACCESS_KEY_ID": "test",
    "AWS_SECRET_ACCESS_KEY": "test",
    "PERDURE_PREFIX": "perdure",
    "PERDURE_SERVICE_QUEUE_URL": f"{ACCOUNT_URL}/perdure-service.fifo",
    "PERDURE_TIMER_QUEUE_URL": f"{ACCOUNT_URL}/perdure-timer",
    "PERDURE_TIMER_QUEUE_ARN": "arn:aws:sqs:us-east-1:000000000000:perdure-timer",
    "PERDURE_TIMER_DEAD_LETTER_QUEUE_ARN": "arn:aws:sqs:us-east-1:000000000000:perdure-timer-dead-letters",
    "PERDURE_STREAM_DEAD_LETTER_QUEUE_URL": f"{ACCOUNT_URL}/perdure-stream-dead-letters",
    "PERDURE_SCHEDULE_GROUP": "perdure-wake-ups",
    "PERDURE_SCHEDULE_ROLE_ARN": "arn:aws:iam::000000000000:role/perdure-wake-ups",
    "POWERTOOLS_TRACE_DISABLED": "true",
}


class EmptyTables(BaseHTTPRequestHandler):
    """DynamoDB with nothing in it: no item is found, and every write succeeds."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200)
        self.send_header("content-length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *args: object) -> None:
        """Say nothing."""


@pytest.fixture
def empty_tables() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), EmptyTables) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.fixture(scope="session")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Bundle:
    """For this interpreter, so that it can be run."""
    try:
        return build(Target.local())
    except WheelsUnavailable as unavailable:
        pytest.skip(f"no package registry in reach: {unavailable}")


@pytest.fixture(scope="session")
def unpacked(bundle: Bundle, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bundle")
    with zipfile.ZipFile(bundle.path) as packed:
        packed.extractall(folder)
    return folder


@pytest.mark.parametrize("work", list(Work), ids=lambda work: work.label)
def test_every_handler_is_imported_with_only_the_bundle_in_reach(unpacked, work):
    module = work.handler.rpartition(".")[0]
    files = cold_import(sys.executable, unpacked, module, SETTINGS).files
    foreign = [name for name, file in files.items() if "site-packages" in (file or "")]
    assert not foreign
    assert not [name for name in files if name.startswith("temporalio.bridge")], (
        "the native core has no work there"
    )


def test_the_frontend_answers_with_only_the_bundle_in_reach(unpacked, empty_tables):
    script = ANSWERED.replace("MODULE", Work.FRONTEND.handler.rpartition(".")[0])
    command = [sys.executable, "-I", "-S", "-c", script, str(unpacked)]
    environment = {**SETTINGS, "AWS_ENDPOINT_URL": empty_tables}
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    answer = json.loads(run.stdout.splitlines()[-1])
    assert answer["capabilities"]["signalAndQueryHeader"] is True


def test_the_bundle_is_within_its_budget(bundle):
    assert 2**20 < bundle.size <= ZIPPED_BYTES_MAX


def test_the_bundle_holds_nothing_that_does_not_run(unpacked):
    names = [path.relative_to(unpacked).as_posix() for path in unpacked.rglob("*") if path.is_file()]
    useless = re.compile(
        r"\.(pyi|md|rst|h|c)$|(^|/)tests?/|dist-info|adapters/sqlite|sdk_bridge|api/cloud/|_pb2_grpc"
    )
    assert not [name for name in names if useless.search(name)]
    services = {path.name for path in (unpacked / "botocore" / "data").iterdir() if path.is_dir()}
    assert services == contents.SERVICES


def test_the_bundle_is_compiled_where_an_interpreter_for_it_is_at_hand(unpacked):
    sources = list((unpacked / "durable_core").rglob("*.py"))
    tag = sys.implementation.cache_tag
    missing = [
        path for path in sources if not (path.parent / "__pycache__" / f"{path.stem}.{tag}.pyc").is_file()
    ]
    assert sources
    assert not missing


def test_the_same_content_is_the_same_archive(unpacked, bundle, tmp_path):
    again = tmp_path / "again.zip"
    for path in unpacked.rglob("*"):
        path.touch()
    archive.pack(unpacked, again)
    assert again.read_bytes() == bundle.path.read_bytes()


def test_compiling_the_same_sources_gives_the_same_byte_code_wherever_they_lie(tmp_path):
    def compiled(folder: Path) -> bytes:
        folder.mkdir()
        (folder / "module.py").write_text("def double(value):\n    return value * 2\n")
        archive.compile_folder(folder, sys.executable)
        [code] = folder.rglob("*.pyc")
        return code.read_bytes()

    assert compiled(tmp_path / "here") == compiled(tmp_path / "there")


def test_a_bundle_that_exists_is_not_made_again():
    first = build(Target.local())
    made = first.path.stat().st_mtime_ns
    assert build(Target.local()) == first
    assert first.path.stat().st_mtime_ns == made


def test_wheels_that_do_not_exist_are_named(tmp_path):
    requirements = tmp_path / "requirements.txt"
    requirements.write_text("./no-such-wheel-1.0-py3-none-any.whl\n")
    with pytest.raises(WheelsUnavailable, match="no-such-wheel"):
        wheels(requirements, Target.local(), tmp_path / "cache")
    assert not list((tmp_path / "cache").glob("*/*"))


def test_every_version_in_the_bundle_is_one_that_the_project_supports():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    supported = {
        _plain(each.name): each.specifier
        for line in (*project["dependencies"], *project["optional-dependencies"]["aws"])
        for each in [Requirement(line)]
    }
    lines = [line for line in REQUIREMENTS.read_text().splitlines() if line and not line.startswith("#")]
    pinned = dict(line.split("==") for line in lines)
    offenders = [
        f"{name} {version} is not {supported[_plain(name)]}"
        for name, version in pinned.items()
        if _plain(name) in supported and version not in supported[_plain(name)]
    ]
    assert not offenders


@pytest.mark.parametrize("architecture, processor", [("arm64", "aarch64"), ("x86_64", "x86_64")])
def test_the_target_of_a_function_is_its_processor_and_lambdas_python(architecture, processor):
    options = Target.lambda_function(architecture).pip_options
    assert f"manylinux2014_{processor}" in options
    assert options[options.index("--python-version") + 1] == "3.12"


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
