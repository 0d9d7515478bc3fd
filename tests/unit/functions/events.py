"""Events as API Gateway sends them, and the Lambda context beside them."""

import base64
from dataclasses import dataclass
from typing import Any

from aws_lambda_powertools.utilities.data_classes import APIGatewayProxyEventV2


@dataclass
class Context:
    """As much of Lambda's context as is used."""

    remaining_ms: int = 29_000
    function_name: str = "function"
    memory_limit_in_mb: int = 512
    invoked_function_arn: str = "arn:aws:lambda:us-east-1:123456789012:function:function"
    aws_request_id: str = "request"

    def get_remaining_time_in_millis(self) -> int:
        return self.remaining_ms


def http_event(
    path: str, body: bytes, *, at_ms: int = 0, method: str = "POST", **fields: Any
) -> dict[str, Any]:
    headers = {"content-type": "application/proto", **fields.get("headers", {})}
    encoded = fields.get("encoded", True)
    stage = fields.get("stage", "$default")
    return {
        "version": "2.0",
        "routeKey": "$default",
        "rawPath": path if stage == "$default" else f"/{stage}{path}",
        "rawQueryString": fields.get("query", ""),
        "headers": headers,
        "requestContext": {
            "http": {"method": method, "path": path},
            "requestId": "correlated",
            "stage": stage,
            "timeEpoch": at_ms,
        },
        "body": base64.b64encode(body).decode() if encoded else body.decode(),
        "isBase64Encoded": encoded,
    }


def http_data(path: str, body: bytes = b"", **fields: Any) -> APIGatewayProxyEventV2:
    return APIGatewayProxyEventV2(http_event(path, body, **fields))


def body_of(response: dict[str, Any]) -> bytes:
    assert response["isBase64Encoded"]
    return base64.b64decode(response["body"])
