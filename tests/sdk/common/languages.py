"""How each language's worker is built and started, and why it cannot be where its tools are missing.

A build goes into a folder of the temporary directory, named by the content of what it was built from and kept
between runs; nothing is installed or built in the checkout. A lock keeps test processes that run side by side from
building twice.

The one thing a newcomer gets wrong: the first build downloads and compiles an SDK, for minutes on a busy machine; the
time-outs here are for that, and the second run is quick.
"""

import asyncio
import fcntl
import filecmp
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path

SDK = Path(__file__).resolve().parents[1]
REPOSITORY = SDK.parents[1]
TYPESCRIPT, GO = SDK / "typescript", SDK / "go"
BUILD_SECONDS_MAX = 900
READY_SECONDS_MAX = 60.0
STOP_SECONDS_MAX = 15.0
NODE_MAJOR_MIN = 20
_LOG_TAIL_LINES = 20


@dataclass(frozen=True)
class Language:
    """A language's worker.

    `missing` tells what this machine lacks, or nothing; `command` builds what is not built yet and gives the command
    line and the folder it runs in; the address and the task queue come after it.
    """

    name: str
    missing: Callable[[], str | None]
    command: Callable[[], tuple[list[str], Path]]


def _python_missing() -> None:
    return None


def _python_command() -> tuple[list[str], Path]:
    return [sys.executable, "-m", "tests.sdk.common.python_worker"], REPOSITORY


def typescript_missing() -> str | None:
    """What lacks for the TypeScript SDK."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        return "needs Node.js with npm"
    version = subprocess.run([node, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    major = int(version.removeprefix("v").split(".")[0])
    return None if major >= NODE_MAJOR_MIN else f"needs Node.js {NODE_MAJOR_MIN} or newer, this is {version}"


def typescript_installed() -> Path:
    """A copy of the TypeScript worker and its client with the packages that the lock file names."""
    folder = _folder("typescript", [TYPESCRIPT / "package-lock.json"])
    with _locked(folder):
        shutil.copytree(
            TYPESCRIPT,
            folder,
            dirs_exist_ok=True,
            ignore=shutil.ignore_patterns("node_modules"),
            copy_function=_copy_what_changed,
        )
        if not (folder / "complete").exists():
            _build([_tool("npm"), "ci", "--no-audit", "--no-fund"], folder)
            (folder / "complete").touch()
    return folder


def _copy_what_changed(source: str, copy: str) -> str:
    """Another test's worker may be reading its copy at this moment, so one that is right already stays untouched."""
    if not Path(copy).exists() or not filecmp.cmp(source, copy, shallow=False):
        shutil.copy2(source, copy)
    return copy


def _typescript_command() -> tuple[list[str], Path]:
    return [_tool("node"), "src/common-worker.mjs"], typescript_installed()


def _go_missing() -> str | None:
    go = shutil.which("go")
    if go is None:
        return "needs Go"
    environment = {**os.environ, "GOTOOLCHAIN": "local"}
    found = subprocess.run(
        [go, "env", "GOVERSION"],
        cwd=tempfile.gettempdir(),
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    needed = re.search(r"^go (\S+)$", (GO / "go.mod").read_text(encoding="utf-8"), re.MULTILINE)
    assert needed is not None
    if _numbers(found.removeprefix("go")) < _numbers(needed[1]):
        return f"needs Go {needed[1]} or newer, this is {found}"
    fetched = subprocess.run(
        [go, "mod", "download"],
        cwd=GO,
        env=environment,
        capture_output=True,
        text=True,
        timeout=BUILD_SECONDS_MAX,
        check=False,
    )
    return None if fetched.returncode == 0 else f"needs the Go SDK's modules: {fetched.stderr.strip()}"


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", version)[:3])


def _go_command() -> tuple[list[str], Path]:
    sources = sorted(path for path in GO.iterdir() if path.suffix in {".go", ".mod", ".sum"})
    folder = _folder("go", sources)
    worker = folder / "worker"
    with _locked(folder):
        if not worker.exists():
            unfinished = folder / "unfinished"
            _build([_tool("go"), "build", "-mod=readonly", "-o", str(unfinished), "."], GO)
            unfinished.rename(worker)
    return [str(worker)], folder


def _folder(name: str, sources: list[Path]) -> Path:
    content = hashlib.sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()[:16]
    folder = Path(tempfile.gettempdir()) / f"perdure-{name}-{os.getuid()}-{content}"
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _build(command: list[str], folder: Path) -> None:
    built = subprocess.run(
        command,
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=BUILD_SECONDS_MAX,
        text=True,
        check=False,
    )
    assert built.returncode == 0, f"{' '.join(command)} failed:\n{built.stdout}"


def _tool(name: str) -> str:
    found = shutil.which(name)
    assert found is not None, f"{name} was there a moment ago"
    return found


LANGUAGES = (
    Language("python", _python_missing, _python_command),
    Language("typescript", typescript_missing, _typescript_command),
    Language("go", _go_missing, _go_command),
)


@asynccontextmanager
async def running(language: Language, address: str, queue: str, log: Path) -> AsyncIterator[None]:
    """The language's worker polls this queue while the block runs; what it says of itself is in `log`."""
    command, folder = await asyncio.to_thread(language.command)
    with log.open("wb") as standard_error:
        process = await asyncio.create_subprocess_exec(
            *command, address, queue, cwd=folder, stdout=asyncio.subprocess.PIPE, stderr=standard_error
        )
    try:
        assert process.stdout is not None
        said = await asyncio.wait_for(process.stdout.readline(), READY_SECONDS_MAX)
        assert said == b"ready\n", f"the worker did not start:\n{log_tail(log)}"
        yield
    finally:
        await _stop(process)


async def _stop(process: asyncio.subprocess.Process) -> None:
    if process.returncode is None:
        process.terminate()
        try:
            await asyncio.wait_for(process.communicate(), STOP_SECONDS_MAX)
        except TimeoutError:
            process.kill()
    await process.communicate()


def log_tail(log: Path) -> str:
    """The last lines of what a worker said."""
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    return "\n".join(lines[-_LOG_TAIL_LINES:])
