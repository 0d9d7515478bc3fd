"""Each AWS call is counted by what it is billed by."""

import json

import pytest
from temporalio.api.workflowservice.v1 import StartWorkflowExecutionResponse

from perdure.cost.metering import Meter

START = (
    "/_aws/execute-api/abc/$default/temporal.api.workflowservice.v1.WorkflowService/StartWorkflowExecution"
)
FIFO = "http://127.0.0.1/0/p-q-1.fifo"
TIMERS = "http://127.0.0.1/0/p-timers"


def dynamodb(meter, action, status=200, **answer):
    headers = {"x-amz-target": f"DynamoDB_20120810.{action}"}
    meter.passed("/", headers, b"{}", status, json.dumps(answer).encode())


def sqs(meter, action, queue=FIFO, answer=b"{}", **request):
    headers = {"x-amz-target": f"AmazonSQS.{action}"}
    meter.passed("/", headers, json.dumps({"QueueUrl": queue, **request}).encode(), 200, answer)


def test_writes_and_reads_take_what_dynamodb_says_they_consumed():
    meter = Meter()
    dynamodb(meter, "TransactWriteItems", ConsumedCapacity=[{"CapacityUnits": 4.0}, {"CapacityUnits": 2.0}])
    dynamodb(meter, "PutItem", ConsumedCapacity={"CapacityUnits": 1.0})
    dynamodb(meter, "BatchGetItem", ConsumedCapacity=[{"CapacityUnits": 2.0}, {"CapacityUnits": 0.5}])
    dynamodb(meter, "GetItem", ConsumedCapacity={"CapacityUnits": 1.0})
    assert meter.taken() == {"dynamodb_write_units": 7.0, "dynamodb_read_units": 3.5}
    assert meter.calls["DynamoDB TransactWriteItems"] == 1


def test_a_cancelled_transaction_costs_what_the_others_cost_on_average():
    meter = Meter()
    for units in (4.0, 8.0):
        dynamodb(meter, "TransactWriteItems", ConsumedCapacity=[{"CapacityUnits": units}])
    dynamodb(meter, "TransactWriteItems", 400, __type="x#TransactionCanceledException")
    assert meter.taken() == {"dynamodb_write_units": 18.0}


def test_a_refused_call_takes_nothing():
    meter = Meter()
    dynamodb(meter, "GetItem", 400, __type="x#ResourceNotFoundException")
    dynamodb(meter, "DescribeTable")
    assert meter.taken() == {}


def test_requests_of_queues_count_by_kind():
    meter = Meter()
    sqs(meter, "SendMessage")
    sqs(meter, "ReceiveMessage")
    sqs(meter, "DeleteMessage")
    sqs(meter, "CreateQueue", queue="", QueueName="p-q-2.fifo")
    assert meter.taken() == {"sqs_fifo_requests": 4.0}


@pytest.mark.parametrize("size, requests", [(0, 1), (60_000, 1), (66_000, 2), (200_000, 4)])
def test_each_64_kilobytes_are_a_request(size, requests):
    meter = Meter()
    sqs(meter, "ReceiveMessage", answer=b"x" * size)
    assert meter.taken() == {"sqs_fifo_requests": requests}


def test_what_an_event_source_receives_is_counted_though_it_never_passes_by():
    meter = Meter()
    sqs(meter, "SendMessage", TIMERS)
    sqs(meter, "SendMessageBatch", TIMERS, Entries=[{}, {}, {}])
    # Two requests to send, and for each of the four messages one to receive and one to delete it.
    assert meter.taken() == {"sqs_standard_requests": 10.0}


def test_the_order_of_sending_and_receiving_does_not_matter():
    meter = Meter()
    sqs(meter, "SendMessage")
    sqs(meter, "ReceiveMessage")
    assert meter.taken() == {"sqs_fifo_requests": 2.0}


def test_a_call_of_the_api_is_a_request_and_a_fact():
    meter = Meter()
    response = StartWorkflowExecutionResponse(started=True).SerializeToString()
    meter.passed(START, {}, b"", 200, response)
    meter.passed(START, {}, b"", 409, b"{}")
    meter.passed(START, {}, b"x" * (600 * 1024), 400, b"")
    assert meter.taken() == {"api_requests": 4.0}
    assert meter.facts == {"workflows_started": 1}


def test_a_schedule_is_an_invocation_to_come():
    meter = Meter()
    meter.passed("/schedules/w-1", {}, b"{}", 200, b"{}")
    meter.passed("/schedules/w-1", {}, b"{}", 409, b"{}")
    assert meter.taken() == {"scheduler_invocations": 1.0}


def test_streams_and_other_services_take_nothing():
    meter = Meter()
    meter.passed("/", {"x-amz-target": "DynamoDBStreams_20120810.GetRecords"}, b"{}", 200, b"{}")
    meter.passed("/2015-03-31/functions", {}, b"", 200, b"{}")
    assert meter.taken() == {}


def test_a_reset_meter_begins_anew():
    meter = Meter()
    sqs(meter, "SendMessage", TIMERS)
    meter.reset()
    assert meter.taken() == {}
    assert not meter.calls
