"""Settings of functions: complete and sensible, or a refusal that names everything at once."""

import pytest

from durable_core.config import AwsSettings, BadSettings, aws_settings, is_traced

ENVIRONMENT = {
    "PERDURE_PREFIX": "orders-prod",
    "PERDURE_SERVICE_QUEUE_URL": "https://sqs/1/service.fifo",
    "PERDURE_TIMER_QUEUE_URL": "https://sqs/1/timers",
    "PERDURE_TIMER_QUEUE_ARN": "arn:timers",
    "PERDURE_SCHEDULE_GROUP": "group",
    "PERDURE_SCHEDULE_ROLE_ARN": "arn:role",
    "PERDURE_TIMER_DEAD_LETTER_QUEUE_ARN": "arn:timer-dead-letters",
    "PERDURE_STREAM_DEAD_LETTER_QUEUE_URL": "https://sqs/1/stream-dead-letters",
}


def test_what_is_not_said_has_its_default():
    assert aws_settings(ENVIRONMENT) == AwsSettings(
        prefix="orders-prod",
        service_queue_url="https://sqs/1/service.fifo",
        timer_queue_url="https://sqs/1/timers",
        timer_queue_arn="arn:timers",
        schedule_group="group",
        schedule_role_arn="arn:role",
        timer_dead_letter_queue_arn="arn:timer-dead-letters",
        stream_dead_letter_queue_url="https://sqs/1/stream-dead-letters",
        shards=4096,
        fast_path=True,
        log_level="INFO",
        default_retention_days=1,
    )


def test_everything_can_be_said():
    said = {
        "PERDURE_SHARDS": "16",
        "PERDURE_FAST_PATH": "off",
        "PERDURE_LOG_LEVEL": "DEBUG",
        "PERDURE_DEFAULT_RETENTION_DAYS": "30",
    }
    settings = aws_settings(ENVIRONMENT | said)
    assert (settings.shards, settings.fast_path) == (16, False)
    assert (settings.log_level, settings.default_retention_days) == ("DEBUG", 30)


def test_the_process_environment_is_read_when_no_other_is_given(monkeypatch):
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    assert aws_settings() == aws_settings(ENVIRONMENT)


def test_all_that_is_missing_is_named_at_once():
    with pytest.raises(BadSettings) as refusal:
        aws_settings({})
    for name in ENVIRONMENT:
        assert f"{name} is not set" in str(refusal.value)


@pytest.mark.parametrize(
    "name, value",
    [
        ("PERDURE_PREFIX", "under_score"),
        ("PERDURE_PREFIX", "x" * 31),
        ("PERDURE_PREFIX", "-begins"),
        ("PERDURE_SHARDS", "0"),
        ("PERDURE_SHARDS", "many"),
        ("PERDURE_SHARDS", "-1"),
        ("PERDURE_SHARDS", "99999999"),
        ("PERDURE_FAST_PATH", "true"),
        ("PERDURE_LOG_LEVEL", "info"),
        ("PERDURE_DEFAULT_RETENTION_DAYS", "1.5"),
    ],
)
def test_a_value_that_makes_no_sense_is_named_with_what_would(name, value):
    with pytest.raises(BadSettings, match=f'{name} must be .*: got "{value}"'):
        aws_settings(ENVIRONMENT | {name: value})


@pytest.mark.parametrize(
    "environment, traced",
    [
        ({}, False),
        ({"LAMBDA_TASK_ROOT": "/var/task"}, True),
        ({"LAMBDA_TASK_ROOT": "/var/task", "POWERTOOLS_TRACE_DISABLED": "true"}, False),
        ({"LAMBDA_TASK_ROOT": "/var/task", "POWERTOOLS_TRACE_DISABLED": "false"}, True),
    ],
)
def test_calls_are_traced_in_lambda_unless_powertools_is_told_not_to(environment, traced):
    assert is_traced(environment) == traced
