"""Publishers that mean harm, or only break; what must not be lost, doubled, told or repeated because of them."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from typing import Any

import orjson
import pytest
from tests.integration.discover.conftest import STARTED, Desk, rss, stories
from tests.integration.discover.test_channels import index, sitemap
from tests.integration.fetch.conftest import robots

from headwater.discover.api.secrets import read_secrets
from headwater.discover.cadence.rests import ErrorClass
from headwater.discover.polls.lease import start_of
from headwater.discover.polls.prices import steer
from headwater.discover.polls.reader import task_of
from headwater.discover.polls.reading import read_answer
from headwater.discover.polls.requesting import Body
from headwater.discover.polls.task import ReadAnswer
from headwater.simweb.message import Page
from headwater.simweb.mischief.redirects import Redirect
from headwater.simweb.mischief.replies import Status
from headwater.sources.kinds import ChannelKind
from headwater.sources.source import SourceKind
from headwater.sources.store import disable_channel

FEED = "http://a.test/feed.xml"
MAP = "http://a.test/map.xml"
KEY = "k3y-of-ours"
WRITTEN_DOWN = (
    "select url, former_urls::text, last_error, next_reason, progress::text, etag from channels",
    "select message, next_reason from runs",
    "select message, details::text from events",
    "select last_run_message from sources",
)


def recipe(**parts: Any) -> str:
    mapping = {
        "v": 1,
        "base_url": "http://a.test",
        "path": "/api",
        "data_path": "jobs",
        "map": {"title": "title", "url": "url"},
        "auth": {"type": "query", "name": "key", "token": "{{SECRET:MINE}}"},
    }
    return orjson.dumps(mapping | parts).decode()


def jobs(*numbers: int, following: str | None = None) -> Page:
    listed = [{"title": f"Job {n}", "url": f"/jobs/{n}"} for n in numbers]
    return Page(orjson.dumps({"jobs": listed, "next": following}), "application/json")


async def follow_api(desk: Desk, hint: str, secrets: str = f"MINE@http://a.test={KEY}") -> None:
    poll = desk.polling.poll
    asker = replace(poll.asker, secrets=read_secrets(secrets))
    desk.polling = replace(desk.polling, poll=replace(poll, asker=asker))
    await desk.follow("http://a.test/api", is_api=True, is_searched=False, parser_hint=hint)


async def written_down(desk: Desk) -> str:
    """Everything a poll may have left where people and backups see it."""
    rows = [row for query in WRITTEN_DOWN for row in await desk.path.database.fetch(query)]
    return " ".join(str(value) for row in rows for value in row)


async def queries_asked(desk: Desk, path: str) -> list[str]:
    return [visit.target.partition("?")[2] for visit in desk.path.visits() if visit.target.startswith(path)]


async def test_what_a_failed_child_of_an_index_would_have_listed_is_asked_for_again(desk: Desk) -> None:
    desk.site.pages |= {
        "/map.xml": index("/one.xml", "/two.xml"),
        "/one.xml": sitemap(("/a", "2026-03-01T12:00:00Z")),
    }
    desk.path.sim.script("a.test", Status(500), "/two.xml", times=1)
    await desk.follow(sitemaps=(MAP,))
    await desk.poll()
    assert await desk.path.database.fetchval("select etag from channels") is None
    desk.site.pages["/two.xml"] = sitemap(("/b", "2026-03-02T01:00:00Z"))
    await desk.poll_again()
    assert await desk.entries() == {"http://a.test/a", "http://a.test/b"}


async def test_an_index_that_has_not_changed_hides_no_child_that_has(desk: Desk) -> None:
    desk.site.pages |= {"/map.xml": index("/one.xml"), "/one.xml": sitemap(("/a", "2026-03-01T12:00:00Z"))}
    await desk.follow(sitemaps=(MAP,))
    await desk.poll()
    desk.site.pages["/one.xml"] = sitemap(("/b", "2026-03-02T09:00:00Z"))
    await desk.poll_again()
    assert await desk.entries() == {"http://a.test/a", "http://a.test/b"}


async def test_a_plain_sitemap_is_still_asked_only_for_what_changed(desk: Desk) -> None:
    desk.site.pages["/map.xml"] = sitemap(("/a", "2026-03-01T12:00:00Z"))
    await desk.follow(sitemaps=(MAP,))
    await desk.poll()
    await desk.poll_again()
    assert [visit.status for visit in desk.path.visits() if visit.target == "/map.xml"] == [200, 304]


async def test_pages_of_an_api_that_failed_are_asked_for_since_the_last_whole_run(desk: Desk) -> None:
    paging = {"type": "page", "page_param": "page", "max_pages": 5, "until_empty": True}
    since = {"field": "after", "format": "iso", "operator": "eq", "fallback_days": 1}
    desk.site.pages["/api"] = jobs(1)
    await follow_api(desk, recipe(pagination=paging, since=since))
    await desk.poll()
    [first, *_] = await queries_asked(desk, "/api")
    assert "after=2026-03-01T08%3A00%3A00Z" in first
    assert await desk.path.database.fetchval("select last_ok_at from channels") == STARTED
    broken = f"/api?key={KEY}&after=2026-03-02T07%3A00%3A00Z&page=2"
    desk.site.pages |= {"/api": jobs(2), broken: Page(b"", status=500)}
    [ran] = await desk.poll_again(timedelta(days=1))
    assert ran.ending is not None
    assert ran.ending.status == "warn"
    row = await desk.path.database.fetchrow("select last_ok_at, etag from channels")
    assert row is not None
    assert tuple(row) == (STARTED, None)


async def test_what_an_api_publishes_while_it_is_asked_does_not_fall_between_two_polls(desk: Desk) -> None:
    desk.site.pages["/api"] = jobs(1)
    since = {"field": "after", "format": "iso", "operator": "eq", "fallback_days": 1}
    await follow_api(desk, recipe(since=since))
    await desk.poll()
    await desk.poll_again(timedelta(days=1))
    assert "after=2026-03-02T07%3A00%3A00Z" in (await queries_asked(desk, "/api"))[-1]


async def test_the_key_of_an_api_is_not_written_down_when_it_moves(desk: Desk) -> None:
    desk.site.pages["/new"] = jobs(1, 2)
    desk.path.sim.script("a.test", Redirect(f"/new?key={KEY}", code=301), "/api")
    await follow_api(desk, recipe())
    [ran] = await desk.poll()
    assert ran.run_state.tally.inserted == 2
    assert KEY not in await written_down(desk)
    assert await desk.path.database.fetchval("select url from channels") == "http://a.test/api"


async def test_the_key_of_an_api_is_not_written_down_when_robots_forbid_it(desk: Desk) -> None:
    desk.site.pages["/robots.txt"] = robots("User-agent: *\nDisallow: /api\n")
    await follow_api(desk, recipe())
    [ran] = await desk.poll()
    assert ran.ending is not None
    assert ran.ending.error is ErrorClass.FORBIDDEN
    assert "/api: line 2 of robots.txt" in ran.ending.message
    assert KEY not in await written_down(desk)


async def test_the_key_that_a_next_page_repeats_is_not_put_away_with_the_run(desk: Desk) -> None:
    following = f"http://a.test/api?cursor=2&key={KEY}"
    desk.site.pages |= {"/api": jobs(1, following=following), f"/api?cursor=2&key={KEY}": jobs(2)}
    await follow_api(desk, recipe(pagination={"type": "cursor", "cursor_path": "next", "max_pages": 5}))
    put_away: list[str] = []

    real = desk.polling.poll.asker.follower

    class Watching:
        async def fetch(self, request: Any) -> Any:
            put_away.append(await written_down(desk))
            return await real.fetch(request)

    asker = replace(desk.polling.poll.asker, follower=Watching())  # type: ignore[arg-type]
    desk.polling = replace(desk.polling, poll=replace(desk.polling.poll, asker=asker))
    await desk.poll()
    assert await desk.entries() == {"http://a.test/jobs/1", "http://a.test/jobs/2"}
    assert len(put_away) == 2
    assert "cursor=2" in put_away[1]
    assert KEY not in put_away[1]


async def test_a_move_to_where_a_disabled_channel_stands_is_not_made_and_costs_no_items(desk: Desk) -> None:
    source = await desk.follow(feeds=(FEED, "http://a.test/old.xml"))
    old = await desk.path.database.fetchval("select id from channels where url like '%old.xml'")
    async with desk.path.database.transaction() as connection:
        await disable_channel(connection, source, old, "a person")
    desk.site.pages["/old.xml"] = rss(*stories(3))
    desk.path.sim.script("a.test", Redirect("/old.xml", code=301), "/feed.xml")
    [ran] = await desk.poll()
    assert ran.ending is not None
    assert (ran.ending.status, ran.run_state.tally.inserted) == ("ok", 3)
    assert await desk.path.database.fetchval("select url from channels where is_enabled") == FEED
    assert len(await desk.entries()) == 3
    assert "channel_moved" not in await desk.events()


async def test_a_run_that_breaks_us_is_an_error_of_its_channel_and_not_tried_again_at_once(desk: Desk) -> None:
    desk.site.pages["/feed.xml"] = rss(*stories(3))
    source = await desk.follow(feeds=(FEED,))
    await desk.path.database.execute(
        "alter table channel_items add constraint broken check (title <> 'Story 1') not valid"
    )
    [ran] = await desk.poll()
    assert ran.ending is not None
    assert (ran.ending.status, ran.ending.error) == ("fail", ErrorClass.UNREADABLE)
    channel = await desk.channel(source)
    assert channel.consecutive_errors == 1
    assert channel.next_poll_at > STARTED + timedelta(minutes=10)
    assert await desk.entries() == set()
    assert await desk.claim() == []


@asynccontextmanager
async def source_held(desk: Desk, source: object) -> AsyncIterator[Any]:
    async with desk.path.database.transaction() as connection:
        await connection.execute("select 1 from sources where id = $1 for no key update", source)
        yield connection


async def test_a_poll_that_ends_while_its_source_is_changed_waits_and_deadlocks_with_nobody(desk: Desk) -> None:
    desk.site.pages["/feed.xml"] = rss(*stories(3))
    source = await desk.follow(feeds=(FEED,))
    [lease] = await desk.claim()
    waiting = "select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
    async with source_held(desk, source) as connection:
        ending = asyncio.create_task(desk.polling.work(lease))
        async with asyncio.timeout(300):
            while not await desk.path.database.fetchval(waiting):
                await asyncio.sleep(0)
        await connection.execute("set local lock_timeout = '2s'")
        await connection.execute("update channels set updated_at = now() where source_id = $1", source)
    await ending
    assert len(await desk.entries()) == 3


async def test_children_beyond_the_limit_are_not_passed_over_in_silence(desk: Desk) -> None:
    desk.site.pages["/map.xml"] = index(*(f"/s{n}.xml" for n in range(60)))
    await desk.follow(sitemaps=(MAP,))
    [lease] = await desk.claim()
    run_state = start_of(lease)
    heard = await desk.polling.poll.asker.ask(lease, run_state)
    assert isinstance(heard, Body)
    read = read_answer(task_of(lease, run_state, heard, STARTED))
    assert isinstance(read, ReadAnswer)
    assert len(read.run_state.todo) == ChannelKind.SITEMAP.traits.most_answers
    assert read.run_state.notes == ("Of its 60 sitemaps 49 are asked at a time.",)


@pytest.mark.parametrize("header", ["max-age=99999999999999999999", "max-age=-1", "max-age=x", "s-maxage=1, max-age="])
async def test_no_header_leaves_a_channel_without_a_next_poll(desk: Desk, header: str) -> None:
    page = rss(*stories(3), ttl=10**15)
    desk.site.pages["/feed.xml"] = replace(page, cache_control=header)
    source = await desk.follow(feeds=(FEED,))
    [ran] = await desk.poll()
    assert ran.ending is not None
    assert ran.ending.status == "ok"
    assert STARTED < (await desk.channel(source)).next_poll_at <= STARTED + timedelta(days=8)


async def test_the_price_is_looked_at_often_and_worked_out_seldom(desk: Desk) -> None:
    desk.site.pages["/feed.xml"] = rss(*stories(3))
    await desk.follow(feeds=(FEED,), kind=SourceKind.NEWS)
    await desk.poll()
    assert await steer(desk.path.database, 1.0, STARTED + timedelta(hours=2)) is not None
    # Whoever read rhythms now would trip over this one.
    await desk.path.database.execute("update channels set rhythm = '17'")
    assert await steer(desk.path.database, 1.0, STARTED + timedelta(hours=2, minutes=1)) is None
