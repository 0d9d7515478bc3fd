"""Whether and when something is tried again, against a table worked out by hand."""

import pytest
from google.protobuf.duration_pb2 import Duration
from temporalio.api.common.v1 import RetryPolicy as Message
from temporalio.api.enums.v1 import RetryState, TimeoutType
from temporalio.api.failure.v1 import (
    ApplicationFailureInfo,
    CanceledFailureInfo,
    Failure,
    ServerFailureInfo,
    TerminatedFailureInfo,
    TimeoutFailureInfo,
)

from durable_core.model import limits, retry
from durable_core.model.errors import InvalidArgument
from durable_core.model.state import RetryPolicy
from durable_core.model.times import SECOND, nanos

FOR_EVER = Duration(seconds=315_576_000_000)
POLICY = RetryPolicy(SECOND, 2.0, 100 * SECOND, 0)


@pytest.mark.parametrize(
    "initial, coefficient, maximum, attempt, seconds",
    [
        (1, 2.0, 100, 1, 1),
        (1, 2.0, 100, 2, 2),
        (1, 2.0, 100, 7, 64),
        (1, 2.0, 100, 8, 100),
        (1, 2.0, 100, 5_000, 100),
        (1, 2.0, 0, 11, 1024),
        (5, 1.0, 100, 40, 5),
        (3, 1.5, 100, 3, 6.75),
        (7, 2.0, 7, 1, 7),
        (7, 2.0, 5, 1, 5),
        (1, float("inf"), 100, 1, 1),
        (1, float("inf"), 100, 2, 100),
        (1, 1e300, 0, 9, limits.duration_max / SECOND),
        (1, 2.0, 0, 100_000, limits.duration_max / SECOND),
    ],
)
def test_the_back_off_grows_up_to_its_bound(initial, coefficient, maximum, attempt, seconds):
    delay = retry.exponential(initial * SECOND, coefficient, maximum * SECOND, attempt)
    assert delay == int(seconds * SECOND)


def decided(policy=POLICY, attempt=1, failure=None, now=0, expires_at=0, next_delay=0):
    verdict = retry.decide(policy, attempt, failure, now, expires_at, next_delay)
    return verdict.delay, verdict.state


def test_without_a_policy_nothing_is_retried():
    assert decided(None) == (None, RetryState.RETRY_STATE_RETRY_POLICY_NOT_SET)


@pytest.mark.parametrize("attempt, retried", [(1, True), (2, True), (3, False), (4, False)])
def test_the_number_of_attempts_is_bounded(attempt, retried):
    policy = RetryPolicy(SECOND, 1.0, SECOND, maximum_attempts=3)
    delay, state = decided(policy, attempt)
    assert (delay is not None) == retried
    assert state == (
        RetryState.RETRY_STATE_IN_PROGRESS if retried else RetryState.RETRY_STATE_MAXIMUM_ATTEMPTS_REACHED
    )


@pytest.mark.parametrize("late, retried", [(0, True), (1, False)])
def test_an_attempt_that_would_begin_after_the_expiration_is_none(late, retried):
    delay, state = decided(attempt=2, now=10 * SECOND + late, expires_at=12 * SECOND)
    assert (delay, state) == (
        (2 * SECOND, RetryState.RETRY_STATE_IN_PROGRESS)
        if retried
        else (None, RetryState.RETRY_STATE_TIMEOUT)
    )


@pytest.mark.parametrize(
    "wanted, delay",
    [
        (0, SECOND),
        (7 * SECOND, 7 * SECOND),
        (500 * SECOND, 500 * SECOND),
        (-5 * SECOND, 0),
        (nanos(FOR_EVER), limits.duration_max),
    ],
)
def test_a_failure_can_name_its_own_delay_also_above_the_maximum(wanted, delay):
    assert decided(next_delay=wanted)[0] == delay


def timeout(kind):
    return Failure(timeout_failure_info=TimeoutFailureInfo(timeout_type=kind))


@pytest.mark.parametrize(
    "failure, types, retryable",
    [
        (Failure(), (), True),
        (Failure(application_failure_info=ApplicationFailureInfo(type="Bad")), (), True),
        (Failure(application_failure_info=ApplicationFailureInfo(type="Bad")), ("Bad",), False),
        (Failure(application_failure_info=ApplicationFailureInfo(type="Bad")), ("Worse",), True),
        (Failure(application_failure_info=ApplicationFailureInfo(non_retryable=True)), (), False),
        (Failure(server_failure_info=ServerFailureInfo()), (), True),
        (Failure(server_failure_info=ServerFailureInfo(non_retryable=True)), (), False),
        (Failure(canceled_failure_info=CanceledFailureInfo()), (), False),
        (Failure(terminated_failure_info=TerminatedFailureInfo()), (), False),
        (timeout(TimeoutType.TIMEOUT_TYPE_START_TO_CLOSE), (), True),
        (timeout(TimeoutType.TIMEOUT_TYPE_HEARTBEAT), (), True),
        (timeout(TimeoutType.TIMEOUT_TYPE_HEARTBEAT), ("TemporalTimeout:StartToClose",), True),
        (timeout(TimeoutType.TIMEOUT_TYPE_HEARTBEAT), ("TemporalTimeout:Heartbeat",), False),
        (timeout(TimeoutType.TIMEOUT_TYPE_START_TO_CLOSE), ("TemporalTimeout:StartToClose",), False),
        (timeout(TimeoutType.TIMEOUT_TYPE_SCHEDULE_TO_START), (), False),
        (timeout(TimeoutType.TIMEOUT_TYPE_SCHEDULE_TO_CLOSE), (), False),
    ],
)
def test_which_failures_are_retried(failure, types, retryable):
    assert retry.is_retryable(failure, types) == retryable


def test_what_is_not_retryable_says_so_even_at_the_last_attempt():
    policy = RetryPolicy(SECOND, 1.0, SECOND, maximum_attempts=1)
    failure = Failure(application_failure_info=ApplicationFailureInfo(non_retryable=True))
    assert decided(policy, failure=failure) == (None, RetryState.RETRY_STATE_NON_RETRYABLE_FAILURE)


def filled(**fields):
    return retry.with_defaults(Message(**fields), SECOND, 2.0, 100)


def test_defaults_fill_what_is_unset_and_leave_the_rest():
    assert filled() == Message(
        initial_interval=Duration(seconds=1), backoff_coefficient=2.0, maximum_interval=Duration(seconds=100)
    )
    given = Message(
        initial_interval=Duration(seconds=3),
        backoff_coefficient=1.5,
        maximum_interval=Duration(seconds=4),
        maximum_attempts=5,
        non_retryable_error_types=["Bad"],
    )
    assert retry.with_defaults(given, SECOND, 2.0, 100) == given
    assert filled(initial_interval=Duration(seconds=3)).maximum_interval == Duration(seconds=300)


def test_the_message_that_is_filled_is_a_copy():
    given = Message()
    retry.with_defaults(given, SECOND, 2.0, 100)
    assert given == Message()


@pytest.mark.parametrize("fields", [{"initial_interval": FOR_EVER}, {"maximum_interval": FOR_EVER}])
def test_intervals_are_cut_to_what_can_be_stored(fields):
    policy = filled(**fields)
    retry.validate(policy)
    assert nanos(policy.maximum_interval) == limits.duration_max
    assert nanos(policy.initial_interval) <= limits.duration_max


def test_a_policy_survives_its_stored_form():
    policy = filled(maximum_attempts=5, non_retryable_error_types=["Bad", "Worse"])
    assert retry.message(retry.parsed(policy)) == policy


@pytest.mark.parametrize(
    "fields, message",
    [
        (
            {"initial_interval": Duration(seconds=-1)},
            "invalid InitialInterval set on retry policy: negative duration",
        ),
        (
            {"maximum_interval": Duration(seconds=-1)},
            "invalid MaximumInterval set on retry policy: negative duration",
        ),
        ({"backoff_coefficient": 0.9}, "BackoffCoefficient cannot be less than 1 on retry policy."),
        ({"backoff_coefficient": float("nan")}, "BackoffCoefficient cannot be less than 1 on retry policy."),
        (
            {"initial_interval": Duration(seconds=5), "maximum_interval": Duration(seconds=4)},
            "MaximumInterval cannot be less than InitialInterval on retry policy.",
        ),
        ({"maximum_attempts": -1}, "MaximumAttempts cannot be negative on retry policy."),
    ],
)
def test_a_policy_that_cannot_be_followed_is_refused_unless_it_allows_one_attempt_only(fields, message):
    with pytest.raises(InvalidArgument) as raised:
        retry.validate(filled(**fields))
    assert raised.value.message == message
    if "maximum_attempts" not in fields:
        retry.validate(filled(maximum_attempts=1, **fields))
