"""The derived documents are those that the code gives, and no method is left out of them."""

from __future__ import annotations

from collections import Counter

import pytest

from durable_core.model import limits
from durable_core.wire.methods import OPERATOR_SERVICE_NAME, SERVICES, WORKFLOW_SERVICE_NAME
from tests.architecture.source_tree import ROOT, report

from . import limits_table
from .derived import documents
from .stages import AREAS, STAGES

WRITE = "run `python -m tests.docs` and look at what it changed"


def test_every_method_of_the_descriptors_belongs_to_exactly_one_area() -> None:
    listed = Counter(f"{WORKFLOW_SERVICE_NAME}/{name}" for area in AREAS for name in area.methods)
    listed.update(f"{OPERATOR_SERVICE_NAME}/{name}" for area in AREAS for name in area.operator)
    known = {f"{service}/{name}" for service, found in SERVICES.items() for name in found.methods_by_name}
    offenders = [f"not listed: {name}" for name in sorted(known - set(listed))]
    offenders += [f"no such method: {name}" for name in sorted(set(listed) - known)]
    offenders += [f"listed {count} times: {name}" for name, count in listed.items() if count > 1]
    assert not offenders, report("Areas in tests/docs/stages.py:", offenders)


def test_every_area_has_a_stage_that_the_documents_explain() -> None:
    assert {area.stage for area in AREAS} == set(STAGES)


@pytest.mark.parametrize("name", [path.relative_to(ROOT).as_posix() for path in documents()])
def test_a_derived_document_is_what_the_code_gives(name: str) -> None:
    path = ROOT / name
    written = path.read_text(encoding="utf-8") if path.exists() else None
    assert written == documents()[path], f"{name} is older than the code: {WRITE}"


def test_every_bound_is_on_the_page_of_limits() -> None:
    bounds = {
        name for name, value in vars(limits).items() if name.islower() and isinstance(value, int | float)
    }
    assert {limit.name for limit in limits_table.all_limits()} == {
        name for name in bounds if not name.startswith("_")
    }
