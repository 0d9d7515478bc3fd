"""Parents and children: results, failures, cancellation, and what becomes of a child when its parent closes."""

import asyncio

from temporalio import workflow
from temporalio.exceptions import ApplicationError, ChildWorkflowError, WorkflowAlreadyStartedError


@workflow.defn
class ChildWorkflow:
    @workflow.run
    async def run(self, name: str) -> str:
        parent = workflow.info().parent
        return f"{name}, child of {parent.workflow_id if parent else 'nobody'}"


@workflow.defn
class FailingChildWorkflow:
    @workflow.run
    async def run(self, message: str) -> None:
        raise ApplicationError(message, type="ChildTrouble")


@workflow.defn
class WaitingChildWorkflow:
    """Waits until it is released or cancelled."""

    def __init__(self) -> None:
        self._released = False

    @workflow.run
    async def run(self) -> str:
        await workflow.wait_condition(lambda: self._released)
        return "released"

    @workflow.signal
    def release(self) -> None:
        self._released = True


@workflow.defn
class ParentWorkflow:
    @workflow.run
    async def run(self, names: list[str]) -> list[str]:
        own = workflow.info().workflow_id
        children = [
            workflow.execute_child_workflow(ChildWorkflow.run, name, id=f"{own}-{name}") for name in names
        ]
        return list(await asyncio.gather(*children))


@workflow.defn
class ParentOfFailureWorkflow:
    @workflow.run
    async def run(self) -> str:
        try:
            await workflow.execute_child_workflow(
                FailingChildWorkflow.run, "broken toy", id=f"{workflow.info().workflow_id}-child"
            )
        except ChildWorkflowError as error:
            cause = error.cause
            assert isinstance(cause, ApplicationError)
            return f"{cause.type}: {cause.message}"
        return "no failure"


@workflow.defn
class ParentThatClosesWorkflow:
    """Starts a child with the given parent close policy and completes while the child runs."""

    @workflow.run
    async def run(self, policy: int) -> str:
        child = await workflow.start_child_workflow(
            WaitingChildWorkflow.run,
            id=f"{workflow.info().workflow_id}-child",
            parent_close_policy=workflow.ParentClosePolicy(policy),
        )
        return child.id


@workflow.defn
class ParentThatWaitsWorkflow:
    @workflow.run
    async def run(self) -> str:
        return await workflow.execute_child_workflow(
            WaitingChildWorkflow.run, id=f"{workflow.info().workflow_id}-child"
        )


@workflow.defn
class ParentThatCancelsWorkflow:
    @workflow.run
    async def run(self) -> str:
        child = await workflow.start_child_workflow(
            WaitingChildWorkflow.run, id=f"{workflow.info().workflow_id}-child"
        )
        child.cancel()
        try:
            await child
        except ChildWorkflowError as error:
            return type(error.cause).__name__
        return "not cancelled"


@workflow.defn
class ParentOfRivalWorkflow:
    """Starts a child under an ID that is taken."""

    @workflow.run
    async def run(self, taken: str) -> str:
        try:
            await workflow.start_child_workflow(ChildWorkflow.run, "rival", id=taken)
        except WorkflowAlreadyStartedError as error:
            return f"already started: {error.workflow_id == taken}"
        return "started"


@workflow.defn
class SignallingParentWorkflow:
    """Releases its child, and signals another workflow that it is no relation of."""

    @workflow.run
    async def run(self, stranger: str) -> str:
        child = await workflow.start_child_workflow(
            WaitingChildWorkflow.run, id=f"{workflow.info().workflow_id}-child"
        )
        await child.signal(WaitingChildWorkflow.release)
        await workflow.get_external_workflow_handle(stranger).signal("release")
        return await child
