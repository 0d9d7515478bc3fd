"""The `TemporalReportedProblems` search attribute, set while a workflow's task keeps failing."""

import json

from temporalio.api.common.v1 import Payload
from temporalio.api.enums.v1 import WorkflowTaskFailedCause

from durable_core.engine.transition import Transition
from durable_core.model import limits

NAME = "TemporalReportedProblems"


def after_failure(t: Transition, cause: "WorkflowTaskFailedCause.ValueType") -> None:
    _report(t, "WorkflowTaskFailed", _camel(WorkflowTaskFailedCause.Name(cause)))


def after_time_out(t: Transition) -> None:
    _report(t, "WorkflowTaskTimedOut", "WorkflowTaskTimedOutCauseStartToClose")


def after_completion(t: Transition) -> None:
    core = t.state.core
    if NAME in core.search_attributes:
        core.search_attributes = {key: value for key, value in core.search_attributes.items() if key != NAME}


def _report(t: Transition, category: str, cause: str) -> None:
    """`workflow_task_attempt` is that of the next task: one more than the failures in a row."""
    core = t.state.core
    if core.workflow_task_attempt <= limits.workflow_task_failures_reported:
        return
    data = json.dumps([f"category={category}", f"cause={cause}"], separators=(",", ":")).encode()
    payload = Payload(metadata={"encoding": b"json/plain", "type": b"KeywordList"}, data=data)
    core.search_attributes = {**core.search_attributes, NAME: payload.SerializeToString()}


def _camel(name: str) -> str:
    return "".join(word.capitalize() for word in name.split("_"))
