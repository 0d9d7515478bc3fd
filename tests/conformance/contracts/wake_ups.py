"""`WakeUps`: at most one a run, armed by commits alone."""

from durable_core.ports.wake_ups import WakeUp

from ..backend import Factory
from ..writing import FAR_FUTURE, OTHER, RUN, SUCCESSOR, Writer, armed, write


class WakeUpsContract:
    def test_nothing_is_armed_at_first(self, factory: Factory) -> None:
        wake_ups = factory.open().wake_ups
        assert wake_ups.next_due() is None
        assert list(wake_ups.due(FAR_FUTURE, 10)) == []

    def test_a_wake_up_is_due_from_its_time_on_and_not_before(self, factory: Factory) -> None:
        backend = factory.open()
        Writer(backend).commit(write(wake_up_at=100))
        backend.wake_ups.arm(WakeUp(RUN, 100))
        assert backend.wake_ups.next_due() == 100
        assert list(backend.wake_ups.due(99, 10)) == []
        assert list(backend.wake_ups.due(100, 10)) == [WakeUp(RUN, 100)]
        assert list(backend.wake_ups.due(500, 10)) == [WakeUp(RUN, 100)]

    def test_a_wake_up_stays_due_until_a_commit_changes_it(self, factory: Factory) -> None:
        backend = factory.open()
        writer = Writer(backend)
        writer.commit(write(wake_up_at=100))
        for _ in range(3):
            assert list(backend.wake_ups.due(100, 10)) == [WakeUp(RUN, 100)]
        writer.commit(write(expected_version=1))
        assert list(backend.wake_ups.due(100, 10)) == [WakeUp(RUN, 100)]
        writer.commit(write(expected_version=2, wake_up_at=200))
        assert list(backend.wake_ups.due(199, 10)) == []

    def test_an_earlier_or_later_one_takes_the_place_of_the_armed_one(self, factory: Factory) -> None:
        backend = factory.open()
        writer = Writer(backend)
        for version, due in enumerate([100, 50, 300, 50, 50, 100]):
            writer.commit(write(expected_version=version, wake_up_at=due))
            backend.wake_ups.arm(WakeUp(RUN, due))
            assert list(backend.wake_ups.due(1_000, 10)) == [WakeUp(RUN, due)]
            assert backend.wake_ups.next_due() == due

    def test_zero_disarms(self, factory: Factory) -> None:
        backend = factory.open()
        writer = Writer(backend)
        writer.commit(write(wake_up_at=100))
        writer.commit(write(expected_version=1, wake_up_at=0))
        assert backend.wake_ups.next_due() is None
        assert list(backend.wake_ups.due(FAR_FUTURE, 10)) == []
        writer.commit(write(expected_version=2, wake_up_at=0))
        writer.commit(write(expected_version=3, wake_up_at=100))
        assert armed(backend.wake_ups) == {RUN: 100}

    def test_the_earliest_come_first_and_no_more_than_asked_for(self, factory: Factory) -> None:
        backend = factory.open()
        writer = Writer(backend)
        for key, due in ((RUN, 30), (SUCCESSOR, 10), (OTHER, 20)):
            writer.commit(write(key, wake_up_at=due))
        assert [one.due for one in backend.wake_ups.due(100, 10)] == [10, 20, 30]
        assert [one.run for one in backend.wake_ups.due(100, 2)] == [SUCCESSOR, OTHER]
        assert [one.run for one in backend.wake_ups.due(15, 10)] == [SUCCESSOR]

    def test_runs_may_be_due_at_the_same_time(self, factory: Factory) -> None:
        backend = factory.open()
        writer = Writer(backend)
        for key in (RUN, SUCCESSOR, OTHER):
            writer.commit(write(key, wake_up_at=10))
        assert {one.run for one in backend.wake_ups.due(10, 10)} == {RUN, SUCCESSOR, OTHER}
