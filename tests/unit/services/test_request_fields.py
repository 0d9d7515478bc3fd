"""Every field of every implemented request is used, a hint with a reason, or refused."""

import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.wrappers_pb2 import DoubleValue
from temporalio.api.enums.v1 import WorkerVersioningMode
from temporalio.api.workflowservice.v1 import (
    PollActivityTaskQueueRequest,
    RespondWorkflowTaskCompletedRequest,
)

import durable_core.services
from durable_core.model.errors import Unimplemented
from durable_core.services import rpcs
from durable_core.services.calls import Rpc
from durable_core.services.request_fields import HINTS, HINTS_OF, QUEUE_RATE_UNLIMITED, REFUSED, checked
from durable_core.wire.methods import OPERATOR_SERVICE_NAME, SERVICES, WORKFLOW_SERVICE_NAME

SERVICES_FOLDER = Path(durable_core.services.__file__).parent
ENGINE_FOLDER = SERVICES_FOLDER.parent / "engine"
SHARED = "\n".join(
    path.read_text()
    for folder in (SERVICES_FOLDER, ENGINE_FOLDER)
    for path in sorted(folder.glob("*.py"))
    if path.stem != "request_fields"
)
TABLES = (
    (WORKFLOW_SERVICE_NAME, rpcs._WORKFLOW_SERVICE),
    (OPERATOR_SERVICE_NAME, rpcs.OPERATOR_SERVICE),
)


def fields() -> Iterator[tuple[str, Rpc, FieldDescriptor]]:
    for service, table in TABLES:
        for name, rpc in table.items():
            for field in SERVICES[service].methods_by_name[name].input_type.fields:
                yield name, rpc, field


def is_read(rpc: Rpc, field: str) -> bool:
    """Whether the function's module, or one that functions share, speaks of the field."""
    module = Path(inspect.getfile(rpc.function)).read_text()
    return bool(re.search(rf"\b{field}\b", module) or re.search(rf'request\.{field}\b|"{field}"', SHARED))


@pytest.mark.parametrize(
    "name, rpc, field", [pytest.param(*found, id=f"{found[0]}.{found[2].name}") for found in fields()]
)
def test_no_field_is_ignored_in_silence(name: str, rpc: Rpc, field: FieldDescriptor) -> None:
    hint = field.name in HINTS or (name, field.name) in HINTS_OF
    known = is_read(rpc, field.name) or hint or field.name in REFUSED.get(name, {})
    assert known, f"{name} takes no notice of {field.name}: use it, refuse it, or say why it is a hint"


def test_every_hint_and_refusal_names_a_field_that_exists() -> None:
    there = {(name, field.name) for name, _, field in fields()}
    names = {field for _, field in there}
    assert set(HINTS) <= names
    assert set(HINTS_OF) <= there
    assert {(name, field) for name, refused in REFUSED.items() for field in refused} <= there


@pytest.mark.parametrize(
    "name, request_",
    [
        (
            "PollActivityTaskQueue",
            PollActivityTaskQueueRequest(task_queue_metadata={"max_tasks_per_second": DoubleValue(value=5)}),
        ),
        (
            "PollActivityTaskQueue",
            PollActivityTaskQueueRequest(
                deployment_options={
                    "worker_versioning_mode": WorkerVersioningMode.WORKER_VERSIONING_MODE_VERSIONED
                }
            ),
        ),
        ("RespondWorkflowTaskCompleted", RespondWorkflowTaskCompletedRequest(intermediate_page=True)),
        ("RespondWorkflowTaskCompleted", RespondWorkflowTaskCompletedRequest(page_number=2)),
    ],
)
def test_what_is_not_there_is_refused_and_named(name: str, request_: object) -> None:
    rpc = checked(name, Rpc(lambda context, request: pytest.fail("the function was called")))
    with pytest.raises(Unimplemented, match=f"of {name} is not supported yet"):
        rpc.function(None, request_)


def test_what_asks_for_nothing_special_is_served() -> None:
    rpc = checked("PollActivityTaskQueue", Rpc(lambda context, request: "served"))
    assert rpc.function(None, PollActivityTaskQueueRequest(deployment_options={})) == "served"


def test_a_poll_that_names_the_go_sdks_rate_for_no_limit_is_served() -> None:
    rpc = checked("PollActivityTaskQueue", Rpc(lambda context, request: "served"))
    rate = DoubleValue(value=QUEUE_RATE_UNLIMITED)
    request = PollActivityTaskQueueRequest(task_queue_metadata={"max_tasks_per_second": rate})
    assert rpc.function(None, request) == "served"
