"""Building a bundle: wheels and our code into a folder, compiled, packed, and kept until something in it changes.

What does not live here: which files (`contents`) and for which platform (`target`).
A newcomer's trap: the archive's name carries a digest of all that it is made from, so an unchanged bundle is not even
opened again, and `cdk deploy` has nothing to upload.
"""

import hashlib
import shutil
import tempfile
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from infra.bundle import archive, contents
from infra.bundle.target import Target
from infra.bundle.wheels import wheels

ROOT = Path(__file__).resolve().parents[2]
REQUIREMENTS = ROOT / "functions" / "requirements.txt"
ZIPPED_BYTES_MAX = 30 * 2**20


class BundleTooLarge(Exception):
    """The archive is over its budget, which is far below Lambda's own limit; a new file should not go unnoticed."""


@dataclass(frozen=True, slots=True)
class Bundle:
    """`compiled` says whether its modules are byte code already (`archive` says why that matters)."""

    path: Path
    target: Target
    compiled: bool

    @property
    def size(self) -> int:
        return self.path.stat().st_size


def build(target: Target, output: Path = ROOT / "build") -> Bundle:
    """The bundle for this target, made now or before.

    Raises `WheelsUnavailable`, and `BundleTooLarge`.
    """
    python = archive.interpreter(target.python)
    own = list(contents.own_files(ROOT))
    name = f"functions-{target.name}-py{target.python}"
    path = output / "bundle" / f"{name}-{_digest(own, python is not None)}.zip"
    if not path.is_file():
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=path.parent) as scratch:
            packed = _make(target, own, python, Path(scratch), output)
            packed.rename(path)
        for older in set(path.parent.glob(f"{name}-*.zip")) - {path}:
            older.unlink(missing_ok=True)
    return Bundle(path, target, python is not None)


def _make(
    target: Target, own: Iterable[tuple[str, Path]], python: str | None, scratch: Path, output: Path
) -> Path:
    folder = scratch / "content"
    for wheel in wheels(REQUIREMENTS, target, output / "wheels"):
        _unpack(wheel, folder)
    (folder / "temporalio" / "__init__.py").write_text(contents.TEMPORALIO_INIT, encoding="utf-8")
    for name, source in own:
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, place)
    if python is not None:
        archive.compile_folder(folder, python)
    packed = scratch / "bundle.zip"
    archive.pack(folder, packed)
    if packed.stat().st_size > ZIPPED_BYTES_MAX:
        raise BundleTooLarge(f"{packed.stat().st_size / 2**20:.1f} MiB zipped; the budget is 30 MiB")
    return packed


def _unpack(wheel: Path, folder: Path) -> None:
    distribution = wheel.name.split("-", 1)[0]
    with zipfile.ZipFile(wheel) as packed:
        for name in packed.namelist():
            if not name.endswith("/") and contents.wanted(distribution, name):
                packed.extract(name, folder)


def _digest(own: Iterable[tuple[str, Path]], compiled: bool) -> str:
    """Of everything that decides the archive's content: our code, the requirements, and the rules of this package."""
    digest = hashlib.sha256(str(compiled).encode())
    rules = [(path.name, path) for path in sorted(Path(__file__).parent.glob("*.py"))]
    for name, path in [*own, ("requirements", REQUIREMENTS), *rules]:
        content = path.read_bytes()
        digest.update(f"{name} {len(content)}\n".encode())
        digest.update(content)
    return digest.hexdigest()[:16]
