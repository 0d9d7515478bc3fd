"""Reset points: the first workflow task that each build of a worker completed, kept in the run's state."""

from temporalio.api.common.v1 import Payload
from temporalio.api.history.v1 import HistoryEvent
from temporalio.api.workflow.v1 import ResetPointInfo

from durable_core.engine.transition import Transition
from durable_core.model import limits

BUILD_IDS = "BuildIds"


def record(t: Transition, completed: HistoryEvent) -> None:
    """Remember the completion if it is the first of its build, and the build among the search attributes."""
    core = t.state.core
    attributes = completed.workflow_task_completed_event_attributes
    checksum = attributes.binary_checksum
    build_id = attributes.worker_version.build_id
    known = [ResetPointInfo.FromString(blob) for blob in core.reset_points]
    if not any(p.binary_checksum == checksum and p.build_id == build_id for p in known):
        point = ResetPointInfo(
            binary_checksum=checksum,
            build_id=build_id,
            run_id=core.run_id,
            first_workflow_task_completed_id=completed.event_id,
            create_time=completed.event_time,
            resettable=True,
        )
        core.reset_points = (*core.reset_points, point.SerializeToString())[-limits.reset_points_max :]
        _list_builds(t, [*known, point])


def _list_builds(t: Transition, points: list[ResetPointInfo]) -> None:
    """The `BuildIds` search attribute, in the form the Temporal server gives unversioned workers."""
    names = ["unversioned"]
    names += [f"unversioned:{point.build_id}" for point in points if point.build_id]
    data = "[" + ",".join(f'"{name}"' for name in dict.fromkeys(names)) + "]"
    payload = Payload(metadata={"encoding": b"json/plain", "type": b"KeywordList"}, data=data.encode())
    core = t.state.core
    core.search_attributes = {**core.search_attributes, BUILD_IDS: payload.SerializeToString()}
