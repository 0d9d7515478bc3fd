"""Turning transitions into what is written: events with their IDs, tasks with their queues, wake-ups, the pointer.

What does not live here: when a transition is made and committed (`unit_of_work`).
A newcomer's trap: numbers of tasks and events come from the shard and are used up even when the commit fails, so the
next attempt's are higher.
"""

from collections.abc import Callable, Sequence

from temporalio.api.history.v1 import History

from durable_core.engine import codec, deadlines
from durable_core.engine.transition import Transition
from durable_core.model.ids import QueueKey, QueueKind, RunKey, WorkflowKey
from durable_core.model.state import Core
from durable_core.model.tasks import Task
from durable_core.ports.executions import CurrentRunWrite, HistoryNode, RunWrite
from durable_core.services.shards import Shard


class Writes:
    def __init__(
        self, retention: Callable[[str], int], is_polled: Callable[[QueueKey, int], bool], *, expires: bool
    ) -> None:
        """`retention` gives a namespace's, in ns; `is_polled` says whether a sticky queue has a worker.

        `expires`: storage removes closed runs by itself, so none of them needs a wake-up.
        """
        self._retention = retention
        self._is_polled = is_polled
        self._expires = expires

    def of(self, t: Transition, shard: Shard, *, fired: bool) -> RunWrite:
        """What the transition writes of its run. `fired`: the run's armed wake-up is used up."""
        state, core = t.state, t.state.core
        retention = self._retention(core.namespace_id)
        if core.closed_at and self._expires:
            wake_up_at = 0 if core.armed_at else None
            core.armed_at = 0
        else:
            wake_up_at = deadlines.arm(state, retention, t.now, fired=fired)
        nodes = _nodes(t, shard)
        tasks = self._tasks(t, shard)
        return RunWrite(
            RunKey(core.namespace_id, core.workflow_id, core.run_id),
            state.version,
            codec.encode_core(core),
            codec.encode_changes(state),
            nodes,
            tasks,
            wake_up_at,
            () if state.version else tuple(span.branch_id for span in core.ancestors),
            core.closed_at + retention if core.closed_at else 0,
            t.claimed,
        )

    def _tasks(self, t: Transition, shard: Shard) -> list[Task]:
        core = t.state.core
        return [
            Task(
                shard.next_task_id(),
                core.namespace_id,
                core.workflow_id,
                core.run_id,
                self._route(core, queue, kind, t.now),
                int(kind),
                body,
            )
            for queue, kind, body in t.tasks
        ]

    def _route(self, core: Core, queue: str, kind: QueueKind, now: int) -> str:
        """The queue itself, but for a sticky queue whose worker fell silent: then the normal one."""
        if kind == QueueKind.WORKFLOW and queue == core.sticky_queue:
            sticky = QueueKey(core.namespace_id, queue, kind)
            return queue if self._is_polled(sticky, now) else core.queue
        return queue


def _nodes(t: Transition, shard: Shard) -> list[HistoryNode]:
    nodes = []
    for batch in t.batches:
        if not batch:
            continue
        for event in batch:
            event.task_id = shard.next_task_id()
        events = History(events=batch).SerializeToString()
        nodes.append(
            HistoryNode(t.state.core.branch_id, batch[0].event_id, batch[-1].task_id, events, len(batch))
        )
    return nodes


def pointer(
    key: WorkflowKey, transitions: Sequence[Transition], *, moves: bool, moves_from: str | None
) -> CurrentRunWrite | None:
    """The change of the current-run pointer: to a run that begins (`moves`), or to how the current one closed."""
    if moves:
        return CurrentRunWrite(key, moves_from, codec.current_run(transitions[-1].state.core))
    written = None
    for t in transitions:
        if t.origin.is_open and not t.state.is_open:
            following = t.successor or t
            written = CurrentRunWrite(key, t.state.core.run_id, codec.current_run(following.state.core))
    return written
