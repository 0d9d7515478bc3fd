"""A call's log line says what happened in few bytes.

The one thing a newcomer gets wrong: a logger is known by its service's name and writes where it wrote first, so
each test has a service of its own.
"""

import json
from dataclasses import dataclass

from functions.observing import Observing


@dataclass
class LambdaContext:
    function_name: str = "perdure-frontend"
    memory_limit_in_mb: int = 1024
    invoked_function_arn: str = "arn:aws:lambda:us-east-1:000000000000:function:perdure-frontend"
    aws_request_id: str = "8c1a"


def test_a_line_says_what_was_called_and_nothing_that_its_log_group_says(capsys):
    observing = Observing("one")

    @observing.logger.inject_lambda_context
    def handler(event, context):
        observing.logger.info("GetSystemInfo", extra={"status": 200, "ms": 3})

    handler({}, LambdaContext())
    line = json.loads(capsys.readouterr().out)
    assert line.pop("timestamp")
    assert line.pop("cold_start") in {True, False}
    assert line == {
        "level": "INFO",
        "message": "GetSystemInfo",
        "service": "one",
        "function_request_id": "8c1a",
        "status": 200,
        "ms": 3,
    }


def test_what_json_does_not_know_is_written_as_text(capsys):
    Observing("another").logger.info("odd", extra={"what": {1}})
    assert json.loads(capsys.readouterr().out)["what"] == "{1}"
