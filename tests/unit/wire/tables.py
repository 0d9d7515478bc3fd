"""A small method table for tests of the wire: two methods answer, all others are known and unimplemented.

What does not live here: an assertion. A newcomer's mistake: to expect a call to run here; the wire only decodes it.
"""

from typing import Any

from durable_core.services.calls import Rpc
from durable_core.wire.http import HttpRequest
from durable_core.wire.methods import WORKFLOW_SERVICE_NAME, MethodTable

SERVICE = WORKFLOW_SERVICE_NAME


def answered(context: Any, request: Any) -> Any:
    raise AssertionError("the wire never runs a call")


def small_table() -> MethodTable:
    names = (
        "DescribeNamespace",
        "StartWorkflowExecution",
        "GetWorkflowExecutionHistory",
        "ListWorkflowExecutions",
        "SignalWorkflowExecution",
        "DescribeWorkflowExecution",
        "ListSchedules",
        "ListNamespaces",
    )
    return MethodTable({SERVICE: {name: Rpc(answered) for name in names}})


def http(method: str, target: str, body: bytes = b"", headers: dict[str, str] | None = None) -> HttpRequest:
    path, _, query = target.partition("?")
    return HttpRequest(method, path, query, headers or {}, body)
