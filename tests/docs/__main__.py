"""Writes the derived documents: `python -m tests.docs`. It prints the names of those that changed.

What does not live here: their text. A newcomer forgets to run it after adding an RPC or a bound; a test remembers.
"""

from __future__ import annotations

import sys

from tests.architecture.source_tree import ROOT

from .derived import documents


def main() -> int:
    for path, text in documents().items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
            print(path.relative_to(ROOT))
    return 0


if __name__ == "__main__":
    sys.exit(main())
