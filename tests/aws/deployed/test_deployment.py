"""What operators see of a deployment, and what is left when they take it away."""

import json
import urllib.error
import urllib.request

import pytest

from durable_core.schema.tables import TABLES
from localstack.deployment import Deployments
from localstack.local_aws import ACCOUNT, REGION, LocalAws
from tests.aws.deployed.clients import client_of

SERVICE = "temporal.api.workflowservice.v1.WorkflowService"
SYSTEM_INFO = f"/{SERVICE}/GetSystemInfo"

pytestmark = pytest.mark.timeout(400)


def test_a_caller_without_a_signature_is_refused(deployed):
    request = urllib.request.Request(
        deployed["url"] + SYSTEM_INFO, data=b"{}", headers={"content-type": "application/json"}
    )
    with pytest.raises(urllib.error.HTTPError) as refusal:
        urllib.request.urlopen(request, timeout=60)
    refusal.value.close()
    assert refusal.value.code == 403


@pytest.mark.parametrize("policy", ["retain", "destroy"])
def test_what_is_left_of_a_destroyed_deployment_is_what_its_policy_says(aws, deployment_folder, policy):
    name = f"gone-{policy}"
    parameters = {"name": name, "tables": policy, "bundle": "local", "shards": "4"}
    deployments = Deployments(aws, deployment_folder)
    deployments.deploy(parameters)
    tables = {table.name(name) for table in TABLES}
    assert tables <= _tables(aws)
    deployments.destroy(parameters)
    assert _tables(aws) & tables == (tables if policy == "retain" else set())
    functions = client_of(aws, "lambda").list_functions()["Functions"]
    assert not [each for each in functions if each["FunctionName"].startswith(name)]
    queues = client_of(aws, "sqs").list_queues(QueueNamePrefix=name).get("QueueUrls", [])
    assert not queues


def _tables(aws: LocalAws) -> set[str]:
    return set(client_of(aws, "dynamodb").list_tables()["TableNames"])


def test_the_scheduler_may_send_to_the_timer_queue_and_to_nothing_else(aws, deployed):
    [name] = [
        role["RoleName"]
        for role in client_of(aws, "iam").list_roles()["Roles"]
        if role["Description"].startswith("Sends wake-ups") and role["RoleName"].startswith("perdure")
    ]
    iam = client_of(aws, "iam")
    resources = [
        resource
        for policy in iam.list_role_policies(RoleName=name)["PolicyNames"]
        for statement in _statements(iam.get_role_policy(RoleName=name, PolicyName=policy)["PolicyDocument"])
        for resource in (
            [statement["Resource"]] if isinstance(statement["Resource"], str) else statement["Resource"]
        )
    ]
    prefix = f"arn:aws:sqs:{REGION}:{ACCOUNT}:perdure-timer"
    assert set(resources) == {prefix, f"{prefix}-dead-letters"}


def _statements(document):
    return (json.loads(document) if isinstance(document, str) else document)["Statement"]
