"""Which sitemaps are asked in full once more when a takedown is lifted."""

import pytest

from headwater.database.pool import Database
from headwater.frontier.takedowns import lift
from headwater.ingest.taking_down import take_down_everywhere
from headwater.politeness.takedown import parse_takedown
from headwater.sources.channels import ChannelKind, NewChannel, add_channel
from headwater.sources.store import create_source
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
