"""The routes of the Temporal HTTP API, read from the `google.api.http` annotations of the service descriptors.

What does not live here: bodies and answers (`http_api`). There is no list of routes to keep; a new version of the API
package brings its own.
A newcomer's trap: a path is split before it is decoded, so that an ID with a slash (`%2F`) is one segment.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from google.api import annotations_pb2
from google.api.http_pb2 import HttpRule

from durable_core.wire.methods import Method, MethodTable

_VARIABLE = re.compile(r"\{([a-z0-9_.]+)\}")


@dataclass(frozen=True, slots=True)
class Route:
    """`segments` are the path's parts: a literal, or the field path that the part binds (`binds` says which)."""

    verb: str
    segments: tuple[str, ...]
    binds: tuple[bool, ...]
    has_body: bool
    method: Method


@dataclass(frozen=True, slots=True)
class Match:
    """The route of a path, and the values of the fields that the path binds."""

    route: Route
    bindings: dict[str, str]


class Routes:
    """All routes of a method table, those of unimplemented methods included."""

    def __init__(self, table: MethodTable) -> None:
        self._by_length: dict[int, list[Route]] = {}
        for method in table.by_path.values():
            for route in routes_of(method):
                self._by_length.setdefault(len(route.segments), []).append(route)
        # A literal is a better match than a variable, leftmost first.
        for routes in self._by_length.values():
            routes.sort(key=lambda route: route.binds)

    def find(self, verb: str, path: str) -> Match | None:
        """The best match of a raw path, or None."""
        parts = path.strip().split("/")[1:]
        for route in self._by_length.get(len(parts), ()):
            if route.verb == verb and _fits(route, parts):
                return Match(route, _bindings(route, parts))
        return None

    def knows(self, path: str) -> bool:
        """Whether another verb would match the path."""
        parts = path.strip().split("/")[1:]
        return any(_fits(route, parts) for route in self._by_length.get(len(parts), ()))


def routes_of(method: Method) -> Iterator[Route]:
    """The routes of one method: its rule's, and those of the additional bindings."""
    options: Any = method.descriptor.GetOptions()
    rule: HttpRule = options.Extensions[annotations_pb2.http]
    for binding in (rule, *rule.additional_bindings):
        if binding.WhichOneof("pattern") is not None:
            yield _route(method, binding)


def _route(method: Method, rule: HttpRule) -> Route:
    verb = rule.WhichOneof("pattern")
    assert verb is not None
    if rule.body not in ("", "*") or rule.response_body:
        raise ValueError(f"{method.path}: a body that is a part of the message is not supported")
    segments = []
    binds = []
    for part in getattr(rule, verb).split("/")[1:]:
        variable = _VARIABLE.fullmatch(part)
        segments.append(variable.group(1) if variable else part)
        binds.append(variable is not None)
    return Route(verb.upper(), tuple(segments), tuple(binds), rule.body == "*", method)


def _fits(route: Route, parts: list[str]) -> bool:
    return all(
        bound or segment == part
        for segment, bound, part in zip(route.segments, route.binds, parts, strict=True)
    )


def _bindings(route: Route, parts: list[str]) -> dict[str, str]:
    triples = zip(route.segments, route.binds, parts, strict=True)
    return {segment: unquote(part) for segment, bound, part in triples if bound}
