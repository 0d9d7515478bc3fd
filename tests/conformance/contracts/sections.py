"""Sections: what changes, changes, and everything else stays; of any size that the engine may write."""

import pytest

from ..backend import Factory
from ..writing import OTHER, RUN, Writer, sections, stored, write

MANY = 3_000
LARGE = 2 * 1024 * 1024


class SectionsContract:
    def test_entries_are_added_replaced_and_removed(self, factory: Factory) -> None:
        backend = factory.open()
        writer = Writer(backend)
        writer.commit(write(sections={"timers": {"a": b"1", "b": b"2"}, "activities": {"a": b"3"}}))
        writer.commit(
            write(
                expected_version=1,
                sections={"timers": {"a": None, "b": b"4", "c": b"5"}, "children": {"x": b"6"}},
            )
        )
        assert sections(backend) == {
            "timers": {"b": b"4", "c": b"5"},
            "activities": {"a": b"3"},
            "children": {"x": b"6"},
        }

    def test_a_write_without_sections_leaves_them(self, factory: Factory) -> None:
        backend = factory.open()
        writer = Writer(backend)
        writer.commit(write(sections={"timers": {"a": b"1"}}))
        writer.commit(write(expected_version=1))
        assert sections(backend) == {"timers": {"a": b"1"}}

    def test_removing_what_is_not_there_is_no_error(self, factory: Factory) -> None:
        backend = factory.open()
        Writer(backend).commit(write(sections={"timers": {"a": None}, "activities": {}}))
        assert sections(backend) == {}

    def test_an_entry_may_come_back_after_its_removal(self, factory: Factory) -> None:
        backend = factory.open()
        writer = Writer(backend)
        for version, value in enumerate([b"1", None, b"3"]):
            writer.commit(write(expected_version=version, sections={"timers": {"a": value}}))
        assert sections(backend) == {"timers": {"a": b"3"}}

    def test_runs_do_not_share_sections(self, factory: Factory) -> None:
        backend = factory.open()
        writer = Writer(backend)
        writer.commit(write(sections={"timers": {"a": b"1"}}), write(OTHER, sections={"timers": {"a": b"2"}}))
        writer.commit(write(expected_version=1, sections={"timers": {"a": None}}))
        assert sections(backend, RUN) == {}
        assert sections(backend, OTHER) == {"timers": {"a": b"2"}}

    @pytest.mark.parametrize(
        "name",
        ["", "01", "1", "A", "a", "é", "e\u0301", "日本語 🦀", "a\x00b", "a'b", "#", ":", "x" * 1000],
    )
    def test_an_entry_may_have_any_name(self, factory: Factory, name: str) -> None:
        backend = factory.open()
        writer = Writer(backend)
        others = {"0": b"0", "a\x00": b"1", "B": b"2"}
        writer.commit(write(sections={"timers": {**others, name: b"named"}}))
        assert sections(backend) == {"timers": {**others, name: b"named"}}
        writer.commit(write(expected_version=1, sections={"timers": {name: None}}))
        assert sections(backend) == {"timers": others}

    def test_a_value_may_be_any_bytes(self, factory: Factory) -> None:
        backend = factory.open()
        values = {"empty": b"", "all": bytes(range(256)), "zeros": bytes(100), "invalid": b"\xff\xfe\xc3"}
        Writer(backend).commit(write(core=b"", sections={"updates": values}))
        assert sections(backend) == {"updates": values}
        assert stored(backend).core == b""

    def test_thousands_of_entries_come_and_go_in_one_transaction(self, factory: Factory) -> None:
        backend = factory.open()
        writer = Writer(backend)
        entries = {str(number): b"activity %d" % number for number in range(MANY)}
        writer.commit(write(sections={"activities": entries}))
        assert sections(backend) == {"activities": entries}
        writer.commit(
            write(expected_version=1, sections={"activities": dict.fromkeys(list(entries)[1:], None)})
        )
        assert sections(backend) == {"activities": {"0": b"activity 0"}}

    def test_a_value_of_2_mb_is_stored_whole(self, factory: Factory) -> None:
        backend = factory.open()
        writer = Writer(backend)
        large = bytes(range(256)) * (LARGE // 256)
        writer.commit(write(sections={"buffered": {"1": large, "2": b"small"}}))
        assert sections(backend) == {"buffered": {"1": large, "2": b"small"}}
        writer.commit(write(expected_version=1, sections={"buffered": {"1": b"now small"}}))
        assert sections(backend) == {"buffered": {"1": b"now small", "2": b"small"}}

    def test_a_core_of_2_mb_is_stored_whole(self, factory: Factory) -> None:
        backend = factory.open()
        large = bytes(range(256)) * (LARGE // 256)
        Writer(backend).commit(write(core=large))
        assert stored(backend).core == large


class ValuesContract:
    def test_changing_what_was_read_changes_nothing_stored(self, factory: Factory) -> None:
        backend = factory.open()
        Writer(backend).commit(write(sections={"timers": {"a": b"1"}}))
        read = stored(backend).sections
        for entries in (read, read["timers"]):
            if isinstance(entries, dict):
                entries.clear()
        assert sections(backend) == {"timers": {"a": b"1"}}

    def test_changing_what_was_written_changes_nothing_stored(self, factory: Factory) -> None:
        backend = factory.open()
        timers: dict[str, bytes | None] = {"a": b"1"}
        changed = {"timers": timers}
        Writer(backend).commit(write(sections=changed))
        timers["a"] = b"2"
        changed.clear()
        assert sections(backend) == {"timers": {"a": b"1"}}

    def test_two_readers_get_values_of_their_own(self, factory: Factory) -> None:
        backend = factory.open()
        writer = Writer(backend)
        writer.commit(write(core=b"old", sections={"timers": {"a": b"1"}}))
        before = stored(backend)
        writer.commit(write(expected_version=1, core=b"new", sections={"timers": {"a": b"2"}}))
        assert (before.version, before.core, before.sections["timers"]["a"]) == (1, b"old", b"1")
