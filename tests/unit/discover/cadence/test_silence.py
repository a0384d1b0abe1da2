from datetime import UTC, datetime, timedelta

from headwater.discover.cadence.rhythm import Observation, Rhythm, observe
from headwater.discover.cadence.silence import silence

MONDAY = datetime(2026, 3, 2, tzinfo=UTC)
HOUR, DAY = timedelta(hours=1), timedelta(days=1)


def learned(dates: list[datetime | None], until: datetime, start: datetime = MONDAY) -> Rhythm:
    """Polled every hour, and every hour again after the last item."""
    rhythm, since = observe(Rhythm(), Observation(start, None, [])), start
    while since < until:
        now = since + HOUR
        fresh = [one for one in dates if one is not None and since < one <= now]
        rhythm, since = observe(rhythm, Observation(now, since, fresh)), now
    return rhythm


HOURLY: list[datetime | None] = [MONDAY + n * HOUR for n in range(1, 10 * 24)]
LAST = MONDAY + (10 * 24 - 1) * HOUR


def test_an_hourly_channel_that_stops_is_noticed_within_a_day() -> None:
    assert silence(learned(HOURLY, LAST + 5 * HOUR)) is None
    alarm = silence(learned(HOURLY, LAST + 20 * HOUR))
    assert alarm is not None
    assert alarm.quiet == 20 * HOUR
    assert alarm.sentence.startswith("nothing new for 20 h, where about ")


def test_a_silence_does_not_wear_off() -> None:
    daily: list[datetime | None] = [MONDAY + n * DAY for n in range(1, 40)]
    assert silence(learned(daily, MONDAY + 44 * DAY)) is None
    assert silence(learned(daily, MONDAY + 60 * DAY)) is not None


def test_bursts_are_judged_by_their_gaps() -> None:
    weekly: list[datetime | None] = [
        MONDAY + week * 7 * DAY + timedelta(minutes=n) for week in range(6) for n in range(1, 21)
    ]
    last = MONDAY + 35 * DAY
    assert silence(learned(weekly, last + 13 * DAY)) is None
    assert silence(learned(weekly, last + 15 * DAY)) is not None


def test_a_slow_channel_may_be_slow() -> None:
    slow: list[datetime | None] = [MONDAY + n * 5 * DAY for n in range(1, 12)]
    assert silence(learned(slow, MONDAY + (55 + 11) * DAY)) is None


def test_nothing_is_surprising_of_a_channel_hardly_known() -> None:
    assert silence(Rhythm()) is None
    assert silence(learned([MONDAY + n * HOUR for n in range(1, 4)], MONDAY + 30 * DAY)) is None


def test_what_we_could_not_see_is_no_silence() -> None:
    """No successful poll for weeks: the rhythm stands still, and so does the judgement."""
    assert silence(learned(HOURLY, LAST)) is None
