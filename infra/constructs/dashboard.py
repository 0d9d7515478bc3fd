"""One dashboard: what is started and finished, how long callers wait, and whether anything piles up.

What does not live here: the metrics' making (the functions write them in their log lines).
A newcomer's trap: every name and every value of a dimension is a metric of its own, and each costs its price in every
month in which it was written. So the only dimension is the service.
"""

from aws_cdk import Duration
from aws_cdk import aws_apigatewayv2 as gateway
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from infra.constructs.functions import Functions, Work
from infra.constructs.queues import Queues

NAMESPACE = "Perdure"
_FIVE_MINUTES = Duration.minutes(5)
_ENGINES = (Work.FRONTEND, Work.POLL, Work.HISTORY, Work.FIRE)


class Dashboard(Construct):
    """Read from left to right, top to bottom: is it used, is it quick, is it healthy."""

    def __init__(
        self,
        scope: Construct,
        name: str,
        prefix: str,
        functions: Functions,
        queues: Queues,
        api: gateway.HttpApi,
    ) -> None:
        super().__init__(scope, name)
        self._functions = functions
        dashboard = cloudwatch.Dashboard(
            self, "Dashboard", dashboard_name=prefix, default_interval=Duration.hours(3)
        )
        dashboard.add_widgets(
            _graph("Workflows started", self._counted("WorkflowsStarted")),
            _graph("Workflows completed", self._counted("WorkflowsCompleted")),
            _graph(
                "Requests",
                [api.metric_count(period=_FIVE_MINUTES), api.metric_server_error(period=_FIVE_MINUTES)],
            ),
        )
        dashboard.add_widgets(
            _graph("Latency of the frontend (ms)", self._durations(Work.FRONTEND)),
            _graph("Latency of claims (ms)", self._durations(Work.POLL)),
            _graph("Lateness of wake-ups (ms)", [_own("WakeUpLateness", Work.FIRE, "p99")]),
        )
        dashboard.add_widgets(
            _graph("Behind the stream (ms)", [self._age(Work.RELAY), self._age(Work.ARM)]),
            _graph("Set aside", [_depth(what, queue) for what, queue in queues.dead_letters.items()]),
            _graph("Conflicts", self._counted("Conflicts")),
        )
        dashboard.add_widgets(
            _graph("Errors", [self._of(work, "Errors") for work in Work]),
            _graph("Throttles", [self._of(work, "Throttles") for work in Work]),
            _graph(
                "Messages waiting",
                [_depth("service tasks", queues.service), _depth("wake-ups", queues.timer)],
            ),
        )

    def _counted(self, metric: str) -> list[cloudwatch.IMetric]:
        return [_own(metric, work, "Sum") for work in _ENGINES]

    def _durations(self, work: Work) -> list[cloudwatch.IMetric]:
        function = self._functions.of[work]
        return [
            function.metric_duration(period=_FIVE_MINUTES, statistic=each, label=each)
            for each in ("p50", "p99")
        ]

    def _age(self, work: Work) -> cloudwatch.IMetric:
        return self._of(work, "IteratorAge", "Maximum")

    def _of(self, work: Work, metric: str, statistic: str = "Sum") -> cloudwatch.IMetric:
        function = self._functions.of[work]
        return function.metric(metric, period=_FIVE_MINUTES, statistic=statistic, label=work.label)


def _own(metric: str, work: Work, statistic: str) -> cloudwatch.IMetric:
    return cloudwatch.Metric(
        namespace=NAMESPACE,
        metric_name=metric,
        dimensions_map={"service": work.label},
        period=_FIVE_MINUTES,
        statistic=statistic,
        label=work.label,
    )


def _depth(what: str, queue: sqs.Queue) -> cloudwatch.IMetric:
    return queue.metric_approximate_number_of_messages_visible(
        period=_FIVE_MINUTES, statistic="Maximum", label=what
    )


def _graph(title: str, metrics: list[cloudwatch.IMetric]) -> cloudwatch.GraphWidget:
    return cloudwatch.GraphWidget(title=title, left=metrics, width=8)
