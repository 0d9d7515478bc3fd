"""The orders' worker: `python -m examples.orders.worker [--address HOST:PORT]`. Run as many as you need."""

import argparse
import asyncio

from temporalio.client import Client
from temporalio.worker import Worker

from examples.orders.activities import OrderActivities
from examples.orders.values import TASK_QUEUE
from examples.orders.workflows import OrderWorkflow, ShippingWorkflow


def make_worker(client: Client, activities: OrderActivities, task_queue: str = TASK_QUEUE) -> Worker:
    """A worker for both workflows and all their activities; tests give activities and a task queue of their own."""
    return Worker(
        client,
        task_queue=task_queue,
        workflows=[OrderWorkflow, ShippingWorkflow],
        activities=[
            activities.reserve_stock,
            activities.release_stock,
            activities.charge_card,
            activities.book_courier,
        ],
    )


async def main(address: str) -> None:
    """Work until interrupted."""
    client = await Client.connect(address)
    print(f"Working on {TASK_QUEUE} at {address}; Ctrl-C ends it.")
    await make_worker(client, OrderActivities()).run()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Work on orders.")
    parser.add_argument("--address", default="127.0.0.1:7233", help="the server (%(default)s)")
    try:
        asyncio.run(main(parser.parse_args().address))
    except KeyboardInterrupt:
        print("Stopped.")
