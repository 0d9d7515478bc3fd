"""A deployment on the simulated AWS: the parts of each function, made anew whenever one of their processes was killed.

What lives here: which part takes what, as AWS's event sources would have it. What must come of it is in the tests.
A newcomer's trap: a killed process runs no `finally` that reaches AWS. What it had received is seen by nobody until
its visibility time is over.
"""

import base64
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from random import Random
from types import SimpleNamespace
from typing import Any

import msgspec

from durable_core.adapters.aws import messages
from durable_core.adapters.aws.answering import Limits
from durable_core.adapters.aws.sqs_queues import Addresses, SqsTaskQueues
from durable_core.adapters.aws.stream import Arming, DeadLetters, Relay
from durable_core.adapters.aws.wake_ups import SqsWakeUps, TimerAddresses
from durable_core.adapters.decorators import ManualClock
from durable_core.adapters.memory import MemoryPollers, MemoryQueries
from durable_core.adapters.sqlite import open_store
from durable_core.bootstrap_aws import Deployed, Outside, assemble
from durable_core.config import AwsSettings
from durable_core.model.ids import RunKey, WorkflowKey
from durable_core.model.tasks import Task, TaskBody
from durable_core.model.times import SECOND
from durable_core.ports.executions import CurrentRun, StoredRun, Transaction, View
from durable_core.ports.wake_ups import WakeUp
from durable_core.services import service_tasks
from durable_core.services.calls import Rpc
from durable_core.services.rpcs import WORKFLOW_SERVICE
from tests.properties import invariants
from tests.properties.world import START_OF_TIME, CountedIds

from .simulated_aws import Connection, Killed, SimulatedAws, image

BATCH = 10
NAMESPACE = "default"
VISIBILITY_OF_SOURCES = 60

_encode = msgspec.msgpack.encode
_tasks = msgspec.msgpack.Decoder(list[Task]).decode
_wake_up = msgspec.msgpack.Decoder(WakeUp).decode
_claimed = msgspec.msgpack.Decoder(TaskBody).decode


def emitted(attributes: Mapping[str, Any]) -> tuple[list[Task], WakeUp | None]:
    tasks, wake_up = (attributes.get(name) for name in ("tasks", "wake_up"))
    return (
        _tasks(_bytes(tasks)) if tasks else [],
        _wake_up(_bytes(wake_up)) if wake_up and not is_disarmed(attributes) else None,
    )


def is_disarmed(attributes: Mapping[str, Any]) -> bool:
    wake_up = attributes.get("wake_up")
    return wake_up is not None and _wake_up(_bytes(wake_up)).due == 0


def claimed(attributes: Mapping[str, Any]) -> TaskBody | None:
    body = attributes.get("claimed")
    return _claimed(_bytes(body)) if body else None


def _bytes(attribute: Mapping[str, str]) -> bytes:
    return base64.b64decode(attribute["B"])


class Outbox:
    """`Executions` whose commits appear in the stream, and around which anything may happen."""

    def __init__(self, inner: Any, aws: SimulatedAws, connection: Connection) -> None:
        self._inner = inner
        self._aws = aws
        self._connection = connection

    def commit(self, transaction: Transaction) -> None:
        self._connection.interfere("before", "commit")
        self._inner.commit(transaction)
        for write in transaction.runs:
            armed = write.wake_up_at is not None
            record = image(
                repr(write.key),
                _encode(list(write.tasks)) if write.tasks else b"",
                _encode(WakeUp(write.key, write.wake_up_at or 0)) if armed else b"",
                _encode(write.claimed) if write.claimed is not None else b"",
            )
            if record["dynamodb"]["NewImage"]:
                self._aws.stream.append(record)
        self._connection.interfere("after", "commit")

    def acquire_shard(self, shard: int, owner: str) -> int:
        self._connection.interfere("before", "acquire_shard")
        return self._inner.acquire_shard(shard, owner)  # type: ignore[no-any-return]

    def view(self, shard: int, *, run: RunKey | None = None, current: WorkflowKey | None = None) -> View:
        self._connection.interfere("before", "view")
        return self._inner.view(shard, run=run, current=current)  # type: ignore[no-any-return]

    def load(self, key: RunKey) -> StoredRun | None:
        self._connection.check_alive()
        return self._inner.load(key)  # type: ignore[no-any-return]

    def current(self, key: WorkflowKey) -> CurrentRun | None:
        self._connection.check_alive()
        return self._inner.current(key)  # type: ignore[no-any-return]

    def delete_run(self, key: RunKey, shard: int, range_id: int) -> None:
        self._inner.delete_run(key, shard, range_id)


@dataclass
class Process:
    """One function's process."""

    parts: Deployed
    connection: Connection
    relay: Relay
    arming: Arming


@dataclass
class Deployment:
    """`interfere(when, operation)` is asked around each call to AWS and may raise: `Killed`, or an error of AWS.

    `relayed` and `armed` say how far the stream's readers have come.
    """

    seed: int = 0
    fast_path: bool = True
    interfere: Callable[[str, str], None] = lambda when, operation: None
    processes: dict[str, Process] = field(default_factory=dict)
    relayed: int = 0
    armed: int = 0
    kills: int = 0

    def __post_init__(self) -> None:
        self.chance = Random(self.seed)
        self.clock = ManualClock(START_OF_TIME)
        self.aws = SimulatedAws(self.clock, self.chance)
        self._born = count(1)
        service = self.aws.make("p-service.fifo", VISIBILITY_OF_SOURCES)
        timers = self.aws.make("p-timers", VISIBILITY_OF_SOURCES)
        letters = self.aws.make("p-stream-dead-letters", VISIBILITY_OF_SOURCES)
        self.settings = AwsSettings(
            "p", service, timers, "p-timers", "p", "role", "dead-letters", letters, 4, self.fast_path
        )
        self.store = open_store(None, self.clock, durable=False)
        self.pollers, self.queries = MemoryPollers(), MemoryQueries(self.clock)
        self.process("set-up")

    def process(self, name: str) -> Process:
        """The process of that name: the one that is warm, or a new one."""
        if name not in self.processes:
            self.processes[name] = self._begin()
        return self.processes[name]

    def _begin(self) -> Process:
        def interfere(when: str, operation: str) -> None:
            self.interfere(when, operation)

        connection = Connection(self.aws, interfere)
        outside = Outside(
            connection, connection, self.clock, CountedIds(first=next(self._born) << 24), self._pause
        )
        store = SimpleNamespace(
            executions=Outbox(self.store.executions, self.aws, connection),
            histories=self.store.histories,
            catalog=self.store.catalog,
            queries=self.queries,
            pollers=self.pollers,
        )
        dead_letters = DeadLetters(connection, self.settings.stream_dead_letter_queue_url)
        queues = SqsTaskQueues(connection, Addresses.of(self.settings))
        wake_ups = SqsWakeUps(connection, self.clock, TimerAddresses.of(self.settings))
        return Process(
            assemble(self.settings, store, outside),
            connection,
            Relay(emitted, claimed, lambda attributes: None, queues, dead_letters),
            Arming(emitted, is_disarmed, wake_ups, dead_letters),
        )

    def _pause(self, seconds: float) -> None:
        self.clock.advance(max(1, int(seconds * SECOND)))

    def run(self, name: str, job: Callable[[Process], Any]) -> Any:
        """Do something in a process; None, and the process is gone, when it was killed meanwhile."""
        process = self.process(name)
        try:
            return job(process)
        except Killed:
            del self.processes[name]
            self.kills += 1
            return None

    # What functions do. -----------------------------------------------------------------------------------------------

    def call(self, name: str, method: str, request: Any, seconds: float = 1.5) -> Any:
        """A client's or worker's call to a function; raises its `ServiceError`."""
        rpc: Rpc = WORKFLOW_SERVICE[method]
        until = self.clock.now() + int(seconds * SECOND)

        def job(process: Process) -> Any:
            return process.parts.answering.call(rpc, request, Limits(until, until), {})

        return self.run(name, job)

    def relay(self, batch: Sequence[Any] | None = None) -> None:
        """The relay takes the next batch of the stream, or another. When it fails, the same records come again."""
        records = self.aws.stream[self.relayed : self.relayed + BATCH] if batch is None else batch
        done = self.run("relay", lambda process: process.relay.relay(records))
        if done is not None and batch is None:
            self.relayed += len(records)

    def arm(self, batch: Sequence[Any] | None = None) -> None:
        records = self.aws.stream[self.armed : self.armed + BATCH] if batch is None else batch
        done = self.run("arm", lambda process: process.arming.arm(records))
        if done is not None and batch is None:
            self.armed += len(records)

    def serve(self) -> None:
        """The history service takes what its event source gives it. Tasks whose run raises stay."""

        def job(process: Process, body: str) -> bool:
            process.parts.context.runs.distrust()
            service_tasks.run(process.parts.context, messages.to_task(body))
            return True

        self._take(self.settings.service_queue_url, "history", job)

    def fire(self) -> None:
        self.aws.fire_schedules()

        def job(process: Process, body: str) -> bool:
            process.parts.due.take(messages.to_wake_up(body))
            return True

        self._take(self.settings.timer_queue_url, "fire", job)

    def _take(self, url: str, name: str, job: Callable[[Process, str], bool]) -> None:
        taken = self.aws.take(url, 1)
        if taken and self.run(name, lambda process: job(process, taken[0].body)):
            self.aws.queue(url).messages.remove(taken[0])

    # What can be seen. ------------------------------------------------------------------------------------------------

    def runs(self) -> list[invariants.Run]:
        found = self.store._connection.execute(
            "SELECT namespace_id, workflow_id, run_id FROM runs ORDER BY run"
        ).fetchall()
        seen = SimpleNamespace(store=self.store, context=SimpleNamespace(reader=self._reader()))
        loaded = [invariants.load(seen, RunKey(*key)) for key in found]
        return [run for run in loaded if run is not None]

    def _reader(self) -> Any:
        return self.process("observer").parts.context.reader

    def check(self) -> None:
        """The invariants of histories (docs/ARCHITECTURE.md, Invariants), on what is stored."""
        runs = self.runs()
        invariants.check_one_open(runs)
        for run in runs:
            invariants.check_history(run)
            invariants.check_fold(run)
            invariants.check_timers(run)

    def close(self) -> None:
        self.store.close()
