import json
from datetime import UTC, datetime, time, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwater.chance import random_from
from headwater.discover.cadence.answers import FeedSnapshot, overflow, turnover
from headwater.discover.cadence.channel import ChannelFacts
from headwater.discover.cadence.forecast import HIGHEST, LOWEST, Price, forecast, next_price
from headwater.discover.cadence.planning import POLICIES, next_poll
from headwater.discover.cadence.rests import ErrorClass
from headwater.discover.cadence.rhythm import Observation, Rhythm, in_hours, observe, rate, rhythm_from
from headwater.discover.cadence.silence import silence
from headwater.discover.cadence.windows import OpenHours, TimeWindow, zone_named
from headwater.discover.publisher_hints import PublisherHints

START = datetime(2026, 1, 1, tzinfo=UTC)
ZONES = ["Europe/Paris", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "UTC", "Nowhere/At_All", None]
MINUTE, DAY = timedelta(minutes=1), timedelta(days=1)

moments = st.timedeltas(timedelta(days=-200), timedelta(days=500)).map(lambda passed: START + passed)
waits = st.timedeltas(timedelta(0), timedelta(days=500))
clocks = st.times().map(lambda one: time(one.hour, one.minute))
windows = st.none() | st.builds(TimeWindow, clocks, clocks, st.sampled_from(ZONES))
hours_of_day = st.frozensets(st.integers(0, 23), max_size=24)
days_of_week = st.frozensets(st.integers(0, 6), max_size=7)
counts = st.integers(0, 10**6)
wishes = st.builds(
    PublisherHints,
    max_age=st.none() | waits,
    fresh_for=waits,
    retry_after=st.timedeltas(timedelta(0), DAY),
    ttl=waits,
    skip_hours=hours_of_day,
    skip_days=days_of_week,
)
polls = st.lists(
    st.tuples(
        st.floats(0.05, 2_000),  # hours since the poll before
        st.lists(st.none() | st.floats(-3_000, 3_000), max_size=8),  # hours from the poll to a publication
        st.booleans(),
    ),
    max_size=12,
)


@st.composite
def rhythms(draw: st.DrawFn) -> Rhythm:
    rhythm, since, now = Rhythm(), None, START
    for gap, published, has_overflowed in draw(polls):
        now += timedelta(hours=gap)
        dates = [None if one is None else now + timedelta(hours=one) for one in published]
        rhythm, since = observe(rhythm, Observation(now, since, dates, has_overflowed)), now
    return rhythm


facts = st.builds(
    ChannelFacts,
    interval=waits,
    last_success_at=st.none() | moments,
    last_item_at=st.none() | moments,
    last_item_seen_at=st.none() | moments,
    consecutive_no_change=counts,
    consecutive_errors=st.just(0) | counts,
    errors_of_class=counts,
    error=st.none() | st.sampled_from(ErrorClass),
    changes=counts,
    org_type=st.sampled_from(["un", "ingo", "", "?"]),
    frequency_days=st.none() | st.floats(0.01, 400),
    rhythm=rhythms(),
    price=st.floats(LOWEST, HIGHEST).map(Price),
    items_span=st.none() | waits,
    publisher_hints=wishes,
    host_delay=st.timedeltas(timedelta(0), DAY),
    time_window=windows,
)
policies = st.sampled_from(sorted(POLICIES))
seeds = st.integers(0, 2**32)


def has_time(facts: ChannelFacts) -> bool:
    return facts.time_window is None and not facts.publisher_hints.skip_hours and not facts.publisher_hints.skip_days


@pytest.mark.long
@settings(max_examples=300, deadline=None)
@given(policies, facts, moments, seeds)
def test_every_poll_has_a_moment_a_reason_and_keeps_what_was_asked(
    policy: str, facts: ChannelFacts, now: datetime, seed: int
) -> None:
    found = next_poll(policy, facts, now, random_from(seed))
    assert found == next_poll(policy, facts, now, random_from(seed))
    assert found.at == now + found.interval
    assert found.reason
    plan = POLICIES[policy](facts, now)
    asked = max(
        facts.publisher_hints.fresh_for,
        facts.publisher_hints.retry_after,
        facts.publisher_hints.ttl,
        facts.host_delay,
        plan.shortest,
    )
    assert found.interval >= min(asked, plan.longest)
    if has_time(facts):
        assert found.interval <= plan.longest


@pytest.mark.long
@settings(max_examples=200, deadline=None)
@given(windows, hours_of_day, days_of_week, moments)
def test_an_opening_is_open_and_not_before_the_moment(
    window: TimeWindow | None, skip_hours: frozenset[int], skip_days: frozenset[int], moment: datetime
) -> None:
    hours = OpenHours(window, zone_named(window.zone) if window else None, skip_hours, skip_days)
    opening = hours.first_open(moment)
    if opening is not None:
        assert opening >= moment
        assert opening.weekday() not in skip_days
        assert opening.hour not in skip_hours
        assert hours.first_open(opening) == opening


@settings(max_examples=60, deadline=None)
@given(clocks, clocks, st.sampled_from(ZONES[:5]), moments)
def test_no_open_minute_is_missed(opens: time, closes: time, zone: str, moment: datetime) -> None:
    moment = moment.replace(second=0, microsecond=0)
    hours = OpenHours(TimeWindow(opens, closes, zone), zone_named(zone))
    opening = hours.first_open(moment)
    assert opening is not None
    minutes = (opening - moment) // MINUTE
    assert not any(hours.first_open(at := moment + n * MINUTE) == at for n in range(minutes))


@pytest.mark.long
@settings(max_examples=150, deadline=None)
@given(rhythms())
def test_a_rhythm_is_sound_small_and_survives_storage(rhythm: Rhythm) -> None:
    text = json.dumps(rhythm.to_dict(), allow_nan=False)
    assert len(text) < 2_000
    assert rhythm_from(json.loads(text)) == rhythm
    assert 0 < rate(rhythm) < 1_000
    assert rhythm.newest is None or rhythm.newest <= rhythm.as_of
    silence(rhythm)


@pytest.mark.long
@settings(max_examples=150, deadline=None)
@given(rhythms(), moments, st.floats(1e-6, 1e6), st.floats(1.0, 100.0))
def test_a_dearer_poll_comes_later(rhythm: Rhythm, start: datetime, waiting: float, dearer: float) -> None:
    ahead = forecast(rhythm, in_hours(start))
    sooner, later = ahead.hours_until(waiting), ahead.hours_until(waiting * dearer)
    if later is not None:
        assert sooner is not None
        assert 0 < sooner <= later + 1e-9
        assert ahead.items_within(sooner) <= ahead.items_within(later) + 1e-9
    if sooner is not None:
        assert sooner <= 168 + 1e-9


@given(st.floats(LOWEST, HIGHEST), st.floats(0, 1e9), st.floats(0, 1e9))
def test_the_price_moves_against_the_error_and_stays_in_bounds(hours: float, made: float, allowed: float) -> None:
    after = next_price(Price(hours), made, allowed).hours
    assert LOWEST <= after <= HIGHEST
    assert after >= hours if made >= allowed else after <= hours


@given(st.lists(st.none() | moments, max_size=40), moments, st.integers(0, 500))
def test_a_first_list_is_never_replaced_sooner_than_its_dates_say(
    published: list[datetime | None], now: datetime, listed: int
) -> None:
    found = turnover(FeedSnapshot(now, None, published, 0, 0, listed=listed))
    if found is not None:
        past = sorted(one for one in published if one is not None and one <= now)
        assert len(set(past)) > len(published) / 2
        assert found >= MINUTE
        # Its oldest tenth aside, everything it dates was published within that time.
        assert now - found <= past[max(1, len(past) // 10)]


@given(st.integers(5, 60), st.floats(1, 600), st.floats(0, 1), seeds)
def test_a_steady_first_list_tells_the_pace_at_which_it_is_written(
    size: int, minutes: float, waited: float, seed: int
) -> None:
    dates = [START - (n + waited) * minutes * MINUTE for n in range(size)]
    random_from(seed).shuffle(dates)
    found = turnover(FeedSnapshot(START, None, dates, 0, 0))
    assert found is not None
    assert abs(found / (size * minutes * MINUTE) - 1) < 0.3


@given(st.lists(st.timedeltas(timedelta(0), DAY), min_size=1, max_size=40))
@settings(max_examples=30, deadline=None)
def test_dates_of_an_import_cost_a_few_polls_at_the_most(ages: list[timedelta]) -> None:
    """Whatever they say of a pace at first: nothing new comes, and from the second poll on it is polled as ever."""
    dates = [START - age for age in ages]
    assert polls_in_a_week(dates, believes_first=True) <= polls_in_a_week(dates, believes_first=False) + 5


def polls_in_a_week(dates: list[datetime], *, believes_first: bool) -> int:
    """Of a feed that lists these, and nothing new any more."""
    rhythm, since, now, polls, rng = Rhythm(), None, START, 0, random_from(1)
    while now < START + 7 * DAY:
        new = [] if since else dates
        rhythm = observe(rhythm, Observation(now, since, new))
        pace = turnover(FeedSnapshot(now, since, dates, len(dates) - len(new), len(dates)))
        known = ChannelFacts(
            last_success_at=now, rhythm=rhythm, price=Price(2.0), turnover=pace if since or believes_first else None
        )
        since, now, polls = now, next_poll("adaptive", known, now, rng).at, polls + 1
    return polls


@given(st.lists(st.none() | moments, max_size=30), moments, st.none() | waits, counts, st.none() | moments)
def test_an_overflow_never_claims_nonsense(
    published: list[datetime | None], now: datetime, since: timedelta | None, usual_size: int, newest: datetime | None
) -> None:
    before = None if since is None else now - since
    found = overflow(FeedSnapshot(now, before, published, 0, usual_size % 40, newest))
    if found is not None:
        assert found.covers >= timedelta(0)
        assert found.missed is None or found.missed >= 0
