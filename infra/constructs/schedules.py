"""Wake-ups that are further away than SQS can delay: one EventBridge schedule each, in a group of this deployment.

What does not live here: creating a schedule (`adapters/aws/wake_ups`).
A newcomer's trap: the scheduler sends with a role of its own. Whoever creates a schedule passes that role on and so
needs `iam:PassRole` for it, and for it alone.
"""

from aws_cdk import ArnFormat, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_scheduler as scheduler
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from infra.acknowledged import acknowledge_pattern


class Schedules(Construct):
    """The group, and the role that its schedules send with: to the timer queue and to its dead-letter queue."""

    def __init__(
        self, scope: Construct, name: str, prefix: str, timer_queue: sqs.Queue, dead_letters: sqs.Queue
    ) -> None:
        super().__init__(scope, name)
        stack = Stack.of(self)
        self.group_name = f"{prefix}-wake-ups"
        self.group = scheduler.CfnScheduleGroup(self, "Group", name=self.group_name)
        # Without the condition another account's schedule could use the role by its name.
        ours = {
            "StringEquals": {"aws:SourceAccount": stack.account},
            "ArnLike": {"aws:SourceArn": self._arn("schedule-group", self.group_name)},
        }
        principal = iam.ServicePrincipal("scheduler.amazonaws.com", conditions=ours)
        self.role = iam.Role(
            self, "Role", assumed_by=principal, description="Sends wake-ups that are due soon"
        )
        timer_queue.grant_send_messages(self.role)
        dead_letters.grant_send_messages(self.role)

    def grant_create(self, function: lambda_.Function) -> None:
        """Creating schedules in the group, and passing the role on to the scheduler."""
        pattern = f"{self.group_name}/*"
        acknowledge_pattern(
            function,
            "scheduler",
            f"schedule/{pattern}",
            "A schedule's name says which wake-up it is; the group is this deployment's alone.",
        )
        iam.Grant.add_to_principal(
            grantee=function,
            actions=["scheduler:CreateSchedule"],
            resource_arns=[self._arn("schedule", pattern)],
        )
        iam.Grant.add_to_principal(
            grantee=function,
            actions=["iam:PassRole"],
            resource_arns=[self.role.role_arn],
            conditions={"StringEquals": {"iam:PassedToService": "scheduler.amazonaws.com"}},
        )

    def _arn(self, resource: str, resource_name: str) -> str:
        return Stack.of(self).format_arn(
            service="scheduler",
            resource=resource,
            resource_name=resource_name,
            arn_format=ArnFormat.SLASH_RESOURCE_NAME,
        )
