"""A function fits a screen and a module fits a sitting. What outgrows that is split by what it is about."""

import ast

from tests.architecture.source_tree import modules, report

FUNCTION_LINES_MAX = 60
MODULE_LINES_MAX = 400


def test_no_function_is_longer_than_60_lines() -> None:
    sizes = [
        (node.end_lineno - node.lineno + 1, f"{module.path}:{node.lineno} {node.name}")
        for module in modules()
        for node in ast.walk(module.tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno is not None
    ]
    offenders = [f"{lines} lines: {where}" for lines, where in sorted(sizes, reverse=True)]
    offenders = offenders[: sum(lines > FUNCTION_LINES_MAX for lines, _ in sizes)]
    assert not offenders, report(f"Functions of more than {FUNCTION_LINES_MAX} lines:", offenders)


def test_no_module_is_longer_than_400_lines() -> None:
    sizes = [(len(module.text.splitlines()), module.path) for module in modules()]
    offenders = [f"{lines} lines: {path}" for lines, path in sorted(sizes, reverse=True)]
    offenders = offenders[: sum(lines > MODULE_LINES_MAX for lines, _ in sizes)]
    assert not offenders, report(f"Modules of more than {MODULE_LINES_MAX} lines:", offenders)
