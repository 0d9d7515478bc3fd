"""The TypeScript SDK: one worker and one client, as in its first sample, against the server.

The one thing a newcomer gets wrong: the packages are installed once into a folder that is kept between runs,
named by the content of the lock file; nothing is installed into the checkout.
"""

import asyncio
import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

SAMPLE = Path(__file__).with_name("typescript")
NPM = shutil.which("npm")
NODE = shutil.which("node")
INSTALL_SECONDS_MAX = 300

pytestmark = pytest.mark.skipif(NPM is None or NODE is None, reason="needs Node.js 20 or newer with npm")


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Only one process at a time: test processes that run side by side share the installation."""
    with path.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@pytest.fixture(scope="module")
def installed() -> Path:
    """The sample's folder with its packages installed as the lock file says."""
    key = hashlib.sha256((SAMPLE / "package-lock.json").read_bytes()).hexdigest()[:16]
    folder = Path(tempfile.gettempdir()) / f"perdure-typescript-{os.getuid()}-{key}"
    folder.mkdir(mode=0o700, exist_ok=True)
    with locked(folder / "lock"):
        shutil.copytree(SAMPLE, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("node_modules"))
        if not (folder / "complete").exists():
            assert NPM is not None
            subprocess.run(
                [NPM, "ci", "--no-audit", "--no-fund"], cwd=folder, check=True, timeout=INSTALL_SECONDS_MAX
            )
            (folder / "complete").touch()
    return folder


@pytest.mark.timeout(INSTALL_SECONDS_MAX + 120)
@pytest.mark.asyncio
async def test_a_typescript_worker_and_client_run_unchanged(installed, target, unique):
    assert NODE is not None
    process = await asyncio.create_subprocess_exec(
        NODE,
        "src/hello.mjs",
        target,
        unique,
        cwd=installed,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        out, err = await asyncio.wait_for(process.communicate(), 90)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    assert process.returncode == 0, err.decode()
    report = json.loads(out.decode().splitlines()[-1])
    assert report["result"] == report["seen"] == "Hello, Ada! (attempt 2)"
    assert (report["type"], report["status"]) == ("hello", "COMPLETED")
    assert report["historyLength"] >= 11
