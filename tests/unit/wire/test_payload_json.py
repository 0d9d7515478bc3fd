"""The JSON dialect of the Temporal HTTP API: payloads as the values they hold. Observed on the Temporal server 1.32."""

import json

import pytest
from google.protobuf import json_format
from hypothesis import given
from hypothesis import strategies as st
from temporalio.api.common.v1 import Memo, Payload, Payloads
from temporalio.api.failure.v1 import Failure
from temporalio.api.history.v1 import History, HistoryEvent, WorkflowExecutionStartedEventAttributes
from temporalio.api.workflowservice.v1 import StartWorkflowExecutionRequest

from durable_core.wire.payload_json import from_json, to_json


def plain(value) -> Payload:
    data = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
    return Payload(metadata={"encoding": b"json/plain"}, data=data)


NULL = Payload(metadata={"encoding": b"binary/null"})
BINARY = Payload(metadata={"encoding": b"binary/plain"}, data=b"hello")
PROTO = Payload(metadata={"encoding": b"json/protobuf", "messageType": b"a.B"}, data=b'{"z":1}')
BINARY_JSON = {"metadata": {"encoding": "YmluYXJ5L3BsYWlu"}, "data": "aGVsbG8="}


@pytest.mark.parametrize(
    "payloads, tree",
    [
        ([plain("hello"), plain({"a": 1})], ["hello", {"a": 1}]),
        ([], []),
        ([NULL], [None]),
        ([PROTO], [{"_protoMessageType": "a.B", "z": 1}]),
        ([plain("x"), BINARY], {"payloads": ["x", BINARY_JSON]}),
    ],
)
def test_payloads_are_a_list_of_their_values_if_all_can_be_short(payloads, tree):
    request = StartWorkflowExecutionRequest(input=Payloads(payloads=payloads))
    assert to_json(request, shorthand=True) == {"input": tree}
    back = StartWorkflowExecutionRequest()
    from_json({"input": tree}, back, shorthand=True)
    assert back == request


@pytest.mark.parametrize(
    "payload",
    [
        Payload(metadata={"encoding": b"json/plain", "more": b"x"}, data=b"1"),
        Payload(metadata={"encoding": b"json/plain"}, data=b"not json"),
        Payload(metadata={"encoding": b"json/protobuf"}, data=b"{}"),
        Payload(metadata={"encoding": b"json/protobuf", "messageType": b"a.B"}, data=b"[]"),
        BINARY,
    ],
)
def test_what_would_lose_something_is_written_out(payload):
    memo = Memo(fields={"k": payload})
    assert to_json(memo, shorthand=True) == json_format.MessageToDict(memo)


def test_payloads_are_found_wherever_their_field_is():
    attributes = WorkflowExecutionStartedEventAttributes(
        input=Payloads(payloads=[plain(1)]),
        memo=Memo(fields={"k": plain("v")}),
        continued_failure=Failure(cause=Failure(encoded_attributes=plain([2]))),
    )
    history = History(events=[HistoryEvent(workflow_execution_started_event_attributes=attributes)])
    tree = to_json(history, shorthand=True)
    assert tree["events"][0]["workflowExecutionStartedEventAttributes"] == {
        "input": [1],
        "memo": {"fields": {"k": "v"}},
        "continuedFailure": {"cause": {"encodedAttributes": [2]}},
    }
    back = History()
    from_json(tree, back, shorthand=True)
    assert back == history


def test_without_shorthand_payloads_are_plain_protobuf_json():
    request = StartWorkflowExecutionRequest(input=Payloads(payloads=[plain("hello")]))
    tree = to_json(request, shorthand=False)
    assert tree == json_format.MessageToDict(request)
    with pytest.raises(json_format.ParseError):
        from_json({"input": ["hello"]}, StartWorkflowExecutionRequest(), shorthand=False)


def test_names_of_the_proto_file_are_read_too_and_unknown_ones_refused():
    request = StartWorkflowExecutionRequest()
    from_json({"workflow_id": "w", "last_completion_result": [1]}, request, shorthand=True)
    assert request.last_completion_result.payloads[0] == plain(1)
    with pytest.raises(json_format.ParseError):
        from_json({"nope": 1}, StartWorkflowExecutionRequest(), shorthand=True)


def test_a_null_in_a_map_is_dropped():
    memo = Memo()
    from_json({"fields": {"a": None, "b": 1}}, memo, shorthand=True)
    assert memo == Memo(fields={"b": plain(1)})


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


@given(st.lists(values))
def test_any_json_values_come_back_as_they_went(sent):
    request = StartWorkflowExecutionRequest()
    from_json({"input": sent}, request, shorthand=True)
    assert to_json(request, shorthand=True).get("input", []) == sent
