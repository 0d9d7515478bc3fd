"""Long polls for a run's history, by a caller that waits itself between two looks (`perdure bridge`).

A client that waits for the result of a workflow may wait for days, and a function that waits with it is paid for all
that time: a tenth of a second of it costs as much as another look. So we look once, and answer `perdure-again`, whose
value comes back in `perdure-resume`.
What does not live here: what is waited for. A newcomer's trap: the last look is the caller's to announce
(`perdure-wait: last`); its answer is the method's own for a wait that ended, with the token to go on from.
"""

from collections.abc import Mapping
from typing import Any

from durable_core.adapters.aws.answering import Answering, Limits
from durable_core.model.errors import InvalidArgument
from durable_core.wire.http import HttpCall

WAIT = "perdure-wait"
RESUME = "perdure-resume"
AGAIN = "perdure-again"
LOOK, LAST = "look", "last"
# What they carry from one look to the next is a run ID, which any caller may name.
METHODS = frozenset({"GetWorkflowExecutionHistory"})


class Waits:
    """Runs the frontend's calls: of callers that wait themselves, and of those that are waited for."""

    def __init__(self, answering: Answering) -> None:
        self._answering = answering

    def run(self, call: HttpCall, until: Limits) -> tuple[Any, Mapping[str, str]]:
        rpc = call.method.rpc
        assert rpc is not None
        said = call.headers.get(WAIT)
        if said is None or call.method.name not in METHODS:
            return self._answering.call(rpc, call.request, until, call.headers), {}
        if said not in (LOOK, LAST):
            raise InvalidArgument(f'{WAIT} must be "{LOOK}" or "{LAST}": got "{said}"')
        resume = call.headers.get(RESUME)
        if said == LAST:
            return self._answering.look_last(rpc, call.request, resume, until, call.headers), {}
        answer, again = self._answering.look(rpc, call.request, resume, until, call.headers)
        return (answer, {}) if again is None else (call.method.response(), {AGAIN: again})
