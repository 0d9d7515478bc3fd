"""Counts come back from their file as they were written, and a file that means something else is refused."""

import json

import pytest

from perdure.cost.counts import Counts, CountsUnusable, read, write

COUNTED = Counts(
    100, {"dynamodb_write_units": 4_000.0}, {"workflows_started": 100.0}, {"SQS SendMessage": 300}
)


def test_counts_survive_their_file(tmp_path):
    write(COUNTED, tmp_path / "counts.json")
    assert read(tmp_path / "counts.json") == COUNTED


@pytest.mark.parametrize(
    "change, said",
    [
        ({"format": 2}, "format 1"),
        ({"workflows": 0}, "number of workflows"),
        ({"taken": {"gold": 1}}, "gold"),
        ({"taken": {"api_requests": -1}}, "count nothing"),
        ({"facts": {"wishes": 1}}, "wishes"),
        ({"facts": None}, "facts is missing"),
    ],
)
def test_a_file_that_means_something_else_is_refused(tmp_path, change, said):
    file = tmp_path / "counts.json"
    write(COUNTED, file)
    file.write_text(json.dumps({**json.loads(file.read_text()), **change}))
    with pytest.raises(CountsUnusable, match=said):
        read(file)


@pytest.mark.parametrize("text", ["", "[]", "{"])
def test_what_is_no_file_of_counts_is_refused(tmp_path, text):
    file = tmp_path / "counts.json"
    file.write_text(text)
    with pytest.raises(CountsUnusable):
        read(file)


def test_a_missing_file_is_told(tmp_path):
    with pytest.raises(CountsUnusable, match="cannot read"):
        read(tmp_path / "none.json")
