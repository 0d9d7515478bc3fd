"""MiniStack with batching windows: it keeps what an event source mapping says of them, but passes records on at once.

What does not live here: how MiniStack is started and stopped (`local_aws`).
A newcomer's trap: this is run as a file by MiniStack's own process, which must not find this checkout, only what is
deployed. So it imports nothing of the project; and it reaches into MiniStack, whose version is therefore pinned.
"""

import runpy
import time
from collections.abc import Callable, Iterator
from typing import Any

from ministack.core.arn import parse_arn
from ministack.services import dynamodb, lambda_svc

Mapping = dict[str, Any]
"""An event source mapping, as Lambda describes it."""
Mappings = Callable[[], Iterator[tuple[str, str, Mapping]]]


class Windows:
    """Holds a stream's mapping back until its batch is full or its window over, counted from the first record."""

    def __init__(self, mappings: Mappings) -> None:
        self._mappings = mappings
        self._since: dict[str, float] = {}

    def ready(self) -> Iterator[tuple[str, str, Mapping]]:
        for account, region, mapping in self._mappings():
            if not self._gathers(account, region, mapping):
                yield account, region, mapping

    def _gathers(self, account: str, region: str, mapping: Mapping) -> bool:
        window = mapping.get("MaximumBatchingWindowInSeconds") or 0
        source = parse_arn(mapping["EventSourceArn"])
        position = lambda_svc._dynamodb_stream_positions.get(mapping["UUID"])
        if not window or source.service != "dynamodb" or position is None:
            return False
        table = source.resource.split("/")[1]
        waiting = dynamodb.stream_end_position(table, account_id=account, region=region) - position
        if not waiting:
            self._since.pop(mapping["UUID"], None)
            return False
        now = time.monotonic()
        since = self._since.setdefault(mapping["UUID"], now)
        if waiting < mapping.get("BatchSize", 1) and now - since < window:
            return True
        self._since.pop(mapping["UUID"])
        return False


if __name__ == "__main__":
    lambda_svc._iter_all_esms = Windows(lambda_svc._iter_all_esms).ready
    runpy.run_module("ministack", run_name="__main__")
