"""The `BuildIds` search attribute: which builds of a worker a chain of runs has seen."""

from collections.abc import Sequence

from temporalio.api.common.v1 import Payload
from temporalio.api.workflow.v1 import ResetPointInfo

BUILD_IDS = "BuildIds"


def payload(points: Sequence[ResetPointInfo]) -> Payload:
    """In the form that the Temporal server gives unversioned workers."""
    names = ["unversioned"]
    names += [f"unversioned:{point.build_id}" for point in points if point.build_id]
    data = "[" + ",".join(f'"{name}"' for name in dict.fromkeys(names)) + "]"
    return Payload(metadata={"encoding": b"json/plain", "type": b"KeywordList"}, data=data.encode())
