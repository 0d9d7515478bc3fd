"""The proxy passes calls on as they are, and asks DynamoDB what they consumed."""

import json

import aiohttp
import pytest
from aiohttp import web

from perdure.cost.counting_proxy import counting
from perdure.cost.metering import Meter
from tests.unit.perdure.bridge.far_ends import far_end

pytestmark = pytest.mark.asyncio


async def post(url, body=b"", **headers):
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    async with aiohttp.ClientSession() as session, session.post(url, data=body, headers=named) as response:
        return response.status, dict(response.headers), await response.read()


async def test_a_call_passes_with_its_path_headers_and_body_and_so_does_the_answer():
    async def answer(asked):
        return web.Response(status=418, body=asked.body[::-1], headers={"x-amzn-requestid": "7"})

    async with far_end(answer) as end, counting(Meter(), end.url, 0) as url:
        path = "/a%2Fb/$default?x=%20y"
        status, headers, body = await post(url + path, b"\x00\xff1", authorization="AWS4 x", host="q.example")
        assert (status, body) == (418, b"1\xff\x00")
        assert headers["x-amzn-requestid"] == "7"
        assert end.asked[0].headers["authorization"] == "AWS4 x"
        assert end.asked[0].headers["host"] == "q.example"
        assert end.asked[0].path.startswith("/a%2Fb/$default?x=")


async def test_dynamodb_is_asked_what_a_call_consumed():
    async def answer(asked):
        assert json.loads(asked.body) == {"TableName": "t", "ReturnConsumedCapacity": "TOTAL"}
        return web.json_response({"ConsumedCapacity": {"CapacityUnits": 3.0}})

    meter = Meter()
    async with far_end(answer) as end, counting(meter, end.url, 0) as url:
        target = {"x_amz_target": "DynamoDB_20120810.PutItem"}
        status, _, body = await post(url, b'{"TableName": "t"}', **target)
        assert status == 200
        assert json.loads(body)["ConsumedCapacity"]["CapacityUnits"] == 3.0
    assert meter.taken() == {"dynamodb_write_units": 3.0}


async def test_other_calls_are_not_touched():
    async def answer(asked):
        return web.Response(body=asked.body)

    async with far_end(answer) as end, counting(Meter(), end.url, 0) as url:
        for target in ("DynamoDB_20120810.DescribeTable", "AmazonSQS.SendMessage"):
            _, _, body = await post(url, b'{"QueueUrl": "q"}', x_amz_target=target)
            assert body == b'{"QueueUrl": "q"}'
