"""Settings, frozen at start. This is the only reader of the environment.

What does not live here: what AWS's own libraries read themselves (credentials, Region, endpoint).
A newcomer's trap: the embedded server and the functions share `Settings`; `AwsSettings` is what only functions need.
"""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

SHARDS_MAX = 1 << 20
PREFIX = re.compile(r"[a-zA-Z0-9][a-zA-Z0-9-]{0,29}")
LOG_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR")
SWITCH = {"on": True, "off": False}
TRUE = ("1", "true", "yes", "on", "y", "t")


@dataclass(frozen=True, slots=True)
class Settings:
    """`database` None keeps everything in memory. `shards` is fixed when a deployment is created."""

    database: Path | None = None
    shards: int = 1
    runs_cached: int = 2_000
    durable: bool = True


class BadSettings(Exception):
    """The environment lacks a setting, or one makes no sense. The message names all of them."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("these settings need mending: " + "; ".join(problems))


@dataclass(frozen=True, slots=True)
class AwsSettings:
    """What a deployment tells its functions. `prefix` begins the names of all that belongs to the deployment."""

    prefix: str
    service_queue_url: str
    timer_queue_url: str
    timer_queue_arn: str
    schedule_group: str
    schedule_role_arn: str
    timer_dead_letter_queue_arn: str
    stream_dead_letter_queue_url: str
    shards: int = 4096
    fast_path: bool = True
    log_level: str = "INFO"
    default_retention_days: int = 1


def aws_settings(environment: Mapping[str, str] | None = None) -> AwsSettings:
    """The settings of a function, from its environment unless another is given. Raises `BadSettings`."""
    reader = _Reader(os.environ if environment is None else environment)
    settings = AwsSettings(
        prefix=reader.matching("PERDURE_PREFIX", PREFIX, "up to 30 letters, digits and hyphens"),
        service_queue_url=reader.present("PERDURE_SERVICE_QUEUE_URL"),
        timer_queue_url=reader.present("PERDURE_TIMER_QUEUE_URL"),
        timer_queue_arn=reader.present("PERDURE_TIMER_QUEUE_ARN"),
        schedule_group=reader.present("PERDURE_SCHEDULE_GROUP"),
        schedule_role_arn=reader.present("PERDURE_SCHEDULE_ROLE_ARN"),
        timer_dead_letter_queue_arn=reader.present("PERDURE_TIMER_DEAD_LETTER_QUEUE_ARN"),
        stream_dead_letter_queue_url=reader.present("PERDURE_STREAM_DEAD_LETTER_QUEUE_URL"),
        shards=reader.number("PERDURE_SHARDS", 4096, SHARDS_MAX),
        fast_path=SWITCH[reader.one_of("PERDURE_FAST_PATH", tuple(SWITCH), "on")],
        log_level=reader.one_of("PERDURE_LOG_LEVEL", LOG_LEVELS, "INFO"),
        default_retention_days=reader.number("PERDURE_DEFAULT_RETENTION_DAYS", 1, 36_500),
    )
    if reader.problems:
        raise BadSettings(reader.problems)
    return settings


def is_traced(environment: Mapping[str, str] | None = None) -> bool:
    """Whether this is a function whose calls are to be traced, by the variables that Lambda and Powertools go by."""
    said = os.environ if environment is None else environment
    return (
        bool(said.get("LAMBDA_TASK_ROOT")) and said.get("POWERTOOLS_TRACE_DISABLED", "").lower() not in TRUE
    )


class _Reader:
    """Reads values and collects what is wrong with them, so that a person mends everything at once."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment
        self.problems: list[str] = []

    def present(self, name: str) -> str:
        value = self._environment.get(name, "")
        if not value:
            self.problems.append(f"{name} is not set")
        return value

    def matching(self, name: str, pattern: re.Pattern[str], meaning: str) -> str:
        value = self.present(name)
        if value and not pattern.fullmatch(value):
            self.problems.append(f'{name} must be {meaning}: got "{value}"')
        return value

    def number(self, name: str, default: int, largest: int) -> int:
        value = self._environment.get(name, "") or str(default)
        if not (value.isascii() and value.isdecimal() and 1 <= int(value) <= largest):
            self.problems.append(f'{name} must be a whole number from 1 to {largest}: got "{value}"')
            return default
        return int(value)

    def one_of(self, name: str, values: tuple[str, ...], default: str) -> str:
        value = self._environment.get(name, "") or default
        if value not in values:
            self.problems.append(f'{name} must be one of {", ".join(values)}: got "{value}"')
            return default
        return value
