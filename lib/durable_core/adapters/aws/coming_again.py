"""Messages that could not be done come again soon, and later each time.

A queue hides a message for as long as a function may work on it, a minute or two. One that failed after milliseconds,
because others changed its run at that moment, need not wait so long: a timer would be a minute late.
What does not live here: how often a message is tried (the queue's redrive policy, in `infra`).
A newcomer's trap: this is a favour. Where it fails, the message comes all the same, when its queue shows it again.
"""

import logging

from botocore.exceptions import BotoCoreError, ClientError

from durable_core.adapters.aws.clients import Clients

SECONDS_MAX = 60
DOUBLINGS_MAX = 6

log = logging.getLogger("perdure")


class ComingAgain:
    def __init__(self, clients: Clients) -> None:
        self._clients = clients

    def soon(self, queue_url: str, receipt: str, receives: int) -> None:
        """Show a message again, after 1 s when it was received once, then after 2 s, 4 s, ... 60 s. Never raises."""
        seconds = min(SECONDS_MAX, 1 << min(max(0, receives - 1), DOUBLINGS_MAX))
        try:
            self._clients.sqs.change_message_visibility(
                QueueUrl=queue_url, ReceiptHandle=receipt, VisibilityTimeout=seconds
            )
        except (ClientError, BotoCoreError) as error:
            log.info("a message that failed comes again later: %s", error)
