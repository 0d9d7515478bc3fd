"""What the documents name exists: paths, links, modules run with -m, commands and options of the programs.

The make targets are looked after by tests/architecture/test_commands.py. Newcomers forget that a path in backticks is a
promise: write `<name>` where the reader has to put one.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.architecture.source_tree import ROOT, report

TOP_FOLDERS = ("lib", "tests", "docs", "examples", "functions", "infra", "localstack", ".ci")
PACKAGES = ("durable_core", "perdure")
IN_BACKTICKS = re.compile(r"`([^`\n]+)`")
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
RUN_MODULE = re.compile(r"python -m ([a-z_.]+)")
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")
PERDURE = re.compile(r"^(?:\$ )?perdure ([a-z]+)(.*)$", re.MULTILINE)


def _documents() -> list[Path]:
    found = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]
    return [*found, ROOT / "examples" / "README.md"]


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def _named(path: Path) -> Iterator[str]:
    """Paths of the repository that a document names in backticks; those with a place-holder are left out."""
    for quoted in IN_BACKTICKS.findall(_text(path)):
        word = quoted.split()[0].rstrip(",:;")
        word = word.split("::")[0]
        top, slash, _ = word.partition("/")
        if top in TOP_FOLDERS and slash and not re.search(r"[<>*{}]", word):
            yield word


def test_every_path_in_the_documents_exists() -> None:
    offenders = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in _documents()
        for name in _named(path)
        if not (ROOT / name).exists()
    ]
    assert not offenders, report("Paths that are not there:", offenders)


def test_every_link_between_documents_leads_somewhere() -> None:
    offenders = []
    for path in _documents():
        for target in LINK.findall(_text(path)):
            where, _, anchor = target.partition("#")
            if "://" in target or target.startswith("mailto:"):
                continue
            found = (path.parent / where).resolve() if where else path
            if not found.exists():
                offenders.append(f"{path.relative_to(ROOT)}: {target}")
            elif anchor and found.suffix == ".md" and anchor not in _anchors(found):
                offenders.append(f"{path.relative_to(ROOT)}: {target} (no such heading)")
    assert not offenders, report("Links that lead nowhere:", offenders)


def _anchors(path: Path) -> set[str]:
    """The anchors of a page's headings, as forges make them."""
    headings = re.findall(r"^#+ (.+)$", _text(path), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


def test_every_module_that_the_documents_run_is_there() -> None:
    offenders = []
    for path in _documents():
        for name in RUN_MODULE.findall(_text(path)):
            parts = name.rstrip(".").split(".")
            roots = [ROOT / "lib"] if parts[0] in PACKAGES else [ROOT]
            if parts[0] in (*PACKAGES, *TOP_FOLDERS) and not any(_is_module(root, parts) for root in roots):
                offenders.append(f"{path.relative_to(ROOT)}: python -m {name}")
    assert not offenders, report("Modules that are not there:", offenders)


def _is_module(root: Path, parts: list[str]) -> bool:
    place = root.joinpath(*parts)
    return place.with_suffix(".py").exists() or (place / "__main__.py").exists()


def _help(command: str) -> str:
    run = subprocess.run(
        [sys.executable, "-m", "perdure", *command.split(), "--help"],
        env={"PYTHONPATH": str(ROOT / "lib"), "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    return run.stdout


def _commands() -> dict[str, set[str]]:
    """The commands of `perdure` that the documents print, with the options that they give them."""
    found: dict[str, set[str]] = {}
    for path in _documents():
        for block in re.findall(r"^```sh\n(.*?)^```", _text(path), re.MULTILINE | re.DOTALL):
            for command, rest in PERDURE.findall(block):
                found.setdefault(command, set()).update(OPTION.findall(rest))
    return found


@pytest.mark.parametrize("command", sorted(_commands()))
def test_a_printed_perdure_command_takes_the_options_it_is_given(command: str) -> None:
    unknown = _commands()[command] - set(OPTION.findall(_help(command)))
    assert not unknown, f"perdure {command} has no {', '.join(sorted(unknown))}"


def test_the_readme_explains_every_option_of_perdure_dev() -> None:
    explained = set(re.findall(r"^\| `(--[a-z-]+)", _text(ROOT / "README.md"), re.MULTILINE))
    assert explained == set(OPTION.findall(_help("dev"))) - {"--help"}
