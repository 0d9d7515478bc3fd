"""A synthesized template, and the questions that the tests ask it.

A newcomer's trap: names in a template are logical names, made of the constructs' names and a hash. What the tests name
are types and properties, except where a logical name is the point.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

Resource = dict[str, Any]


@dataclass(frozen=True)
class Template:
    """One variant's template, and the report of cdk-nag on it."""

    folder: Path

    @property
    def path(self) -> Path:
        return self.folder / "Perdure.template.json"

    @cached_property
    def document(self) -> Resource:
        return json.loads(self.path.read_text())

    @cached_property
    def report(self) -> Resource:
        [report] = json.loads((self.folder / "validation-report.json").read_text())["pluginReports"]
        return report

    def of_type(self, name: str) -> dict[str, Resource]:
        """Resources by their logical names; `name` without its `AWS::`."""
        resources = self.document["Resources"].items()
        return {logical: each for logical, each in resources if each["Type"] == f"AWS::{name}"}

    def properties(self, name: str) -> list[Resource]:
        return [each["Properties"] for each in self.of_type(name).values()]

    def functions(self) -> dict[str, Resource]:
        """Each function's properties by its own part of its name."""
        return {each["FunctionName"].rpartition("-")[2]: each for each in self.properties("Lambda::Function")}

    def sources(self) -> dict[str, Resource]:
        """Each event source's properties by the function that it calls."""
        named = {
            logical: each["Properties"]["FunctionName"].rpartition("-")[2]
            for logical, each in self.of_type("Lambda::Function").items()
        }
        return {
            named[each["FunctionName"]["Ref"]]: each for each in self.properties("Lambda::EventSourceMapping")
        }

    def statements(self) -> Iterator[tuple[str, Resource]]:
        """Every statement of a permission, with the name of its policy."""
        for kind in ("IAM::Policy", "IAM::ManagedPolicy"):
            for logical, each in self.of_type(kind).items():
                for statement in each["Properties"]["PolicyDocument"]["Statement"]:
                    yield logical, statement

    def queue_name(self, reference: Any) -> str:
        """The name of the queue that `{"Fn::GetAtt": [logical name, "Arn"]}` means."""
        logical, _ = reference["Fn::GetAtt"]
        name: str = self.of_type("SQS::Queue")[logical]["Properties"]["QueueName"]
        return name


class Templates:
    """The variants of `synthesis`, by name."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __getitem__(self, variant: str) -> Template:
        return Template(self._folder / variant)


def listed(value: Any) -> list[Any]:
    """A template writes a list of one as its one."""
    return value if isinstance(value, list) else [value]


def flat(value: Any) -> str:
    """A value with its references and joins, as one text."""
    return value if isinstance(value, str) else json.dumps(value)
