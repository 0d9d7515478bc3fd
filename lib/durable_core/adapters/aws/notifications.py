"""Notifications where nobody can be notified: a function's neighbours learn from queues and by reading.

What does not live here: how a function waits instead (`answering`). What is left of a notification is that it can be
counted, for the metrics of whoever looks after the deployment.
"""

from durable_core.ports.notifications import ClosedTopic, Topic


class CountedNotifications:
    """Implements `ports.notifications.Notifications`: it only counts the runs that closed."""

    def __init__(self) -> None:
        self._closed = 0

    def publish(self, topic: Topic) -> None:
        if isinstance(topic, ClosedTopic):
            self._closed += 1

    def take_closed(self) -> int:
        """How many runs closed since this was last asked."""
        closed, self._closed = self._closed, 0
        return closed
