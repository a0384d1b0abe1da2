"""Whose word counts: what a channel may say of a page, and which source a page belongs to."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

from tests.integration.discover.conftest import DELAY, Desk, rss, stories
from tests.integration.fetch.conftest import SmallSite

from headwater.archive.raw import KeptBody, RawBody
from headwater.chance import random_from
from headwater.clock import SystemClock
from headwater.discover.adding import take_up
from headwater.discover.importing import needs_trust, wanted_from
from headwater.ingest.page_context import Context
from headwater.ingest.stored_pages import lease_of
from headwater.learning.template_cache import TemplateCache
from headwater.simweb.message import Page
from headwater.sources.exchange.fields import Row
from headwater.sources.source import SourceKind
from headwater.urls.canonical import canonicalise
from headwater.urls.fingerprint import DocumentKey

# Its items lie on a.test, wherever the feed itself does.
ABOUT_A = rss(*stories(2))
STORY = "http://a.test/story-0"
DAY = timedelta(days=1)


def put_feed(desk: Desk, host: str, page: Page = ABOUT_A) -> str:
    site = desk.path.sim.sites[host]
    assert isinstance(site, SmallSite)
    site.pages["/feed.xml"] = page
    return f"http://{host}/feed.xml"


async def title_known(desk: Desk, source: UUID, url: str = STORY) -> str:
    """The title that would be used for the page if it were fetched now."""
    context = Context(desk.path.database, SystemClock(), TemplateCache(SystemClock(), random_from(1)))
    address = canonicalise(url)
    raw = RawBody(DocumentKey(address.bucket, address.url_hash), source, url, 200, {}, b"")
    return (await context.context_of(lease_of(KeptBody(datetime.now(UTC), raw)))).hints.title


async def owner_of(desk: Desk, url: str = STORY) -> UUID:
    owner: UUID = await desk.path.database.fetchval("select source_id from url_frontier where url = $1", url)
    return owner


async def test_a_feed_is_believed_about_pages_of_its_own_domain(desk: Desk) -> None:
    source = await desk.follow(feeds=(put_feed(desk, "a.test"),))
    await desk.poll()
    assert await title_known(desk, source) == "Story 0"


async def test_a_stranger_s_feed_tells_that_a_page_exists_and_nothing_about_it(desk: Desk) -> None:
    source = await desk.follow("http://b.test/", feeds=(put_feed(desk, "b.test"),))
    await desk.poll()
    assert STORY in await desk.entries()
    assert await title_known(desk, source) == ""


async def test_a_stranger_s_word_that_a_page_changed_fetches_nothing(desk: Desk) -> None:
    await desk.follow(feeds=(put_feed(desk, "a.test"),))
    await desk.follow("http://b.test/", feeds=(put_feed(desk, "b.test"),))
    await desk.poll()
    await desk.path.database.execute(
        "update url_frontier set status = 'fetched', last_fetched_at = now() - interval '1 h'"
    )
    put_feed(desk, "b.test", rss(("/story-0", "Another headline", desk.now[0])))
    await desk.poll_again(after=DAY)
    assert await desk.path.database.fetchval("select count(*) from url_frontier where status = 'pending'") == 0


async def test_a_feed_a_person_gave_for_a_site_speaks_for_that_site(desk: Desk) -> None:
    source = await desk.follow("http://a.test/", feeds=(put_feed(desk, "b.test"),))
    await desk.poll()
    assert await title_known(desk, source) == "Story 0"
    assert await owner_of(desk) == source


async def test_a_feed_from_an_imported_list_does_not_speak_for_the_site_it_is_listed_under(desk: Desk) -> None:
    row = Row(1, "http://a.test/", feed_url=put_feed(desk, "b.test"), speaks_for=("a.test",))
    async with desk.path.database.transaction() as connection:
        source = await take_up(connection, wanted_from(row), "tester", DELAY)
    await desk.path.database.execute("update channels set next_poll_at = $1", desk.now[0])
    await desk.poll()
    assert await title_known(desk, source) == ""
    await desk.path.database.execute("update sources set speaks_for = '{a.test}'")
    # A person's word holds at once, and for what was told before.
    assert await title_known(desk, source) == "Story 0"


async def test_a_page_goes_to_the_source_that_speaks_for_it(desk: Desk) -> None:
    stranger = await desk.follow("http://b.test/", feeds=(put_feed(desk, "b.test"),), kind=SourceKind.JOBS)
    await desk.poll()
    assert await owner_of(desk) == stranger
    owner = await desk.follow(feeds=(put_feed(desk, "a.test"),))
    [ran] = await desk.poll()
    assert ran.run_state.tally.inserted == 2
    assert await owner_of(desk) == owner


async def test_a_feed_belongs_to_the_source_on_whose_site_it_lies(desk: Desk) -> None:
    feed = put_feed(desk, "a.test")
    stranger = await desk.follow("http://b.test/", feeds=(feed,))
    owner = await desk.follow("http://a.test/", feeds=(feed,))
    assert (await desk.channel(owner)).is_enabled
    left = await desk.channel(stranger)
    assert (left.is_enabled, left.disabled_reason) == (False, "it is followed for the site it lies on")


async def imported(desk: Desk, row: Row) -> UUID:
    async with desk.path.database.transaction() as connection:
        source = await take_up(connection, wanted_from(row), "tester", DELAY)
    await desk.path.database.execute("update channels set next_poll_at = $1", desk.now[0])
    return source


async def test_a_link_of_the_victim_to_a_feed_elsewhere_lends_no_voice(desk: Desk) -> None:
    elsewhere = put_feed(desk, "b.test")
    desk.site.pages["/out"] = Page(b"", "text/html", status=302, headers=(("Location", elsewhere),))
    source = await imported(desk, Row(1, "http://b.test/", feed_url="http://a.test/out"))
    await desk.poll()
    assert STORY in await desk.entries()
    assert await title_known(desk, source) == ""


async def test_words_told_before_a_feed_moved_do_not_count_for_its_new_place(desk: Desk) -> None:
    await desk.follow("http://b.test/", feeds=(put_feed(desk, "b.test"),))
    await desk.poll()
    moved = rss(*stories(1, first=7))
    desk.site.pages["/moved.xml"] = moved
    site = desk.path.sim.sites["b.test"]
    assert isinstance(site, SmallSite)
    there = (("Location", "http://a.test/moved.xml"),)
    site.pages["/feed.xml"] = Page(b"", "text/html", status=301, headers=there)
    await desk.poll_again(after=DAY)
    desk.site.pages["/moved.xml"] = rss(*stories(2, first=7))
    await desk.poll_again(after=DAY)
    [channel] = await desk.path.database.fetch("select url, source_id from channels where is_enabled and kind = 'feed'")
    assert channel["url"] == "http://a.test/moved.xml"
    assert await title_known(desk, channel["source_id"], "http://a.test/story-8") == "Story 8"
    assert await title_known(desk, channel["source_id"]) == ""


async def test_a_recipe_of_an_imported_list_puts_no_words_into_an_api_s_mouth(desk: Desk) -> None:
    recipe = (
        '{"v": 1, "base_url": "http://a.test/api.json", "data_path": "items",'
        ' "map": {"url": "url", "title": "\'False title\'"}}'
    )
    told = b'{"items": [{"url": "http://a.test/story-0"}]}'
    desk.site.pages["/api.json"] = Page(told, "application/json")
    row = Row(1, "http://b.test/api", source_type="api", parser_hint=recipe)
    assert needs_trust(row)
    source = await imported(desk, row)
    await desk.poll()
    assert STORY in await desk.entries()
    assert await title_known(desk, source) == ""
