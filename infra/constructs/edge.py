"""The HTTPS edge: one HTTP API, IAM authorization unless something else was asked for by name.

What does not live here: which paths there are. The functions route; here only the polls of workers are told apart,
because they wait and everything else answers at once.
A newcomer's trap: everything else goes to the `$default` route and not to `/{proxy+}`, so that a path reaches the
function as the caller wrote it.
"""

import json
from typing import cast

from aws_cdk import ArnFormat, RemovalPolicy, Stack
from aws_cdk import aws_apigatewayv2 as gateway
from aws_cdk import aws_apigatewayv2_authorizers as authorizers
from aws_cdk import aws_apigatewayv2_integrations as integrations
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from constructs import Construct, IConstruct

from infra.acknowledged import acknowledge, acknowledge_pattern
from infra.parameters import Parameters

SERVICE = "temporal.api.workflowservice.v1.WorkflowService"
POLLS = ("PollWorkflowTaskQueue", "PollActivityTaskQueue", "PollNexusTaskQueue")
_LOG_DAYS = logs.RetentionDays.ONE_MONTH
_LOGGED = {
    "requestId": "$context.requestId",
    "path": "$context.path",
    "status": "$context.status",
    "milliseconds": "$context.responseLatency",
    "caller": "$context.identity.caller",
    "address": "$context.identity.sourceIp",
    "error": "$context.error.message",
}


class Edge(Construct):
    """`url` is what clients and the bridge are given; `invoke_arn` is what a policy for callers names."""

    def __init__(
        self,
        scope: Construct,
        name: str,
        parameters: Parameters,
        frontend: lambda_.Function,
        poll: lambda_.Function,
    ) -> None:
        super().__init__(scope, name)
        self.api = gateway.HttpApi(
            self,
            "Api",
            api_name=parameters.name,
            description="Durable workflows: Connect, and the Temporal HTTP API",
            default_authorizer=_authorizer(parameters),
            default_integration=integrations.HttpLambdaIntegration("Frontend", frontend),
            create_default_stage=False,
        )
        self._route_polls(poll)
        if parameters.authorization == "none":
            acknowledge(
                self.api,
                "AwsSolutions-APIG4",
                "Asked for by name: whoever reaches the address may call everything.",
            )
        stage = self.api.add_stage(
            "Stage",
            stage_name="$default",
            auto_deploy=True,
        )
        self.url = self.api.api_endpoint
        self.invoke_arn = Stack.of(self).format_arn(
            service="execute-api",
            resource=self.api.api_id,
            resource_name="*",
            arn_format=ArnFormat.SLASH_RESOURCE_NAME,
        )
        if parameters.access_logs:
            self._log(stage, parameters)
        else:
            acknowledge(
                stage,
                "AwsSolutions-APIG1",
                "The functions log one line for each call. A second one here would cost as much again; the parameter "
                "`access_logs` turns it on.",
            )

    def acknowledge_invoke(self, policy: IConstruct, reason: str) -> None:
        """State why a policy may invoke all of this API."""
        api = cast(gateway.CfnApi, self.api.node.default_child)
        logical_name = Stack.of(self).resolve(api.logical_id)
        acknowledge_pattern(policy, "execute-api", f"<{logical_name}>/*", reason)

    def _route_polls(self, poll: lambda_.Function) -> None:
        integration = integrations.HttpLambdaIntegration("Poll", poll)
        for method in POLLS:
            self.api.add_routes(
                path=f"/{SERVICE}/{method}", methods=[gateway.HttpMethod.POST], integration=integration
            )

    def _log(self, stage: gateway.HttpStage, parameters: Parameters) -> None:
        group = logs.LogGroup(
            self,
            "AccessLogs",
            log_group_name=f"/aws/apigateway/{parameters.name}",
            retention=_LOG_DAYS,
            removal_policy=RemovalPolicy.DESTROY,
        )
        resource = cast(gateway.CfnStage, stage.node.default_child)
        resource.access_log_settings = gateway.CfnStage.AccessLogSettingsProperty(
            destination_arn=group.log_group_arn, format=json.dumps(_LOGGED)
        )


def _authorizer(parameters: Parameters) -> gateway.IHttpRouteAuthorizer:
    match parameters.authorization:
        case "iam":
            return authorizers.HttpIamAuthorizer()
        case "bearer":
            return authorizers.HttpJwtAuthorizer(
                "Bearer", parameters.issuer, jwt_audience=[parameters.audience]
            )
        case "none":
            return gateway.HttpNoneAuthorizer()
