"""Packing a folder so that the same content is the same archive, byte for byte, and compiling it beforehand.

What does not live here: what is in the folder (`contents`).
A newcomer's trap: a function's file system is read-only, so modules that are not compiled beforehand are compiled anew
at every cold start. Byte code fits one minor version of Python; where that interpreter is missing the bundle works,
but starts about three times as slowly.
"""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

# The oldest time that the format can say: a file's own time would make every build another archive.
_EPOCH = (1980, 1, 1, 0, 0, 0)
_READABLE = 0o100644 << 16


def interpreter(version: str) -> str | None:
    """A Python of this minor version, for compiling; None where there is none."""
    if version == f"{sys.version_info.major}.{sys.version_info.minor}":
        return sys.executable
    found = shutil.which(f"python{version}")
    return found if found is not None and _answers(found, version) else None


def _answers(command: str, version: str) -> bool:
    """A version manager's shim may carry a name that it has nothing behind."""
    script = "import sys; print('%d.%d' % sys.version_info[:2])"
    run = subprocess.run([command, "-c", script], capture_output=True, text=True, check=False)
    return run.stdout.strip() == version


def compile_folder(folder: Path, python: str) -> None:
    """Write byte code that is used without a look at the sources' times, which unpacking changes.

    Raises `subprocess.CalledProcessError` for a module that is not valid Python of that version.
    """
    # One process and a fixed seed: what byte code looks like can depend on both.
    options = ["-q", "-q", "--invalidation-mode", "unchecked-hash", "-s", str(folder), "-p", "/var/task"]
    command = [python, "-m", "compileall", *options, str(folder)]
    environment = {"PYTHONHASHSEED": "0", "PATH": os.defpath}
    subprocess.run(command, check=True, env=environment)


def pack(folder: Path, archive: Path) -> None:
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as packed:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                entry = zipfile.ZipInfo(path.relative_to(folder).as_posix(), _EPOCH)
                entry.external_attr = _READABLE
                entry.compress_type = zipfile.ZIP_DEFLATED
                packed.writestr(entry, path.read_bytes())
