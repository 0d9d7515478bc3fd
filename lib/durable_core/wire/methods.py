"""The method table: every method that the Temporal service descriptors name, with the function that answers it.

What does not live here: which methods are implemented (`services.rpcs`) and how a protocol carries a call.
A newcomer's trap: a method without an `rpc` is a known method that is not implemented yet. That is another answer than
the one to a method which no descriptor names, though both are `UNIMPLEMENTED`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from google.protobuf.descriptor import MethodDescriptor, ServiceDescriptor
from google.protobuf.message_factory import GetMessageClass
from temporalio.api.operatorservice.v1 import service_pb2 as operator_service
from temporalio.api.workflowservice.v1 import service_pb2 as workflow_service

from durable_core.model.errors import Unimplemented
from durable_core.services.calls import Rpc

WORKFLOW_SERVICE_NAME = "temporal.api.workflowservice.v1.WorkflowService"
OPERATOR_SERVICE_NAME = "temporal.api.operatorservice.v1.OperatorService"

SERVICES: Mapping[str, ServiceDescriptor] = {
    WORKFLOW_SERVICE_NAME: workflow_service.DESCRIPTOR.services_by_name["WorkflowService"],
    OPERATOR_SERVICE_NAME: operator_service.DESCRIPTOR.services_by_name["OperatorService"],
}


@dataclass(frozen=True, slots=True)
class Method:
    """A method of a service. `request` and `response` are the generated message classes."""

    service: str
    name: str
    request: Any
    response: Any
    descriptor: MethodDescriptor
    rpc: Rpc | None

    @property
    def path(self) -> str:
        """The method's name on the wire, in gRPC and in Connect alike."""
        return f"/{self.service}/{self.name}"


class MethodTable:
    """Methods by their path. Build one at start and share it among the protocols."""

    def __init__(self, implemented: Mapping[str, Mapping[str, Rpc]]) -> None:
        """`implemented` maps a service's full name to its implemented methods by name.

        Raises ValueError for a service or method that no descriptor knows.
        """
        self.by_path: dict[str, Method] = {}
        for service, rpcs in implemented.items():
            if service not in SERVICES:
                raise ValueError(f"no such service: {service}")
            if strangers := set(rpcs) - set(SERVICES[service].methods_by_name):
                raise ValueError(f"{service} has no such methods: {', '.join(sorted(strangers))}")
        for service, descriptor in SERVICES.items():
            rpcs = implemented.get(service, {})
            for method in descriptor.methods:
                entry = _method(service, method, rpcs.get(method.name))
                self.by_path[entry.path] = entry

    def find(self, path: str) -> Method:
        """The implemented method of that path; raises `Unimplemented`, saying which part is missing."""
        method = self.by_path.get(path)
        if method is None or method.rpc is None:
            raise unimplemented(path, method)
        return method


def unimplemented(path: str, method: Method | None) -> Unimplemented:
    """What to answer for a path without a function. The messages for strangers are those of the Temporal server."""
    if method is not None:
        return Unimplemented(f"method {method.name} is not implemented by this server yet")
    service, _, name = path.lstrip("/").rpartition("/")
    if service in SERVICES:
        return Unimplemented(f"unknown method {name} for service {service}")
    return Unimplemented(f"unknown service {service}")


def _method(service: str, descriptor: MethodDescriptor, rpc: Rpc | None) -> Method:
    request = GetMessageClass(descriptor.input_type)
    response = GetMessageClass(descriptor.output_type)
    return Method(service, descriptor.name, request, response, descriptor, rpc)
