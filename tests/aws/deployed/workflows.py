"""The workflows and activities of this folder's tests, as their authors would write them.

A newcomer's trap: the SDK imports a workflow's module anew inside a sandbox, so nothing else may stand in it.
"""

from datetime import timedelta

from temporalio import activity, workflow
from temporalio.common import RetryPolicy

SECOND = timedelta(seconds=1)


@activity.defn
async def greet(name: str) -> str:
    return f"Hello, {name}!"


@activity.defn
async def third_time_lucky() -> int:
    attempt = activity.info().attempt
    if attempt < 3:
        raise RuntimeError(f"attempt {attempt}")
    return attempt


@activity.defn
async def hopeless() -> None:
    raise RuntimeError("always")


@workflow.defn
class Hello:
    @workflow.run
    async def run(self, name: str) -> str:
        return await workflow.execute_activity(greet, name, start_to_close_timeout=30 * SECOND)


@workflow.defn
class Retrying:
    @workflow.run
    async def run(self) -> int:
        quickly = RetryPolicy(initial_interval=timedelta(milliseconds=100))
        return await workflow.execute_activity(
            third_time_lucky, start_to_close_timeout=30 * SECOND, retry_policy=quickly
        )


@workflow.defn
class Failing:
    @workflow.run
    async def run(self) -> None:
        once = RetryPolicy(maximum_attempts=1)
        await workflow.execute_activity(hopeless, start_to_close_timeout=30 * SECOND, retry_policy=once)


@workflow.defn
class Sleeping:
    @workflow.run
    async def run(self, seconds: float) -> float:
        began = workflow.now()
        await workflow.sleep(seconds)
        return (workflow.now() - began).total_seconds()


@workflow.defn
class Waiting:
    def __init__(self) -> None:
        self.seen: list[str] = []

    @workflow.run
    async def run(self) -> list[str]:
        await workflow.wait_condition(lambda: "end" in self.seen)
        return self.seen

    @workflow.signal
    def tell(self, word: str) -> None:
        self.seen.append(word)

    @workflow.query
    def told(self) -> int:
        return len(self.seen)

    @workflow.update
    async def ask(self, word: str) -> int:
        self.seen.append(word)
        return len(self.seen)


@workflow.defn
class Parent:
    @workflow.run
    async def run(self, name: str) -> str:
        return await workflow.execute_child_workflow(
            Hello.run, name, id=f"{workflow.info().workflow_id}-child"
        )


@workflow.defn
class Counting:
    @workflow.run
    async def run(self, left: int) -> str:
        if left:
            workflow.continue_as_new(left - 1)
        return workflow.info().continued_run_id or ""


ACTIVITIES = [greet, third_time_lucky, hopeless]
WORKFLOWS = [Hello, Retrying, Failing, Sleeping, Waiting, Parent, Counting]
