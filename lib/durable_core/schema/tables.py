"""The DynamoDB tables: their names, keys and the attributes that more than one place must agree on.

What does not live here: what an item's other attributes hold (`adapters/aws`), and how a table is created (`infra`, and
the tests for themselves, both from `TABLES`). All tables are on demand. A newcomer's trap: key attributes have the same
two names in every table, for what they hold differs from item to item within one table.
"""

from dataclasses import dataclass

PARTITION = "pk"
SORT = "sk"
EXPIRES_AT = "expires_at"
"""Time to live of every table that has one: seconds since the epoch."""

TASKS = "tasks"
"""On what a transition wrote to the runs table: the tasks it emitted (binary); absent when it emitted none."""
WAKE_UP = "wake_up"
"""The same for a wake-up that it armed (binary); absent when the armed one stays."""
CLAIMED = "claimed"
"""The same for the task that a poller started by it (binary); absent on what is no claim."""
CHORES = "chores"
"""Set (a number) on a run document that leaves work behind for whoever reads the stream; absent otherwise."""

CURRENT = "current"
"""The sort key of a current-run pointer, whose partition key is the workflow's; run documents have the run's."""


@dataclass(frozen=True, slots=True)
class Key:
    name: str
    type: str
    """DynamoDB's letter: S, N or B."""


@dataclass(frozen=True, slots=True)
class Table:
    """`streamed`: its stream carries the new image of every change."""

    suffix: str
    partition: Key
    sort: Key | None = None
    streamed: bool = False
    expires: bool = False

    def name(self, prefix: str) -> str:
        return f"{prefix}-{self.suffix}"

    @property
    def keys(self) -> tuple[Key, ...]:
        return (self.partition,) if self.sort is None else (self.partition, self.sort)


SHARDS = Table("shards", Key(PARTITION, "N"))
"""One item a shard that was ever written: its range ID and its owner."""

RUNS = Table("runs", Key(PARTITION, "S"), Key(SORT, "S"), streamed=True, expires=True)
"""Run documents, by run ID, and current-run pointers, by workflow."""

HISTORY = Table("history", Key(PARTITION, "S"), Key(SORT, "S"), expires=True)
"""What outgrew the run documents: history nodes, pages of sections, parts of what is too large for an item."""

CATALOG = Table("catalog", Key(PARTITION, "S"), Key(SORT, "S"), expires=True)
"""The deployment's facts and namespaces; queries in flight and who polls, which expire."""

TABLES = (SHARDS, RUNS, HISTORY, CATALOG)
