"""Adapters around adapters: faults on purpose, and a clock that tests move by hand. They wrap any backend's ports."""

from durable_core.adapters.decorators.clock import ManualClock
from durable_core.adapters.decorators.faults import Fault, FaultyExecutions, at_rate, by_script

__all__ = ["Fault", "FaultyExecutions", "ManualClock", "at_rate", "by_script"]
