from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest

from headwater.simweb.world import World
from headwater.simweb.world.dice import Dice
from headwater.simweb.world.rhythm import RHYTHMS

WEEKS = 40


def week_of_counts(name: str, per_day: float) -> tuple[Counter[tuple[int, int]], float]:
    """Items by weekday and hour over many simulated weeks, and their number a day."""
    counts: Counter[tuple[int, int]] = Counter()
    for day in range(7 * WEEKS):
        for second in RHYTHMS[name].moments(per_day, day % 7, Dice("test", name, day)):
            counts[day % 7, int(second // 3600)] += 1
    return counts, counts.total() / (7 * WEEKS)


@pytest.mark.parametrize("name", RHYTHMS)
def test_every_rhythm_keeps_the_rate_it_was_given(name: str) -> None:
    _, per_day = week_of_counts(name, 10.0)
    assert per_day == pytest.approx(10.0, rel=0.15)


def test_offices_publish_in_office_hours() -> None:
    counts, _ = week_of_counts("office_hours", 10.0)
    inside = sum(n for (day, hour), n in counts.items() if day < 5 and 8 <= hour < 18)
    assert inside / counts.total() > 0.93


def test_a_weekly_appears_on_thursday_mornings_only() -> None:
    counts, _ = week_of_counts("weekly", 3.0)
    assert set(counts) == {(3, 9), (3, 10), (3, 11)}


def test_a_morning_paper_is_out_by_seven() -> None:
    counts, _ = week_of_counts("morning_paper", 10.0)
    assert sum(n for (_, hour), n in counts.items() if 4 <= hour < 7) / counts.total() > 0.9


def test_bursts_put_many_items_into_few_hours() -> None:
    days = [RHYTHMS["bursts"].moments(10.0, 0, Dice("burst", day)) for day in range(60)]
    busiest = max(max(Counter(second // 3600 for second in day).values(), default=0) for day in days)
    assert busiest > 10


def test_publishers_keep_their_rate_and_their_hours_over_weeks() -> None:
    start = datetime(2026, 5, 4, tzinfo=UTC)
    world = World(3, 12, start=start, history=timedelta(days=56))
    for publisher in world.publishers:
        if publisher.kind == "news" and publisher.rhythm != "bursts":
            times = [item.published.astimezone(publisher.zone) for item in world.items(publisher, start)]
            expected = publisher.rate * 56
            assert abs(len(times) - expected) < 5 * expected**0.5 + 0.05 * expected
            if publisher.rhythm == "evenings":
                assert all(time.hour >= 18 for time in times)


def test_a_clock_change_does_not_move_the_hours() -> None:
    after_change = datetime(2026, 4, 20, tzinfo=UTC)  # Europe changed its clocks on 29 March 2026
    world = World(11, 60, start=after_change, history=timedelta(days=40))
    papers = [
        p
        for p in world.publishers
        if p.rhythm == "evenings" and p.timezone in ("Europe/Berlin", "Europe/Paris", "Europe/Vienna")
    ]
    assert papers
    for paper in papers:
        hours = {item.published.astimezone(paper.zone).hour for item in world.items(paper, after_change)}
        assert hours <= {18, 19, 20, 21, 22, 23}
