"""What is written from the code: two pages and the marked blocks of the README.

What does not live here: the words around the blocks. A block begins with `<!-- NAME: ... -->` and ends with
`<!-- end NAME -->`, each on a line of its own; what stands between is replaced.
The one thing a newcomer gets wrong: the benchmark table is copied from docs/BENCHMARKS.md, which only a measurement
writes. No number of it is made here.
"""

from __future__ import annotations

import re
from pathlib import Path

from tests.architecture.source_tree import ROOT

from . import api_table, limits_table

BENCHMARKS = ROOT / "docs" / "BENCHMARKS.md"
README = ROOT / "README.md"

NOT_MEASURED = """\
No measurement is checked in yet. `make bench` makes one on your machine, beside `temporal server start-dev`, and prints
the table; [how to run the benchmarks](docs/how-to/run-the-benchmarks.md) says what each row means."""


def documents() -> dict[Path, str]:
    """Each derived document with the text that it should have."""
    return {
        ROOT / "docs" / "API.md": api_table.page(),
        ROOT / "docs" / "LIMITS.md": limits_table.page(),
        README: _with_blocks(README.read_text(encoding="utf-8")),
    }


def _with_blocks(text: str) -> str:
    blocks = {"api": api_table.summary(), "limits": limits_table.excerpt(), "benchmarks": benchmarks()}
    for name, block in blocks.items():
        pattern = re.compile(rf"(<!-- {name}: [^\n]*-->\n).*?(<!-- end {name} -->\n)", re.DOTALL)
        text, count = pattern.subn(lambda match, block=block: f"{match[1]}\n{block}\n\n{match[2]}", text)  # type: ignore[misc]
        if count != 1:
            raise ValueError(f"README.md has {count} blocks named {name}; one is expected")
    return text


def benchmarks() -> str:
    """The machine and the tables of the last measurement that is checked in."""
    if not BENCHMARKS.exists():
        return NOT_MEASURED
    page = BENCHMARKS.read_text(encoding="utf-8")
    machine = "\n".join(line for line in page.splitlines() if line.startswith("- "))
    sections = re.findall(r"^## (.+?)\n\n((?:\|.*\n?)+)", page, re.MULTILINE)
    tables = "\n\n".join(f"**{title}**\n\n{table.strip()}" for title, table in sections)
    source = "The whole page, with the command that wrote it: [docs/BENCHMARKS.md](docs/BENCHMARKS.md)."
    return f"{tables}\n\n{machine}\n\n{source}"
