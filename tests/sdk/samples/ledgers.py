"""A workflow that is updated: at once, after a rest, with an activity, with a child, never."""

from datetime import timedelta

from temporalio import workflow
from temporalio.exceptions import ApplicationError

from tests.sdk.samples.families import ChildWorkflow
from tests.sdk.samples.greetings import SHORT, greet


@workflow.defn
class LedgerWorkflow:
    """Writes down what it is told to, until it is told to end."""

    def __init__(self) -> None:
        self._entries: list[str] = []
        self._released = False
        self._done = False
        self._closing = False

    @workflow.run
    async def run(self, *_: str) -> list[str]:
        await workflow.wait_condition(lambda: self._done or self._closing)
        if not self._done:
            await workflow.wait_condition(workflow.all_handlers_finished)
        return self._entries

    @workflow.update
    def write(self, text: str) -> int:
        self._entries.append(text)
        return len(self._entries)

    @write.validator
    def check_text(self, text: str) -> None:
        if not text:
            raise ApplicationError("an entry needs a text", type="Empty")

    @workflow.update(unfinished_policy=workflow.HandlerUnfinishedPolicy.ABANDON)
    async def write_when_released(self, text: str) -> str:
        await workflow.wait_condition(lambda: self._released)
        return self._keep(text)

    @workflow.update
    async def write_greeting(self, name: str) -> str:
        return self._keep(await workflow.execute_activity(greet, name, start_to_close_timeout=SHORT))

    @workflow.update
    async def write_after_nap(self, text: str) -> str:
        await workflow.sleep(timedelta(milliseconds=50))
        return self._keep(text)

    @workflow.update
    async def write_from_child(self, name: str) -> str:
        child = f"{workflow.info().workflow_id}-{name}"
        return self._keep(await workflow.execute_child_workflow(ChildWorkflow.run, name, id=child))

    @workflow.update
    async def fail(self, message: str) -> None:
        raise ApplicationError(message, {"written": len(self._entries)}, type="Refused")

    @workflow.query
    def entries(self) -> list[str]:
        return self._entries

    @workflow.signal
    def release(self) -> None:
        self._released = True

    @workflow.signal
    def finish(self) -> None:
        """End at once, whatever is still being written."""
        self._done = True

    @workflow.signal
    def close_down(self) -> None:
        """End when everything is written."""
        self._closing = True

    def _keep(self, text: str) -> str:
        self._entries.append(text)
        return text
