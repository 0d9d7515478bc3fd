"""What others' rules say of the template: cdk-nag's AWS Solutions, and cfn-lint's of CloudFormation itself."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.infra.synthesis import VARIANTS
from tests.infra.templates import Template, Templates

ALL = sorted(VARIANTS)
# Rules that may be acknowledged at all, each with a reason where that is done.
ACKNOWLEDGEABLE = (
    "AwsSolutions-APIG1",
    "AwsSolutions-APIG4",
    "AwsSolutions-IAM5",
    "AwsSolutions-L1",
    "AwsSolutions-SNS2",
    "AwsSolutions-SQS3",
)
REASON_LENGTH_MIN = 40
# The CDK writes down dependencies that CloudFormation would also find by itself.
NOT_OURS = "W3005"


@pytest.fixture(params=ALL)
def each(request: pytest.FixtureRequest, templates: Templates) -> Template:
    return templates[request.param]


def test_cdk_nag_finds_nothing_that_is_not_acknowledged(each):
    findings = [(each["ruleName"], each["violatingConstructs"]) for each in each.report["violations"]]
    assert not findings
    assert each.report["conclusion"] == "success"


def test_every_acknowledgement_gives_a_reason(each):
    acknowledged = each.report["suppressedViolations"]
    assert acknowledged, "cdk-nag found nothing at all: did it look?"
    for finding in acknowledged:
        assert finding["ruleName"].startswith(ACKNOWLEDGEABLE)
        assert len(finding["reason"]) >= REASON_LENGTH_MIN


def test_cfn_lint_finds_nothing(templates):
    paths = [str(templates[variant].path) for variant in ALL]
    command = Path(sys.executable).with_name("cfn-lint")
    options = ["--ignore-checks", NOT_OURS, "--non-zero-exit-code", "informational"]
    run = subprocess.run([command, *options, "--", *paths], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
