"""Namespaces and what the system says of itself; messages and codes as observed on the Temporal server 1.32."""

import pytest
from google.protobuf.duration_pb2 import Duration
from temporalio.api.enums.v1 import ArchivalState, NamespaceState
from temporalio.api.namespace.v1 import (
    BadBinaries,
    BadBinaryInfo,
    NamespaceConfig,
    NamespaceFilter,
    UpdateNamespaceInfo,
)
from temporalio.api.replication.v1 import NamespaceReplicationConfig
from temporalio.api.workflowservice.v1 import (
    DeprecateNamespaceRequest,
    DescribeNamespaceRequest,
    GetClusterInfoRequest,
    GetSystemInfoRequest,
    ListNamespacesRequest,
    RegisterNamespaceRequest,
    UpdateNamespaceRequest,
)

from durable_core.bootstrap import embedded
from durable_core.config import Settings
from durable_core.model import limits
from durable_core.model.errors import (
    InvalidArgument,
    NamespaceAlreadyExists,
    NamespaceDeleted,
    NamespaceNotFound,
)
from durable_core.services.frontend.deprecate_namespace import deprecate_namespace
from durable_core.services.frontend.describe_namespace import describe_namespace
from durable_core.services.frontend.get_cluster_info import get_cluster_info
from durable_core.services.frontend.get_system_info import get_system_info
from durable_core.services.frontend.list_namespaces import list_namespaces
from durable_core.services.frontend.register_namespace import register_namespace
from durable_core.services.frontend.update_namespace import update_namespace
from perdure.dev.notifications import InProcessNotifications

HOUR = Duration(seconds=3600)
DAY = Duration(seconds=86_400)


@pytest.fixture
def context():
    system = embedded(Settings(), InProcessNotifications())
    yield system.context
    system.close()


def register(context, name="shop", retention=DAY, **fields):
    request = RegisterNamespaceRequest(
        namespace=name, workflow_execution_retention_period=retention, **fields
    )
    return register_namespace(context, request)


def described(context, name="shop"):
    return describe_namespace(context, DescribeNamespaceRequest(namespace=name))


def update(context, **fields):
    return update_namespace(context, UpdateNamespaceRequest(namespace="shop", **fields))


def names(context, **fields):
    answer = list_namespaces(context, ListNamespacesRequest(**fields))
    return [one.namespace_info.name for one in answer.namespaces], answer.next_page_token


def test_a_registered_namespace_is_described_by_name_and_by_id(context):
    register(context, description="d", owner_email="o@x", data={"a": "b"})
    said = described(context)
    info = said.namespace_info
    assert (info.name, info.description, info.owner_email, dict(info.data)) == (
        "shop",
        "d",
        "o@x",
        {"a": "b"},
    )
    assert info.state == NamespaceState.NAMESPACE_STATE_REGISTERED
    assert said.config.workflow_execution_retention_ttl == DAY
    assert said.config.HasField("bad_binaries")
    assert said.config.history_archival_state == ArchivalState.ARCHIVAL_STATE_DISABLED
    assert said.replication_config.active_cluster_name == "active"
    assert describe_namespace(context, DescribeNamespaceRequest(id=info.id)) == said


def test_limits_are_told_and_no_capability_that_is_not_there(context):
    register(context)
    info = described(context).namespace_info
    assert info.limits.blob_size_limit_error == limits.blob_bytes_max
    assert info.limits.memo_size_limit_error == limits.memo_bytes_max
    assert info.limits.workflow_task_completion_size_limit_error == limits.workflow_task_completion_bytes_max
    assert [field.name for field, _ in info.capabilities.ListFields()] == [
        "eager_workflow_start",
        "sync_update",
        "async_update",
    ]
    assert not info.supports_schedules


@pytest.mark.parametrize(
    "fields, message",
    [
        ({"name": ""}, "Namespace not set on request."),
        ({"name": "x" * 1001}, "Namespace length exceeds limit."),
        ({"retention": None}, "A valid retention period is not set on request."),
        ({"retention": Duration(seconds=3599)}, "A valid retention period is not set on request."),
        ({"retention": Duration(seconds=-5)}, "A valid retention period is not set on request."),
        ({"is_global_namespace": True}, "Cannot register global namespace when not enabled"),
        ({"active_cluster_name": "other"}, "Invalid cluster name: other"),
    ],
)
def test_what_cannot_be_registered_says_why(context, fields, message):
    with pytest.raises(InvalidArgument) as raised:
        register(context, **fields)
    assert raised.value.message == message


@pytest.mark.parametrize("name", ["a", "x" * 1000, "a b/c!", "_x", "é"])
def test_any_other_name_will_do(context, name):
    register(context, name, HOUR)
    assert described(context, name).namespace_info.name == name


def test_a_name_is_registered_once(context):
    register(context)
    with pytest.raises(NamespaceAlreadyExists, match=r'^Namespace "shop" already exists$'):
        register(context)


@pytest.mark.parametrize(
    "request_, error, message",
    [
        (DescribeNamespaceRequest(), InvalidArgument, "Namespace not set on request."),
        (DescribeNamespaceRequest(namespace="no"), NamespaceNotFound, "Namespace no is not found."),
        (DescribeNamespaceRequest(id="no"), NamespaceNotFound, "Namespace no is not found."),
        (
            DescribeNamespaceRequest(namespace="a", id="b"),
            InvalidArgument,
            "Both Namespace and Id are set on request.",
        ),
    ],
)
def test_a_namespace_that_is_not_there_is_an_error(context, request_, error, message):
    with pytest.raises(error) as raised:
        describe_namespace(context, request_)
    assert raised.value.message == message


def test_namespaces_are_listed_by_pages(context):
    for name in ("a", "b", "c"):
        register(context, name)
    first, token = names(context, page_size=2)
    second, end = names(context, page_size=2, next_page_token=token)
    assert (first, second, end) == (["a", "b"], ["c"], b"")
    assert names(context) == (["a", "b", "c"], b"")
    with pytest.raises(InvalidArgument):
        names(context, next_page_token=b"\xff")


def test_a_deleted_namespace_is_listed_only_for_who_asks(context):
    for name in ("a", "b", "shop"):
        register(context, name)
    update(context, update_info=UpdateNamespaceInfo(state=NamespaceState.NAMESPACE_STATE_DELETED))
    assert names(context)[0] == ["a", "b"]
    assert names(context, namespace_filter=NamespaceFilter(include_deleted=True))[0] == ["a", "b", "shop"]


def test_an_update_changes_what_it_names_and_merges_data(context):
    register(context, description="d", owner_email="o@x", data={"a": "b"})
    info = UpdateNamespaceInfo(description="new", data={"c": "d"})
    answer = update(context, update_info=info)
    assert answer.namespace_info.description == "new"
    assert answer.namespace_info.owner_email == "o@x"
    assert dict(answer.namespace_info.data) == {"a": "b", "c": "d"}
    assert answer.config.workflow_execution_retention_ttl == DAY
    assert described(context).namespace_info == answer.namespace_info


def test_a_new_retention_is_what_closed_runs_get_at_once(context):
    register(context)
    assert context.namespaces.named("shop").retention == 86_400 * 10**9
    update(context, config=NamespaceConfig(workflow_execution_retention_ttl=HOUR))
    assert context.namespaces.named("shop").retention == 3_600 * 10**9


@pytest.mark.parametrize(
    "state, next_state, legal",
    [
        (1, 1, True),
        (1, 2, True),
        (1, 3, True),
        (2, 1, False),
        (2, 3, True),
        (1, 4, False),
    ],
)
def test_a_state_changes_one_way(context, state, next_state, legal):
    register(context)
    if state != 1:
        update(context, update_info=UpdateNamespaceInfo(state=state))
    if legal:
        update(context, update_info=UpdateNamespaceInfo(state=next_state))
        assert described(context).namespace_info.state == next_state
    else:
        with pytest.raises(InvalidArgument, match="Invalid namespace state update"):
            update(context, update_info=UpdateNamespaceInfo(state=next_state))


def test_a_deleted_namespace_changes_no_more_and_takes_no_requests(context):
    register(context)
    update(context, update_info=UpdateNamespaceInfo(state=NamespaceState.NAMESPACE_STATE_DELETED))
    with pytest.raises(NamespaceDeleted) as raised:
        update(context, update_info=UpdateNamespaceInfo(description="new"))
    assert raised.value.detail.allowed_states == [1, 2]
    with pytest.raises(NamespaceDeleted):
        deprecate_namespace(context, DeprecateNamespaceRequest(namespace="shop"))
    with pytest.raises(NamespaceDeleted):
        context.namespaces.named("shop")
    namespace_id = described(context).namespace_info.id
    assert context.namespaces.with_id(namespace_id).retention == 86_400 * 10**9


def binaries(*names):
    return NamespaceConfig(
        bad_binaries=BadBinaries(binaries={name: BadBinaryInfo(reason="r") for name in names})
    )


def test_bad_binaries_are_replaced_as_a_whole_and_get_their_time(context):
    register(context)
    update(context, config=binaries("x"))
    answer = update(context, config=binaries("y"))
    [(name, binary)] = answer.config.bad_binaries.binaries.items()
    assert (name, binary.reason) == ("y", "r")
    assert binary.create_time.seconds > 0
    assert not update(context, delete_bad_binary="y").config.bad_binaries.binaries


@pytest.mark.parametrize(
    "fields, message",
    [
        ({"config": binaries(*"abcdefghijk")}, "Total resetBinaries cannot exceed the max limit: 10"),
        ({"delete_bad_binary": "q"}, "Bad binary checksum q doesn't exists."),
        (
            {"config": NamespaceConfig(workflow_execution_retention_ttl=Duration(seconds=60))},
            "A valid retention period is not set on request.",
        ),
        (
            {"replication_config": NamespaceReplicationConfig(active_cluster_name="other")},
            "Invalid cluster name: other",
        ),
        (
            {"promote_namespace": True},
            (
                "global namespace is not enabled on this cluster, cannot update global namespace "
                "or promote local namespace: shop"
            ),
        ),
    ],
)
def test_what_cannot_be_updated_says_why_and_changes_nothing(context, fields, message):
    register(context)
    before = described(context)
    with pytest.raises(InvalidArgument) as raised:
        update(context, update_info=UpdateNamespaceInfo(description="new"), **fields)
    assert raised.value.message == message
    assert described(context) == before


def test_a_deprecated_namespace_says_so(context):
    register(context)
    for _ in range(2):
        deprecate_namespace(context, DeprecateNamespaceRequest(namespace="shop"))
    assert described(context).namespace_info.state == NamespaceState.NAMESPACE_STATE_DEPRECATED
    for name, error in (("no", NamespaceNotFound), ("", InvalidArgument)):
        with pytest.raises(error):
            deprecate_namespace(context, DeprecateNamespaceRequest(namespace=name))


def test_the_system_tells_only_capabilities_that_are_there(context):
    answer = get_system_info(context, GetSystemInfoRequest())
    told = {field.name for field, value in answer.capabilities.ListFields() if value}
    assert answer.server_version
    assert told == {
        "signal_and_query_header",
        "internal_error_differentiation",
        "activity_failure_include_heartbeat",
        "encoded_failure_attributes",
        "build_id_based_versioning",
        "eager_workflow_start",
        "upsert_memo",
        "sdk_metadata",
    }


def test_the_cluster_keeps_its_id_and_tells_its_shards(context):
    first = get_cluster_info(context, GetClusterInfoRequest())
    assert first.cluster_id
    assert first.cluster_id == get_cluster_info(context, GetClusterInfoRequest()).cluster_id
    assert first.cluster_name == "active"
    assert first.history_shard_count == context.settings.shards
    assert first.supported_clients["temporal-go"] == "<2.0.0"
