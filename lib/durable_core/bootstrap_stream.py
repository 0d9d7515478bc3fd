"""Settings → adapters for what moves messages: the relay, the arming of wake-ups, the renewal of what waits long.

What does not live here: the engine, which none of them needs; so nothing of it is imported.
"""

from durable_core.adapters.aws import documents
from durable_core.adapters.aws.clients import Clients
from durable_core.adapters.aws.dynamo_store import open_dynamo
from durable_core.adapters.aws.renewal import Renewal
from durable_core.adapters.aws.sqs_queues import Addresses, SqsTaskQueues
from durable_core.adapters.aws.stream import Arming, DeadLetters, Image, Relay
from durable_core.adapters.aws.wake_ups import SqsWakeUps, TimerAddresses
from durable_core.adapters.system import SystemClock
from durable_core.config import AwsSettings


def relay(settings: AwsSettings) -> Relay:
    """The relay of a process, to be made once."""
    clients = Clients()
    store = open_dynamo(settings.prefix, SystemClock())

    def chores(image: Image) -> None:
        if documents.has_chores(image):
            store.do_chores(image)

    return Relay(
        documents.emitted,
        documents.claimed,
        chores,
        SqsTaskQueues(clients, Addresses.of(settings)),
        DeadLetters(clients, settings.stream_dead_letter_queue_url),
    )


def arming(settings: AwsSettings) -> Arming:
    """The arming of wake-ups of a process, to be made once."""
    clients = Clients()
    return Arming(
        documents.emitted,
        documents.is_disarmed,
        SqsWakeUps(clients, SystemClock(), TimerAddresses.of(settings)),
        DeadLetters(clients, settings.stream_dead_letter_queue_url),
    )


def renewal(settings: AwsSettings) -> Renewal:
    """The renewal of a process, to be made once."""
    return Renewal(Clients(), settings.prefix, SystemClock())
