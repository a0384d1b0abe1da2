"""What a run's end means for the channel, its next poll, the log and the trail."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from headwater.chance import random_from
from headwater.discover.cadence.forecast import Price
from headwater.discover.cadence.rests import ErrorClass
from headwater.discover.cadence.rhythm import Observation, Rhythm, observe, rhythm_from
from headwater.discover.polls.ending import (
    EndingContext,
    ending_of_failure,
    ending_of_refusal,
    ending_of_success,
    policy_of,
    window_of,
)
from headwater.discover.polls.lease import ChannelPast, Leased
from headwater.discover.polls.requesting import RobotsRefusal, Trouble
from headwater.discover.polls.run_state import FirstAnswer, ItemTally, OwnListing, RunState, Todo, UnreadPage
from headwater.discover.publisher_hints import PublisherHints
from headwater.net.validators import Validators
from headwater.settings.groups import PollSettings
from headwater.sources.causes import ErrorCause
from headwater.sources.kinds import ChannelKind
from headwater.sources.source import Policy, Profile, SourceKind, SourceStatus
from headwater.urls.canonical import canonicalise

NOW = datetime(2026, 3, 2, 8, tzinfo=UTC)
ENDS = EndingContext(PollSettings(jitter_percent=0), NOW, random_from(1))
RUN_STATE = RunState((Todo("http://a.test/feed", ChannelKind.FEED),))
ONE = UUID(int=1)


def with_first(**said: Any) -> RunState:
    return replace(RUN_STATE, first=FirstAnswer(**said))


def channel(
    kind: ChannelKind = ChannelKind.FEED, past: ChannelPast | None = None, said: Mapping[str, Any] | None = None
) -> Leased:
    return Leased(
        id=ONE,
        token=ONE,
        source_id=ONE,
        source=Profile("http://a.test/", **(said or {})),
        followed_since=NOW,
        failures=0,
        kind=kind,
        url=canonicalise("http://a.test/feed"),
        recipe=None,
        trigger="schedule",
        interval=None,
        etag=None,
        last_modified=None,
        progress=None,
        publisher_hints=PublisherHints(),
        answers={},
        past=past or ChannelPast(),
        price=Price(),
        common=(),
        host_delay=timedelta(seconds=1),
        most_pages=None,
        now=NOW,
        leased_at=0.0,
    )


def test_a_search_whose_process_died_does_not_wait_as_long_as_one_that_found_nothing() -> None:
    trouble = Trouble(ErrorClass.UNREADABLE, "Its polls were lost twice in a row.", is_deadly=True)
    following = ending_of_failure(channel(ChannelKind.SEARCH), trouble, ENDS).next
    assert following.at - NOW <= timedelta(hours=2)


@pytest.mark.parametrize(
    ("kind", "profile", "policy", "interval"),
    [
        (ChannelKind.FEED, {}, Policy.ADAPTIVE, timedelta(hours=1)),
        (ChannelKind.LISTING, {}, Policy.ADAPTIVE, timedelta(hours=1)),
        (ChannelKind.SITEMAP, {}, Policy.FIXED, timedelta(hours=6)),
        (ChannelKind.CRAWL, {}, Policy.FIXED, timedelta(days=7)),
        (ChannelKind.SEARCH, {"poll_every": timedelta(minutes=30)}, Policy.FIXED, timedelta(days=7)),
        (ChannelKind.LISTING, {"kind": SourceKind.JOBS}, Policy.FREQUENCY, timedelta(hours=1)),
        (ChannelKind.FEED, {"policy": Policy.TIERS}, Policy.TIERS, timedelta(hours=1)),
        (ChannelKind.FEED, {"poll_every": timedelta(minutes=30)}, Policy.FIXED, timedelta(minutes=30)),
        (ChannelKind.SITEMAP, {"poll_every": timedelta(days=1)}, Policy.FIXED, timedelta(days=1)),
    ],
)
def test_the_policy_follows_the_channel_unless_a_person_said_otherwise(
    kind: ChannelKind, profile: dict[str, object], policy: Policy, interval: timedelta
) -> None:
    assert policy_of(channel(kind, said=profile), ENDS.settings) == (policy, interval)


def test_without_adaptive_polling_every_feed_has_the_default_interval() -> None:
    assert policy_of(channel(), PollSettings(adaptive=False)) == (Policy.FIXED, timedelta(hours=1))


@pytest.mark.parametrize(
    ("hints", "said", "held_by"),
    [
        (PublisherHints(), {}, None),
        (PublisherHints(fresh_for=timedelta(hours=9)), {}, "cache_lifetime"),
        (PublisherHints(ttl=timedelta(hours=9)), {}, "publisher"),
        (PublisherHints(skip_hours=frozenset(range(24)) - {7}), {}, "publisher"),
        (PublisherHints(), {"time_window": "22:00-05:00", "timezone": "UTC"}, "time_window"),
        # One that cannot be read holds nothing.
        (PublisherHints(), {"time_window": "22:00-05:00"}, None),
    ],
)
def test_the_next_poll_says_what_keeps_it_from_coming_sooner(
    hints: PublisherHints, said: Mapping[str, Any], held_by: str | None
) -> None:
    ending = ending_of_success(channel(said=said), with_first(status=200, publisher_hints=hints), ENDS)
    assert ending.patch["held_by"] == held_by


def test_the_cause_of_an_error_is_kept_until_an_answer_is_read() -> None:
    dead = Trouble(ErrorClass.NETWORK, "dns_not_found: no such name", cause=ErrorCause.DEAD_DOMAIN)
    assert ending_of_failure(channel(), dead, ENDS).patch["error_cause"] == "dead_domain"
    assert ending_of_refusal(channel(), RobotsRefusal("/: line 2"), ENDS).patch["error_cause"] == "robots_forbid"
    sound = ending_of_success(channel(), with_first(status=200), ENDS).patch
    assert (sound["error_cause"], sound["unread_page"], sound["unread_since"]) == (None, None, None)


def test_a_page_that_could_not_be_read_is_kept_with_its_cause() -> None:
    since = NOW - timedelta(days=2)
    page = UnreadPage("http://a.test/2", "/2: line 2 of robots.txt", since, ErrorCause.ROBOTS_FORBID)
    patch = ending_of_success(channel(ChannelKind.LISTING), replace(RUN_STATE, unread=page), ENDS).patch
    kept = (patch["unread_page"], patch["unread_since"], patch["error_cause"])
    assert kept == ("http://a.test/2", since, "robots_forbid")


def test_a_time_window_is_read_in_the_sources_zone_or_in_that_of_its_country() -> None:
    window = "22:00-05:00"
    assert window_of(channel()) is None
    places: tuple[dict[str, str], ...] = ({"timezone": "Asia/Tokyo"}, {"country": "fr"}, {"country": "US"}, {})
    windows = [window_of(channel(said={"time_window": window} | place)) for place in places]
    assert [one and one.zone for one in windows] == ["Asia/Tokyo", "Europe/Paris", None, None]


def test_success_forgives_errors_and_keeps_what_the_answer_said() -> None:
    past = ChannelPast(errors=3, error=ErrorClass.UPSTREAM, class_errors=3)
    run_state = with_first(status=200, validators=Validators('"1"'), items=4, title="A feed")
    run_state = run_state.counting(ItemTally(found=4, inserted=4), [NOW] * 4)
    ending = ending_of_success(channel(past=past), run_state, ENDS)
    assert ending.status == "ok"
    assert ending.message == "4 items, 4 new, 0 changed"
    assert ending.patch["consecutive_errors"] == 0
    assert (ending.patch["etag"], ending.patch["last_item_count"], ending.patch["title"]) == ('"1"', 4, "A feed")
    assert ending.patch["newest_item_at"] == NOW


def test_errors_of_one_class_are_counted_apart_from_others() -> None:
    past = ChannelPast(errors=4, error=ErrorClass.NOT_FOUND, class_errors=2)
    same = ending_of_failure(channel(past=past), Trouble(ErrorClass.NOT_FOUND, "HTTP 404", 404), ENDS)
    other = ending_of_failure(channel(past=past), Trouble(ErrorClass.UPSTREAM, "HTTP 500", 500), ENDS)
    assert (same.patch["consecutive_errors"], same.patch["class_errors"]) == (5, 3)
    assert (other.patch["consecutive_errors"], other.patch["class_errors"]) == (5, 1)
    assert same.next.is_disabled_for_now
    assert [event.kind for event in same.events] == ["channel_rests"]
    assert "rhythm" not in same.patch


def test_a_rest_is_told_once() -> None:
    past = ChannelPast(errors=3, error=ErrorClass.NOT_FOUND, class_errors=3)
    again = ending_of_failure(channel(past=past), Trouble(ErrorClass.NOT_FOUND, "HTTP 404", 404), ENDS)
    assert again.next.is_disabled_for_now
    assert again.events == ()


@pytest.mark.parametrize(
    ("kind", "failures", "is_paused"),
    [(SourceKind.JOBS, 3, False), (SourceKind.JOBS, 4, True), (SourceKind.NEWS, 9, False)],
)
def test_only_job_sources_are_paused_after_five_failures(kind: SourceKind, failures: int, is_paused: bool) -> None:
    failing = replace(channel(kind=ChannelKind.LISTING), source=Profile("http://a.test/", kind=kind), failures=failures)
    ending = ending_of_failure(failing, Trouble(ErrorClass.UPSTREAM, "HTTP 500"), ENDS)
    expected = (SourceStatus.PAUSED, "auto-paused after failures")
    assert ending.source_status == (expected if is_paused else None)


def test_robots_block_a_job_source_and_only_rest_another() -> None:
    refusal = RobotsRefusal("/jobs: line 2 of robots.txt, Disallow: /jobs")
    resting = ending_of_refusal(channel(ChannelKind.LISTING), refusal, ENDS)
    assert (resting.status, resting.source_status) == ("warn", None)
    jobs = replace(channel(ChannelKind.LISTING), source=Profile("http://a.test/", kind=SourceKind.JOBS))
    assert ending_of_refusal(jobs, refusal, ENDS).source_status == (SourceStatus.BLOCKED, "robots disallow")


def test_a_permanent_move_is_followed_or_warned_about() -> None:
    run_state = with_first(moved_to="http://b.test/feed")
    moved = ending_of_success(channel(), run_state, ENDS)
    assert moved.moved_to == canonicalise("http://b.test/feed")
    kept = replace(ENDS, settings=PollSettings(update_redirects=False))
    third = ending_of_success(channel(past=ChannelPast(moved=2)), run_state, kept)
    assert third.moved_to is None
    assert (third.patch["moved_count"], [event.kind for event in third.events]) == (3, ["channel_should_move"])


def test_notes_within_a_runs_line_have_no_full_stop() -> None:
    run_state = replace(RUN_STATE, notes=("Read tolerantly: no element found.", "3 left out: calendar"))
    told = ending_of_success(channel(), run_state, ENDS).message
    assert told == "0 items, 0 new, 0 changed; Read tolerantly: no element found; 3 left out: calendar"


def test_an_overflow_is_told_with_the_shortest_interval_that_was_allowed() -> None:
    dates = tuple(NOW - timedelta(minutes=n) for n in range(5))
    run_state = with_first(items=5, own=OwnListing(5, 0, dates))
    past = ChannelPast(last_ok_at=NOW - timedelta(hours=2), newest_item_at=NOW - timedelta(hours=2), last_item_count=5)
    [event] = ending_of_success(channel(past=past), run_state, ENDS).events
    assert (event.details["covers_seconds"], event.details["shortest_seconds"]) == (240, 900)


UNDATED = replace(RUN_STATE, tally=ItemTally(found=5, inserted=5), dates=(None,) * 5)
DEAR = Price(90.0)


def by_hand(one: Leased) -> Leased:
    return replace(one, trigger="manual")


def test_the_second_poll_of_a_feed_without_dates_comes_after_the_default_interval() -> None:
    first = replace(channel(), price=DEAR)
    ending = ending_of_success(first, UNDATED, ENDS)
    assert ending.next.at - NOW == timedelta(hours=1)
    assert ending.next.reason == "nothing is known of its rhythm yet"


def test_the_second_poll_of_a_short_busy_feed_comes_before_half_of_its_list_is_new() -> None:
    dates = tuple(NOW - timedelta(minutes=2 * n + 2) for n in range(20))
    run_state = with_first(items=20, own=OwnListing(20, 0, dates)).counting(ItemTally(found=20, inserted=20), dates)
    ending = ending_of_success(replace(channel(), price=DEAR), run_state, ENDS)
    assert ending.next.at - NOW < timedelta(minutes=21)
    assert ending.next.reason == "at this pace its whole list is new in 40 min"


def test_waits_of_a_feed_without_news_grow_with_the_time_it_was_watched() -> None:
    waits, past, now = [], ChannelPast(), NOW
    run_state = UNDATED
    for _ in range(6):
        ending = ending_of_success(replace(channel(past=past), price=DEAR), run_state, replace(ENDS, now=now))
        past = ChannelPast(last_ok_at=now, rhythm=rhythm_from(ending.patch["rhythm"]))
        waits.append(round((ending.next.at - now) / timedelta(hours=1), 1))
        now, run_state = ending.next.at, RUN_STATE
    assert waits == pytest.approx([1, 1, 2, 4, 8, 16], rel=0.05)


@pytest.mark.parametrize("kind", [SourceKind.NEWS, SourceKind.JOBS])
def test_unchanged_polls_by_hand_push_no_poll_away(kind: SourceKind) -> None:
    """As the schedule would wait after one unchanged poll, so it waits after ten more by hand."""
    rhythm = observe(Rhythm(), Observation(NOW - timedelta(days=9), None, [None]))
    for hour in range(9 * 24, 0, -1):
        now = NOW - timedelta(hours=hour - 1)
        news = [None] if hour % 3 else []
        rhythm = observe(rhythm, Observation(now, now - timedelta(hours=1), news))
    past = ChannelPast(last_ok_at=NOW, last_new_at=NOW, rhythm=rhythm)
    said = {"kind": kind, "org_type": "un"}
    later = replace(ENDS, now=NOW + timedelta(minutes=10))
    scheduled = ending_of_success(channel(past=past, said=said), RUN_STATE, replace(later, rng=random_from(1)))
    for second in range(1, 11):
        now = NOW + timedelta(minutes=9, seconds=second)
        hand = ending_of_success(by_hand(channel(past=past, said=said)), RUN_STATE, replace(ENDS, now=now))
        past = replace(
            past,
            last_ok_at=hand.patch["last_ok_at"],
            rhythm=rhythm_from(hand.patch["rhythm"]),
            no_change=hand.patch["nochange_count"],
        )
    assert past.no_change == 0
    after = ending_of_success(by_hand(channel(past=past, said=said)), RUN_STATE, replace(later, rng=random_from(1)))
    assert after.next.at - scheduled.next.at < timedelta(seconds=1)


def test_news_found_by_hand_end_a_row_of_unchanged_polls() -> None:
    past = ChannelPast(last_ok_at=NOW - timedelta(hours=1), no_change=4)
    assert ending_of_success(by_hand(channel(past=past)), UNDATED, ENDS).patch["nochange_count"] == 0
    assert ending_of_success(by_hand(channel(past=past)), RUN_STATE, ENDS).patch["nochange_count"] == 4


def test_errors_of_polls_by_hand_are_told_and_add_nothing_to_those_in_a_row() -> None:
    trouble = Trouble(ErrorClass.UPSTREAM, "HTTP 500", 500)
    first = ending_of_failure(by_hand(channel()), trouble, ENDS)
    assert first.patch["consecutive_errors"] == first.patch["class_errors"] == 1
    past = ChannelPast(errors=2, error=ErrorClass.UPSTREAM, class_errors=2)
    again = ending_of_failure(by_hand(channel(past=past)), trouble, ENDS)
    assert (again.patch["consecutive_errors"], again.patch["class_errors"]) == (2, 2)
    assert again.patch["last_error"] == "HTTP 500"
    assert ending_of_failure(channel(past=past), trouble, ENDS).patch["consecutive_errors"] == 3


def test_failures_by_hand_pause_no_job_source() -> None:
    trouble = Trouble(ErrorClass.UPSTREAM, "HTTP 500", 500)
    failing = replace(channel(said={"kind": SourceKind.JOBS}), failures=4)
    assert ending_of_failure(failing, trouble, ENDS).source_status is not None
    assert ending_of_failure(by_hand(failing), trouble, ENDS).source_status is None
