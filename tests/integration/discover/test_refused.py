"""Items the frontier refused are offered again: what forbade them may be gone."""

import re
from dataclasses import replace
from datetime import timedelta

from tests.integration.discover.conftest import Desk, rss, stories

from headwater.ingest.taking_down import lift, take_down_everywhere
from headwater.politeness.takedown import parse_takedown

FEED = "http://a.test/feed.xml"
TAKEN = "http://a.test/story-1"
TAKEDOWN = parse_takedown(TAKEN)
DAY = timedelta(days=1)


async def memory(desk: Desk) -> list[tuple[object, ...]]:
    rows = await desk.path.database.fetch("select title, length(signature) as signed from channel_items order by title")
    return [tuple(row) for row in rows]


async def test_what_a_takedown_kept_out_comes_when_it_is_lifted(desk: Desk) -> None:
    desk.site.pages["/feed.xml"] = rss(*stories(3))
    await take_down_everywhere(desk.path.database, TAKEDOWN)
    await desk.follow(feeds=(FEED,))
    [ran] = await desk.poll()
    assert (ran.run_state.tally.inserted, ran.run_state.tally.skipped) == (2, 1)
    assert await desk.entries() == {"http://a.test/story-0", "http://a.test/story-2"}
    [ran] = await desk.poll_again(after=DAY)
    assert ran.run_state.tally.requests == 1
    assert ran.ending is not None
    assert ran.ending.message == "not modified"
    await lift(desk.path.database, TAKEDOWN)
    [ran] = await desk.poll_again(after=DAY)
    assert (ran.run_state.tally.inserted, ran.run_state.tally.skipped) == (1, 2)
    assert TAKEN in await desk.entries()
    assert await memory(desk) == [(f"Story {n}", 16) for n in range(3)]
    # From here on it is known, and an unchanged feed costs a 304 again.
    [ran] = await desk.poll_again(after=DAY)
    assert ran.ending is not None
    assert ran.ending.message == "not modified"


async def test_what_is_refused_is_offered_again_with_every_new_answer(desk: Desk) -> None:
    desk.site.pages["/feed.xml"] = rss(*stories(3))
    await take_down_everywhere(desk.path.database, TAKEDOWN)
    await desk.follow(feeds=(FEED,))
    await desk.poll()
    desk.site.pages["/feed.xml"] = rss(*stories(3), ttl=60)
    [ran] = await desk.poll_again(after=DAY)
    assert (ran.run_state.tally.found, ran.run_state.tally.inserted, ran.run_state.tally.skipped) == (3, 0, 3)


async def test_nothing_that_is_taken_down_is_kept_of_it(desk: Desk) -> None:
    desk.site.pages["/feed.xml"] = rss(*stories(3))
    await take_down_everywhere(desk.path.database, TAKEDOWN)
    await desk.follow(feeds=(FEED,))
    await desk.poll()
    assert await memory(desk) == [("Story 0", 16), ("Story 2", 16), (None, 0)]


async def test_a_feed_of_which_nothing_may_be_taken_has_not_overflowed(desk: Desk) -> None:
    dated = rss(*stories(3))
    # Without dates it is all the same to a feed's window whether its items are old.
    desk.site.pages["/feed.xml"] = replace(dated, body=re.sub(rb"<pubDate>.*?</pubDate>", b"", dated.body))
    for n in range(3):
        await take_down_everywhere(desk.path.database, parse_takedown(f"http://a.test/story-{n}"))
    source = await desk.follow(feeds=(FEED,))
    await desk.poll()
    desk.site.pages["/feed.xml"] = replace(dated, body=re.sub(rb"<pubDate>.*?</pubDate>", b" ", dated.body))
    [ran] = await desk.poll_again(after=DAY)
    assert ran.run_state.tally.found == 3
    assert (await desk.channel(source)).overflow_count == 0
