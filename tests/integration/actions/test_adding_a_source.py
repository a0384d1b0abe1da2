"""A site is followed by a use case, which any face can call: a request goes in, a value comes out."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.integration.cli.desk import PLACE, Served, served

from headwater.actions.sources import Added, add_source
from headwater.discover.adding import WantedSource
from headwater.discover.searching.following import Against, FollowRequest, LookBegun, LookEnded, NotFollowed
from headwater.errors import UsageError
from headwater.services import open_services
from headwater.settings import Given, load
from headwater.simweb.message import Page
from headwater.sources.source import Profile

FEED = b"<rss version='2.0'><channel><title>News</title><item><title>A</title><link>/a</link></item></channel></rss>"


@pytest.fixture
def site() -> Iterator[Served]:
    with served() as serving:
        serving.pages["/feed.xml"] = Page(FEED, "text/xml")
        yield serving


def followed(
    site: Served, database_url: str, folder: Path, url: str, steps: list[type] | None = None
) -> Added | NotFollowed:
    async def work() -> Added | NotFollowed:
        flags = {"database.url": database_url, "service.data_dir": str(folder / "data"), **site.settings}
        async with open_services(load(Given(flags=flags))) as services:
            request = FollowRequest(WantedSource(Profile(url)), "a program")
            return await add_source(services, request, lambda step: (steps or []).append(type(step)))

    return asyncio.run(work())


def test_a_feed_is_found_and_its_source_stored(site: Served, database_url: str, open_folder: Path) -> None:
    steps: list[type] = [object]
    added = followed(site, database_url, open_folder, f"{site.url}/feed.xml", steps)
    assert isinstance(added, Added)
    assert added.source_id is not None
    assert (added.wanted.profile.name, added.wanted.feeds) == ("News", (f"{site.url}/feed.xml",))
    assert steps[1:] == [LookBegun, LookEnded]


def test_what_stands_against_a_site_is_a_value(site: Served, database_url: str, open_folder: Path) -> None:
    # Or the feed at its usual place would be found beside the missing page.
    site.pages.clear()
    missing = followed(site, database_url, open_folder, f"{site.url}/nothing-here")
    assert isinstance(missing, NotFollowed)
    assert missing.against is Against.NO_PAGE
    nobody = followed(site, database_url, open_folder, "https://no-such-name.invalid/")
    assert isinstance(nobody, NotFollowed)
    assert nobody.against is Against.NO_SUCH_HOST


def test_no_value_names_an_option_of_the_command_line(site: Served, database_url: str, open_folder: Path) -> None:
    refused = followed(site, database_url, open_folder, f"http://{PLACE}:1/")
    assert isinstance(refused, NotFollowed)
    assert "--" not in refused.what
    assert "headwater " not in refused.what


def test_a_source_that_is_there_is_not_looked_at_again(site: Served, database_url: str, open_folder: Path) -> None:
    followed(site, database_url, open_folder, f"{site.url}/feed.xml")
    steps: list[type] = [object]
    with pytest.raises(UsageError, match="already"):
        followed(site, database_url, open_folder, f"{site.url}/feed.xml", steps)
    assert steps == [object]
