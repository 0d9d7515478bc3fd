"""The search attributes `BuildIds` and `BinaryChecksums`: which builds of a worker a chain of runs has seen."""

import json
from collections.abc import Sequence

from temporalio.api.common.v1 import Payload
from temporalio.api.workflow.v1 import ResetPointInfo

BUILD_IDS = "BuildIds"
BINARY_CHECKSUMS = "BinaryChecksums"


def payload(points: Sequence[ResetPointInfo]) -> Payload:
    """In the form that the Temporal server gives unversioned workers."""
    names = ["unversioned"]
    names += [f"unversioned:{point.build_id}" for point in points if point.build_id]
    return _keywords(names)


def checksums(points: Sequence[ResetPointInfo]) -> Payload:
    """What workers say that know no build IDs yet."""
    return _keywords([point.binary_checksum for point in points if point.binary_checksum])


def _keywords(names: Sequence[str]) -> Payload:
    data = json.dumps(list(dict.fromkeys(names)), separators=(",", ":"))
    return Payload(metadata={"encoding": b"json/plain", "type": b"KeywordList"}, data=data.encode())
