"""What Lambda itself takes, read from the lines with which it ends each call's log.

What does not live here: calls between services (`metering`). A newcomer's trap: the durations are those of the machine
that ran the functions. On a laptop they tell the order of magnitude; in an account they are what is billed.
"""

import re
from collections import Counter
from typing import Any

from boto3.session import Session

from perdure.cost.facts import GIGABYTE

_REPORT = re.compile(r"REPORT RequestId: .*Billed Duration: (\d+(?:\.\d+)?) ms\s+Memory Size: (\d+) MB")
# CloudWatch Logs counts so much for each event besides its text.
EVENT_BYTES = 26


def taken_by_lambda(endpoint: str | None, region: str, since_ms: int) -> dict[str, float]:
    """Requests, GB-seconds and log bytes of all functions since that moment."""
    logs = Session().client("logs", region_name=region, endpoint_url=endpoint)
    taken: Counter[str] = Counter()
    for page in logs.get_paginator("describe_log_groups").paginate(logGroupNamePrefix="/aws/lambda/"):
        for group in page["logGroups"]:
            events = logs.get_paginator("filter_log_events")
            for found in events.paginate(logGroupName=group["logGroupName"], startTime=since_ms):
                for event in found["events"]:
                    taken.update(_line(event["message"]))
    return {name: float(number) for name, number in taken.items()}


def _line(message: str) -> Counter[str]:
    counted: Any = Counter({"log_gigabytes": (len(message.encode()) + EVENT_BYTES) / GIGABYTE})
    if (report := _REPORT.match(message)) is not None:
        milliseconds, megabytes = float(report.group(1)), int(report.group(2))
        counted["lambda_requests"] = 1
        counted["lambda_gb_seconds"] = milliseconds / 1000 * megabytes / 1024
    found: Counter[str] = counted
    return found
