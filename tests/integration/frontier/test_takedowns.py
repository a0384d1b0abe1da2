"""What a takedown covers, and what comes back when it is lifted."""

import pytest
from tests.integration.frontier.stage import Stage

from headwater.database.pool import Database
from headwater.frontier.submit import SubmitOutcome
from headwater.frontier.verdicts import Fetched
from headwater.ingest.taking_down import lift, take_down_everywhere
from headwater.politeness.takedown import parse_takedown
from headwater.sources.kinds import ChannelKind
from headwater.sources.store import NewChannel, add_channel, create_source
from headwater.urls.canonical import canonicalise

PLACES = {
    "its own": ("http://harbour.test/", "http://harbour.test/sitemap.xml"),
    "below": ("http://other.test/", "http://maps.harbour.test/sitemap.xml"),
    "elsewhere, for a source there": ("http://www.harbour.test/", "http://maps.test/sitemap.xml"),
    "elsewhere": ("http://notharbour.test/", "http://notharbour.test/sitemap.xml"),
}


@pytest.mark.parametrize("taken", ["harbour.test", "http://harbour.test/story"])
async def test_sitemaps_of_the_domain_and_of_its_sources_are_wanted_in_full(database: Database, taken: str) -> None:
    async with database.transaction() as connection:
        for name, (address, sitemap) in PLACES.items():
            source = await create_source(connection, name, address)
            new = NewChannel(ChannelKind.SITEMAP, canonicalise(sitemap), name)
            await add_channel(connection, source, new)
    await database.execute("""update channels set etag = 'e', last_modified = 'm', answers = '{"a": {}}'""")
    takedown = parse_takedown(taken)
    await take_down_everywhere(database, takedown)
    await lift(database, takedown)
    known = "select title from channels where etag = 'e' and last_modified = 'm' and answers ? 'a'"
    assert [row["title"] for row in await database.fetch(known)] == ["elsewhere"]


async def test_what_was_taken_down_comes_back_when_it_is_listed_again(stage: Stage) -> None:
    await stage.submit("https://a.example/1")
    await stage.settle(await stage.claim_one(), Fetched('"1"', None, b"x" * 32))
    await stage.database.execute("update url_frontier set status = 'dead', reason = 'takedown'")
    await stage.database.execute("update counter_deltas set status = 'dead' where status = 'fetched'")
    assert await stage.submit("https://a.example/1") == [SubmitOutcome.REVISIT]
    entry = await stage.entry("https://a.example/1")
    # Read anew, whatever it was before: its document was withdrawn.
    assert (entry["status"], entry["reason"], entry["etag"], entry["content_hash"]) == ("pending", None, None, None)


@pytest.mark.parametrize(
    ("taken", "url", "is_covered"),
    [
        ("https://a.example/story", "https://www.a.example/story", True),
        ("https://www.a.example/story", "https://a.example/story/2", True),
        ("https://a.example/story?id=5", "https://a.example/story?id=5&z=1", True),
        ("https://a.example/story?id=5", "https://a.example/story?id=55", False),
        ("https://a.example/story", "https://b.a.example/story", False),
    ],
)
async def test_a_page_is_taken_down_with_and_without_www(
    database: Database, taken: str, url: str, is_covered: bool
) -> None:
    takedown, address = parse_takedown(taken), canonicalise(url)
    assert takedown.covers(address) is is_covered
    await database.execute(
        "insert into takedowns (domain_or_url, domain, key_prefix) values ($1, $2, $3)",
        *(takedown.name, takedown.domain, takedown.key_prefix),
    )
    assert await database.fetchval("select is_taken_down($1)", [address.key]) is is_covered
