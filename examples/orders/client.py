"""Start, approve and watch orders: `python -m examples.orders.client {start,status,approve,result} ORDER-ID`."""

import argparse
import asyncio

from temporalio.client import Client

from examples.orders.values import TASK_QUEUE, Approval, Order
from examples.orders.workflows import OrderWorkflow


async def main(options: argparse.Namespace) -> None:
    """Do what the command says, and print what came of it."""
    client = await Client.connect(options.address)
    handle = client.get_workflow_handle_for(OrderWorkflow.run, options.order_id)
    match options.command:
        case "start":
            order = Order(options.order_id, options.item, options.cents)
            started = await client.start_workflow(
                OrderWorkflow.run, order, id=order.order_id, task_queue=TASK_QUEUE
            )
            print(f"Started {started.id}, run {started.first_execution_run_id}")
        case "status":
            print(await handle.query(OrderWorkflow.status))
        case "approve":
            await handle.signal(OrderWorkflow.approve, Approval(options.by, agreed=not options.refuse))
            print("Told.")
        case _:
            print(await handle.result())


def parse() -> argparse.Namespace:
    """The command line's words."""
    parser = argparse.ArgumentParser(description="Talk to orders.")
    parser.add_argument("command", choices=["start", "status", "approve", "result"])
    parser.add_argument("order_id", help="which order")
    parser.add_argument("--address", default="127.0.0.1:7233", help="the server (%(default)s)")
    parser.add_argument("--item", default="lamp", help="start: what is ordered (%(default)s)")
    parser.add_argument("--cents", type=int, default=4950, help="start: what it costs (%(default)s)")
    parser.add_argument("--by", default="somebody", help="approve: who says so (%(default)s)")
    parser.add_argument("--refuse", action="store_true", help="approve: say no")
    return parser.parse_args()


if __name__ == "__main__":
    asyncio.run(main(parse()))
