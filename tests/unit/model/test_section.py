"""A section's fork sees what it was forked from, and nothing that is done to a fork is seen before it is absorbed."""

import pytest

from durable_core.model.section import Section


def contents(section):
    return list(section.items())


@pytest.fixture
def base():
    return Section({"a": 1, "b": 2})


def test_a_fork_has_the_entries_and_its_changes_stay_with_it(base):
    fork = base.fork()
    fork.put("a", 10)
    fork.put("c", 3)
    fork.remove("b")
    assert contents(fork) == [("a", 10), ("c", 3)]
    assert (len(fork), "b" in fork, fork.get("b"), fork.get("c")) == (2, False, None, 3)
    assert contents(base) == [("a", 1), ("b", 2)]
    assert (len(base), base.changes) == (2, {})


def test_changes_name_what_is_new_changed_and_removed(base):
    fork = base.fork()
    fork.put("a", 10)
    fork.put("c", 3)
    fork.remove("b")
    assert fork.changes == {"a": 10, "c": 3, "b": None}


def test_what_comes_and_goes_within_a_fork_is_no_change(base):
    fork = base.fork()
    fork.put("c", 3)
    fork.remove("c")
    assert not fork.changes
    assert len(fork) == 2


def test_an_entry_may_be_removed_and_put_again(base):
    fork = base.fork()
    fork.remove("a")
    fork.put("a", 5)
    assert (fork.get("a"), len(fork), fork.changes) == (5, 2, {"a": 5})
    fork.remove("a")
    assert ("a" in fork, len(fork), fork.changes) == (False, 1, {"a": None})


@pytest.mark.parametrize("key", ["nobody", "b"])
def test_only_an_entry_that_is_there_can_be_removed(base, key):
    fork = base.fork()
    fork.remove("b")
    with pytest.raises(KeyError):
        fork.remove(key)
    assert len(fork) == 1


def test_an_absorbed_fork_is_the_base_of_later_forks(base):
    fork = base.fork()
    fork.put("c", 3)
    fork.remove("a")
    fork.absorb()
    assert (contents(fork), fork.changes, len(fork)) == ([("b", 2), ("c", 3)], {}, 2)
    later = fork.fork()
    later.put("d", 4)
    assert contents(later) == [("b", 2), ("c", 3), ("d", 4)]
    assert contents(fork) == [("b", 2), ("c", 3)]


def test_a_section_with_changes_of_its_own_is_not_forked(base):
    fork = base.fork()
    fork.put("c", 3)
    with pytest.raises(RuntimeError):
        fork.fork()


def test_a_value_that_is_false_is_a_value():
    section = Section({"zero": 0}).fork()
    section.put("empty", b"")
    assert "zero" in section
    assert "empty" in section
    assert (section.get("zero"), section.get("empty"), len(section)) == (0, b"", 2)
