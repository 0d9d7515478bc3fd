"""One deployment for all test processes of a run: the first makes it, the last removes it.

What does not live here: how it is made (`localstack`). A newcomer's trap: each user holds a lock as long as its process
lives, and the kernel takes the lock from a process that dies. So the last one knows that it is the last.
"""

import fcntl
import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any


@contextmanager
def shared(
    folder: Path, make: Callable[[], dict[str, Any]], remove: Callable[[], None]
) -> Iterator[dict[str, Any]]:
    """What `make` made, in this process or in another that uses the same folder."""
    folder.mkdir(parents=True, exist_ok=True)
    found = folder / "made.json"
    with (folder / "users.lock").open("a") as users:
        with _exclusive(folder / "making.lock"):
            if not found.exists():
                found.write_text(json.dumps(make()))
            fcntl.flock(users, fcntl.LOCK_SH)
        try:
            yield json.loads(found.read_text())
        finally:
            with _exclusive(folder / "making.lock"):
                if _is_last(users):
                    found.unlink(missing_ok=True)
                    remove()


@contextmanager
def _exclusive(path: Path) -> Iterator[None]:
    with path.open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _is_last(users: IO[Any]) -> bool:
    try:
        fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def given_url() -> str | None:
    """The local AWS that somebody else runs; read before a test's environment is swept."""
    return os.environ.get("AWS_ENDPOINT_URL")
