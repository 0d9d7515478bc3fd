"""What items hold, as pynamodb models: one class for every kind of item in the tables of `schema.tables`.

What does not live here: how they are read and written (`dynamo_database`), and what is inside the binary attributes
(`documents`, `packing`). A newcomer's trap: attribute names are part of an item's size, which is what a write costs,
and they are for ever; so they are short.
"""

from pynamodb.attributes import BinaryAttribute, NumberAttribute, UnicodeAttribute
from pynamodb.models import Model

from durable_core.schema import tables

BODY = "body"


class Item(Model):
    """What items of tables with two keys share."""

    pk = UnicodeAttribute(hash_key=True, attr_name=tables.PARTITION)
    sk = UnicodeAttribute(range_key=True, attr_name=tables.SORT)
    expires_at = NumberAttribute(null=True, attr_name=tables.EXPIRES_AT)


class ShardItem(Model):
    """A shard that was written to."""

    pk = NumberAttribute(hash_key=True, attr_name=tables.PARTITION)
    range_id = NumberAttribute(attr_name="range_id")
    owner = UnicodeAttribute(null=True, attr_name="owner")


class RunItem(Item):
    """A run document; a carrier of tasks that did not fit one has the tasks alone.

    `kept_until` is when it would expire, if no other run's history went on from its own.
    """

    version = NumberAttribute(null=True, attr_name="v")
    token = UnicodeAttribute(null=True, attr_name="token")
    body = BinaryAttribute(null=True, legacy_encoding=False, attr_name=BODY)
    tasks = BinaryAttribute(null=True, legacy_encoding=False, attr_name=tables.TASKS)
    wake_up = BinaryAttribute(null=True, legacy_encoding=False, attr_name=tables.WAKE_UP)
    claimed = BinaryAttribute(null=True, legacy_encoding=False, attr_name=tables.CLAIMED)
    chores = NumberAttribute(null=True, attr_name=tables.CHORES)
    kept_until = NumberAttribute(null=True, attr_name="kept_until")


class PointerItem(Item):
    """The current-run pointer of a workflow ID."""

    run_id = UnicodeAttribute(attr_name="run_id")
    open = NumberAttribute(attr_name="open")
    state = BinaryAttribute(legacy_encoding=False, attr_name="state")


class PartItem(Item):
    """A history node, a page of a section, a chunk of a blob, or the mark that a run's history goes on from a branch.

    `value` is what it holds, or, where that is too large for an item, `blob` and `chunks` say where it is.
    """

    value = BinaryAttribute(null=True, legacy_encoding=False, attr_name="value")
    blob = UnicodeAttribute(null=True, attr_name="blob")
    chunks = NumberAttribute(null=True, attr_name="chunks")
    generation = NumberAttribute(null=True, attr_name="g")


class DeploymentItem(Item):
    deployment_id = UnicodeAttribute(attr_name="id")
    shards = NumberAttribute(attr_name="shards")
    format = NumberAttribute(attr_name="format")


class NamespaceItem(Item):
    """Stored twice, under its name and under its ID, always in one transaction."""

    namespace_id = UnicodeAttribute(attr_name="id")
    name = UnicodeAttribute(attr_name="name")
    version = NumberAttribute(attr_name="v")
    body = BinaryAttribute(legacy_encoding=False, attr_name="body")


class QueryItem(Item):
    """A query in flight, its answer, a chunk of either, or the mark that a run has one pending."""

    query_id = UnicodeAttribute(null=True, attr_name="id")
    run = BinaryAttribute(null=True, legacy_encoding=False, attr_name="run")
    deadline = NumberAttribute(null=True, attr_name="deadline")
    chunks = NumberAttribute(null=True, attr_name="chunks")
    lost = UnicodeAttribute(null=True, attr_name="lost")
    value = BinaryAttribute(null=True, legacy_encoding=False, attr_name="value")


class PollerItem(Item):
    """`gone` is set when the queue was given up: the poller is remembered, and nobody waits for its next poll."""

    seen_at = NumberAttribute(attr_name="seen_at")
    identity = UnicodeAttribute(attr_name="identity")
    build_id = UnicodeAttribute(null=True, attr_name="build")
    gone = NumberAttribute(null=True, attr_name="gone")
