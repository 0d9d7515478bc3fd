"""Retry arithmetic: whether and when an activity or a workflow is tried again.

Source of the rules: the Temporal server's retry behaviour (exponential back-off, expiration, non-retryable types).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from temporalio.api.common.v1 import RetryPolicy as RetryPolicyMessage
from temporalio.api.enums.v1 import RetryState, TimeoutType
from temporalio.api.failure.v1 import Failure

from durable_core.model import limits
from durable_core.model.errors import InvalidArgument
from durable_core.model.state import RetryPolicy
from durable_core.model.times import duration, nanos

_INTERVAL_MAX = limits.duration_max


@dataclass(frozen=True, slots=True)
class Verdict:
    """`delay` (ns) when there is another attempt, else None; `state` says why there is none."""

    delay: int | None
    state: "RetryState.ValueType"


def exponential(initial: int, coefficient: float, maximum: int, attempt: int) -> int:
    """The back-off in ns after `attempt` (counted from 1) attempts; 0 for `maximum` means no bound."""
    try:
        interval = initial * coefficient ** (attempt - 1)
    except OverflowError:
        interval = float(_INTERVAL_MAX)
    bound = maximum or _INTERVAL_MAX
    return bound if interval >= bound else int(interval)


def with_defaults(
    policy: RetryPolicyMessage, interval: int, coefficient: float, factor: int
) -> RetryPolicyMessage:
    """A copy with the unset fields filled in and the intervals bounded, as it is written to the history."""
    filled = RetryPolicyMessage()
    filled.CopyFrom(policy)
    if not nanos(filled.initial_interval):
        filled.initial_interval.CopyFrom(duration(interval))
    if not filled.backoff_coefficient:
        filled.backoff_coefficient = coefficient
    if not nanos(filled.maximum_interval):
        filled.maximum_interval.CopyFrom(duration(nanos(filled.initial_interval) * factor))
    for value in (filled.initial_interval, filled.maximum_interval):
        if nanos(value) > limits.duration_max:
            value.CopyFrom(duration(limits.duration_max))
    return filled


def validate(policy: RetryPolicyMessage) -> None:
    """Raise `InvalidArgument` for a policy (defaults filled in) that cannot be followed."""
    initial, maximum = nanos(policy.initial_interval), nanos(policy.maximum_interval)
    if policy.maximum_attempts == 1:
        return  # No retry follows, so the rest does not matter.
    if initial < 0:
        raise InvalidArgument("invalid InitialInterval set on retry policy: negative duration")
    if not policy.backoff_coefficient >= 1:  # What is not a number is not less than 1 either.
        raise InvalidArgument("BackoffCoefficient cannot be less than 1 on retry policy.")
    if maximum < 0:
        raise InvalidArgument("invalid MaximumInterval set on retry policy: negative duration")
    if 0 < maximum < initial:
        raise InvalidArgument("MaximumInterval cannot be less than InitialInterval on retry policy.")
    if policy.maximum_attempts < 0:
        raise InvalidArgument("MaximumAttempts cannot be negative on retry policy.")


def parsed(policy: RetryPolicyMessage) -> RetryPolicy:
    return RetryPolicy(
        initial_interval=nanos(policy.initial_interval),
        coefficient=policy.backoff_coefficient,
        maximum_interval=nanos(policy.maximum_interval),
        maximum_attempts=policy.maximum_attempts,
        non_retryable_types=tuple(policy.non_retryable_error_types),
    )


def message(policy: RetryPolicy) -> RetryPolicyMessage:
    return RetryPolicyMessage(
        initial_interval=duration(policy.initial_interval),
        backoff_coefficient=policy.coefficient,
        maximum_interval=duration(policy.maximum_interval),
        maximum_attempts=policy.maximum_attempts,
        non_retryable_error_types=policy.non_retryable_types,
    )


def is_retryable(failure: Failure, non_retryable_types: Sequence[str]) -> bool:
    """Whether a failure may be tried again at all.

    Cancellation and termination may not; time-outs may, but for schedule-to-start and schedule-to-close ones.
    """
    kind = failure.WhichOneof("failure_info")
    if kind in ("terminated_failure_info", "canceled_failure_info"):
        return False
    if kind == "timeout_failure_info":
        retried = (TimeoutType.TIMEOUT_TYPE_START_TO_CLOSE, TimeoutType.TIMEOUT_TYPE_HEARTBEAT)
        name = "TemporalTimeout:" + _TIMEOUT_NAMES.get(failure.timeout_failure_info.timeout_type, "")
        return failure.timeout_failure_info.timeout_type in retried and name not in non_retryable_types
    if kind == "server_failure_info":
        return not failure.server_failure_info.non_retryable
    if kind == "application_failure_info":
        info = failure.application_failure_info
        return not info.non_retryable and info.type not in non_retryable_types
    return True


_TIMEOUT_NAMES: dict[int, str] = {
    TimeoutType.TIMEOUT_TYPE_START_TO_CLOSE: "StartToClose",
    TimeoutType.TIMEOUT_TYPE_HEARTBEAT: "Heartbeat",
}


def decide(
    policy: RetryPolicy | None,
    attempt: int,
    failure: Failure | None,
    now: int,
    expires_at: int,
    next_delay: int = 0,
) -> Verdict:
    """Whether another attempt follows the `attempt`-th, and after how many ns.

    `expires_at` (ns since the epoch, 0: never) bounds the next attempt's start; `next_delay` overrides the back-off
    (a negative one: at once).
    """
    if policy is None:
        return Verdict(None, RetryState.RETRY_STATE_RETRY_POLICY_NOT_SET)
    if failure is not None and not is_retryable(failure, policy.non_retryable_types):
        return Verdict(None, RetryState.RETRY_STATE_NON_RETRYABLE_FAILURE)
    if policy.maximum_attempts and attempt >= policy.maximum_attempts:
        return Verdict(None, RetryState.RETRY_STATE_MAXIMUM_ATTEMPTS_REACHED)
    if next_delay:
        delay = min(max(next_delay, 0), limits.duration_max)
    else:
        delay = exponential(policy.initial_interval, policy.coefficient, policy.maximum_interval, attempt)
    if expires_at and now + delay > expires_at:
        return Verdict(None, RetryState.RETRY_STATE_TIMEOUT)
    return Verdict(delay, RetryState.RETRY_STATE_IN_PROGRESS)
