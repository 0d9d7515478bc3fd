"""Makes the templates that the tests look at: `python -m tests.infra.synthesis FOLDER`.

It is a program of its own because the CDK brings Node.js along and takes seconds: one process makes all variants, once,
whatever number of test processes there is.
"""

import sys
from pathlib import Path

from aws_cdk import App, Validations
from aws_cdk import aws_lambda as lambda_
from cdk_nag import AwsSolutionsChecks

from infra.parameters import Parameters
from infra.stacks.deployment import DeploymentStack

VARIANTS = {
    "usual": Parameters(),
    # Everything that can be changed about a deployment that exists.
    "changed": Parameters(
        authorization="bearer",
        issuer="https://issuer.example.com",
        audience="workflows",
        architecture="x86_64",
        memory=2048,
        background_memory=1024,
        log_level="DEBUG",
        log_days=60,
        fast_path=False,
        tracing=True,
        access_logs=True,
        alarm_address="somebody@example.com",
        retention_days=7,
    ),
    "bare": Parameters(
        name="other", shards=16, authorization="none", alarms=False, dashboard=False, tables="destroy"
    ),
}


def main(folder: Path) -> None:
    code = folder / "code"
    code.mkdir(parents=True)
    (code / "empty.py").touch()
    for name, parameters in VARIANTS.items():
        app = App(outdir=str(folder / name), analytics_reporting=False)
        DeploymentStack(app, "Perdure", parameters, lambda_.Code.from_asset(str(code)))
        Validations.of(app).add_plugins(AwsSolutionsChecks(app))
        try:
            app.synth()
        except RuntimeError as refused:
            # The rules that are broken are in the report, which a test reads.
            if "ValidationFailed" not in str(refused):
                raise


if __name__ == "__main__":
    main(Path(sys.argv[1]))
