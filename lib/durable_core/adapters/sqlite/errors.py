"""Why a database cannot be opened, and what its failures are called outside.

Each message of the former names the file and says what the user can do.
"""

import sqlite3
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from durable_core.model.errors import StorageError

P = ParamSpec("P")
R = TypeVar("R")


class DatabaseInUse(StorageError):
    """Another process has the file open."""

    def __init__(self, path: str) -> None:
        super().__init__(
            f"The database {path} is in use by another process. Stop that process, or choose another file."
        )


class NewerFormat(StorageError):
    """A newer version of the program wrote the file."""

    def __init__(self, path: str, found: int, known: int) -> None:
        super().__init__(
            f"The database {path} has format {found}; this version reads up to format {known}. "
            "Upgrade the program, or choose another file."
        )


class NotOurDatabase(StorageError):
    """The file is no SQLite database, or one of another program."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(
            f"The file {path} is not a database of this program ({reason}). Choose another file."
        )


class CannotOpen(StorageError):
    """The file system refuses."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"The database {path} cannot be opened: {reason}.")


def translated(method: Callable[P, R]) -> Callable[P, R]:
    """Let a failing disk or file be a `StorageError`. What the rules forbid is told apart where the rule is known."""

    @wraps(method)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return method(*args, **kwargs)
        except sqlite3.OperationalError as error:
            raise StorageError(f"the database failed: {error}") from error

    return call
