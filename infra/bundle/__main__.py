"""`python -m infra.bundle [arm64|x86_64|local]`: build a bundle; say where it is, how large, and how it starts.

What does not live here: building (`build`) and measuring (`measure`).
A newcomer's trap: only a bundle for this machine's processor can be started here; the others are only weighed.
"""

import argparse
import platform
import tempfile
import zipfile
from pathlib import Path

from infra.bundle import archive
from infra.bundle.build import ROOT, Bundle, build
from infra.bundle.measure import cold_import
from infra.bundle.target import ARCHITECTURES, Target

MEASURED = "functions.frontend.handler"
ROUNDS = 3


def main() -> None:
    """Build one bundle."""
    parser = argparse.ArgumentParser(prog="python -m infra.bundle", description="Build the Lambda bundle.")
    parser.add_argument("target", nargs="?", default="arm64", choices=[*ARCHITECTURES, "local"])
    name = parser.parse_args().target
    bundle = build(Target.local() if name == "local" else Target.lambda_function(name))
    python = archive.interpreter(bundle.target.python)
    how = "compiled" if bundle.compiled else f"not compiled: there is no python{bundle.target.python} here"
    print(f"{bundle.path.relative_to(ROOT)}: {bundle.size / 2**20:.1f} MiB zipped, {how}")
    if python is not None and name in {
        "local",
        {"aarch64": "arm64"}.get(platform.machine(), platform.machine()),
    }:
        print(f"cold import of {MEASURED}: {_seconds(bundle, python):.2f} s of processor time")


def _seconds(bundle: Bundle, python: str) -> float:
    with tempfile.TemporaryDirectory() as folder:
        with zipfile.ZipFile(bundle.path) as packed:
            packed.extractall(folder)
        return min(cold_import(python, Path(folder), MEASURED, {}).seconds for _ in range(ROUNDS))


if __name__ == "__main__":
    main()
