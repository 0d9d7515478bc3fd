"""Imports go one way. import-linter holds the layers (see `pyproject.toml`); here is what it cannot see.

The one thing to know: import-linter treats all of `temporalio` as one package, so the line between its message types
and its client is drawn here.
"""

import os
import subprocess
import sys
from pathlib import Path

from tests.architecture.source_tree import ROOT, imports, modules, report, within

PROGRAMS = "lib/perdure/"
# The SDK itself, native core and all, is for the programs.
MESSAGE_TYPES = "temporalio.api"


def test_the_layers_of_import_linter_are_kept() -> None:
    command = Path(sys.executable).with_name("lint-imports")
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "lib"), "NO_COLOR": "1"}
    run = subprocess.run(
        [command, "--no-cache", "--no-logo"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr


def test_only_the_programs_import_the_sdk_and_all_else_only_its_message_types() -> None:
    offenders = [
        f"{module.path}:{line} imports {name}"
        for module in modules()
        if not module.path.startswith(PROGRAMS)
        for name, line in imports(module.tree)
        if within(name, "temporalio") and not within(name, MESSAGE_TYPES)
    ]
    assert not offenders, report(f"Outside {PROGRAMS} only {MESSAGE_TYPES} may be imported:", offenders)


def test_no_code_imports_the_tests() -> None:
    offenders = [
        f"{module.path}:{line} imports {name}"
        for module in modules()
        for name, line in imports(module.tree)
        if within(name, "tests") or within(name, "pytest") or within(name, "hypothesis")
    ]
    assert not offenders, report("The product does not know its tests:", offenders)
