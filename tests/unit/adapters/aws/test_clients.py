"""AWS's clients: each with its bounds, made when it is used, all of one session."""

import pytest
from botocore.exceptions import EndpointConnectionError

from durable_core.adapters.aws.clients import LONG_POLL_SECONDS_MAX, Clients, code_of, unavailable
from durable_core.model.errors import Unavailable

from .sqs import refused


@pytest.fixture
def clients(monkeypatch):
    for name, value in (("REGION", "eu-west-1"), ("ACCESS_KEY_ID", "key"), ("SECRET_ACCESS_KEY", "secret")):
        monkeypatch.setenv(f"AWS_{name.replace('REGION', 'DEFAULT_REGION')}", value)
    return Clients()


def test_a_client_is_made_once(clients):
    assert clients.sqs is clients.sqs
    assert clients.sqs.meta.region_name == "eu-west-1"


def test_a_long_poll_may_take_longer_than_sqs_waits_and_nothing_else_may(clients):
    assert clients.sqs_long_polls.meta.config.read_timeout > LONG_POLL_SECONDS_MAX
    assert clients.sqs_long_polls.meta.config.retries["total_max_attempts"] == 1
    assert clients.sqs.meta.config.read_timeout <= 5
    assert clients.scheduler.meta.config.read_timeout <= 5


def test_hasty_clients_share_the_session_and_give_up_sooner(clients):
    hasty = clients.with_bounds(1.5, 1)
    assert hasty._session is clients._session
    assert hasty.sqs.meta.config.read_timeout == 1.5
    assert hasty.sqs.meta.config.retries["total_max_attempts"] == 1


@pytest.mark.parametrize("error", [refused("Any"), EndpointConnectionError(endpoint_url="https://sqs")])
def test_whatever_aws_refuses_is_unavailable_and_says_what_was_tried(error):
    with pytest.raises(Unavailable, match="sending tasks: "), unavailable("sending tasks"):
        raise error


def test_a_code_is_told_without_the_services_prefix():
    assert code_of(refused("AWS.SimpleQueueService.NonExistentQueue")) == "NonExistentQueue"
    assert code_of(refused("ConflictException")) == "ConflictException"
