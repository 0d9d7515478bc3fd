"""How the edge and a service talk: a service answers at once, or says what to wait for and is called again.

Services never wait themselves. A long poll returns a `Wait`; the edge sleeps until one of its topics is notified or
its time is over, and calls the same function again with the same request and the `resume` value it was given. The
call with `last=True` must answer: with an empty page, or with an error.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from durable_core.ports.notifications import Topic

NS_PER_SECOND = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Wait:
    """Nothing yet: call again at a notification of one of `topics`.

    `seconds` count from the beginning of the call. When they are over, the next try is the last one. `look_again` (in
    seconds, 0: no need) asks for a try after so long though nothing was published.
    """

    topics: tuple[Topic, ...]
    seconds: float
    resume: Any = None
    look_again: float = 0.0


@dataclass(frozen=True, slots=True)
class Call:
    """What the edge knows of a call besides its request.

    `deadline` is when the caller (or the edge) gives up, in ns; `resume` is what the last `Wait` carried. `polls_until`
    is until when somebody goes on waiting for the polled queue without a further call, in ns; 0: nobody says.
    """

    deadline: int
    last: bool = False
    resume: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    polls_until: int = 0


@dataclass(frozen=True, slots=True)
class Rpc:
    """An implemented method: `function(context, request)`, or `function(context, request, call)` when `waits`.

    `abandon(context, request, resume)` is called when the caller left while we waited.
    """

    function: Callable[..., Any]
    waits: bool = False
    abandon: Callable[..., None] | None = None
