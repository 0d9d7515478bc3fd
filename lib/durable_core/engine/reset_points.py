"""Reset points: the first workflow task that each build of a worker completed, and the builds as a search attribute.

Both follow from the history, so this runs whenever a completion is applied: live, and when a history is folded.
"""

from temporalio.api.history.v1 import HistoryEvent
from temporalio.api.workflow.v1 import ResetPointInfo

from durable_core.model import builds, limits
from durable_core.model.state import Core


def record(core: Core, completed: HistoryEvent) -> None:
    """Remember the completion if it is the first of its build, and the build among the search attributes."""
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
        known.append(point)
        core.reset_points = (*core.reset_points, point.SerializeToString())[-limits.reset_points_max :]
    elif builds.BUILD_IDS in core.search_attributes:
        return
    listed = {builds.BUILD_IDS: builds.payload(known).SerializeToString()}
    if checksum:
        listed[builds.BINARY_CHECKSUMS] = builds.checksums(known).SerializeToString()
    core.search_attributes = {**core.search_attributes, **listed}
