"""The workflows and activities of the common scenarios, in Python.

The one thing a newcomer gets wrong: names and behaviour are those of `../typescript/src/common-workflows.js` and
`../go/workflows.go`; the three say the same thing in three languages.
"""

import asyncio
from datetime import timedelta

from temporalio import activity, workflow
from temporalio.common import RetryPolicy
from temporalio.exceptions import ActivityError, ApplicationError, ChildWorkflowError

SHORT = timedelta(seconds=20)
QUICK_RETRIES = RetryPolicy(
    initial_interval=timedelta(milliseconds=50), backoff_coefficient=1.0, maximum_attempts=5
)


@activity.defn
async def greet(name: str) -> str:
    return f"Hello, {name}!"


@activity.defn(name="greetOnThirdAttempt")
async def greet_on_third_attempt(name: str) -> str:
    attempt = activity.info().attempt
    if attempt < 3:
        raise ApplicationError(f"attempt {attempt} fails", type="NotYet")
    return f"Hello, {name}, on attempt {attempt}!"


@activity.defn(name="failForever")
async def fail_forever(message: str) -> str:
    raise ApplicationError(message, type="Hopeless", non_retryable=True)


@activity.defn
async def audit(amount: int) -> int:
    return amount


@activity.defn(name="heartbeatUntilCancelled")
async def heartbeat_until_cancelled() -> None:
    while True:
        activity.heartbeat()
        await asyncio.sleep(0.05)


ACTIVITIES = [greet, greet_on_third_attempt, fail_forever, audit, heartbeat_until_cancelled]


@workflow.defn(name="OneActivity")
class OneActivity:
    @workflow.run
    async def run(self, name: str) -> str:
        return await workflow.execute_activity(greet, name, start_to_close_timeout=SHORT)


@workflow.defn(name="RetriedActivity")
class RetriedActivity:
    @workflow.run
    async def run(self, name: str) -> str:
        return await workflow.execute_activity(
            greet_on_third_attempt, name, start_to_close_timeout=SHORT, retry_policy=QUICK_RETRIES
        )


@workflow.defn(name="FailingActivity")
class FailingActivity:
    @workflow.run
    async def run(self, message: str) -> str:
        return await workflow.execute_activity(
            fail_forever, message, start_to_close_timeout=SHORT, retry_policy=QUICK_RETRIES
        )


@workflow.defn(name="LocalActivities")
class LocalActivities:
    @workflow.run
    async def run(self, name: str) -> list[str]:
        first = await workflow.execute_local_activity(greet, name, start_to_close_timeout=SHORT)
        second = await workflow.execute_local_activity(
            greet_on_third_attempt, name, start_to_close_timeout=SHORT, retry_policy=QUICK_RETRIES
        )
        return [first, second]


@workflow.defn(name="Conversation")
class Conversation:
    def __init__(self) -> None:
        self._heard: list[str] = []
        self._done = False

    @workflow.run
    async def run(self) -> list[str]:
        await workflow.wait_condition(lambda: self._done)
        return self._heard

    @workflow.signal
    def say(self, text: str) -> None:
        self._heard.append(text)

    @workflow.signal
    def finish(self) -> None:
        self._done = True

    @workflow.query
    def heard(self) -> list[str]:
        return self._heard

    @workflow.query(name="heardFirst")
    def heard_first(self, count: int) -> list[str]:
        return self._heard[:count]

    @workflow.query
    def broken(self) -> str:
        raise ApplicationError("this query always fails")


@workflow.defn(name="Nap")
class Nap:
    @workflow.run
    async def run(self, milliseconds: int) -> str:
        await workflow.sleep(timedelta(milliseconds=milliseconds))
        return "awake"


@workflow.defn(name="Account")
class Account:
    @workflow.init
    def __init__(self, opening: int) -> None:
        self._balance = opening
        self._done = False

    @workflow.run
    async def run(self, _: int) -> int:
        await workflow.wait_condition(lambda: self._done)
        return self._balance

    @workflow.update
    def deposit(self, amount: int) -> int:
        self._balance += amount
        return self._balance

    @deposit.validator
    def check_deposit(self, amount: int) -> None:
        if amount <= 0:
            raise ApplicationError("an amount must be positive")

    @workflow.update(name="depositAfterAudit")
    async def deposit_after_audit(self, amount: int) -> int:
        self._balance += await workflow.execute_activity(audit, amount, start_to_close_timeout=SHORT)
        return self._balance

    @workflow.update
    def withdraw(self, amount: int) -> int:
        if amount > self._balance:
            raise ApplicationError(f"only {self._balance} there", type="Overdrawn")
        self._balance -= amount
        return self._balance

    @workflow.query
    def balance(self) -> int:
        return self._balance

    @workflow.signal
    def finish(self) -> None:
        self._done = True


def child_id() -> str:
    return f"{workflow.info().workflow_id}-child"


@workflow.defn(name="Parent")
class Parent:
    @workflow.run
    async def run(self, name: str) -> str:
        return await workflow.execute_child_workflow(Child.run, name, id=child_id())


@workflow.defn(name="Child")
class Child:
    @workflow.run
    async def run(self, name: str) -> str:
        parent = workflow.info().parent
        return f"{name}, child of {parent.workflow_id if parent else 'nobody'}"


@workflow.defn(name="ParentOfFailure")
class ParentOfFailure:
    @workflow.run
    async def run(self, message: str) -> str:
        try:
            await workflow.execute_child_workflow(FailingChild.run, message, id=child_id())
        except ChildWorkflowError as error:
            if isinstance(error.cause, ApplicationError):
                return error.cause.type or "no type"
        return "no failure"


@workflow.defn(name="FailingChild")
class FailingChild:
    @workflow.run
    async def run(self, message: str) -> None:
        raise ApplicationError(message, type="Hopeless")


@workflow.defn(name="SignallingParent")
class SignallingParent:
    @workflow.run
    async def run(self, text: str) -> str:
        child = await workflow.start_child_workflow(Listener.run, id=child_id())
        await child.signal(Listener.tell, text)
        return await child


@workflow.defn(name="Listener")
class Listener:
    def __init__(self) -> None:
        self._told: str | None = None

    @workflow.run
    async def run(self) -> str:
        await workflow.wait_condition(lambda: self._told is not None)
        return self._told or ""

    @workflow.signal
    def tell(self, text: str) -> None:
        self._told = text


@workflow.defn(name="CancelledParent")
class CancelledParent:
    @workflow.run
    async def run(self) -> None:
        await workflow.execute_child_workflow(
            Sleeper.run,
            id=child_id(),
            cancellation_type=workflow.ChildWorkflowCancellationType.WAIT_CANCELLATION_COMPLETED,
        )


@workflow.defn(name="Sleeper")
class Sleeper:
    @workflow.run
    async def run(self) -> None:
        await workflow.wait_condition(lambda: False)


@workflow.defn(name="Countdown")
class Countdown:
    @workflow.run
    async def run(self, left: int, runs: int) -> int:
        if left > 0:
            workflow.continue_as_new(args=[left - 1, runs + 1])
        return runs


@workflow.defn(name="CleaningUp")
class CleaningUp:
    def __init__(self) -> None:
        self._state = "waiting"

    @workflow.run
    async def run(self) -> None:
        try:
            await workflow.wait_condition(lambda: False)
        except asyncio.CancelledError:
            await asyncio.shield(self._clean())
            raise

    async def _clean(self) -> None:
        await workflow.execute_activity(greet, "broom", start_to_close_timeout=SHORT)
        self._state = "clean"

    @workflow.query
    def state(self) -> str:
        return self._state


@workflow.defn(name="CancelledTimer")
class CancelledTimer:
    @workflow.run
    async def run(self) -> str:
        try:
            await workflow.sleep(timedelta(hours=1))
        except asyncio.CancelledError:
            return "woken"
        return "slept"


@workflow.defn(name="CancelledActivity")
class CancelledActivity:
    @workflow.run
    async def run(self) -> str:
        try:
            await workflow.execute_activity(
                heartbeat_until_cancelled,
                start_to_close_timeout=timedelta(minutes=1),
                heartbeat_timeout=timedelta(seconds=5),
                cancellation_type=workflow.ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
            )
        except ActivityError:
            return "the activity was cancelled"
        return "the activity completed"


WORKFLOWS = [
    Account,
    CancelledActivity,
    CancelledParent,
    CancelledTimer,
    Child,
    CleaningUp,
    Conversation,
    Countdown,
    FailingActivity,
    FailingChild,
    Listener,
    LocalActivities,
    Nap,
    OneActivity,
    Parent,
    ParentOfFailure,
    RetriedActivity,
    SignallingParent,
    Sleeper,
]
