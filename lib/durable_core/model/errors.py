"""Errors with the shape they have on the wire: a gRPC status code, a message a user can act on, and details.

`ServiceError` and its subclasses reach callers. `StorageError`s do not: the unit of work answers a conflict or a lost
shard by loading and deciding again, and only gives up as `Unavailable` or `ResourceExhausted`.
The names and the details are those of the Temporal API (`temporal.api.errordetails.v1`), which SDKs look for.
"""

from collections.abc import Sequence
from enum import IntEnum

from google.protobuf.message import Message
from temporalio.api.enums.v1 import NamespaceState, ResourceExhaustedCause, ResourceExhaustedScope
from temporalio.api.errordetails.v1 import (
    MultiOperationExecutionFailure,
    NamespaceAlreadyExistsFailure,
    NamespaceInvalidStateFailure,
    NamespaceNotFoundFailure,
    NotFoundFailure,
    PermissionDeniedFailure,
    QueryFailedFailure,
    ResourceExhaustedFailure,
    WorkflowExecutionAlreadyStartedFailure,
    WorkflowNotReadyFailure,
)
from temporalio.api.failure.v1 import Failure, MultiOperationExecutionAborted


class Code(IntEnum):
    """gRPC status codes."""

    CANCELLED = 1
    INVALID_ARGUMENT = 3
    DEADLINE_EXCEEDED = 4
    NOT_FOUND = 5
    ALREADY_EXISTS = 6
    PERMISSION_DENIED = 7
    RESOURCE_EXHAUSTED = 8
    FAILED_PRECONDITION = 9
    ABORTED = 10
    UNIMPLEMENTED = 12
    INTERNAL = 13
    UNAVAILABLE = 14


class ServiceError(Exception):
    """An answer that is an error. `detail` goes into the status' details as an `Any`."""

    code = Code.INTERNAL

    def __init__(self, message: str, detail: Message | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.detail = detail


class InvalidArgument(ServiceError):
    code = Code.INVALID_ARGUMENT


class NotFound(ServiceError):
    code = Code.NOT_FOUND

    def __init__(self, message: str) -> None:
        super().__init__(message, NotFoundFailure())


class RunClosed(NotFound):
    """The run is closed. Whoever named only its workflow may look for the run that goes on in its place."""


class FailedPrecondition(ServiceError):
    code = Code.FAILED_PRECONDITION


class PermissionDenied(ServiceError):
    code = Code.PERMISSION_DENIED

    def __init__(self, message: str) -> None:
        super().__init__(message, PermissionDeniedFailure())


class DeadlineExceeded(ServiceError):
    code = Code.DEADLINE_EXCEEDED


class Unavailable(ServiceError):
    code = Code.UNAVAILABLE


class Unimplemented(ServiceError):
    code = Code.UNIMPLEMENTED


class Internal(ServiceError):
    code = Code.INTERNAL


class NamespaceNotFound(ServiceError):
    code = Code.NOT_FOUND

    def __init__(self, namespace: str) -> None:
        super().__init__(
            f"Namespace {namespace} is not found.", NamespaceNotFoundFailure(namespace=namespace)
        )


class NamespaceDeleted(ServiceError):
    """The namespace is only a mark of itself; what ran in it may still be removed."""

    code = Code.FAILED_PRECONDITION

    def __init__(self, namespace: str) -> None:
        detail = NamespaceInvalidStateFailure(
            namespace=namespace,
            state=NamespaceState.NAMESPACE_STATE_DELETED,
            allowed_states=[
                NamespaceState.NAMESPACE_STATE_REGISTERED,
                NamespaceState.NAMESPACE_STATE_DEPRECATED,
            ],
        )
        super().__init__("Namespace has invalid state: Deleted. Must be Registered or Deprecated.", detail)


class NamespaceAlreadyExists(ServiceError):
    code = Code.ALREADY_EXISTS

    def __init__(self, message: str) -> None:
        super().__init__(message, NamespaceAlreadyExistsFailure())


class WorkflowExecutionAlreadyStarted(ServiceError):
    code = Code.ALREADY_EXISTS

    def __init__(self, message: str, start_request_id: str, run_id: str, first_run_id: str) -> None:
        detail = WorkflowExecutionAlreadyStartedFailure(
            start_request_id=start_request_id, run_id=run_id, first_execution_run_id=first_run_id
        )
        super().__init__(message, detail)


class WorkflowNotReady(ServiceError):
    code = Code.FAILED_PRECONDITION

    def __init__(self, message: str) -> None:
        super().__init__(message, WorkflowNotReadyFailure())


class QueryFailed(ServiceError):
    code = Code.INVALID_ARGUMENT

    def __init__(self, message: str, failure: Failure | None) -> None:
        super().__init__(message, QueryFailedFailure(failure=failure))


class ResourceExhausted(ServiceError):
    code = Code.RESOURCE_EXHAUSTED

    def __init__(
        self,
        message: str,
        cause: "ResourceExhaustedCause.ValueType",
        scope: "ResourceExhaustedScope.ValueType" = ResourceExhaustedScope.RESOURCE_EXHAUSTED_SCOPE_NAMESPACE,
    ) -> None:
        super().__init__(message, ResourceExhaustedFailure(cause=cause, scope=scope))


class OperationAborted(ServiceError):
    """One of several operations was not carried out because another one could not be."""

    code = Code.ABORTED

    def __init__(self) -> None:
        super().__init__("Operation was aborted.", MultiOperationExecutionAborted())


class MultiOperationFailed(ServiceError):
    """None of several operations was carried out; `statuses` has each one's own error."""

    def __init__(self, message: str, errors: Sequence[ServiceError]) -> None:
        failed = next(error for error in errors if not isinstance(error, OperationAborted))
        self.code = failed.code
        detail = MultiOperationExecutionFailure()
        for error in errors:
            status = detail.statuses.add(code=int(error.code), message=error.message)
            if error.detail is not None:
                status.details.add().Pack(error.detail)
        super().__init__(message, detail)


class StorageError(Exception):
    """What an adapter raises; it never reaches a caller as it is."""


class Conflict(StorageError):
    """A version, a pointer or a name is not the expected one, or another transaction was in the way."""


class ShardOwnershipLost(StorageError):
    """The range ID of the write is stale: somebody else owns the shard now."""


class Throttled(StorageError):
    """The backend asks to slow down."""


class AmbiguousCommit(StorageError):
    """Whether the transaction was committed is unknown: read it back, or repeat it with the same token."""


class IllegalTransition(Exception):
    """An event that the state does not allow. It is a defect or damaged data, and changes nothing."""


class ShardsMismatch(Exception):
    """A deployment was created with another number of shards than the settings say; that number never changes."""

    def __init__(self, stored: int, wanted: int) -> None:
        super().__init__(
            f"this deployment was created with {stored} shards, the settings say {wanted}; the number is fixed at "
            "creation, so set it back"
        )
