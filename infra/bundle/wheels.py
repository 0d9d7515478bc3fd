"""The wheels of a bundle, as pip finds them for the target; downloaded once for each list of requirements.

What does not live here: what is taken out of a wheel (`contents`).
A newcomer's trap: nothing is resolved. The list names every distribution with its exact version, so that the same list
gives the same bundle next year.
"""

import hashlib
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from infra.bundle.target import Target


class WheelsUnavailable(Exception):
    """pip found no wheel, or no registry. Says which command failed and what pip said."""


def wheels(requirements: Path, target: Target, cache: Path) -> list[Path]:
    """The wheels of all requirements, in the order of their names.

    Raises `WheelsUnavailable`.
    """
    folder = cache / f"{target.name}-py{target.python}-{_digest(requirements)}"
    if not folder.is_dir():
        _download(requirements, target, folder)
    return sorted(folder.glob("*.whl"))


def _digest(requirements: Path) -> str:
    return hashlib.sha256(requirements.read_bytes()).hexdigest()[:16]


def _download(requirements: Path, target: Target, folder: Path) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    # A download that was cut short must not look like a complete one the next time.
    with tempfile.TemporaryDirectory(dir=folder.parent) as unfinished:
        command = [
            *(sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"),
            *("--no-deps", "--only-binary=:all:", *target.pip_options),
            *("--requirement", str(requirements), "--dest", unfinished),
        ]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        if run.returncode != 0:
            raise WheelsUnavailable(f"{' '.join(command)}\n{run.stderr.strip()}")
        shutil.copytree(unfinished, folder, dirs_exist_ok=True)
