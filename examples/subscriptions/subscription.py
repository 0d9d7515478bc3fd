"""A subscription: one workflow per customer that charges every period until it is cancelled, for years if need be.

    python -m examples.subscriptions.subscription worker
    python -m examples.subscriptions.subscription start ada --cents 900 --period-seconds 5
    python -m examples.subscriptions.subscription {show,upgrade,cancel} ada

The one thing a newcomer gets wrong: a workflow that runs for ever must not have one history for ever. It goes on
as a new run when the server suggests it, and hands over everything it knows as that run's argument.
"""

import argparse
import asyncio
from dataclasses import dataclass, replace
from datetime import timedelta

from temporalio import activity, workflow
from temporalio.client import Client
from temporalio.worker import Worker

TASK_QUEUE = "example-subscriptions"


@dataclass(frozen=True)
class Subscription:
    """Everything that a run hands to the next one."""

    customer: str
    amount_cents: int
    period_seconds: float
    periods_charged: int = 0
    # How many periods a run charges before it goes on as a new one, whatever the server suggests.
    periods_per_run_max: int = 500


@activity.defn
async def charge(customer: str, amount_cents: int, period_number: int) -> None:
    """Charge one period; the period's number makes a repeated call recognizable."""
    activity.logger.info("charged %s %d cents for period %d", customer, amount_cents, period_number)


@activity.defn
async def say_farewell(customer: str) -> None:
    """Tell the customer that it is over."""
    activity.logger.info("farewell, %s", customer)


@workflow.defn
class SubscriptionWorkflow:
    """One customer's subscription."""

    @workflow.init
    def __init__(self, subscription: Subscription) -> None:
        self._subscription = subscription
        self._cancelled = False

    @workflow.run
    async def run(self, subscription: Subscription) -> int:
        """Charge period after period; return how many there were when the customer leaves."""
        charged_before = subscription.periods_charged
        while not self._cancelled:
            await self._charge_one_period()
            # A wait that ends early only when the customer leaves: a timer and a signal at once.
            try:
                await workflow.wait_condition(
                    lambda: self._cancelled, timeout=self._subscription.period_seconds
                )
            except TimeoutError:
                self._go_on_as_new_if_long(charged_before)
        await workflow.execute_activity(
            say_farewell, self._subscription.customer, start_to_close_timeout=timedelta(seconds=10)
        )
        return self._subscription.periods_charged

    @workflow.signal
    def cancel(self) -> None:
        """The customer leaves; the current period has been paid for."""
        self._cancelled = True

    @workflow.signal
    def change_amount(self, amount_cents: int) -> None:
        """From the next period on the customer pays this."""
        self._subscription = replace(self._subscription, amount_cents=amount_cents)

    @workflow.query
    def show(self) -> Subscription:
        """The subscription as it stands."""
        return self._subscription

    async def _charge_one_period(self) -> None:
        number = self._subscription.periods_charged + 1
        await workflow.execute_activity(
            charge,
            args=[self._subscription.customer, self._subscription.amount_cents, number],
            start_to_close_timeout=timedelta(seconds=10),
        )
        self._subscription = replace(self._subscription, periods_charged=number)

    def _go_on_as_new_if_long(self, charged_before: int) -> None:
        in_this_run = self._subscription.periods_charged - charged_before
        is_long = in_this_run >= self._subscription.periods_per_run_max
        if is_long or workflow.info().is_continue_as_new_suggested():
            workflow.continue_as_new(self._subscription)


def make_worker(client: Client, task_queue: str = TASK_QUEUE) -> Worker:
    """A worker for subscriptions."""
    return Worker(
        client, task_queue=task_queue, workflows=[SubscriptionWorkflow], activities=[charge, say_farewell]
    )


async def main(options: argparse.Namespace) -> None:
    """Do what the command says."""
    client = await Client.connect(options.address)
    handle = client.get_workflow_handle_for(SubscriptionWorkflow.run, f"subscription-{options.customer}")
    match options.command:
        case "worker":
            print(f"Working on {TASK_QUEUE} at {options.address}; Ctrl-C ends it.")
            await make_worker(client).run()
        case "start":
            wanted = Subscription(options.customer, options.cents, options.period_seconds)
            await client.start_workflow(SubscriptionWorkflow.run, wanted, id=handle.id, task_queue=TASK_QUEUE)
            print(f"Started {handle.id}")
        case "upgrade":
            await handle.signal(SubscriptionWorkflow.change_amount, options.cents)
        case "cancel":
            await handle.signal(SubscriptionWorkflow.cancel)
            print(f"Paid {await handle.result()} periods")
        case _:
            print(await handle.query(SubscriptionWorkflow.show))


def parse() -> argparse.Namespace:
    """The command line's words."""
    parser = argparse.ArgumentParser(description="A subscription that runs until it is cancelled.")
    parser.add_argument("command", choices=["worker", "start", "show", "upgrade", "cancel"])
    parser.add_argument("customer", nargs="?", default="ada")
    parser.add_argument("--address", default="127.0.0.1:7233", help="the server (%(default)s)")
    parser.add_argument("--cents", type=int, default=900, help="what a period costs (%(default)s)")
    parser.add_argument("--period-seconds", type=float, default=30.0, help="how long one is (%(default)s)")
    return parser.parse_args()


if __name__ == "__main__":
    asyncio.run(main(parse()))
