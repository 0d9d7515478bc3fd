"""What calls the functions that nobody waits for: the stream of the runs table, the two queues, and the day.

What does not live here: what becomes of a failed message of a queue (its redrive policy, in `queues`).
A newcomer's trap: a stream's shard stands still while a batch of it fails. So the handlers set a record aside that can
never succeed, and raise only for what may succeed later; the limits here are for a function that dies.
"""

from collections.abc import Mapping

from aws_cdk import Duration
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_lambda_destinations as destinations
from aws_cdk import aws_lambda_event_sources as sources

from durable_core.schema import tables as schema
from infra.constructs.functions import Functions, Work
from infra.constructs.queues import Queues

STREAM_BATCH = 100
STREAM_ATTEMPTS = 50
# How long a batch is gathered: one call then does for many transitions, and what is settled meanwhile is not armed.
STREAM_WINDOW = Duration.seconds(1)
# The stream forgets after 24 hours. What is older than this is set aside while there is still time to look at it.
STREAM_AGE_MAX = Duration.hours(12)
QUEUE_BATCH = 10


def connect(functions: Functions, runs: dynamodb.ITable, queues: Queues, *, fast_path: bool) -> None:
    """Give each background function what it works on. With the fast path nobody waits for the stream."""
    window = STREAM_WINDOW if fast_path else Duration.seconds(0)
    relayed = {schema.TASKS: "B", schema.CHORES: "N"}
    if fast_path:
        # Tasks that were claimed before their batch is read need not be sent a second time.
        relayed[schema.CLAIMED] = "B"
    _stream(functions.of[Work.RELAY], runs, queues, window, relayed)
    _stream(functions.of[Work.ARM], runs, queues, window, {schema.WAKE_UP: "B"})
    for work, queue in ((Work.HISTORY, queues.service), (Work.FIRE, queues.timer)):
        functions.of[work].add_event_source(
            sources.SqsEventSource(queue, batch_size=QUEUE_BATCH, report_batch_item_failures=True)
        )
    _daily(functions.of[Work.RENEW], queues)


def _stream(
    function: lambda_.Function,
    runs: dynamodb.ITable,
    queues: Queues,
    window: Duration,
    attributes: Mapping[str, str],
) -> None:
    """The records whose new image has one of these attributes: many transitions emit no task, most no wake-up."""
    images = [{name: {letter: lambda_.FilterRule.exists()}} for name, letter in attributes.items()]
    function.add_event_source(
        sources.DynamoEventSource(
            runs,
            starting_position=lambda_.StartingPosition.TRIM_HORIZON,
            batch_size=STREAM_BATCH,
            max_batching_window=window,
            bisect_batch_on_error=True,
            retry_attempts=STREAM_ATTEMPTS,
            max_record_age=STREAM_AGE_MAX,
            on_failure=sources.SqsDlq(queues.stream_dead_letters),
            filters=[lambda_.FilterCriteria.filter({"dynamodb": {"NewImage": image}}) for image in images],
        )
    )


def _daily(function: lambda_.Function, queues: Queues) -> None:
    """Once a day. Nobody waits for the answer, so a round that fails three times is set aside to be seen."""
    function.configure_async_invoke(
        on_failure=destinations.SqsDestination(queues.stream_dead_letters), retry_attempts=2
    )
    events.Rule(
        function,
        "Daily",
        description="Sends tasks that have waited long again, before SQS forgets them",
        schedule=events.Schedule.rate(Duration.days(1)),
        targets=[targets.LambdaFunction(function)],
    )
