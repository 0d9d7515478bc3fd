"""Why a database cannot be opened. Each message names the file and says what the user can do."""

from durable_core.model.errors import StorageError


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
