"""The demo, run as a person would: it survives its own kill, and cleans up however it ends."""

import asyncio
import signal
import sys
from pathlib import Path

import pytest

from tests.sdk.waiting import GIVEN_TARGET

pytestmark = [
    pytest.mark.asyncio,
    pytest.mark.skipif(GIVEN_TARGET is not None, reason="the demo starts `perdure dev` itself"),
]


async def demo(folder: Path) -> asyncio.subprocess.Process:
    """`perdure demo` with a temporary folder of its own, so that what it leaves behind can be seen."""
    return await asyncio.create_subprocess_exec(
        *("env", f"TMPDIR={folder}", sys.executable, "-m", "perdure", "demo"),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        # A test run in the background of a shell ignores SIGINT, and so would all that it starts.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )


async def test_the_demo_survives_its_kill_and_leaves_nothing_behind(checkout_on_path, tmp_path):
    process = await demo(tmp_path)
    out, _ = await asyncio.wait_for(process.communicate(), 60)
    said = out.decode()
    assert process.returncode == 0, said
    assert "SIGKILL to process" in said
    assert "LOST" not in said
    assert "Nothing was lost, and nothing happened twice." in said
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM], ids=lambda how: how.name)
async def test_an_interrupted_demo_cleans_up(checkout_on_path, tmp_path, how):
    process = await demo(tmp_path)
    assert process.stdout is not None
    said = []
    async with asyncio.timeout(60):
        while "SIGKILL to process" not in (line := (await process.stdout.readline()).decode()):
            assert line, said
            said.append(line)
        process.send_signal(how)
        rest = (await process.stdout.read()).decode()
    assert await process.wait() == 130, rest
    assert list(tmp_path.iterdir()) == []
