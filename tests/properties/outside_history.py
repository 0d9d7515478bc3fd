"""Which facts the state keeps outside history, read from the marks in `model/state.py` itself.

So a fact that loses its mark, or never had one, is held to come from the history.
"""

import ast
import inspect
from functools import cache

from durable_core.model import state

MARK = "# outside history"


@cache
def facts(owner: type) -> frozenset[str]:
    """The marked fields of a structure of the state."""
    text = inspect.getsource(state)
    lines = text.splitlines()
    for node in ast.parse(text).body:
        if isinstance(node, ast.ClassDef) and node.name == owner.__name__:
            return frozenset(
                statement.target.id
                for statement in node.body
                if isinstance(statement, ast.AnnAssign)
                and isinstance(statement.target, ast.Name)
                and statement.end_lineno is not None
                and any(MARK in line for line in lines[statement.lineno - 1 : statement.end_lineno])
            )
    raise LookupError(owner.__name__)
