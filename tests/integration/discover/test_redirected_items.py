"""What a channel says of a page that was left for another one, it says of that one: the first time and later."""

from datetime import timedelta
from itertools import pairwise

from tests.integration.discover.conftest import STARTED, Desk, rss

from headwater.urls.canonical import canonicalise

OLD, NEW, NEWEST = "http://a.test/story-0", "http://a.test/2026/story", "http://a.test/2026/story/final"
WORDS = "select title from channel_items where url_hash = $1"


async def title_at(desk: Desk, url: str) -> str | None:
    found: str | None = await desk.path.database.fetchval(WORDS, canonicalise(url).url_hash)
    return found


async def tell(desk: Desk, title: str, *others: str) -> None:
    paths = ["/story-0", *others]
    desk.site.pages["/feed.xml"] = rss(*((path, title, STARTED - timedelta(hours=1)) for path in paths))


async def follow_and_move(desk: Desk, *way: str) -> None:
    await tell(desk, "Bridge opens")
    await desk.follow(feeds=("http://a.test/feed.xml",))
    await desk.poll()
    for here, there in pairwise(way):
        moved = "update url_frontier set status = 'dead', reason = 'redirect', moved_to = $2 where url = $1"
        await desk.path.database.execute(moved, here, there)
        place, target = canonicalise(here), canonicalise(there)
        await desk.path.database.execute(
            "insert into url_frontier (bucket, url_hash, host, url, source_id, origin, depth, priority, status,"
            " fetch_count, last_fetched_at, next_fetch_at, discovered_at, created_at, updated_at)"
            " select bucket, $2, host, $3, source_id, origin, depth, priority, 'fetched', 1, $4, $4, $4, $4, $4"
            " from url_frontier where url_hash = $1",
            place.url_hash,
            target.url_hash,
            there,
            STARTED - timedelta(days=1),
        )


async def test_new_words_for_a_page_reach_the_one_it_was_left_for(desk: Desk) -> None:
    await follow_and_move(desk, OLD, NEW, NEWEST)
    await tell(desk, "Bridge opens late")
    [ran] = await desk.poll_again()
    assert await title_at(desk, NEW) == "Bridge opens late"
    assert await title_at(desk, NEWEST) == "Bridge opens late"
    assert ran.run_state.tally.updated == 1


async def test_a_target_that_the_channel_lists_itself_keeps_its_own_words(desk: Desk) -> None:
    await follow_and_move(desk, OLD, NEW)
    desk.site.pages["/feed.xml"] = rss(
        ("/story-0", "Bridge opens late", STARTED - timedelta(hours=1)),
        ("/2026/story", "The bridge, today", STARTED - timedelta(hours=1)),
    )
    await desk.poll_again()
    assert await title_at(desk, NEW) == "The bridge, today"


async def test_redirects_in_a_circle_are_followed_once_round(desk: Desk) -> None:
    await follow_and_move(desk, OLD, NEW)
    await desk.path.database.execute(
        "update url_frontier set status = 'dead', reason = 'redirect', moved_to = $1 where url = $2", OLD, NEW
    )
    await tell(desk, "Bridge opens late")
    await desk.poll_again()
    assert await title_at(desk, NEW) == await title_at(desk, OLD) == "Bridge opens late"
