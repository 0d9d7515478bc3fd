"""What each function may do, and what a caller needs: nothing else.

What does not live here: reading streams and queues that call a function (the event sources grant that), and logs
(`functions`). A newcomer's trap: task queues are created when they are first used, so permissions for them name a
pattern and no queue. The pattern ends in a wildcard and begins with the deployment's name.
"""

from collections.abc import Sequence

from aws_cdk import ArnFormat, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from durable_core.schema.queues import task_queue_pattern
from durable_core.schema.tables import HISTORY, RUNS
from infra.acknowledged import acknowledge_everything, acknowledge_pattern
from infra.constructs.edge import Edge
from infra.constructs.functions import Functions, Work
from infra.constructs.queues import Queues
from infra.constructs.schedules import Schedules
from infra.constructs.tables import Tables

# A transaction asks for the permission of each action in it.
_TABLE_ACTIONS = (
    "dynamodb:BatchGetItem",
    "dynamodb:BatchWriteItem",
    "dynamodb:ConditionCheckItem",
    "dynamodb:DeleteItem",
    "dynamodb:GetItem",
    "dynamodb:PutItem",
    "dynamodb:Query",
    "dynamodb:UpdateItem",
)
_SEND = ("sqs:CreateQueue", "sqs:SendMessage", "sqs:TagQueue")
_RECEIVE = (
    "sqs:ChangeMessageVisibility",
    "sqs:DeleteMessage",
    "sqs:GetQueueAttributes",
    "sqs:ReceiveMessage",
)
_RENEW = ("sqs:ChangeMessageVisibility", "sqs:DeleteMessage", "sqs:ReceiveMessage", "sqs:SendMessage")
_WAIT = ("sqs:ChangeMessageVisibility", "sqs:ReceiveMessage")
_ENGINES = (Work.FRONTEND, Work.POLL, Work.HISTORY, Work.FIRE)
_TASK_QUEUES_REASON = (
    "Task queues are created on first use; the pattern covers this deployment's and no others."
)


def grant(prefix: str, functions: Functions, tables: Tables, queues: Queues, schedules: Schedules) -> None:
    """Give every function what its work takes."""
    for work in _ENGINES:
        function = functions.of[work]
        _allow(function, _TABLE_ACTIONS, [table.table_arn for table in tables.of.values()])
        _allow_task_queues(function, prefix, (*_SEND, *_RECEIVE))
        queues.service.grant_send_messages(function)
    relay, arm, fire = functions.of[Work.RELAY], functions.of[Work.ARM], functions.of[Work.FIRE]
    # The relay also does what a commit leaves for later: it sets the time to live of what a closed run leaves behind.
    _allow(relay, _TABLE_ACTIONS, [tables.of[table].table_arn for table in (RUNS, HISTORY)])
    _allow_task_queues(relay, prefix, _SEND)
    queues.service.grant_send_messages(relay)
    for function in (relay, arm):
        queues.stream_dead_letters.grant_send_messages(function)
        acknowledge_everything(
            function,
            "dynamodb:ListStreams, which an event source needs, knows no resources; it shows names alone.",
        )
    renew = functions.of[Work.RENEW]
    _allow_task_queues(renew, prefix, _RENEW)
    _allow(renew, ["sqs:ListQueues"], ["*"])
    acknowledge_everything(renew, "sqs:ListQueues knows no resources; it shows names alone.")
    for function in (arm, fire):
        queues.timer.grant_send_messages(function)
        schedules.grant_create(function)


class Callers(Construct):
    """A managed policy for the roles of workers, clients and the bridge. Nobody has it until somebody attaches it."""

    def __init__(self, scope: Construct, name: str, prefix: str, edge: Edge) -> None:
        super().__init__(scope, name)
        self.policy = iam.ManagedPolicy(
            self,
            "Policy",
            managed_policy_name=f"{prefix}-caller",
            description="Call the API, and wait at the task queues for work",
            statements=[
                iam.PolicyStatement(actions=["execute-api:Invoke"], resources=[edge.invoke_arn]),
                iam.PolicyStatement(actions=list(_WAIT), resources=[_task_queues(self, prefix)]),
            ],
        )
        edge.acknowledge_invoke(
            self.policy, "Which methods a caller may use within this API is no matter of IAM's."
        )
        acknowledge_pattern(self.policy, "sqs", task_queue_pattern(prefix), _TASK_QUEUES_REASON)


def _allow(function: lambda_.Function, actions: Sequence[str], resources: Sequence[str]) -> None:
    function.add_to_role_policy(iam.PolicyStatement(actions=list(actions), resources=list(resources)))


def _allow_task_queues(function: lambda_.Function, prefix: str, actions: Sequence[str]) -> None:
    _allow(function, actions, [_task_queues(function, prefix)])
    acknowledge_pattern(function, "sqs", task_queue_pattern(prefix), _TASK_QUEUES_REASON)


def _task_queues(scope: Construct, prefix: str) -> str:
    return Stack.of(scope).format_arn(
        service="sqs", resource=task_queue_pattern(prefix), arn_format=ArnFormat.NO_RESOURCE_NAME
    )
