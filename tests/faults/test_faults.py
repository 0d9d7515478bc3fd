"""Whatever function dies wherever, and whatever AWS repeats, reorders or refuses: each workflow does its work once."""

from collections import Counter
from random import Random

import pytest
from temporalio.api.enums.v1 import EventType as T
from temporalio.api.enums.v1 import WorkflowExecutionStatus

from durable_core.adapters.aws import messages
from durable_core.model.errors import AmbiguousCommit, Conflict, ShardOwnershipLost, Throttled
from durable_core.model.ids import QueueKey, QueueKind
from durable_core.model.tasks import ActivityTask, WorkflowTask
from durable_core.model.times import SECOND
from tests.properties.world import QUEUE

from .deployment import BATCH, Deployment
from .driver import Driver
from .simulated_aws import Killed, refused

COMPLETED = WorkflowExecutionStatus.WORKFLOW_EXECUTION_STATUS_COMPLETED


@pytest.fixture
def deploy():
    opened = []

    def deploy(**settings):
        opened.append(Deployment(**settings))
        return opened[-1]

    yield deploy
    for deployment in opened:
        deployment.close()


def finished(deployment, *workflow_ids):
    """Each did its work once, and its history says so."""
    deployment.check()
    runs = deployment.runs()
    ends = Counter(run.key.workflow_id for run in runs if run.state.core.status == COMPLETED)
    assert ends == dict.fromkeys([*workflow_ids, *(f"kid-{name}" for name in workflow_ids)], 1)
    for run in runs:
        if run.key.workflow_id in workflow_ids and run.state.core.status == COMPLETED:
            kinds = Counter(event.event_type for event in run.events)
            assert kinds[T.EVENT_TYPE_ACTIVITY_TASK_COMPLETED] == 2
            assert kinds[T.EVENT_TYPE_TIMER_FIRED] == 1
            assert kinds[T.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_COMPLETED] == 1


def run(deployment, *workflow_ids, **settings):
    Driver(deployment, **settings).run(*workflow_ids)
    finished(deployment, *workflow_ids)


class Once:
    """Raises an error the `nth` time that an operation comes, before or after it."""

    def __init__(self, when, operation, error, nth=1):
        self.point = (when, operation)
        self.error = error
        self.left = nth

    def __call__(self, when, operation):
        if (when, operation) == self.point and self.left:
            self.left -= 1
            if not self.left:
                raise self.error


class Always(Once):
    def __call__(self, when, operation):
        if (when, operation) == self.point:
            raise self.error


@pytest.mark.parametrize("fast_path", [True, False], ids=["fast path", "relay alone"])
def test_all_goes_well_when_nothing_fails(deploy, fast_path):
    run(deploy(fast_path=fast_path), "a", "b")


def test_without_the_relay_the_fast_path_is_enough(deploy):
    run(deploy(), "a", relays=False)


def test_with_both_nothing_is_dispatched_twice(deploy):
    deployment = deploy()
    run(deployment, "a", "b")
    while deployment.relayed < len(deployment.aws.stream):
        deployment.relay()
    assert max(Counter(_tasks(deployment)).values()) == 1
    kinds = Counter(type(messages.to_task(body).body) for body in _tasks(deployment))
    assert kinds[ActivityTask] == 4
    assert kinds[WorkflowTask] >= 4


def _tasks(deployment):
    for body in deployment.aws.accepted:
        try:
            yield messages.to_task(body).run and body
        except ValueError:
            continue


@pytest.mark.parametrize("fast_path", [True, False], ids=["fast path", "relay alone"])
@pytest.mark.parametrize("nth", [1, 2, 3, 5])
@pytest.mark.parametrize(
    "when, operation",
    [
        pytest.param("before", "commit", id="before a commit"),
        pytest.param("after", "commit", id="between commit and dispatch"),
        pytest.param("before", "send_message_batch", id="while dispatching"),
        pytest.param("after", "send_message_batch", id="after dispatching"),
        pytest.param("after", "receive_message", id="between receive and claim"),
        pytest.param("before", "delete_message", id="between claim and delete"),
        pytest.param("after", "delete_message", id="between delete and answer"),
    ],
)
def test_a_function_may_be_killed(deploy, when, operation, nth, fast_path):
    deployment = deploy(seed=nth, fast_path=fast_path, interfere=Once(when, operation, Killed(), nth))
    run(deployment, "a")
    assert deployment.kills == 1


@pytest.mark.parametrize("nth", [1, 2, 4])
@pytest.mark.parametrize(
    "operation", ["send_message_batch", "receive_message", "delete_message", "create_queue"]
)
@pytest.mark.parametrize("when", ["before", "after"], ids=["refused", "reply lost"])
def test_sqs_may_refuse_or_its_reply_be_lost(deploy, when, operation, nth):
    run(deploy(seed=nth, interfere=Once(when, operation, refused("InternalError"), nth)), "a")


def test_the_fast_path_may_fail_for_ever(deploy):
    deployment = deploy()
    for number in range(2):
        process = deployment.process(f"frontend-{number}")
        process.connection._interfere = Always("before", "send_message_batch", refused("ThrottlingException"))
    run(deployment, "a")


def test_what_is_killed_between_receive_and_claim_is_claimed_by_another_after_the_visibility_time(deploy):
    deployment = deploy(interfere=Once("after", "receive_message", Killed()))
    driver = Driver(deployment)
    driver.start("a")
    deployment.relay()
    driver.work()
    assert deployment.kills == 1
    began = deployment.clock.now()
    while not deployment.runs()[0].state.core.last_workflow_task_completed_id:
        driver.work()
    assert 25 * SECOND < deployment.clock.now() - began < 35 * SECOND


def test_a_batch_that_fails_half_way_is_sent_whole_again_and_counts_once(deploy):
    deployment = deploy(fast_path=False)
    driver = Driver(deployment)
    for name in ("a", "b", "x", "y"):
        driver.start(name)
    # Each start's queue is the same, so the batch is sent in one call; its first half arrives and the call fails.
    deployment.interfere = Once("before", "create_queue", refused("InternalError"))
    with pytest.raises(Exception, match="InternalError"):
        deployment.relay()
    assert deployment.relayed == 0
    half = deployment.aws.stream[:2]
    deployment.relay(half)
    deployment.relay()
    queue = QueueKey(deployment.runs()[0].key.namespace_id, QUEUE, QueueKind.WORKFLOW)
    url = deployment.process("poll-0").parts.answering._queues.url(queue)
    assert len(deployment.aws.queue(url).messages) == 4


@pytest.mark.parametrize("seed", range(4))
def test_the_stream_may_repeat_and_reorder_its_records(deploy, seed):
    deployment = deploy(seed=seed, fast_path=False)
    chance = Random(seed)

    class Repeating(Driver):
        def turn(self):
            super().turn()
            stream = deployment.aws.stream
            if chance.random() < 0.3 and stream:
                again = chance.sample(stream[: deployment.relayed], min(BATCH, deployment.relayed))
                deployment.relay(again)
                for record in chance.sample(stream[: deployment.armed], min(BATCH, deployment.armed)):
                    deployment.arm([record])

    Repeating(deployment).run("a", "b")
    finished(deployment, "a", "b")


@pytest.mark.parametrize("seed", range(4))
def test_messages_may_be_delivered_twice_and_late(deploy, seed):
    deployment = deploy(seed=seed)
    chance = Random(seed)
    delivered = []

    class Repeating(Driver):
        def turn(self):
            super().turn()
            for url, queue in deployment.aws.queues.items():
                delivered.extend((url, message.body) for message in queue.messages if message.receipts)
            if delivered and chance.random() < 0.3:
                url, body = chance.choice(delivered)
                deployment.aws.put(url, body, name=f"again-{chance.random()}")

    Repeating(deployment).run("a", "b")
    finished(deployment, "a", "b")


@pytest.mark.parametrize("nth", [1, 3, 6])
@pytest.mark.parametrize(
    "when, error",
    [
        pytest.param("before", Conflict("in the way"), id="conflict"),
        pytest.param("before", Throttled("slow down"), id="throttled"),
        pytest.param("before", ShardOwnershipLost("stolen"), id="shard lost"),
        pytest.param("before", AmbiguousCommit("request lost"), id="request lost"),
        pytest.param("after", AmbiguousCommit("reply lost"), id="reply lost"),
    ],
)
def test_dynamodb_may_refuse_or_its_reply_be_lost(deploy, when, error, nth):
    run(deploy(seed=nth, interfere=Once(when, "commit", error, nth)), "a")


@pytest.mark.parametrize("seed", range(3))
def test_several_processes_may_fight_for_one_shard(deploy, seed):
    run(deploy(seed=seed), "a", "b", "c", processes=4)


@pytest.mark.parametrize("fast_path", [True, False], ids=["fast path", "relay alone"])
@pytest.mark.parametrize("seed", range(6))
def test_everything_may_fail_at_once(deploy, seed, fast_path):
    chance = Random(seed)

    def interfere(when, operation):
        luck = chance.random()
        if luck < 0.01:
            raise Killed
        if luck < 0.03 and operation == "commit":
            raise AmbiguousCommit("lost") if when == "after" else Throttled("slow down")
        if luck < 0.03 and operation != "view":
            raise refused("InternalError")

    deployment = deploy(seed=seed, fast_path=fast_path, interfere=interfere)
    Driver(deployment, processes=3).run("a", "b", "c")
    deployment.check()
    assert deployment.kills
