"""Deploying to the local AWS with the real `cdk` command, and finding what was deployed.

What does not live here: the stack (`infra`), and what answers as AWS (`local_aws`).
A newcomer's trap: making the template takes most of the time. It is made once into a folder of its own, and bootstrap,
deploy and destroy are told to use that folder.
"""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from boto3.session import Session

from localstack.local_aws import ACCOUNT, REGION, LocalAws

ROOT = Path(__file__).resolve().parents[1]
CDK_VERSION = "2.1148.1"
CDK_FOLDER = ROOT / "build" / "cdk" / CDK_VERSION
# Everything that a local deployment wants otherwise than a real one.
LOCAL_PARAMETERS = {"tables": "destroy"}


class CommandFailed(Exception):
    """A command that deploys has failed. Says which, and the end of what it printed."""


@dataclass(frozen=True, slots=True)
class Deployed:
    """A deployment. `url` is where clients and the bridge are sent; `outputs` are the stack's."""

    url: str
    outputs: Mapping[str, str]


class Deployments:
    """Deploys to one local AWS. `folder` keeps the templates; `say` is told what is being done."""

    def __init__(self, aws: LocalAws, folder: Path, say: Callable[[str], None] = lambda _: None) -> None:
        self._aws = aws
        self._folder = folder.resolve()
        self._say = say

    def deploy(self, parameters: Mapping[str, str]) -> Deployed:
        """Create the deployment, or change it to these parameters. Raises `CommandFailed`."""
        wanted = {**LOCAL_PARAMETERS, **parameters}
        assembly = self._synthesize(wanted)
        if not self._bootstrapped():
            self._say("Preparing the account (cdk bootstrap)")
            self._cdk("bootstrap", f"aws://{ACCOUNT}/{REGION}", "--app", str(assembly))
        self._say("Deploying (cdk deploy)")
        outputs = assembly / "outputs.json"
        options = ("--method=direct", "--require-approval=never", "--outputs-file", str(outputs))
        self._cdk("deploy", "--app", str(assembly), *options)
        found = next(iter(json.loads(outputs.read_text(encoding="utf-8")).values()))
        self._enable_expiry(found)
        return Deployed(self._local(found["Endpoint"]), found)

    def destroy(self, parameters: Mapping[str, str]) -> None:
        """Remove what was deployed with these parameters. Raises `CommandFailed`."""
        assembly = self._assembly({**LOCAL_PARAMETERS, **parameters})
        self._say("Removing the deployment (cdk destroy)")
        self._cdk("destroy", "--app", str(assembly), "--force")

    def _assembly(self, parameters: Mapping[str, str]) -> Path:
        return self._folder / f"{parameters.get('name', 'perdure')}.cdk.out"

    def _synthesize(self, parameters: Mapping[str, str]) -> Path:
        self._say("Making the bundle and the template (cdk synth)")
        assembly = self._assembly(parameters)
        context = [option for name, value in parameters.items() for option in ("-c", f"{name}={value}")]
        app = f"{sys.executable} -m infra.app"
        self._cdk("synth", "--quiet", "--app", app, "--output", str(assembly), *context)
        return assembly

    def _cdk(self, *arguments: str) -> None:
        environment = self._aws.environment() | {
            "CDK_DISABLE_CLI_TELEMETRY": "true",
            "CI": "true",
            "JSII_SILENCE_WARNING_DEPRECATED_NODE_VERSION": "true",
            "JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION": "true",
            "PYTHONPATH": str(ROOT / "lib"),
        }
        run([str(cdk_command()), *arguments, "--no-notices"], environment)

    def _bootstrapped(self) -> bool:
        stacks = self._client("cloudformation").list_stacks(
            StackStatusFilter=["CREATE_COMPLETE", "UPDATE_COMPLETE"]
        )
        return any(stack["StackName"] == "CDKToolkit" for stack in stacks["StackSummaries"])

    def _enable_expiry(self, outputs: Mapping[str, str]) -> None:
        """MiniStack leaves out of a template what makes items expire; AWS and LocalStack have done it already."""
        dynamodb = self._client("dynamodb")
        specification = {"Enabled": True, "AttributeName": "expires_at"}
        for name in ("RunsTable", "HistoryTable", "CatalogTable"):
            table = outputs[name]
            described = dynamodb.describe_time_to_live(TableName=table)["TimeToLiveDescription"]
            if described.get("TimeToLiveStatus") not in {"ENABLED", "ENABLING"}:
                dynamodb.update_time_to_live(TableName=table, TimeToLiveSpecification=specification)

    def _local(self, endpoint: str) -> str:
        """The API's address on this machine: its real host name is Amazon's."""
        name = urlsplit(endpoint).netloc.partition(".")[0]
        return f"{self._aws.url}/_aws/execute-api/{name}/$default"

    def _client(self, service: str) -> Any:
        environment = self._aws.environment()
        return Session().client(
            service,
            region_name=REGION,
            endpoint_url=self._aws.url,
            aws_access_key_id=environment["AWS_ACCESS_KEY_ID"],
            aws_secret_access_key=environment["AWS_SECRET_ACCESS_KEY"],
        )


def cdk_command() -> Path:
    """The CDK's command, installed from npm into this checkout the first time. Raises `CommandFailed`."""
    command = CDK_FOLDER / "node_modules" / ".bin" / "cdk"
    if not command.exists():
        npm = shutil.which("npm")
        if npm is None:
            raise CommandFailed("npm is not installed; the CDK's command needs Node.js 20 or newer")
        run(
            [
                npm,
                "install",
                "--no-audit",
                "--no-fund",
                "--prefix",
                str(CDK_FOLDER),
                f"aws-cdk@{CDK_VERSION}",
            ],
            None,
        )
    return command


def run(command: Sequence[str], environment: Mapping[str, str] | None) -> None:
    """Run a command quietly. Raises `CommandFailed` with the end of its output."""
    done = subprocess.run(
        command,
        cwd=ROOT,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise CommandFailed(f"{' '.join(command)}\n{done.stdout[-4000:]}")
