"""The page docs/API.md and the summary in the README: every RPC and every command, with what our tables say of it.

What does not live here: any list of what is implemented. `services/rpcs.py` and `engine/command_table.py` are asked.
The one thing a newcomer gets wrong: both texts are written by `python -m tests.docs`; an edit by hand is undone by it.
"""

from __future__ import annotations

from temporalio.api.enums.v1 import CommandType

from durable_core.engine import command_table
from durable_core.services.rpcs import OPERATOR_SERVICE, WORKFLOW_SERVICE
from durable_core.wire.http_routes import routes_of
from durable_core.wire.methods import (
    OPERATOR_SERVICE_NAME,
    WORKFLOW_SERVICE_NAME,
    Method,
    MethodTable,
)

from .stages import AREAS, STAGES, Area

INTRODUCTION = """\
# The API: what is there, and what is not yet

Written by `python -m tests.docs` from `lib/durable_core/services/rpcs.py`, `lib/durable_core/engine/command_table.py`
and the service descriptors of the `temporalio` package. A test keeps this page and the code together.

Every method is reached in three ways: by gRPC, by Connect (`POST /{service}/{method}` with `application/json` or
`application/proto`), and, where the table shows a route, by the Temporal HTTP API. A method that is not there yet
answers `UNIMPLEMENTED` and says its name; nothing pretends to work. What becomes of each field of a request:
[COVERAGE.md](COVERAGE.md)."""

COMMANDS = """\
## Commands

What a workflow may ask for when its worker answers a workflow task. A command that is not there yet is refused, and the
workflow task stays with its worker."""


def page() -> str:
    """The whole of docs/API.md."""
    parts = [INTRODUCTION]
    for stage, meaning in STAGES.items():
        there, of = _counts([area for area in AREAS if area.stage == stage])
        parts.append(f"## Stage {stage}: {meaning} ({there} of {of})")
        parts += [_area(area) for area in AREAS if area.stage == stage]
    parts += [COMMANDS, _commands()]
    return "\n\n".join(parts) + "\n"


def summary() -> str:
    """The README's table: one line an area, with the names of what is missing where a part is there."""
    lines = ["| area | there | not yet |", "|---|---|---|"]
    for area in AREAS:
        if area.stage == 1:
            there, of = _counts([area])
            missing = ", ".join(f"`{method.name}`" for method in _methods(area) if method.rpc is None)
            missing = missing if there else "all of it"
            lines.append(f"| {area.title} | {there} of {of} | {missing} |")
    for area in AREAS:
        if area.stage > 1:
            there, of = _counts([area])
            lines.append(f"| {area.title} | {there} of {of} | stage {area.stage} |")
    return "\n".join(lines)


def table() -> MethodTable:
    return MethodTable({WORKFLOW_SERVICE_NAME: WORKFLOW_SERVICE, OPERATOR_SERVICE_NAME: OPERATOR_SERVICE})


def _methods(area: Area) -> list[Method]:
    by_path = table().by_path
    paths = [f"/{WORKFLOW_SERVICE_NAME}/{name}" for name in area.methods]
    paths += [f"/{OPERATOR_SERVICE_NAME}/{name}" for name in area.operator]
    return [by_path[path] for path in paths]


def _counts(areas: list[Area]) -> tuple[int, int]:
    methods = [method for area in areas for method in _methods(area)]
    return sum(method.rpc is not None for method in methods), len(methods)


def _area(area: Area) -> str:
    lines = [f"### {area.title}", "", "| method | HTTP | there |", "|---|---|---|"]
    for method in _methods(area):
        service = " (operator)" if method.service == OPERATOR_SERVICE_NAME else ""
        there = "not yet" if method.rpc is None else "yes"
        lines.append(f"| `{method.name}`{service} | {_route(method)} | {there} |")
    return "\n".join(lines)


def _route(method: Method) -> str:
    """The route that begins with the version, as the other bindings are for tools that know only those."""
    for route in routes_of(method):
        if route.segments[:2] == ("api", "v1"):
            parts = [
                f"{{{segment}}}" if bound else segment
                for segment, bound in zip(route.segments, route.binds, strict=True)
            ]
            return f"`{route.verb} /{'/'.join(parts)}`"
    return ""


def _commands() -> str:
    lines = ["| command | there |", "|---|---|"]
    for kind in CommandType.values():
        if kind != CommandType.COMMAND_TYPE_UNSPECIFIED:
            there = "yes" if kind in command_table.HANDLERS else "not yet"
            lines.append(f"| `{command_table.name(kind)}` | {there} |")
    return "\n".join(lines)
