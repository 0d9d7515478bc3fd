"""Whatever fails and in whatever order: everything comes to an end, and what was acknowledged happened once."""

import os
from collections import Counter

import pytest
from temporalio.api.enums.v1 import EventType as T
from temporalio.api.enums.v1 import WorkflowExecutionStatus

from .owner import Faults
from .simulation import TERMINATED, WORKFLOWS, Simulation
from .worker import FROM_OUTSIDE

SEED = os.environ.get("PERDURE_SIMULATION_SEED")
SEEDS = [int(SEED)] if SEED else range(int(os.environ.get("PERDURE_SIMULATION_SEEDS", "12")))
SHOWN = 60


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(
    "owners, faults",
    [
        pytest.param(1, Faults(commits=0.3), id="one process on bad storage"),
        pytest.param(2, Faults(0.0, 0.0, 0.0), id="two processes and nothing fails"),
        pytest.param(3, Faults(), id="three processes and everything fails"),
    ],
)
def test_everything_ends_and_what_was_acknowledged_happened_once(tmp_path, seed, owners, faults):
    simulation = Simulation(tmp_path / "perdure.db", seed, owners, faults)
    try:
        simulation.run()
        _check_end(simulation)
    except BaseException:
        print(f"PERDURE_SIMULATION_SEED={seed}; the last of {len(simulation.trace)} steps:")
        print("\n".join(simulation.trace[-SHOWN:]))
        raise
    finally:
        simulation.close()


def _check_end(simulation):
    simulation.check()
    runs = simulation.runs()
    completed = WorkflowExecutionStatus.WORKFLOW_EXECUTION_STATUS_COMPLETED
    ends = Counter(run.key.workflow_id for run in runs if run.state.core.status == completed)
    ends.pop(f"kid-{TERMINATED}", None)  # It may complete before its parent is terminated, or not even begin.
    assert ends == dict.fromkeys([*WORKFLOWS, *(f"kid-{name}" for name in WORKFLOWS)], 1)
    rest = [run for run in runs if TERMINATED in run.key.workflow_id.removeprefix("kid-")]
    assert Counter(run.key.workflow_id for run in rest)[TERMINATED] == 1
    assert len(rest) <= 2
    assert len(runs) - len(rest) == len(ends) + 1, "each workflow ran once, and one went on as a new run"
    arrived = Counter(
        (run.key.workflow_id, event.workflow_execution_signaled_event_attributes.request_id)
        for run in runs
        for event in run.events
        if event.event_type == T.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED
        and event.workflow_execution_signaled_event_attributes.signal_name == FROM_OUTSIDE
    )
    for request in simulation.acknowledged:
        if request.kind == "signal":
            assert arrived[request.workflow_id, request.request_id] >= 1, f"{request} is lost"
    assert all(count == 1 for (name, _), count in arrived.items() if name != "c"), "a signal came twice"
