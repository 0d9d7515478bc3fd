"""Takes turns: each actor runs until its next call of a port, then chance says who goes on.

A newcomer's trap: an actor may stop for ever at any of those calls. That is a crash, and what it remembered is gone.
"""

from collections.abc import Callable
from random import Random
from typing import Any

from greenlet import GreenletExit, getcurrent, greenlet


class Interleaved:
    """A port whose every call lets others go first, and sometimes again before its answer is used."""

    def __init__(self, port: Any, scheduler: "Scheduler") -> None:
        self._port = port
        self._scheduler = scheduler

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._port, name)

        def call(*args: Any, **kwargs: Any) -> Any:
            self._scheduler.give_way(name)
            try:
                return method(*args, **kwargs)
            finally:
                self._scheduler.give_way(f"after {name}")

        return call


class Scheduler:
    """Its greenlet is the one that made it; actors run only while it waits for them."""

    def __init__(self, chance: Random) -> None:
        self.chance = chance
        self.trace: list[str] = []
        self._main = getcurrent()
        self._actors: dict[str, greenlet] = {}
        self._makers: dict[str, Callable[[], None]] = {}

    def add(self, name: str, live: Callable[[], None]) -> None:
        """`live` is the actor's whole life, and begins anew after a crash."""
        self._makers[name] = live
        self._actors[name] = greenlet(live, parent=self._main)

    @property
    def names(self) -> list[str]:
        return list(self._actors)

    def turn(self) -> None:
        """Let one actor go on to its next call of a port."""
        name = self.chance.choice(self.names)
        self._actors[name].switch()
        assert not self._actors[name].dead, f"{name} ended"

    def crash(self, name: str) -> None:
        """The actor stops where it is, and is born again."""
        self.trace.append(f"{name} crashes")
        self.end(name)
        self._actors[name] = greenlet(self._makers[name], parent=self._main)

    def end(self, name: str) -> None:
        actor = self._actors[name]
        if actor:
            actor.throw(GreenletExit)

    def give_way(self, why: str) -> None:
        """Called by actors: whoever chance says goes on. The test itself gives way to nobody."""
        current = getcurrent()
        if current is self._main or self.chance.random() < 0.3:
            return
        self._main.switch()
