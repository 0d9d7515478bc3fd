"""The machine's clock and randomness.

This is the only place that reads them; everything else is given time and identifiers as values.
"""

from durable_core.adapters.system.clock import SystemClock
from durable_core.adapters.system.ids import SystemIds

__all__ = ["SystemClock", "SystemIds"]
