"""Identifiers that stored data depends on."""

from collections import Counter

import pytest

from durable_core.model.ids import (
    TASK_ID_SEQUENCE_MAX,
    QueueKey,
    QueueKind,
    RunKey,
    WorkflowKey,
    is_uuid,
    shard_of,
    task_id,
)


def test_the_shard_of_a_workflow_id_never_changes():
    assert [shard_of(WorkflowKey("ns", f"order-{number}"), 4096) for number in range(4)] == STORED
    assert shard_of(WorkflowKey("ns", "order-1"), 1) == 0


STORED = [3563, 1472, 1000, 1219]


def test_shards_are_evenly_used():
    counted = Counter(shard_of(WorkflowKey("ns", f"order-{number}"), 8) for number in range(8_000))
    assert set(counted) == set(range(8))
    assert all(850 < count < 1_150 for count in counted.values())


def test_the_namespace_counts_for_the_shard():
    assert len({shard_of(WorkflowKey(f"ns-{number}", "order"), 4096) for number in range(20)}) > 15


def test_task_ids_rise_with_the_sequence_and_across_claims():
    ids = [task_id(1, 1), task_id(1, 2), task_id(1, TASK_ID_SEQUENCE_MAX), task_id(2, 0), task_id(3, 5)]
    assert ids == sorted(set(ids))


@pytest.mark.parametrize("sequence", [-1, TASK_ID_SEQUENCE_MAX + 1])
def test_a_sequence_that_does_not_fit_is_refused(sequence):
    with pytest.raises(ValueError, match="does not fit"):
        task_id(1, sequence)


def test_keys_lead_to_each_other_and_are_told_apart():
    run = RunKey("ns", "order", "run")
    assert run.workflow.run("run") == run
    assert len({run, RunKey("ns", "order", "run"), RunKey("ns", "order", "other")}) == 2
    assert len({run.workflow, WorkflowKey("ns", "order"), WorkflowKey("other", "order")}) == 2
    queues = {QueueKey("ns", "q", kind) for kind in QueueKind} | {QueueKey("ns", "q", QueueKind.WORKFLOW)}
    assert len(queues) == len(QueueKind)


@pytest.mark.parametrize(
    "text, valid",
    [
        ("00000000-0000-4000-8000-000000000001", True),
        ("ABCDEF00-0000-4000-8000-00000000000f", True),
        ("00000000-0000-4000-8000-00000000000", False),
        ("00000000-0000-4000-8000-000000000001\n", False),
        ("g0000000-0000-4000-8000-000000000001", False),
        ("{00000000-0000-4000-8000-000000000001}", False),
        ("", False),
    ],
)
def test_which_run_ids_have_the_form_of_one(text, valid):
    assert is_uuid(text) == valid
