"""Parameters are refused before anything is deployed, and say what they take."""

import pytest

from infra.parameters import Parameters, UnknownParameter


@pytest.mark.parametrize(
    "given",
    [
        {"authorization": "open"},
        {"authorization": "bearer"},
        {"architecture": "arm"},
        {"shards": "0"},
        {"shards": "many"},
        {"fast_path": "maybe"},
        {"tables": "delete"},
        {"log_level": "chatty"},
        {"memory": "64"},
        {"retention_days": "0"},
        {"name": "urls"},
        {"name": "Perdure"},
        {"name": "-"},
        {"name": "a" * 31},
    ],
    ids=str,
)
def test_a_value_that_a_parameter_does_not_take_is_refused_by_the_parameters_name(given):
    with pytest.raises(UnknownParameter, match=next(iter(given))):
        Parameters.of(given)


def test_texts_become_what_the_parameter_is():
    parameters = Parameters.of({"shards": "64", "fast_path": "off", "tracing": "on", "memory": 512})
    assert (parameters.shards, parameters.fast_path, parameters.tracing, parameters.memory) == (
        64,
        False,
        True,
        512,
    )


def test_what_is_not_given_has_its_default():
    assert Parameters.of_context(lambda name: None) == Parameters()
    assert Parameters().authorization == "iam"


def test_the_longest_name_leaves_every_queue_within_what_sqs_takes():
    from durable_core.schema.queues import task_queue_name

    prefix = "a" * 30
    assert Parameters(name=prefix).name == prefix
    assert len(task_queue_name(prefix, "a-namespace", 1, "a-queue" * 100)) <= 80
    assert len(f"{prefix}-service-dead-letters.fifo") <= 80
