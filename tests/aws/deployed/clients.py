"""Clients of the local AWS, for tests that look behind the deployment."""

from typing import Any

from botocore.session import Session

from localstack.local_aws import REGION, LocalAws


def client_of(aws: LocalAws, service: str) -> Any:
    environment = aws.environment()
    return Session().create_client(
        service,
        region_name=REGION,
        endpoint_url=aws.url,
        aws_access_key_id=environment["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=environment["AWS_SECRET_ACCESS_KEY"],
    )
