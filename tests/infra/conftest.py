"""The templates of all variants, made once for all test processes."""

import fcntl
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.infra.templates import Templates

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def templates(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Templates:
    if shutil.which("node") is None:
        pytest.skip("the CDK needs Node.js")
    base = tmp_path_factory.getbasetemp()
    shared = base if worker_id == "master" else base.parent
    folder = shared / "templates"
    with (shared / "templates.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            _synthesize(shared / "templates.unfinished", folder)
    return Templates(folder)


def _synthesize(unfinished: Path, folder: Path) -> None:
    shutil.rmtree(unfinished, ignore_errors=True)
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join((str(ROOT / "lib"), str(ROOT))),
        "JSII_SILENCE_WARNING_DEPRECATED_NODE_VERSION": "true",
        "JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION": "true",
    }
    command = [sys.executable, "-m", "tests.infra.synthesis", str(unfinished)]
    run = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout[-4000:] + run.stderr[-4000:]
    unfinished.rename(folder)
