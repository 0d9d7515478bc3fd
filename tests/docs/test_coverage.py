"""The page on coverage names everything that there is, and nothing on it is left uncovered without a reason."""

from tests.parity.coverage import PAGE, command_types, event_types, fate, implemented

LINES = PAGE.read_text().splitlines()


def test_every_event_and_command_has_its_row() -> None:
    first_cells = {line.split("|")[1].strip() for line in LINES if line.startswith("|")}
    assert set(event_types()) | set(command_types()) <= first_cells


def test_every_field_of_every_implemented_request_has_its_row_and_says_what_becomes_of_it() -> None:
    rows = {line.rpartition("|")[0].rpartition("|")[0] for line in LINES}
    missing = [
        f"{method}.{field.name}"
        for _, method, request in implemented()
        for field in request.fields
        if f"| {method} | {field.name} | {fate(method, field.name)} " not in rows
    ]
    assert not missing, f"run `python -m tests.parity.coverage`: {missing}"


def test_nothing_is_left_uncovered() -> None:
    assert not [line for line in LINES if "**not covered**" in line]
