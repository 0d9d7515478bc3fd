"""What a deployment can be told: `cdk deploy -c name=value`, or the same names under "context" in cdk.json.

What does not live here: what each value does to a resource (the constructs say that).
A newcomer's trap: `name` and `shards` are fixed when a deployment is created. Another name is another deployment with
tables of its own, and functions refuse to start on tables that were made for another number of shards.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal, Self

from infra.bundle.target import ARCHITECTURES

Authorization = Literal["iam", "bearer", "none"]
Tables = Literal["retain", "destroy"]

# The queues' names are made of it, and the longest of them must stay within SQS's 80 characters.
_NAME = re.compile(r"(?!url)[a-z][a-z0-9-]{0,29}")


class UnknownParameter(ValueError):
    """A value that a parameter does not take. Says which it takes."""


@dataclass(frozen=True, slots=True)
class Parameters:
    """Every parameter with its default. `docs/how-to/deploy.md` explains them one by one."""

    name: str = "perdure"
    shards: int = 4096
    retention_days: int = 1
    authorization: Authorization = "iam"
    issuer: str = ""
    audience: str = ""
    architecture: str = "arm64"
    memory: int = 1024
    background_memory: int = 512
    log_level: str = "INFO"
    log_days: int = 30
    fast_path: bool = True
    tracing: bool = False
    access_logs: bool = False
    tables: Tables = "retain"
    alarms: bool = True
    alarm_address: str = ""
    dashboard: bool = True
    bundle: Literal["lambda", "local"] = "lambda"

    def __post_init__(self) -> None:
        """Raises `UnknownParameter` for what would only fail half-way through a deployment."""
        if not _NAME.fullmatch(self.name):
            raise UnknownParameter("name: 1 to 30 of a-z, 0-9 and '-', a letter first, and not 'url'")
        _one_of("authorization", self.authorization, ("iam", "bearer", "none"))
        _one_of("architecture", self.architecture, ARCHITECTURES)
        _one_of("tables", self.tables, ("retain", "destroy"))
        _one_of("bundle", self.bundle, ("lambda", "local"))
        _one_of("log_level", self.log_level, ("DEBUG", "INFO", "WARNING", "ERROR"))
        _within("shards", self.shards, 1, 1 << 20)
        _within("retention_days", self.retention_days, 1, 3650)
        _within("memory", self.memory, 256, 10240)
        _within("background_memory", self.background_memory, 256, 10240)
        if self.authorization == "bearer" and not (self.issuer and self.audience):
            raise UnknownParameter("authorization=bearer needs issuer=URL and audience=NAME")

    @classmethod
    def of_context(cls, look_up: Callable[[str], Any]) -> Self:
        """Read each parameter by its name; None takes the default. Raises `UnknownParameter`."""
        given = {field.name: look_up(field.name) for field in fields(cls)}
        return cls.of({name: value for name, value in given.items() if value is not None})

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Self:
        """From texts, as the command line gives them, or values. Raises `UnknownParameter`."""
        defaults = {field.name: field.default for field in fields(cls)}
        return cls(**{name: _converted(name, value, defaults[name]) for name, value in given.items()})


def _converted(name: str, value: Any, default: Any) -> Any:
    if isinstance(default, bool):
        words = {"true": True, "on": True, "false": False, "off": False}
        if str(value).lower() not in words:
            raise UnknownParameter(f"{name}: on or off, not {value!r}")
        return words[str(value).lower()]
    if isinstance(default, int):
        try:
            return int(value)
        except ValueError as no_number:
            raise UnknownParameter(f"{name}: a whole number, not {value!r}") from no_number
    return str(value)


def _one_of(name: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise UnknownParameter(f"{name}: one of {', '.join(known)}; not {value!r}")


def _within(name: str, value: int, least: int, most: int) -> None:
    if not least <= value <= most:
        raise UnknownParameter(f"{name}: {least} to {most}, not {value}")
