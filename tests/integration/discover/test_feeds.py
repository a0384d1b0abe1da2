"""A feed polled again and again: what is new is queued once, and nothing is asked without need."""

from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from tests.integration.discover.conftest import DELAY, STARTED, Desk, rss, stories

from headwater.discover.adding import change, change_status
from headwater.simweb.message import Page
from headwater.simweb.mischief.replies import Status
from headwater.sources.source import Policy, SourceStatus
from headwater.sources.store import poll_now

FEED = "http://a.test/feed.xml"


async def test_every_item_becomes_one_entry_and_is_remembered(desk: Desk) -> None:
    desk.site.pages["/feed.xml"] = rss(*stories(3))
    source = await desk.follow(feeds=(FEED,))
    [ran] = await desk.poll()
    assert ran.ending is not None
    assert (ran.ending.status, ran.run_state.tally.found, ran.run_state.tally.inserted) == ("ok", 3, 3)
    assert await desk.entries() == {f"http://a.test/story-{n}" for n in range(3)}
    row = await desk.path.database.fetchrow(
        "select e.origin, e.priority, e.depth, i.title, d.channel_id from url_frontier e"
        " join channel_items i using (bucket, url_hash) join discoveries d using (bucket, url_hash)"
        " where url like '%-1'"
    )
    channel = await desk.channel(source)
    assert row is not None
    assert tuple(row) == ("feed", 7, 0, "Story 1", channel.id)
    assert channel.next_poll_at > STARTED
    assert channel.last_item_count == 3


async def test_only_what_is_new_is_inserted_and_what_changed_is_updated(desk: Desk) -> None:
    desk.site.pages["/feed.xml"] = rss(*stories(3))
    await desk.follow(feeds=(FEED,))
    await desk.poll()
    path, _, published = stories(3)[1]
    newer = ("/story-new", "News", STARTED)
    desk.site.pages["/feed.xml"] = rss(newer, stories(3)[0], (path, "Another title", published), stories(3)[2])
    [ran] = await desk.poll_again()
    tally = ran.run_state.tally
    assert (tally.found, tally.inserted, tally.updated, tally.skipped) == (4, 1, 1, 2)
    assert len(await desk.entries()) == 4


async def test_validators_are_sent_and_a_304_is_a_success_without_change(desk: Desk) -> None:
    desk.site.pages["/feed.xml"] = rss(*stories(3))
    source = await desk.follow(feeds=(FEED,))
    await desk.poll()
    [ran] = await desk.poll_again()
    assert ran.ending is not None
    assert (ran.ending.http_status, ran.ending.message) == (304, "not modified")
    channel = await desk.channel(source)
    assert channel.nochange_count == 1
    assert channel.consecutive_errors == 0
    assert [visit.status for visit in desk.path.visits() if visit.target == "/feed.xml"] == [200, 304]


async def test_an_error_waits_longer_each_time_and_success_forgives(desk: Desk) -> None:
    desk.site.pages["/feed.xml"] = rss(*stories(3))
    source = await desk.follow(feeds=(FEED,), poll_every=timedelta(hours=1))
    desk.path.sim.script("a.test", Status(500), "/feed.xml", times=3)
    waits = []
    for _ in range(3):
        [ran] = await desk.poll_again()
        assert ran.ending is not None
        assert (ran.ending.status, ran.ending.error) == ("fail", "upstream")
        waits.append(ran.ending.next.interval)
    assert waits == [timedelta(hours=2), timedelta(hours=4), timedelta(hours=8)]
    await desk.path.reopen()
    [ran] = await desk.poll_again()
    assert ran.ending is not None
    assert ran.ending.status == "ok"
    assert (await desk.channel(source)).consecutive_errors == 0


async def test_a_window_holds_for_what_is_due_already_but_not_for_a_person(desk: Desk) -> None:
    desk.site.pages["/feed.xml"] = rss(*stories(3))
    source = await desk.follow(feeds=(FEED,))
    async with desk.path.database.transaction() as connection:
        await change(connection, source, {"time_window": "03:00-04:00", "timezone": "UTC"}, "tester", DELAY)
    [ran] = await desk.poll()
    assert ran.ending is None
    channel = await desk.channel(source)
    assert channel.next_reason == "waits: time window 03:00–04:00 UTC"
    opening = STARTED + timedelta(hours=19)
    assert opening <= channel.next_poll_at <= opening + timedelta(minutes=10)
    assert desk.path.visits() == []

    await poll_now(desk.path.database, source, now=desk.now[0])
    [ran] = await desk.poll()
    assert ran.run_state.tally.inserted == 3


def atom(*entries: tuple[str, str, datetime]) -> Page:
    """Entries as (path, title, updated)."""
    written = "".join(
        f"<entry><id>{path}</id><link href='http://a.test{path}'/><title>{title}</title>"
        f"<updated>{updated.isoformat()}</updated></entry>"
        for path, title, updated in entries
    )
    text = f"<feed xmlns='http://www.w3.org/2005/Atom'><title>A</title><id>a</id>{written}</feed>"
    return Page(text.encode(), "application/atom+xml")


async def test_a_correction_among_many_new_items_is_believed(desk: Desk) -> None:
    hour = timedelta(hours=1)
    old = [(f"/old-{n}", f"Old {n}", STARTED - (n + 1) * hour) for n in range(30)]
    desk.site.pages["/feed.xml"] = atom(*old)
    await desk.follow(feeds=(FEED,))
    await desk.poll()
    await desk.path.database.execute("update url_frontier set status = 'fetched', last_fetched_at = $1", STARTED)
    new = [(f"/new-{n}", f"New {n}", STARTED + hour + n * timedelta(minutes=1)) for n in range(12)]
    desk.site.pages["/feed.xml"] = atom(*new, ("/old-0", "Corrected", STARTED + 2 * hour), *old[1:])
    await desk.poll_again(6 * hour)
    status = "select status from url_frontier where url = 'http://a.test/old-0'"
    assert await desk.path.database.fetchval(status) == "pending"


async def test_a_feed_of_a_deleted_source_is_free_again(desk: Desk) -> None:
    desk.site.pages["/feed.xml"] = rss(*stories(3))
    first = await desk.follow(feeds=(FEED,))
    await change_status(desk.path.database, first, SourceStatus.DELETED, "gone", "tester")
    again = await desk.follow(feeds=(FEED,))
    assert (await desk.channel(again)).is_active
    assert (await desk.channel(first)).disabled_reason == "its source was deleted"


async def test_a_shorter_interval_holds_at_once_but_not_for_what_rests(desk: Desk) -> None:
    desk.site.pages["/feed.xml"] = rss(*stories(3))
    source = await desk.follow(feeds=(FEED,), crawl_frequency_days=3.0, policy=Policy.FREQUENCY)
    await desk.poll()
    planned = (await desk.channel(source)).next_poll_at
    for errors, days, expected in ((4, 1.0, planned), (0, 0.5, STARTED + timedelta(hours=12))):
        await desk.path.database.execute("update channels set consecutive_errors = $1", errors)
        async with desk.path.database.transaction() as connection:
            await change(connection, source, {"crawl_frequency_days": days}, "tester", DELAY)
        assert abs((await desk.channel(source)).next_poll_at - expected) < timedelta(seconds=1)


@pytest.mark.long
async def test_a_feed_of_very_many_items_overflows_like_any_other(desk: Desk) -> None:
    minute, days = timedelta(minutes=1), timedelta(days=10)
    desk.site.pages["/feed.xml"] = rss(*((f"/a-{n}", f"A {n}", STARTED - n * minute) for n in range(600)))
    source = await desk.follow(feeds=(FEED,))
    await desk.poll()
    desk.site.pages["/feed.xml"] = rss(*((f"/b-{n}", f"B {n}", STARTED + days - n * minute) for n in range(600)))
    await desk.poll_again(days)
    feed = next(one for one in await desk.channels(source) if one.url == FEED)
    assert feed.overflow_count == 1


async def test_hours_that_a_feed_asks_to_skip_are_skipped_after_an_error_too(desk: Desk) -> None:
    page = rss(*stories(3))
    skipped = "".join(f"<hour>{hour}</hour>" for hour in range(24) if hour != 3)
    asking = page.body.replace(b"<title>A</title>", f"<title>A</title><skipHours>{skipped}</skipHours>".encode(), 1)
    desk.site.pages["/feed.xml"] = replace(page, body=asking)
    source = await desk.follow(feeds=(FEED,))
    await desk.poll()
    desk.path.sim.script("a.test", Status(500), "/feed.xml")
    await desk.poll_again()
    assert (await desk.channel(source)).next_poll_at.hour == 3
