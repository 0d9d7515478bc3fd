"""The tables of one deployment with a port in each attribute.

Nothing is connected until it is used. What does not live here: queues and wake-ups, which are no tables.
"""

from collections.abc import Mapping
from typing import Any

from durable_core.adapters.aws.dynamo_catalog import DynamoCatalog
from durable_core.adapters.aws.dynamo_chores import Chores
from durable_core.adapters.aws.dynamo_database import Access, Database
from durable_core.adapters.aws.dynamo_documents import Documents
from durable_core.adapters.aws.dynamo_executions import DynamoExecutions
from durable_core.adapters.aws.dynamo_histories import DynamoHistories
from durable_core.adapters.aws.dynamo_pollers import DynamoPollers
from durable_core.adapters.aws.dynamo_queries import DynamoQueries
from durable_core.ports.clock import Clock

HERE = Access()


class DynamoStore:
    def __init__(self, database: Database, clock: Clock) -> None:
        self.database = database
        documents = Documents(database, clock)
        self._chores = Chores(database)
        self.executions = DynamoExecutions(database, documents, self._chores, clock)
        self.histories = DynamoHistories(database, documents)
        self.catalog = DynamoCatalog(database)
        self.queries = DynamoQueries(database, clock)
        self.pollers = DynamoPollers(database, clock)

    def do_chores(self, image: Mapping[str, Any]) -> None:
        """Do what a run document's image in the stream leaves to be done; see `documents.has_chores`.

        It may be repeated. Raises `Throttled` or `Unavailable` when it must be.
        """
        self._chores.do(image)


def open_dynamo(prefix: str, clock: Clock, access: Access = HERE) -> DynamoStore:
    """The tables whose names begin with the prefix. `access` None: as botocore finds it in its environment."""
    return DynamoStore(Database(prefix, access), clock)
