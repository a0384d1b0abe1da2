"""URLs with effects, told by whatever channel or redirect: listed, counted, never fetched. Inputs 12 and 119."""

import orjson
import pytest
from tests.integration.discover.conftest import STARTED, Desk, rss
from tests.integration.discover.test_attacks import FEED, MAP
from tests.integration.discover.test_channels import sitemap

from headwater.frontier.entry import EntryOrigin
from headwater.frontier.submit import FoundUrl, SubmitOutcome, Submitter, submit
from headwater.simweb.message import Page
from headwater.simweb.mischief.redirects import Redirect
from headwater.sources.source import SourceMode

EFFECTS = ("/logout", "/posts/12/delete", "/?add-to-cart=7", "/wiki?do=edit", "/newsletter/unsubscribe?t=1")
ARTICLES = {"/news/how-to-delete-your-account", "/2024/05/cart-wheel"}


@pytest.mark.parametrize("kind", ["feed", "sitemap", "api", "listing"])
async def test_a_channel_that_lists_effects_brings_its_articles_only(desk: Desk, kind: str) -> None:
    paths = sorted([*ARTICLES, *EFFECTS])
    links = "".join(f'<article><h2><a href="{path}">A headline of some words</a></h2></article>' for path in paths)
    desk.site.pages |= {
        "/feed.xml": rss(*((path.replace("&", "&amp;"), "Title", STARTED) for path in paths)),
        "/map.xml": sitemap(*((path, "2026-03-02T07:00:00Z") for path in paths)),
        "/api": Page(orjson.dumps([{"title": "Title", "url": path} for path in paths]), "application/json"),
        "/": Page(f"<html><body><main>{links}</main></body></html>".encode()),
    }
    match kind:
        case "api":
            await desk.follow("http://a.test/api", is_api=True, is_searched=False)
        case "listing":
            await desk.follow(mode=SourceMode.SPIDER, max_depth=0)
        case "feed":
            await desk.follow(feeds=(FEED,))
        case _:
            await desk.follow(sitemaps=(MAP,))
    [ran] = await desk.poll()
    assert await desk.entries() == {f"http://a.test{path}" for path in ARTICLES}
    assert any("has_effects" in note for note in ran.run_state.notes)
    assert {visit.target for visit in desk.path.visits()}.isdisjoint(EFFECTS)


async def test_what_a_person_names_is_fetched_all_the_same(desk: Desk) -> None:
    source = await desk.follow(feeds=(FEED,))
    found = [FoundUrl("http://a.test/logout")]
    async with desk.path.database.transaction() as connection:
        [answer] = await submit(connection, Submitter(source, EntryOrigin.MANUAL), found)
        [refused] = await submit(connection, Submitter(source, EntryOrigin.SPIDER), [FoundUrl("http://b.test/logout")])
    assert answer.outcome is SubmitOutcome.QUEUED
    assert (refused.outcome, refused.reason) == (SubmitOutcome.REJECTED, "has_effects")


@pytest.mark.parametrize("target", ["/logout", "http://b.test/cart/add/7"])
async def test_a_redirect_to_an_effect_is_not_followed(desk: Desk, target: str) -> None:
    desk.path.sim.script("a.test", Redirect(target, code=302), "/feed.xml")
    await desk.follow(feeds=(FEED,))
    [ran] = await desk.poll()
    assert ran.ending is not None
    assert "looks as if it did something" in ran.ending.message
    assert [visit.target for visit in desk.path.visits() if visit.target != "/robots.txt"] == ["/feed.xml"]
