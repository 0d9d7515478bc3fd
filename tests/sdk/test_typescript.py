"""The TypeScript SDK: one worker and one client, as in its first sample, against the server.

The one thing a newcomer gets wrong: the packages are installed once into a folder that is kept between runs,
named by the content of the lock file; nothing is installed into the checkout.
"""

import asyncio
import json
import shutil
from pathlib import Path

import pytest

from tests.sdk.common.languages import BUILD_SECONDS_MAX, typescript_installed, typescript_missing


@pytest.fixture(scope="module")
def installed() -> Path:
    """The sample's folder with its packages installed as the lock file says."""
    missing = typescript_missing()
    if missing is not None:
        pytest.skip(missing)
    return typescript_installed()


@pytest.mark.timeout(BUILD_SECONDS_MAX + 120)
@pytest.mark.asyncio
async def test_a_typescript_worker_and_client_run_unchanged(installed, target, unique):
    node = shutil.which("node")
    assert node is not None
    process = await asyncio.create_subprocess_exec(
        node,
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
