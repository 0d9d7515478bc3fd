"""What the README and CI tell a person to run exists, so that the first minute with the project does not fail."""

import re
from pathlib import Path

from tests.architecture.source_tree import ROOT, report

MAKE_COMMAND = re.compile(r"(?:^|`|\$ )make ([a-z][a-z-]*)", re.MULTILINE)
MAKE_TARGET = re.compile(r"^([a-z][a-z-]*):", re.MULTILINE)
PROMISED = {"demo", "test"}


def _targets() -> set[str]:
    return set(MAKE_TARGET.findall((ROOT / "Makefile").read_text(encoding="utf-8")))


def _commands(path: Path) -> set[str]:
    return set(MAKE_COMMAND.findall(path.read_text(encoding="utf-8")))


def test_every_make_command_in_the_documents_is_a_target_of_the_makefile() -> None:
    documents = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")), ROOT / ".ci" / "run"]
    offenders = [
        f"{path.relative_to(ROOT)}: make {command}"
        for path in documents
        for command in sorted(_commands(path) - _targets())
    ]
    assert not offenders, report("Commands without a target in the Makefile:", offenders)


def test_the_readme_names_the_demo_and_the_tests() -> None:
    missing = PROMISED - _commands(ROOT / "README.md")
    assert not missing, f"README.md does not name: {', '.join(sorted(missing))}"


def test_ci_runs_the_test_command_of_the_readme() -> None:
    assert "test" in _commands(ROOT / ".ci" / "run")


def test_every_phony_target_says_what_it_makes() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    phony = re.search(r"^\.PHONY: (.*)$", makefile, re.MULTILINE)
    assert phony is not None
    described = set(re.findall(r"^([a-z-]+):.*## ", makefile, re.MULTILINE))
    assert set(phony.group(1).split()) == described
