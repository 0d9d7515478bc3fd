"""Arming wake-ups: an SQS message with a delay, or a schedule that sends one when the delay is longer than SQS's.

Nothing is ever disarmed. A wake-up that its run no longer waits for finds, when it comes, that the run is armed for
another time, and does nothing. So a lost or repeated message costs time or money, never correctness.
What does not live here: which wake-ups a run arms (`engine.deadlines`) and what they do (`services.timers`).
A newcomer's trap: delays are whole seconds and schedules whole minutes. Both are set early, never late, and whoever
gets the message waits for the rest.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from botocore.exceptions import ClientError

from durable_core.adapters.aws import messages
from durable_core.adapters.aws.clients import Clients, code_of, unavailable
from durable_core.config import AwsSettings
from durable_core.model.errors import Unavailable
from durable_core.model.times import DAY, MINUTE, SECOND
from durable_core.ports.clock import Clock
from durable_core.ports.wake_ups import WakeUp

SQS_DELAY_MAX = 900 * SECOND
SCHEDULE_AHEAD = 3 * MINUTE
"""How long before its time a wake-up's schedule is set: it may fire a minute late, and its message takes its time."""
SCHEDULE_SPAN_MAX = 300 * DAY
"""A wake-up further away than this takes several schedules, one after another."""
BATCH_MAX = 10
ATTEMPTS = 3


@dataclass(frozen=True, slots=True)
class TimerAddresses:
    """The queue whose messages are due wake-ups, and the schedules that send to it: their group, role, and failures."""

    queue_url: str
    queue_arn: str
    schedule_group: str
    schedule_role_arn: str
    dead_letter_queue_arn: str

    @classmethod
    def of(cls, settings: AwsSettings) -> "TimerAddresses":
        return cls(
            settings.timer_queue_url,
            settings.timer_queue_arn,
            settings.schedule_group,
            settings.schedule_role_arn,
            settings.timer_dead_letter_queue_arn,
        )


class SqsWakeUps:
    def __init__(self, clients: Clients, clock: Clock, addresses: TimerAddresses) -> None:
        self._clients = clients
        self._clock = clock
        self._addresses = addresses

    def arm(self, wake_ups: Sequence[WakeUp]) -> None:
        """Let each come at its time, or a little before. Raises `Unavailable` when some could not be armed."""
        now = self._clock.now()
        soon = [wake_up for wake_up in wake_ups if wake_up.due - now <= SQS_DELAY_MAX]
        for start in range(0, len(soon), BATCH_MAX):
            self._send(soon[start : start + BATCH_MAX], now)
        for wake_up in wake_ups:
            if wake_up.due - now > SQS_DELAY_MAX:
                self._schedule(wake_up, now)

    def _send(self, wake_ups: Sequence[WakeUp], now: int) -> None:
        entries = list(_entries(wake_ups, now))
        for _ in range(ATTEMPTS):
            with unavailable("arming timers"):
                answer = self._clients.sqs.send_message_batch(
                    QueueUrl=self._addresses.queue_url, Entries=entries
                )
            failed = {failure["Id"] for failure in answer.get("Failed", ())}
            entries = [entry for entry in entries if entry["Id"] in failed]
            if not entries:
                return
        raise Unavailable(f"{len(entries)} of {len(wake_ups)} timers were not armed")

    def _schedule(self, wake_up: WakeUp, now: int) -> None:
        seconds = min(wake_up.due - SCHEDULE_AHEAD, now + SCHEDULE_SPAN_MAX) // SECOND
        at = datetime.fromtimestamp(seconds, UTC)
        with unavailable("scheduling a timer"):
            try:
                self._clients.scheduler.create_schedule(
                    Name=messages.schedule_name(wake_up, seconds),
                    GroupName=self._addresses.schedule_group,
                    ScheduleExpression=f"at({at:%Y-%m-%dT%H:%M:%S})",
                    ScheduleExpressionTimezone="UTC",
                    FlexibleTimeWindow={"Mode": "OFF"},
                    ActionAfterCompletion="DELETE",
                    Target={
                        "Arn": self._addresses.queue_arn,
                        "RoleArn": self._addresses.schedule_role_arn,
                        "Input": messages.of_wake_up(wake_up),
                        "DeadLetterConfig": {"Arn": self._addresses.dead_letter_queue_arn},
                    },
                )
            except ClientError as error:
                # The name says run and times: this very schedule is there already.
                if code_of(error) != "ConflictException":
                    raise


def _entries(wake_ups: Sequence[WakeUp], now: int) -> Iterator[dict[str, Any]]:
    for number, wake_up in enumerate(wake_ups):
        yield {
            "Id": str(number),
            "MessageBody": messages.of_wake_up(wake_up),
            "DelaySeconds": max(0, wake_up.due - now) // SECOND,
        }
