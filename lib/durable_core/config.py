"""Settings, frozen at start. This is the only reader of the environment."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Settings:
    """`database` None keeps everything in memory. `shards` is fixed when a deployment is created."""

    database: Path | None = None
    shards: int = 1
    runs_cached: int = 2_000
    durable: bool = True
