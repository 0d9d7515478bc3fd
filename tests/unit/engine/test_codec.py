"""A run's stored form leads back to the same run, and what newer code wrote is left alone."""

import pytest

from durable_core.engine import codec
from durable_core.model.errors import Code
from durable_core.model.state import SECTIONS, Core, RunState
from durable_core.ports.executions import StoredRun
from tests.properties.test_illegal_events import STATES, states


def stored(state, version=7):
    fresh = RunState(state.core)
    for name in SECTIONS:
        for key, value in getattr(state, name).items():
            getattr(fresh, name).put(key, value)
    return StoredRun(version, codec.encode_core(state.core), codec.encode_changes(fresh))


@pytest.mark.parametrize("name", STATES)
def test_a_run_survives_its_stored_form(name):
    state = states()[name]
    back = codec.decode(stored(state))
    assert back.core == state.core
    assert back.version == 7
    for section in SECTIONS:
        assert dict(getattr(back, section).items()) == dict(getattr(state, section).items())
        assert not getattr(back, section).changes


def test_every_section_has_entries_somewhere_in_these_tests():
    assert all(any(len(getattr(state, name)) for state in states().values()) for name in SECTIONS)


def test_numbered_entries_come_back_in_the_order_of_their_numbers():
    sections = {"buffered": {str(n): codec._encode(b"%d" % n) for n in (10, 9, 100, 1)}}
    state = codec.decode(StoredRun(1, codec.encode_core(Core()), sections))
    assert [key for key, _ in state.buffered.items()] == [1, 9, 10, 100]


def test_only_changed_entries_are_encoded_and_removed_ones_are_none():
    fork = states()["busy"].fork()
    fork.timers.remove("t1")
    fork.requests.put("r9", 9)
    changes = codec.encode_changes(fork)
    assert set(changes) == {"timers", "requests"}
    assert changes["timers"] == {"t1": None}
    assert set(changes["requests"]) == {"r9"}


@pytest.mark.parametrize("first", [b"\x00", b"\x02", b"\xff", b""])
def test_another_format_is_refused_so_that_the_caller_tries_elsewhere(first):
    core = first + codec.encode_core(Core())[1:] if first else b""
    with pytest.raises(codec.UnknownFormat) as raised:
        codec.decode(StoredRun(1, core, {}))
    assert raised.value.code == Code.UNAVAILABLE


def test_a_field_that_older_code_did_not_write_has_its_default():
    older = codec._encode(list(codec.msgspec.to_builtins(Core(run_id="run")))[:5])
    state = codec.decode(StoredRun(1, codec.FORMAT + older, {}))
    assert state.core.run_id == "run"
    assert state.core.attempt == 1


def test_the_current_run_tells_what_a_start_asks_for():
    core = Core(run_id="run", status=1, start_request_id="request", started_at=5)
    current = codec.current_run(core)
    assert (current.run_id, current.open) == ("run", True)
    facts = codec.current_facts(current)
    assert (facts.status, facts.start_request_id, facts.started_at) == (1, "request", 5)
    core.closed_at = 9
    assert not codec.current_run(core).open
