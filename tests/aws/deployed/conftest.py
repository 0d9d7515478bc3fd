"""The deployment, a bridge before it, and clients of the bridge.

AWS_ENDPOINT_URL names a local AWS that runs already; without it one is started. A newcomer's trap: the first call of
each function starts a process that imports everything, so the first test waits for what the others do not.
"""

import shutil
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from uuid import uuid4

import grpc
import pytest
import pytest_asyncio
from temporalio.api.workflowservice.v1 import GetSystemInfoRequest
from temporalio.client import Client

from localstack.bridge import Bridge
from localstack.bridge import bridge as started_bridge
from localstack.deployment import Deployments
from localstack.local_aws import LocalAws, MiniStack
from perdure.demo.server import free_port
from tests.aws.deployed.sharing import given_url, shared
from tests.sdk.waiting import AT_ONCE_ELSEWHERE

WOKEN = 12
WAKE_SECONDS_MAX = 120.0


@pytest.fixture(scope="session")
def deployment_folder(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    if shutil.which("npm") is None:
        pytest.skip("the CDK's command needs Node.js and npm")
    base = tmp_path_factory.getbasetemp()
    return (base if worker_id == "master" else base.parent) / "deployed"


@pytest.fixture(scope="session")
def deployed(deployment_folder: Path) -> Iterator[dict[str, str]]:
    """`aws` and `url` of the deployment with its usual parameters."""
    given = given_url()
    port = free_port()

    def make() -> dict[str, str]:
        ministack = MiniStack(deployment_folder, port)
        aws = LocalAws(given) if given else ministack.start()
        parameters = {"bundle": "lambda" if given else "local"}
        return {"aws": aws.url, "url": Deployments(aws, deployment_folder).deploy(parameters).url}

    def remove() -> None:
        if not given:
            MiniStack(deployment_folder, port).stop()

    with shared(deployment_folder, make, remove) as made:
        yield made


@pytest.fixture(scope="session")
def aws(deployed: dict[str, str]) -> LocalAws:
    return LocalAws(deployed["aws"])


@pytest.fixture(scope="session")
def deployments(aws: LocalAws, deployment_folder: Path) -> Deployments:
    return Deployments(aws, deployment_folder)


@pytest.fixture(scope="session")
def bridge(
    deployed: dict[str, str], aws: LocalAws, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Bridge]:
    with started_bridge(aws, deployed["url"], tmp_path_factory.mktemp("bridge")) as running:
        _wake(running.address)
        yield running


@pytest.fixture(scope="session")
def bridge_of_relay(
    aws: LocalAws, deployment_folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Bridge]:
    """Before a second deployment, where no writer sends what it commits: the relay does, and nobody else."""
    parameters = {"name": "relay-alone", "fast_path": "off", "bundle": "lambda" if given_url() else "local"}
    folder = deployment_folder.parent / "relay-alone"
    deployments = Deployments(aws, folder)

    def make() -> dict[str, str]:
        return {"url": deployments.deploy(parameters).url}

    with (
        shared(folder, make, lambda: deployments.destroy(parameters)) as made,
        started_bridge(aws, made["url"], tmp_path_factory.mktemp("bridge")) as running,
    ):
        _wake(running.address)
        yield running


def _wake(address: str) -> None:
    """Let the processes start that many calls at once will need."""
    request = GetSystemInfoRequest().SerializeToString()
    with grpc.insecure_channel(address) as channel:
        call = channel.unary_unary("/temporal.api.workflowservice.v1.WorkflowService/GetSystemInfo")
        calls = [call.future(request, timeout=WAKE_SECONDS_MAX, wait_for_ready=True) for _ in range(WOKEN)]
        for each in calls:
            each.result()


@pytest.fixture(scope="session")
def target(bridge: Bridge) -> str:
    """Where the bridge listens, as HOST:PORT: what tests of a server are given."""
    return bridge.address


@pytest.fixture(scope="session")
def at_once() -> int:
    """How many calls a test makes at once."""
    return AT_ONCE_ELSEWHERE


@pytest_asyncio.fixture
async def client(target: str) -> AsyncIterator[Client]:
    yield await Client.connect(target)


@pytest.fixture
def unique() -> str:
    """A name no other test uses: for task queues and workflow IDs."""
    return f"deployed-{uuid4()}"
