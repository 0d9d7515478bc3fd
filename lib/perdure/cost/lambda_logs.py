"""What Lambda itself takes, read from the lines with which it ends each call's log.

What does not live here: calls between services (`metering`). A newcomer's trap: the durations are those of the machine
that ran the functions. On a laptop they tell the order of magnitude; in an account they are what is billed. And the
local AWS writes Lambda's own lines also for functions that are set not to have them, which would be a good part of the
logs' price; of those functions they are read and not counted.
"""

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

from boto3.session import Session

from perdure.cost.facts import GIGABYTE

_REPORT = re.compile(r"REPORT RequestId: .*Billed Duration: (\d+(?:\.\d+)?) ms\s+Memory Size: (\d+) MB")
_LAMBDAS_OWN = ("START RequestId: ", "END RequestId: ", "REPORT RequestId: ", "INIT_START ")
_GROUPS = "/aws/lambda/"
# CloudWatch Logs counts so much for each event besides its text.
EVENT_BYTES = 26


def taken_by_lambda(endpoint: str | None, region: str, since_ms: int) -> dict[str, float]:
    """Requests, GB-seconds and log bytes of all functions since that moment."""
    session = Session()
    logs = session.client("logs", region_name=region, endpoint_url=endpoint)
    functions = session.client("lambda", region_name=region, endpoint_url=endpoint)
    taken: Counter[str] = Counter()
    for page in logs.get_paginator("describe_log_groups").paginate(logGroupNamePrefix=_GROUPS):
        for group in page["logGroups"]:
            name = group["logGroupName"]
            configuration = functions.get_function_configuration(FunctionName=name.removeprefix(_GROUPS))
            quiet = _is_quiet(configuration)
            for found in logs.get_paginator("filter_log_events").paginate(
                logGroupName=name, startTime=since_ms
            ):
                for event in found["events"]:
                    taken.update(_line(event["message"], quiet=quiet))
    return {name: float(number) for name, number in taken.items()}


def _is_quiet(configuration: Mapping[str, Any]) -> bool:
    """Whether the function is set to have no lines of Lambda's own."""
    return bool(configuration.get("LoggingConfig", {}).get("SystemLogLevel") == "WARN")


def _line(message: str, *, quiet: bool) -> Counter[str]:
    counted: Any = Counter()
    if not (quiet and message.startswith(_LAMBDAS_OWN)):
        counted["log_gigabytes"] = (len(message.encode()) + EVENT_BYTES) / GIGABYTE
    if (report := _REPORT.match(message)) is not None:
        milliseconds, megabytes = float(report.group(1)), int(report.group(2))
        counted["lambda_requests"] = 1
        counted["lambda_gb_seconds"] = milliseconds / 1000 * megabytes / 1024
    found: Counter[str] = counted
    return found
