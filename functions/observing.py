"""Logs, traces and metrics of a function, by Powertools.

A call writes one log line, and one more in the Embedded Metric Format when there is something to count. Lines are kept
short: CloudWatch Logs charges for bytes, and a workflow takes a dozen calls.
A newcomer's trap: each metric of each function is billed by the month, so a name is added only for a graph or an alarm.
"""

import json
import logging
from collections.abc import Callable, Mapping
from typing import Any

from aws_lambda_powertools import Logger, Metrics, Tracer
from aws_lambda_powertools.metrics import MetricUnit

from durable_core.config import is_traced

NAMESPACE = "Perdure"
LATENESS = "WakeUpLateness"
SAID_BY_THE_LOG_GROUP = frozenset({"function_name", "function_arn", "function_memory_size"})
"""What Powertools adds to each line, and what would be a third of it."""


class Observing:
    """One function's logger, tracer and metrics."""

    def __init__(self, service: str) -> None:
        self.logger = Logger(service=service, location=None, sampling_rate=None, json_serializer=_line)
        self._service = service
        self._metrics = Metrics(namespace=NAMESPACE, service=service)

    def traced(self, handler: Callable[..., Any]) -> Callable[..., Any]:
        """The handler with a trace of each call, where traces are wanted: the X-Ray SDK alone takes long to load."""
        if not is_traced():
            return handler
        tracer = Tracer(service=self._service, auto_patch=False)
        captured: Callable[..., Any] = tracer.capture_lambda_handler(handler, capture_response=False)
        return captured

    def adopt_core(self) -> None:
        """From now on the core's log lines go where the function's go."""
        core = logging.getLogger("perdure")
        core.handlers = [self.logger.registered_handler]
        core.setLevel(self.logger.log_level)
        core.propagate = False

    def count(self, counts: Mapping[str, int]) -> None:
        """Write these counts, if there are any."""
        self._write({name: count for name, count in counts.items() if count}, MetricUnit.Count)

    def lateness(self, milliseconds: int) -> None:
        """How late a wake-up fired."""
        self._write({LATENESS: milliseconds}, MetricUnit.Milliseconds)

    def _write(self, values: Mapping[str, int], unit: MetricUnit) -> None:
        for name, value in values.items():
            self._metrics.add_metric(name=name, unit=unit, value=value)
        if values:
            self._metrics.flush_metrics()


def _line(record: Mapping[str, Any]) -> str:
    kept = {name: value for name, value in record.items() if name not in SAID_BY_THE_LOG_GROUP}
    return json.dumps(kept, separators=(",", ":"), default=str)
