"""The queues that a deployment has from the start: service tasks, wake-ups, and a place for what cannot be done.

What does not live here: the task queues of workers. They are created on first use (`schema.queues` names them).
A newcomer's trap: a message in a dead-letter queue is a workflow that waits. None of them may be purged; the redrive
is described in `docs/how-to/deploy.md`, and each queue has an alarm.
"""

from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from infra.acknowledged import acknowledge

# A service task or a wake-up is tried this often before it is set aside: for half an hour, which outlasts a bad minute
# of a service that it calls, and for longer where its function cannot even begin (`coming_again` says how fast).
ATTEMPTS = 35
SERVICE_VISIBILITY = Duration.seconds(120)
TIMER_VISIBILITY = Duration.seconds(60)
DEAD_LETTER_RETENTION = Duration.days(14)


class Queues(Construct):
    """`stream_dead_letters` takes the records that relay and arm give up; the others have the usual redrive policy."""

    def __init__(self, scope: Construct, name: str, prefix: str) -> None:
        super().__init__(scope, name)
        self.service_dead_letters = self._dead_letters(
            "ServiceDeadLetters", f"{prefix}-service-dead-letters", fifo=True
        )
        self.service = sqs.Queue(
            self,
            "Service",
            queue_name=f"{prefix}-service.fifo",
            fifo=True,
            # Writer and relay both send a task; with its ID as group and deduplication ID that is the same as once.
            content_based_deduplication=False,
            deduplication_scope=sqs.DeduplicationScope.MESSAGE_GROUP,
            fifo_throughput_limit=sqs.FifoThroughputLimit.PER_MESSAGE_GROUP_ID,
            visibility_timeout=SERVICE_VISIBILITY,
            retention_period=DEAD_LETTER_RETENTION,
            dead_letter_queue=sqs.DeadLetterQueue(
                queue=self.service_dead_letters, max_receive_count=ATTEMPTS
            ),
            encryption=sqs.QueueEncryption.SQS_MANAGED,
            enforce_ssl=True,
            removal_policy=RemovalPolicy.DESTROY,
        )
        self.timer_dead_letters = self._dead_letters("TimerDeadLetters", f"{prefix}-timer-dead-letters")
        self.timer = sqs.Queue(
            self,
            "Timer",
            queue_name=f"{prefix}-timer",
            visibility_timeout=TIMER_VISIBILITY,
            retention_period=DEAD_LETTER_RETENTION,
            dead_letter_queue=sqs.DeadLetterQueue(queue=self.timer_dead_letters, max_receive_count=ATTEMPTS),
            encryption=sqs.QueueEncryption.SQS_MANAGED,
            enforce_ssl=True,
            removal_policy=RemovalPolicy.DESTROY,
        )
        self.stream_dead_letters = self._dead_letters("StreamDeadLetters", f"{prefix}-stream-dead-letters")

    @property
    def dead_letters(self) -> dict[str, sqs.Queue]:
        """Each by what it holds."""
        return {
            "service tasks": self.service_dead_letters,
            "wake-ups": self.timer_dead_letters,
            "stream records": self.stream_dead_letters,
        }

    def _dead_letters(self, name: str, queue_name: str, *, fifo: bool = False) -> sqs.Queue:
        queue = sqs.Queue(
            self,
            name,
            queue_name=f"{queue_name}.fifo" if fifo else queue_name,
            fifo=True if fifo else None,
            retention_period=DEAD_LETTER_RETENTION,
            encryption=sqs.QueueEncryption.SQS_MANAGED,
            enforce_ssl=True,
            removal_policy=RemovalPolicy.DESTROY,
        )
        acknowledge(
            queue, "AwsSolutions-SQS3", "It is a dead-letter queue itself; an alarm watches its depth."
        )
        return queue
