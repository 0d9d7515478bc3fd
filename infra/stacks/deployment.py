"""The one stack of a deployment: everything that `cdk deploy` creates.

What does not live here: what each part is (`constructs`) and what may be chosen (`parameters`).
A newcomer's trap: renaming a construct renames the resource behind it, and a renamed table is a new, empty one. A test
holds the logical names of the tables.
"""

from typing import Any

from aws_cdk import CfnOutput, Stack
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from infra.constructs import event_sources, permissions
from infra.constructs.alarms import Alarms
from infra.constructs.dashboard import Dashboard
from infra.constructs.edge import Edge
from infra.constructs.environment import environment
from infra.constructs.functions import Functions, Program, Work
from infra.constructs.permissions import Callers
from infra.constructs.queues import Queues
from infra.constructs.schedules import Schedules
from infra.constructs.tables import Tables
from infra.parameters import Parameters


class DeploymentStack(Stack):
    """`code` is the bundle; it is given so that a template can be made without building one."""

    def __init__(
        self, scope: Construct, name: str, parameters: Parameters, code: lambda_.Code, **options: Any
    ) -> None:
        super().__init__(scope, name, stack_name=parameters.name, **options)
        prefix = parameters.name
        tables = Tables(self, "Tables", parameters)
        queues = Queues(self, "Queues", prefix)
        schedules = Schedules(self, "Schedules", prefix, queues.timer, queues.timer_dead_letters)
        program = Program(code, environment(parameters, queues, schedules))
        functions = Functions(self, "Functions", parameters, program)
        edge = Edge(self, "Edge", parameters, functions.of[Work.FRONTEND], functions.of[Work.POLL])
        callers = Callers(self, "Callers", prefix, edge)
        permissions.grant(prefix, functions, tables, queues, schedules)
        event_sources.connect(functions, tables.runs, queues, fast_path=parameters.fast_path)
        if parameters.alarms:
            Alarms(self, "Alarms", prefix, parameters.alarm_address).watch(functions, queues, edge.api)
        if parameters.dashboard:
            Dashboard(self, "Dashboard", prefix, functions, queues, edge.api)
        self._tell("Endpoint", edge.url, "The URL for clients, and for `perdure bridge --endpoint`")
        self._tell(
            "CallerPolicy", callers.policy.managed_policy_arn, "Attach it to the roles of clients and workers"
        )
        self._tell("QueuePrefix", f"{prefix}-", "What the names of all queues begin with")
        for table, created in tables.of.items():
            self._tell(f"{table.suffix.title()}Table", created.table_name, f"The table of {table.suffix}")

    def _tell(self, name: str, value: str, description: str) -> None:
        CfnOutput(self, name, value=value, description=description)
