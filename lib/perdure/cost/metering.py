"""The meter: each AWS call that passes by, read for what it is billed by.

What does not live here: the way by which calls pass (`counting_proxy`), and Lambda's own part, which its logs tell
(`lambda_logs`). A newcomer's trap: a transaction that was cancelled is billed like one that was not, and its answer
does not say how much; it is taken to cost what the successful ones cost on average.
"""

import json
import math
from collections import Counter
from collections.abc import Mapping
from typing import Any

from perdure.cost.facts import facts_of

SQS_REQUEST_BYTES = 64 * 1024
API_REQUEST_BYTES = 512 * 1024
_WRITES = frozenset({"PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "TransactWriteItems"})
_READS = frozenset({"GetItem", "BatchGetItem", "Query", "Scan", "TransactGetItems"})
METERED = _WRITES | _READS
"""The actions of DynamoDB that say what they consumed when they are asked to."""
_DYNAMODB = "DynamoDB_20120810."
_SQS = "AmazonSQS."
API_PATH = "/_aws/execute-api/"


class Meter:
    """Adds up. `taken`, `facts` and `calls` are of all that passed since the beginning, or since `reset`."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self.calls: Counter[str] = Counter()
        self.facts: Counter[str] = Counter()
        self._taken: Counter[str] = Counter()
        self._units_of_transactions = 0.0
        self._cancelled = 0
        self._sent: Counter[str] = Counter()
        self._received: set[str] = set()

    def taken(self) -> dict[str, float]:
        """What was taken, with what never passes by: cancelled transactions, and the receives of event sources."""
        taken = Counter(self._taken)
        done = self.calls["DynamoDB TransactWriteItems"] - self._cancelled
        if done > 0:
            mean: Any = self._cancelled * self._units_of_transactions / done
            taken["dynamodb_write_units"] += mean
        for queue, messages in self._sent.items():
            if queue not in self._received:
                # Lambda receives and deletes for an event source; each counts, and batches are not relied on.
                taken[_kind(queue)] += 2 * messages
        return {name: float(number) for name, number in taken.items() if number}

    def passed(
        self, path: str, headers: Mapping[str, str], request: bytes, status: int, response: bytes
    ) -> None:
        """A call passed by; `headers` are the request's, their names in lower case."""
        target = headers.get("x-amz-target", "")
        if target.startswith(_DYNAMODB):
            self._dynamodb(target.removeprefix(_DYNAMODB), status, response)
        elif target.startswith(_SQS):
            self._sqs(target.removeprefix(_SQS), request, response)
        elif API_PATH in path:
            self._api(path, request, status, response)
        elif path.startswith("/schedules/"):
            self.calls["Scheduler"] += 1
            self._taken["scheduler_invocations"] += int(status == 200)

    def _dynamodb(self, action: str, status: int, response: bytes) -> None:
        self.calls[f"DynamoDB {action}"] += 1
        if action not in METERED:
            return
        if status != 200:
            self._cancelled += int(action == "TransactWriteItems" and b"TransactionCanceled" in response)
            return
        units: Any = _units(json.loads(response).get("ConsumedCapacity"))
        self._taken["dynamodb_write_units" if action in _WRITES else "dynamodb_read_units"] += units
        if action == "TransactWriteItems":
            self._units_of_transactions += units

    def _sqs(self, action: str, request: bytes, response: bytes) -> None:
        self.calls[f"SQS {action}"] += 1
        asked = json.loads(request or b"{}")
        queue = str(asked.get("QueueUrl") or asked.get("QueueName") or "")
        self._taken[_kind(queue)] += max(1, math.ceil(max(len(request), len(response)) / SQS_REQUEST_BYTES))
        if action == "SendMessage":
            self._sent[queue] += 1
        elif action == "SendMessageBatch":
            self._sent[queue] += len(asked["Entries"])
        elif action == "ReceiveMessage":
            self._received.add(queue)

    def _api(self, path: str, request: bytes, status: int, response: bytes) -> None:
        method = path.rpartition("/")[2]
        self.calls[f"API {method}"] += 1
        self._taken["api_requests"] += max(1, math.ceil(max(len(request), len(response)) / API_REQUEST_BYTES))
        if status == 200:
            self.facts.update(facts_of(method, request, response))


def _kind(queue: str) -> str:
    return "sqs_fifo_requests" if queue.endswith(".fifo") else "sqs_standard_requests"


def _units(consumed: Any) -> float:
    entries = consumed if isinstance(consumed, list) else [consumed or {}]
    return float(sum(entry.get("CapacityUnits", 0.0) for entry in entries))
