"""How much is taken on at once follows the work there is, and what the process can carry."""

from headwater.load import FEWEST, MOST, Load, most_at_once
from headwater.machine import MEBIBYTE


class Day:
    """Seconds one after the other, each with so much of a processor used."""

    def __init__(self, most: int = MOST) -> None:
        self.used = 0.0
        self.moment = 0.0
        self.waited = 0.0
        self.load = Load(most, lambda: self.used, lambda: self.waited)

    def pass_by(self, seconds: int, *, is_full: bool, lacks: bool, cpu: float = 0.2, waited: float = 0.0) -> int:
        """Each second so much of a processor is used, and work waits for connections for so many seconds in all."""
        for _ in range(seconds):
            self.moment += 1.0
            self.used += cpu
            self.waited += waited
            if is_full:
                self.load.note_full(self.moment - 0.5)
            self.load.note_claim(10, 3 if lacks else 10, self.moment)
        return self.load.size


def test_it_grows_while_there_is_work_and_falls_when_there_is_none() -> None:
    day = Day()
    assert day.load.size == FEWEST
    assert day.pass_by(20, is_full=True, lacks=False) == MOST
    assert day.pass_by(20, is_full=False, lacks=True) == FEWEST


def test_a_process_that_does_not_keep_up_takes_on_no_more() -> None:
    day = Day()
    grown = day.pass_by(5, is_full=True, lacks=False)
    assert grown > FEWEST
    assert day.pass_by(3, is_full=True, lacks=False, cpu=0.95) < grown


def test_a_pool_that_is_waited_for_takes_on_no_more() -> None:
    day = Day()
    grown = day.pass_by(6, is_full=True, lacks=False)
    assert day.pass_by(3, is_full=True, lacks=False, waited=4.0) < grown
    assert day.pass_by(20, is_full=True, lacks=False, waited=4.0) == FEWEST
    assert day.pass_by(20, is_full=True, lacks=False, waited=0.1) == MOST, "a wait now and then is none"


def test_it_stays_where_work_comes_as_fast_as_it_is_done() -> None:
    day = Day()
    day.pass_by(5, is_full=True, lacks=False)
    grown = day.pass_by(1, is_full=True, lacks=True)
    assert day.pass_by(60, is_full=True, lacks=True) == grown > FEWEST


def test_a_small_container_bounds_it() -> None:
    assert most_at_once(None) == MOST
    assert most_at_once(512 * MEBIBYTE) == 12
    assert most_at_once(64 * MEBIBYTE) == FEWEST
    assert Day(20).pass_by(60, is_full=True, lacks=False) == 20
