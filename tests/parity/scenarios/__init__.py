"""All scenarios, grouped by feature: one module a feature, one coroutine a scenario.

Here lives the register. Newcomers forget that a scenario's name becomes part of its workflow IDs and task
queues, so it must be unique over all modules.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Coroutine
from typing import Any

from ..environment import Environment

Scenario = Callable[[Environment], Coroutine[Any, Any, None]]

REGISTER: dict[str, Scenario] = {}


def scenario(function: Scenario) -> Scenario:
    """Register a scenario under its function's name, with hyphens."""
    name = function.__name__.replace("_", "-")
    assert name not in REGISTER, f"two scenarios are called {name}"
    REGISTER[name] = function
    return function


def load_all() -> dict[str, Scenario]:
    """Import every module of this package and give all scenarios by name."""
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")
    return dict(sorted(REGISTER.items()))
