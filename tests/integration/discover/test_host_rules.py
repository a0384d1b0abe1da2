"""Exceptions of a host hold for what its channels list, and for the pages that are fetched there."""

from collections.abc import Iterator
from datetime import timedelta

import pytest
from tests.integration.discover.conftest import STARTED, Desk, rss
from tests.integration.discover.test_channels import page_of

from headwater.frontier.host_rules import RuleChange, apply_rules, set_rules
from headwater.frontier.verdicts import Fetched
from headwater.simweb.message import Page
from headwater.sources.source import SourceKind
from headwater.urls.canonical import canonicalise
from headwater.urls.rules import use_rules

POSITIONS = [f"/jobs/position-of-a-harbour-pilot?ref={n}" for n in range(1, 6)]
AT_ONCE = timedelta()


@pytest.fixture(autouse=True)
def no_rules() -> Iterator[None]:
    yield
    use_rules({})


async def test_a_listing_whose_pages_differ_by_a_parameter_is_read_whole(desk: Desk) -> None:
    desk.site.pages["/jobs"] = page_of(*POSITIONS)
    await set_rules(desk.path.database, "a.test", RuleChange(keep_params=["ref"]))
    await desk.follow("http://a.test/jobs", kind=SourceKind.NEWS, article_patterns=("/jobs/",))
    await desk.poll()
    assert {url for url in await desk.entries() if "ref=" in url} == {f"http://a.test{place}" for place in POSITIONS}


async def test_what_was_one_page_before_is_found_after_the_change(desk: Desk) -> None:
    desk.site.pages["/feed"] = rss(*((place, f"Position {place}", STARTED) for place in POSITIONS))
    await desk.follow(feeds=("http://a.test/feed",))
    await desk.poll()
    assert len(await desk.entries()) == 1
    await set_rules(desk.path.database, "a.test", RuleChange(keep_params=["ref"]))
    await apply_rules(desk.path.database, AT_ONCE)
    # The server would say "not modified" to whoever asks with validators.
    await desk.poll_again()
    assert await desk.entries() == {f"http://a.test{place}" for place in POSITIONS}


async def test_an_entry_that_waits_for_its_new_key_is_fetched_as_itself(desk: Desk) -> None:
    url = "http://a.test/one?ref=1"
    desk.site.pages["/one"] = Page(b"<html><title>One</title><p>Hello</html>")
    await desk.path.queue(url)
    await set_rules(desk.path.database, "a.test", RuleChange(keep_params=["ref"]))
    [told] = await desk.path.travel_all()
    assert isinstance(told.verdict, Fetched)
    await apply_rules(desk.path.database, AT_ONCE)
    rows = await desk.path.database.fetch("select url_hash, status from url_frontier")
    assert [tuple(row) for row in rows] == [(canonicalise(url).url_hash, "fetched")]
