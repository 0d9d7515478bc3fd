"""What `tests/sdk` asks of `perdure dev`, asked of the deployment: the same tests, and a bridge in the server's place.

What does not live here: the tests. Left out are those that kill a server of their own, for there is none to kill;
`tests/faults` kills functions. A test that fails is tried once more, under another name: where calls come at once, each
wakes a process, and on a busy machine that may take a call's whole time. A newcomer's trap: a test is found here by its
name alone, so names are held to be different in all of the modules.
"""

import functools
import importlib
import inspect
from collections.abc import Awaitable, Callable
from types import ModuleType
from typing import Any

import pytest

from tests.sdk.test_command_line import temporal
from tests.sdk.test_typescript import installed

MODULES = (
    "common.test_common",
    "test_activities",
    "test_command_line",
    "test_conversations",
    "test_examples",
    "test_families",
    "test_lifecycle",
    "test_resets",
    "test_sticky",
    "test_typescript",
    "test_updates",
)
# A cold start takes seconds on a busy machine, and each of a dozen processes has one.
SECONDS_MAX = 400


def _tests(module: ModuleType) -> dict[str, Callable[..., Awaitable[None]]]:
    return {
        name: value
        for name, value in vars(module).items()
        if inspect.iscoroutinefunction(value)
        and name.startswith("test_")
        and "mortal_server" not in inspect.signature(value).parameters
    }


def _tried_twice(test: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    @functools.wraps(test)
    async def trying(**arguments: Any) -> None:
        try:
            await test(**arguments)
        except Exception as failure:  # noqa: BLE001 - whatever it was, it must not happen twice
            print(f"tried again after {type(failure).__name__}: {failure}")
            again = {"unique": f"{arguments['unique']}-again"} if "unique" in arguments else {}
            await test(**{**arguments, **again})

    return trying


def _of_all() -> dict[str, object]:
    found: dict[str, object] = {}
    for module in MODULES:
        for name, test in _tests(importlib.import_module(f"tests.sdk.{module}")).items():
            if name in found:
                raise ValueError(f"two tests of tests/sdk are called {name}")
            found[name] = _tried_twice(test)
    return found


pytestmark = [pytest.mark.asyncio, pytest.mark.timeout(SECONDS_MAX)]
__all__ = ["installed", "temporal"]
globals().update(_of_all())
