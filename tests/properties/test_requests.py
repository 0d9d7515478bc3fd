"""Random legal sequences of requests: after every step the invariants of the design hold, and history says all."""

import os

from google.protobuf.duration_pb2 import Duration
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from temporalio.api.enums.v1 import ParentClosePolicy, WorkflowIdConflictPolicy, WorkflowIdReusePolicy

from durable_core.model.state import Core, RunState, UpdateStage
from durable_core.model.times import MILLISECOND

from . import commands, invariants, messages
from .world import STICKY_QUEUE, World, retried

EXAMPLES = int(os.environ.get("PERDURE_TEST_EXAMPLES", "40"))
WORKFLOW_ID = st.sampled_from(commands.WORKFLOW_IDS)
ANY_WORKFLOW_ID = st.sampled_from((*commands.WORKFLOW_IDS, "kid-1", "kid-2"))
REQUEST_ID = st.sampled_from(("", "r1", "r2", "r3"))
REUSE = st.sampled_from(
    [policy for policy in WorkflowIdReusePolicy.values() if policy]  # TERMINATE_IF_RUNNING included
)
CONFLICT = st.sampled_from(WorkflowIdConflictPolicy.values())

A_DAY = 86_400_000  # milliseconds


def picked(data, held):
    return held[data.draw(st.integers(0, len(held) - 1), label="which")]


class Requests(RuleBasedStateMachine):
    """Clients, workers, time and the history service take turns as hypothesis likes."""

    def __init__(self):
        super().__init__()
        self.world = World()
        self.checked = {}
        self.runs = {}

    def teardown(self):
        self.world.close()

    @initialize(sticky=st.booleans())
    def begin(self, sticky):
        self.world.start("a")
        self.world.start("b", workflow_execution_timeout=Duration(seconds=120), retry_policy=retried(3))
        self.world.poll_workflow_task()
        self.world.complete(
            self.world.workflow_tasks[0],
            [
                commands.schedule_activity("x", Duration(seconds=5)),
                commands.start_timer("t1", Duration(seconds=3)),
                commands.start_child("kid-1", ParentClosePolicy.PARENT_CLOSE_POLICY_TERMINATE, Duration()),
            ],
            sticky=sticky,
        )

    @rule(
        workflow_id=WORKFLOW_ID,
        reuse=REUSE,
        conflict=CONFLICT,
        request_id=REQUEST_ID,
        attach=st.booleans(),
    )
    def start(self, workflow_id, reuse, conflict, request_id, attach):
        self.world.start(
            workflow_id,
            workflow_id_reuse_policy=reuse,
            workflow_id_conflict_policy=conflict,
            request_id=request_id,
            on_conflict_options={"attach_request_id": True} if attach else None,
        )

    @rule(
        workflow_id=WORKFLOW_ID,
        run=st.integers(0, 30),
        execution=st.integers(0, 60),
        delay=st.integers(0, 3),
        attempts=st.integers(0, 3),
        cron=st.sampled_from(("", "", "@every 2s", "* * * * *")),
        eager=st.booleans(),
    )
    def start_in_detail(self, workflow_id, run, execution, delay, attempts, cron, eager):
        self.world.start(
            workflow_id,
            workflow_run_timeout=Duration(seconds=run),
            workflow_execution_timeout=Duration(seconds=execution),
            workflow_start_delay=Duration(seconds=delay) if delay and not cron else None,
            retry_policy=retried(attempts) if attempts else None,
            cron_schedule=cron,
            request_eager_execution=eager,
        )

    @rule(workflow_id=ANY_WORKFLOW_ID, request_id=REQUEST_ID)
    def signal(self, workflow_id, request_id):
        self.world.signal(workflow_id, request_id)

    @rule(workflow_id=ANY_WORKFLOW_ID, request_id=REQUEST_ID, harshly=st.integers(0, 3))
    def stop(self, workflow_id, request_id, harshly):
        if harshly == 3:
            self.world.terminate(workflow_id)
        else:
            self.world.request_cancel(workflow_id, request_id)

    @rule(workflow_id=ANY_WORKFLOW_ID, request_id=REQUEST_ID)
    def signal_with_start(self, workflow_id, request_id):
        self.world.signal_with_start(workflow_id, request_id)

    @rule(workflow_id=ANY_WORKFLOW_ID, update_id=st.sampled_from(("u1", "u2", "u3")))
    def update(self, workflow_id, update_id):
        self.world.update(workflow_id, update_id)

    @rule(workflow_id=ANY_WORKFLOW_ID, data=st.data(), request_id=st.sampled_from(("reset-1", "reset-2")))
    def reset(self, workflow_id, data, request_id):
        state = self.world.state(workflow_id)
        if state is not None and state.core.last_workflow_task_completed_id:
            ends = st.sampled_from((state.core.last_workflow_task_completed_id, 4, 5))
            event_id = data.draw(ends | st.integers(0, state.core.next_event_id), label="event")
            self.world.reset(workflow_id, event_id, request_id)

    @rule()
    def poll(self):
        self.world.poll_workflow_task()
        self.world.poll_workflow_task(STICKY_QUEUE)
        self.world.poll_activity_task()

    @rule(data=st.data(), sticky=st.booleans(), in_reply=st.booleans(), force=st.booleans())
    def complete(self, data, sticky, in_reply, force):
        self._answer_workflow_task(data, sticky=sticky, new_task_in_reply=in_reply, force_new=force)

    @rule(data=st.data())
    def complete_and_settle(self, data):
        self._answer_workflow_task(data, sticky=True)
        self.world.settle()

    def _answer_workflow_task(self, data, **how):
        if not self.world.workflow_tasks:
            self.poll()
        if self.world.workflow_tasks:
            task = picked(data, self.world.workflow_tasks)
            state = self.world.state(task.workflow_execution.workflow_id) or RunState(Core())
            going_on = data.draw(st.lists(commands.going_on(state), max_size=4), label="commands")
            said = self._said_of_updates(data, task, state)
            self.world.complete(task, [*going_on, *messages.placed(said)], messages=said, **how)

    def _said_of_updates(self, data, task, state):
        """Each update that came is accepted, rejected or passed over; accepted ones may be completed."""
        said = []
        for sent in task.messages:
            what = data.draw(
                st.sampled_from(("accept", "accept and complete", "reject", "nothing")), label="update"
            )
            if what == "reject":
                said.append(messages.reject(sent))
            elif what != "nothing":
                said.append(messages.accept(sent))
            if what == "accept and complete":
                said.append(messages.complete(sent.protocol_instance_id))
        for update_id, info in state.updates.items():
            if info.stage == UpdateStage.ACCEPTED and data.draw(st.booleans(), label="complete update"):
                said.append(messages.complete(update_id))
        return said

    @precondition(lambda self: self.world.workflow_tasks)
    @rule(data=st.data())
    def close(self, data):
        task = picked(data, self.world.workflow_tasks)
        state = self.world.state(task.workflow_execution.workflow_id) or RunState(Core())
        going_on = data.draw(st.lists(commands.going_on(state), max_size=1), label="commands")
        self.world.complete(task, [*going_on, data.draw(commands.closing(), label="closing")])

    @precondition(lambda self: self.world.workflow_tasks)
    @rule(data=st.data(), silently=st.booleans())
    def fail_workflow_task(self, data, silently):
        task = picked(data, self.world.workflow_tasks)
        if silently:
            self.world.workflow_tasks.remove(task)
        else:
            self.world.fail_workflow_task(task)

    @rule(data=st.data(), how=st.sampled_from(("complete", "fail", "fail for good", "cancel", "heartbeat")))
    def answer_activity(self, data, how):
        self.world.poll_activity_task()
        if not self.world.activity_tasks:
            return
        task = picked(data, self.world.activity_tasks)
        match how:
            case "complete":
                self.world.complete_activity(task)
            case "cancel":
                self.world.cancel_activity(task)
            case "heartbeat":
                self.world.heartbeat(task)
            case _:
                self.world.fail_activity(task, for_good=how == "fail for good")

    @rule(workflow_id=WORKFLOW_ID, activity_id=st.sampled_from(("x", "y")))
    def complete_activity_by_id(self, workflow_id, activity_id):
        self.world.complete_activity_by_id(workflow_id, activity_id)

    @rule()
    def run_service_task(self):
        self.world.run_service_task()

    @rule(milliseconds=st.sampled_from((1, 500, 1_000, 2_500, 10_000, A_DAY)))
    def pass_time(self, milliseconds):
        self.world.pass_time(milliseconds * MILLISECOND)

    @precondition(lambda self: self.world.system.next_due() is not None)
    @rule(early=st.sampled_from((0, 0, 0, 1)))
    def pass_time_to_the_next_wake_up(self, early):
        due = self.world.system.next_due()
        self.world.pass_time(max(due - self.world.clock.now() - early, 0))

    @invariant()
    def what_must_hold_holds(self):
        system = self.world.system
        versions = dict(self.world.runs())
        for key, version in versions.items():
            if self.checked.get(key) != version:
                run = invariants.load(system, key)
                invariants.check_run(system, run)
                invariants.check_remembered(system, run)
                self.runs[key] = run
        self.runs = {key: run for key, run in self.runs.items() if key in versions}
        self.checked = versions
        invariants.check_one_open(list(self.runs.values()))
        invariants.check_families(system, list(self.runs.values()))


Requests.TestCase.settings = settings(
    max_examples=EXAMPLES,
    stateful_step_count=50,
    deadline=None,
    phases=[phase for phase in Phase if phase is not Phase.explain],  # It is slow and says little here.
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)
TestRequests = Requests.TestCase
