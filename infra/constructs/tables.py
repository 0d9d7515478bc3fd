"""The tables: on demand, encrypted, restorable to any second of the last 35 days.

What does not live here: their names, keys and streams, which are the core's (`schema.tables`).
A newcomer's trap: destroying the stack keeps the tables unless `tables=destroy` was deployed before, and a kept table
keeps its name: a new deployment under the same name has to import it or must wait until it is gone.
"""

from aws_cdk import RemovalPolicy
from aws_cdk import aws_dynamodb as dynamodb
from constructs import Construct

from durable_core.schema import tables as schema
from infra.parameters import Parameters

_TYPES = {
    "S": dynamodb.AttributeType.STRING,
    "N": dynamodb.AttributeType.NUMBER,
    "B": dynamodb.AttributeType.BINARY,
}


class Tables(Construct):
    """One table for each of the schema's, under `of`."""

    def __init__(self, scope: Construct, name: str, parameters: Parameters) -> None:
        super().__init__(scope, name)
        self._parameters = parameters
        self.of = {table: self._table(table) for table in schema.TABLES}

    @property
    def runs(self) -> dynamodb.Table:
        return self.of[schema.RUNS]

    def _table(self, table: schema.Table) -> dynamodb.Table:
        kept = self._parameters.tables == "retain"
        return dynamodb.Table(
            self,
            table.suffix.title(),
            table_name=table.name(self._parameters.name),
            partition_key=_attribute(table.partition),
            sort_key=None if table.sort is None else _attribute(table.sort),
            billing_mode=dynamodb.BillingMode.PAY_PER_REQUEST,
            # No word of encryption: every table is encrypted, with a key that AWS owns. A key of one's own would cost
            # requests and a dollar a month.
            point_in_time_recovery_specification=dynamodb.PointInTimeRecoverySpecification(
                point_in_time_recovery_enabled=True
            ),
            stream=dynamodb.StreamViewType.NEW_IMAGE if table.streamed else None,
            time_to_live_attribute=schema.EXPIRES_AT if table.expires else None,
            removal_policy=RemovalPolicy.RETAIN if kept else RemovalPolicy.DESTROY,
            deletion_protection=kept,
        )


def _attribute(key: schema.Key) -> dynamodb.Attribute:
    return dynamodb.Attribute(name=key.name, type=_TYPES[key.type])
