"""The functions: all from one bundle, each with its own handler, role and log group.

What does not live here: what calls them (`event_sources`, `edge`) and what they may do (`permissions`).
A newcomer's trap: every function gets every setting. Which of them it reads is decided in one place, the core's
`config.py`, and not here a second time.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from constructs import Construct

from infra.acknowledged import acknowledge, acknowledge_everything
from infra.bundle.target import LAMBDA_PYTHON
from infra.parameters import Parameters

_ARCHITECTURES = {"arm64": lambda_.Architecture.ARM_64, "x86_64": lambda_.Architecture.X86_64}
_LOG_LEVELS = {"DEBUG": "DEBUG", "INFO": "INFO", "WARNING": "WARN", "ERROR": "ERROR"}


class Work(Enum):
    """Each function's name, handler and time-out in seconds, and whether a caller waits for it.

    API Gateway gives up after 30 s; an answer that comes later is an answer to nobody. The time-outs of the others stay
    well below the visibility of the queues that feed them.
    """

    FRONTEND = "frontend", "functions.frontend.handler.handler", 29, True
    POLL = "poll", "functions.matching.poll.handler", 29, True
    RELAY = "relay", "functions.matching.relay.handler", 30, False
    HISTORY = "history", "functions.history.handler.handler", 60, False
    ARM = "arm", "functions.timers.arm.handler", 30, False
    FIRE = "fire", "functions.timers.fire.handler", 20, False
    RENEW = "renew", "functions.matching.renew.handler", 900, False

    def __init__(self, label: str, handler: str, seconds: int, interactive: bool) -> None:
        self.label = label
        self.handler = handler
        self.timeout = Duration.seconds(seconds)
        self.interactive = interactive


@dataclass(frozen=True, slots=True)
class Program:
    """What all functions have in common: their code and their settings."""

    code: lambda_.Code
    environment: Mapping[str, str]


class Functions(Construct):
    """One function for each kind of `Work`, under `of`."""

    def __init__(self, scope: Construct, name: str, parameters: Parameters, program: Program) -> None:
        super().__init__(scope, name)
        self._parameters = parameters
        self.of = {work: self._function(work, program) for work in Work}

    def _function(self, work: Work, program: Program) -> lambda_.Function:
        parameters = self._parameters
        function_name = f"{parameters.name}-{work.label}"
        log_group = logs.LogGroup(
            self,
            f"{work.name.title()}Logs",
            log_group_name=f"/aws/lambda/{function_name}",
            retention=_retention(parameters.log_days),
            removal_policy=RemovalPolicy.DESTROY,
        )
        function = lambda_.Function(
            self,
            work.name.title(),
            function_name=function_name,
            runtime=lambda_.Runtime(f"python{LAMBDA_PYTHON}", lambda_.RuntimeFamily.PYTHON),
            architecture=_ARCHITECTURES[parameters.architecture],
            code=program.code,
            handler=work.handler,
            timeout=work.timeout,
            memory_size=parameters.memory if work.interactive else parameters.background_memory,
            role=self._role(work, log_group),
            environment=dict(program.environment),
            log_group=log_group,
            # Three lines of Lambda's own for every call would cost more than the call.
            logging_format=lambda_.LoggingFormat.JSON,
            system_log_level_v2=lambda_.SystemLogLevel.WARN,
            application_log_level_v2=lambda_.ApplicationLogLevel[_LOG_LEVELS[parameters.log_level]],
            tracing=lambda_.Tracing.ACTIVE if parameters.tracing else lambda_.Tracing.DISABLED,
        )
        acknowledge(
            function,
            "AwsSolutions-L1",
            f"The bundle is built and tested for Python {LAMBDA_PYTHON}, which Lambda supports; a newer one comes when "
            "there are wheels of every dependency for both architectures.",
        )
        if parameters.tracing:
            acknowledge_everything(function, "X-Ray's two write actions know no resources.")
        return function

    def _role(self, work: Work, log_group: logs.LogGroup) -> iam.Role:
        """A role that may write to its own log group; AWS's managed policy would allow every log group."""
        role = iam.Role(
            self,
            f"{work.name.title()}Role",
            assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"),
            description=f"What {self._parameters.name}-{work.label} may do",
        )
        log_group.grant_write(role)
        return role


def _retention(days: int) -> logs.RetentionDays:
    """The shortest retention that CloudWatch Logs has and that keeps logs for so many days."""
    offered = {
        1: "ONE_DAY",
        3: "THREE_DAYS",
        7: "ONE_WEEK",
        14: "TWO_WEEKS",
        30: "ONE_MONTH",
        90: "THREE_MONTHS",
    }
    longer = [name for length, name in sorted(offered.items()) if length >= days]
    return logs.RetentionDays[longer[0]] if longer else logs.RetentionDays.ONE_YEAR
