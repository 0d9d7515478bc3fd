"""A keyed part of a run's state that can be changed without touching what it was forked from.

`fork` gives a section that shares its entries and records changes apart; `absorb` makes the changes the base. So a
decision that fails leaves nothing behind, and a commit knows exactly which entries changed, however many there are.
"""

from collections.abc import Hashable, Iterator
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Section(Generic[K, V]):
    """Entries by key, in order of insertion. A value is never changed in place: `put` a new one."""

    __slots__ = ("_base", "_changed", "_size")

    def __init__(self, base: dict[K, V] | None = None) -> None:
        self._base: dict[K, V] = {} if base is None else base
        self._changed: dict[K, V | None] = {}
        self._size = len(self._base)

    def fork(self) -> "Section[K, V]":
        """A section with the same entries whose changes this one does not see."""
        if self._changed:
            raise RuntimeError("a section with pending changes is not forked")
        section: Section[K, V] = Section.__new__(Section)
        section._base = self._base
        section._changed = {}
        section._size = self._size
        return section

    def absorb(self) -> None:
        """Make the recorded changes the base. Forks of the same base see them: only the winner of a commit absorbs."""
        for key, value in self._changed.items():
            if value is None:
                self._base.pop(key, None)
            else:
                self._base[key] = value
        self._changed = {}

    @property
    def changes(self) -> dict[K, V | None]:
        """Changed entries; None for a removed one."""
        return self._changed

    def get(self, key: K) -> V | None:
        if key in self._changed:
            return self._changed[key]
        return self._base.get(key)

    def put(self, key: K, value: V) -> None:
        if key not in self:
            self._size += 1
        self._changed[key] = value

    def remove(self, key: K) -> None:
        """Remove an entry that is there (KeyError otherwise)."""
        if key not in self:
            raise KeyError(key)
        self._size -= 1
        if key in self._base:
            self._changed[key] = None
        else:
            del self._changed[key]

    def __contains__(self, key: K) -> bool:
        if key in self._changed:
            return self._changed[key] is not None
        return key in self._base

    def __len__(self) -> int:
        return self._size

    def items(self) -> Iterator[tuple[K, V]]:
        """All entries; changes made while iterating are not seen reliably: list them first."""
        changed = self._changed
        for key, value in self._base.items():
            if key not in changed:
                yield key, value
            elif (now := changed[key]) is not None:
                yield key, now
        for key, new in changed.items():
            if new is not None and key not in self._base:
                yield key, new

    def values(self) -> Iterator[V]:
        """All values, in the same order; without changes at the speed of the dictionary that holds them."""
        return (value for _, value in self.items()) if self._changed else iter(self._base.values())
