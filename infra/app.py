"""The CDK application: `cdk deploy` runs it (see cdk.json), and it makes the bundle if that is not made yet.

What does not live here: the resources (`stacks`), and which parameters there are (`parameters`).
A newcomer's trap: the command runs this once and forgets it. What a function needs to know at run time must be in the
template, never read here.
"""

from aws_cdk import App, Tags
from aws_cdk import aws_lambda as lambda_

from infra.bundle.build import build
from infra.bundle.target import Target
from infra.parameters import Parameters
from infra.stacks.deployment import DeploymentStack


def main() -> None:
    """Make the templates of the deployment that the context describes."""
    app = App()
    parameters = Parameters.of_context(app.node.try_get_context)
    local = parameters.bundle == "local"
    target = Target.local() if local else Target.lambda_function(parameters.architecture)
    stack = DeploymentStack(app, "Perdure", parameters, lambda_.Code.from_asset(str(build(target).path)))
    Tags.of(stack).add("perdure", parameters.name)
    app.synth()


if __name__ == "__main__":
    main()
