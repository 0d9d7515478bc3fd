"""What somebody should hear of: work that was set aside, work that waits, callers that get errors.

What does not live here: what to do then (`docs/how-to/deploy.md`).
A newcomer's trap: CloudWatch gives ten alarms away and charges for each further one, whether anything runs or not. An
idle deployment costs nothing but storage, so there are eight, and a ninth must be worth one of the last two.
"""

from aws_cdk import Duration
from aws_cdk import aws_apigatewayv2 as gateway
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_cloudwatch_actions as actions
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sns_subscriptions as subscriptions
from constructs import Construct

from infra.acknowledged import acknowledge
from infra.constructs.functions import Functions, Work
from infra.constructs.queues import Queues

MINUTE = Duration.minutes(1)
FIVE_MINUTES = Duration.minutes(5)
# A relay normally runs within a second of a commit. A minute of delay is a minute that every workflow waits.
ITERATOR_AGE_MAX_MILLISECONDS = 60_000
MESSAGE_AGE_MAX_SECONDS = 120
SERVER_ERRORS_MAX = 5


class Alarms(Construct):
    """`topic` is there when an address was given, and then every alarm tells it of both turns, to bad and to good."""

    def __init__(self, scope: Construct, name: str, prefix: str, address: str) -> None:
        super().__init__(scope, name)
        self._prefix = prefix
        self.topic = self._topic(address) if address else None

    def watch(self, functions: Functions, queues: Queues, api: gateway.HttpApi) -> None:
        for what, queue in queues.dead_letters.items():
            depth = queue.metric_approximate_number_of_messages_visible(
                period=FIVE_MINUTES, statistic="Maximum"
            )
            self._alarm(
                f"{what} set aside", depth, 1, f"Some {what} failed too often and wait in {queue.node.id}."
            )
        for work in (Work.RELAY, Work.ARM):
            age = functions.of[work].metric("IteratorAge", period=MINUTE, statistic="Maximum")
            text = f"The function {work.label} is behind the stream: its records fail, or it is throttled."
            self._alarm(f"{work.label} is late", age, ITERATOR_AGE_MAX_MILLISECONDS, text, minutes=3)
        for what, queue in (("service tasks", queues.service), ("wake-ups", queues.timer)):
            age = queue.metric_approximate_age_of_oldest_message(period=MINUTE, statistic="Maximum")
            text = f"The oldest of the {what} waits longer than it should."
            self._alarm(f"{what} wait", age, MESSAGE_AGE_MAX_SECONDS, text, minutes=5)
        errors = api.metric_server_error(period=FIVE_MINUTES, statistic="Sum")
        self._alarm("server errors", errors, SERVER_ERRORS_MAX, "Callers get errors that are not theirs.")

    def _alarm(
        self, label: str, metric: cloudwatch.IMetric, threshold: int, text: str, minutes: int = 1
    ) -> None:
        alarm = cloudwatch.Alarm(
            self,
            label.title().replace(" ", "").replace("-", ""),
            alarm_name=f"{self._prefix}: {label}",
            alarm_description=text,
            metric=metric,
            threshold=threshold,
            evaluation_periods=minutes,
            comparison_operator=cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
            treat_missing_data=cloudwatch.TreatMissingData.NOT_BREACHING,
        )
        if self.topic is not None:
            alarm.add_alarm_action(actions.SnsAction(self.topic))
            alarm.add_ok_action(actions.SnsAction(self.topic))

    def _topic(self, address: str) -> sns.Topic:
        topic = sns.Topic(
            self,
            "Topic",
            topic_name=f"{self._prefix}-alarms",
            display_name=f"{self._prefix} alarms",
            enforce_ssl=True,
        )
        topic.add_subscription(subscriptions.EmailSubscription(address))
        acknowledge(
            topic,
            "AwsSolutions-SNS2",
            "CloudWatch cannot send to a topic with AWS's own key, and a key of one's own costs a dollar a month; the "
            "messages name an alarm and hold no data of workflows.",
        )
        return topic
