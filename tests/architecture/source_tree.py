"""Reads this repository's own code for the tests beside it: which modules there are, and what their syntax trees say.

Nothing here judges; the rules are in the tests. The paths are those of the checkout, whatever directory pytest runs in.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CODE_FOLDERS = ("lib", "functions", "infra")


@dataclass(frozen=True, slots=True)
class Module:
    """One Python file: its path from the root, its text and its syntax tree."""

    path: str
    text: str
    tree: ast.Module

    @property
    def is_init(self) -> bool:
        return self.path.endswith("/__init__.py")


@cache
def modules() -> tuple[Module, ...]:
    """Every module of the product's own code, tests and examples left out."""
    return tuple(_read(path) for folder in CODE_FOLDERS for path in sorted((ROOT / folder).rglob("*.py")))


def _read(path: Path) -> Module:
    text = path.read_text(encoding="utf-8")
    return Module(path.relative_to(ROOT).as_posix(), text, ast.parse(text, filename=str(path)))


def imports(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Each imported name in full, with its line: `from a.b import c` gives `a.b.c`, at any depth of the module."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, node.lineno
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            for alias in node.names:
                yield f"{node.module}.{alias.name}", node.lineno


def within(name: str, package: str) -> bool:
    return name == package or name.startswith(f"{package}.")


def report(rule: str, offenders: list[str]) -> str:
    return f"{rule}\n  " + "\n  ".join(offenders)
