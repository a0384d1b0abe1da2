"""Nothing falls between two polls: each sitemap is read since it was read last, an API since its last run began."""

import asyncio
from datetime import datetime, timedelta
from urllib.parse import parse_qs

import orjson
import pytest
from tests.integration.discover.conftest import DELAY, STARTED, Desk, ask_sitemaps, rss, stories
from tests.integration.discover.test_channels import ARTICLES, index, page_of, sitemap
from tests.integration.discover.test_leases import EXPIRE, Killed, dying_at
from tests.integration.fetch.conftest import SmallSite

from headwater.discover.adding import change
from headwater.discover.polls import run_store
from headwater.discover.polls.run_state import RunState
from headwater.discover.polls.submit_items import take_found_items
from headwater.simweb.message import Page, Request
from headwater.simweb.mischief.replies import Status
from headwater.sources.source import SourceKind, SourceMode
from headwater.sources.store import edit_source

SITEMAP = "http://a.test/sitemap.xml"
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
LONG_AGO = "2025-01-01T12:00:00Z"


def iso(moment: datetime) -> str:
    return moment.isoformat()


def publish_two(desk: Desk) -> None:
    desk.site.pages |= {
        "/sitemap.xml": index("/one.xml", "/two.xml"),
        "/one.xml": sitemap(("/a", LONG_AGO)),
        "/two.xml": sitemap(("/b", LONG_AGO)),
    }


@pytest.mark.long
async def test_a_sitemap_that_failed_for_days_is_read_since_it_was_had_last(desk: Desk) -> None:
    publish_two(desk)
    await desk.follow(sitemaps=(SITEMAP,))
    await desk.poll()
    desk.site.pages["/two.xml"] = sitemap(("/b", LONG_AGO), ("/c", iso(STARTED + 3 * HOUR)))
    desk.path.sim.script("a.test", Status(404), "/two.xml")
    while desk.now[0] < STARTED + 3 * DAY:
        await desk.poll_again()
    desk.path.sim.scripts.remove()
    await desk.poll_again()
    assert await desk.entries() == {"http://a.test/c"}


async def test_a_run_put_away_for_days_does_not_count_as_read_when_it_ends(desk: Desk) -> None:
    publish_two(desk)
    await desk.follow(sitemaps=(SITEMAP,))
    [lease] = await desk.claim()
    with pytest.raises(Killed):
        await dying_at(desk.polling.poll, step=3).run(lease)
    await desk.path.database.execute(EXPIRE)
    desk.site.pages["/one.xml"] = sitemap(("/a", LONG_AGO), ("/c", iso(STARTED + DAY)))
    desk.now[0] = STARTED + 4 * DAY
    for _ in range(2):
        await desk.poll_again()
    assert await desk.entries() == {"http://a.test/c"}


@pytest.mark.long
async def test_a_long_index_is_read_since_its_last_round(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    ask_sitemaps(monkeypatch, 2)  # one of them a poll: a round of twelve takes three days
    desk.site.pages["/sitemap.xml"] = index(*(f"/{n}.xml" for n in range(12)))
    desk.site.pages |= {f"/{n}.xml": sitemap((f"/old-{n}", LONG_AGO)) for n in range(12)}
    await desk.follow(sitemaps=(SITEMAP,))
    for _ in range(12):
        await desk.poll_again()
    news = iso(desk.now[0])
    desk.site.pages |= {f"/{n}.xml": sitemap((f"/old-{n}", LONG_AGO), (f"/new-{n}", news)) for n in range(12)}
    for _ in range(12):
        await desk.poll_again()
    assert await desk.entries() == {f"http://a.test/new-{n}" for n in range(12)}


async def test_a_manual_is_read_whole_although_its_index_is_long(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    ask_sitemaps(monkeypatch, 5)
    desk.site.pages["/sitemap.xml"] = index(*(f"/{n}.xml" for n in range(8)))
    desk.site.pages |= {f"/{n}.xml": sitemap((f"/page-{n}", LONG_AGO)) for n in range(8)}
    await desk.follow(kind=SourceKind.DOCS, sitemaps=(SITEMAP,))
    for _ in range(2):
        await desk.poll_again()
    assert len(await desk.entries()) == 8


@pytest.mark.long
async def test_indexes_within_an_index_all_have_their_turn(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    ask_sitemaps(monkeypatch, 6)
    effects = [f"/{outer}-{inner}.xml" for outer in "12" for inner in range(4)]
    desk.site.pages["/sitemap.xml"] = index("/1.xml", "/2.xml")
    desk.site.pages |= {f"/{outer}.xml": index(*(one for one in effects if one[1] == outer)) for outer in "12"}
    desk.site.pages |= {one: sitemap((f"/page{one}", LONG_AGO)) for one in effects}
    await desk.follow(sitemaps=(SITEMAP,))
    for _ in range(6):
        [ran] = await desk.poll_again()
        assert ran.ending is not None
        assert "are asked at a time" in ran.ending.message
    assert set(effects) <= {visit.target for visit in desk.path.visits()}


def notices(published: list[datetime], request: Request) -> Page:
    """An API as it should be: what was published since, newest first, two a page."""
    asked = parse_qs(request.query)
    since = datetime.fromisoformat(asked["published[gte]"][0])
    first = int(asked.get("cursor", ["0"])[0])
    listed = sorted((one for one in published if one >= since), reverse=True)
    items = [{"title": iso(one), "url": f"http://a.test/{one:%d-%H-%M}", "published": iso(one)} for one in listed]
    following = str(first + 2) if len(listed) > first + 2 else None
    return Page(orjson.dumps({"items": items[first : first + 2], "next": following}), "application/json")


async def test_an_api_is_asked_since_its_last_run_began(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    published = [STARTED - n * HOUR for n in range(1, 5)]
    usual = desk.site.page

    def page(request: Request, now: datetime) -> Page | None:
        return notices(published, request) if request.path == "/api" else usual(request, now)

    monkeypatch.setattr(desk.site, "page", page)
    hint = {
        "v": 1,
        "data_path": "items",
        "map": {"title": "title", "url": "url", "published_at": "published"},
        "pagination": {"type": "cursor", "cursor_path": "next", "max_pages": 5},
        "since": {"field": "published", "operator": "gte", "fallback_days": 7},
    }
    await desk.follow("http://a.test/api", is_api=True, is_searched=False, parser_hint=orjson.dumps(hint).decode())
    [lease] = await desk.claim()
    with pytest.raises(Killed):
        await dying_at(desk.polling.poll, step=2).run(lease)
    await desk.path.database.execute(EXPIRE)
    published.append(STARTED + HOUR / 3)
    desk.now[0] = STARTED + 3 * HOUR
    for _ in range(2):
        await desk.poll_again()
    assert len(await desk.entries()) == 5


async def test_an_api_of_several_pages_is_always_read_further(desk: Desk) -> None:
    def page(*numbers: int) -> Page:
        items = [{"title": f"Notice {n}", "url": f"http://a.test/{n}"} for n in numbers]
        return Page(orjson.dumps({"items": items}), "application/json")

    hint = {"v": 1, "data_path": "items", "map": {"title": "title", "url": "url"}}
    paged = orjson.dumps({**hint, "pagination": {"type": "page", "page_size": 2, "max_pages": 3}}).decode()
    desk.site.pages |= {"/api?limit=2&page=1": page(1, 2), "/api?limit=2&page=2": page(3)}
    await desk.follow("http://a.test/api", is_api=True, is_searched=False, parser_hint=paged)
    await desk.poll()
    desk.site.pages |= {"/api?limit=2&page=2": page(3, 4), "/api?limit=2&page=3": page()}
    await desk.poll_again()
    assert len(await desk.entries()) == 4


def publish_listing(desk: Desk) -> None:
    following = '<link rel="next" href="/page/2/">'
    desk.site.pages |= {"/": page_of(*ARTICLES[:3], more=following), "/page/2/": page_of(*ARTICLES[3:6])}


async def test_a_further_page_that_failed_is_asked_for_again(desk: Desk) -> None:
    publish_listing(desk)
    desk.path.sim.script("a.test", Status(404), "/page/2/", times=1)
    await desk.follow(mode=SourceMode.SPIDER, max_depth=0)
    await desk.poll()
    assert len(await desk.entries()) == 3
    await desk.poll_again(DAY)
    assert len(await desk.entries()) == 6


async def test_what_an_edit_admits_is_found_on_further_pages_too(desk: Desk) -> None:
    publish_listing(desk)
    source = await desk.follow(mode=SourceMode.SPIDER, max_depth=0, exclude_paths=("/2026/03/05/",))
    await desk.poll()
    assert len(await desk.entries()) == 5
    async with desk.path.database.transaction() as connection:
        await edit_source(connection, source, {"exclude_paths": ()}, "tester")
    await desk.poll_again(DAY)
    assert len(await desk.entries()) == 6


async def test_an_edit_is_not_undone_by_a_poll_under_way(desk: Desk) -> None:
    desk.site.pages["/"] = page_of(*ARTICLES)
    source = await desk.follow(mode=SourceMode.SPIDER, exclude_paths=("/2026/03/07/",))
    [lease] = await desk.claim()
    async with desk.path.database.transaction() as connection:
        await edit_source(connection, source, {"exclude_paths": ()}, "tester")
    await desk.polling.work(lease)
    await desk.poll_again(DAY)
    assert len(await desk.entries()) == len(ARTICLES)


async def test_an_edit_of_the_pace_and_a_poll_that_stores_do_not_block_each_other(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.site.pages["/feed.xml"] = rss(*stories(3))
    source = await desk.follow(feeds=("http://a.test/feed.xml",))
    [lease] = await desk.claim()
    has_stored = asyncio.Event()

    async def slowly(*arguments: object) -> RunState:
        run_state = await take_found_items(*arguments)  # type: ignore[arg-type]
        has_stored.set()
        # Long enough for the edit to take the first of its locks.
        await asyncio.sleep(0.5)
        return run_state

    async def edit() -> None:
        await has_stored.wait()
        async with desk.path.database.transaction() as connection:
            await change(connection, source, {"rate_limit_ms": 2000}, "tester", DELAY)

    monkeypatch.setattr(run_store, "take_found_items", slowly)
    await asyncio.gather(desk.polling.work(lease), edit())
    assert len(await desk.entries()) == 3


async def test_a_sitemap_may_stand_elsewhere_and_list_pages_of_its_source(desk: Desk) -> None:
    elsewhere = desk.path.sim.sites["b.test"]
    assert isinstance(elsewhere, SmallSite)
    elsewhere.pages["/map.xml"] = sitemap(("/x", iso(STARTED)))
    await desk.follow(sitemaps=("http://b.test/map.xml",))
    await desk.poll()
    assert await desk.entries() == {"http://a.test/x"}
