"""What one process may keep in memory since losing it loses nothing acknowledged: queries in flight, and who polls.

Everything durable of the embedded server is in the SQLite adapter, also when its database is in memory.
"""

from durable_core.adapters.memory.pollers import MemoryPollers
from durable_core.adapters.memory.queries import MemoryQueries

__all__ = ["MemoryPollers", "MemoryQueries"]
