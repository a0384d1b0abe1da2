"""What becomes of the vacancies of a source that is removed: nobody would ever say that they are over."""

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from tests.integration.discover.conftest import Desk
from tests.integration.discover.test_tellers import listing as feed_of
from tests.integration.discover.test_vanished import LIST, listing, open_now, standing, stay_away_from_pages
from tests.integration.fetch.conftest import SmallSite

from headwater.archive import jobs
from headwater.archive.jobs import Left
from headwater.discover.adding import Stopped, change_status
from headwater.reports.vacancies import find_vacancy
from headwater.run.maintenance import maintenance_of
from headwater.simweb.message import Page
from headwater.sources.source import SourceKind, SourceStatus

DAY = timedelta(days=1)


async def follow_list(desk: Desk, *names: str) -> UUID:
    desk.site.pages["/jobs"] = listing(*names)
    source = await desk.follow(LIST, kind=SourceKind.JOBS, name="Aid Org", max_depth=0)
    await desk.poll()
    await stay_away_from_pages(desk)
    return source


async def follow_board(desk: Desk, host: str, page: Page) -> UUID:
    site = desk.path.sim.sites[host]
    assert isinstance(site, SmallSite)
    site.pages["/jobs.xml"] = page
    source = await desk.follow(f"http://{host}/", feeds=(f"http://{host}/jobs.xml",), kind=SourceKind.JOBS)
    await desk.poll()
    await stay_away_from_pages(desk)
    return source


async def remove(desk: Desk, source: UUID) -> Stopped:
    return await change_status(desk.path.database, source, SourceStatus.DELETED, "deleted by a person")


async def poll_again(desk: Desk, after: timedelta) -> None:
    await desk.path.database.execute("update channels set next_poll_at = $1", desk.now[0] + after)
    await desk.poll_again(after)
    await stay_away_from_pages(desk)


async def told(desk: Desk) -> list[tuple[Any, ...]]:
    rows = await desk.path.database.fetch("select op, version from outbox where kind = 'job' order by seq")
    return [tuple(row) for row in rows]


async def test_the_vacancies_of_a_removed_source_are_over(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "BATCH", 2)
    source = await follow_list(desk, "one", "two", "three", "four", "five")
    stopped = await remove(desk, source)
    assert stopped.left == Left(5)
    assert set((await standing(desk)).values()) == {"expired"}
    assert (await told(desk))[5:] == [("delete", 2)] * 5
    ending = (await find_vacancy(desk.path.database, "http://a.test/jobs/one")).ending
    assert ending is not None
    assert (ending.reason, ending.why) == ("source_removed", "its source Aid Org was removed")


async def test_other_sources_keep_theirs(desk: Desk) -> None:
    source = await follow_list(desk, "one")
    await follow_board(desk, "b.test", feed_of("Driver", "http://b.test/jobs/driver"))
    await remove(desk, source)
    assert await standing(desk) == {"one": "expired", "driver": "active"}


@pytest.mark.long
async def test_a_vacancy_that_another_list_names_stays_open_until_that_list_leaves_it_out(desk: Desk) -> None:
    source = await follow_board(desk, "a.test", feed_of("Water engineer"))
    await follow_board(desk, "b.test", feed_of("Board's engineer"))
    stopped = await remove(desk, source)
    assert stopped.left == Left(0, 1)
    assert await open_now(desk) == {"water-engineer"}
    await poll_again(desk, DAY)  # not modified: the list still names it
    assert await open_now(desk) == {"water-engineer"}
    site = desk.path.sim.sites["b.test"]
    assert isinstance(site, SmallSite)
    site.pages["/jobs.xml"] = feed_of("Another", "http://b.test/jobs/another")
    for _ in range(4):
        await poll_again(desk, 8 * DAY)
    assert await open_now(desk) == {"another"}


async def test_the_other_list_tells_it_in_its_own_words_from_then_on(desk: Desk) -> None:
    source = await follow_board(desk, "a.test", feed_of("Water engineer"))
    board = await follow_board(desk, "b.test", feed_of("Board's engineer"))
    await remove(desk, source)
    site = desk.path.sim.sites["b.test"]
    assert isinstance(site, SmallSite)
    site.pages["/jobs.xml"] = feed_of("The board's engineer")
    await poll_again(desk, DAY)
    row = await desk.path.database.fetchrow("select title, source_id, status from jobs")
    assert row is not None
    assert tuple(row) == ("The board's engineer", board, "active")


async def test_a_vacancy_is_over_when_the_last_list_that_named_it_is_removed(desk: Desk) -> None:
    first = await follow_board(desk, "a.test", feed_of("Water engineer"))
    second = await follow_board(desk, "b.test", feed_of("Board's engineer"))
    await remove(desk, first)
    assert (await remove(desk, second)).left == Left(1)
    assert await open_now(desk) == set()


@pytest.mark.long
async def test_a_list_that_no_longer_names_it_keeps_nothing_open(desk: Desk) -> None:
    source = await follow_board(desk, "a.test", feed_of("Water engineer"))
    await follow_board(desk, "b.test", feed_of("Board's engineer"))
    site = desk.path.sim.sites["b.test"]
    assert isinstance(site, SmallSite)
    for number in range(3):
        site.pages["/jobs.xml"] = feed_of("Another", f"http://b.test/jobs/{number}")
        await poll_again(desk, DAY)
    assert (await remove(desk, source)).left == Left(1)
    assert "water-engineer" not in await open_now(desk)


async def test_a_source_that_is_added_again_brings_its_vacancies_back(desk: Desk) -> None:
    await remove(desk, await follow_list(desk, "one", "two"))
    again = await follow_list(desk, "one", "two")
    rows = await desk.path.database.fetch("select status, version, source_id from jobs")
    assert [tuple(row) for row in rows] == [("active", 3, again)] * 2


async def test_maintenance_ends_what_was_told_in_that_moment(desk: Desk) -> None:
    """Of a page that was fetched while its source was removed, or where the removal was interrupted."""
    source = await follow_list(desk, "one")
    await remove(desk, source)
    await desk.path.database.execute("/* by hand */ update jobs set status = 'active'")
    chores = {chore.name: chore for chore in maintenance_of(desk.path.services).chores()}
    await chores["expire_jobs"].work()
    assert await open_now(desk) == set()


async def test_a_pause_ends_nothing(desk: Desk) -> None:
    source = await follow_list(desk, "one")
    stopped = await change_status(desk.path.database, source, SourceStatus.PAUSED)
    assert stopped.left == Left()
    assert await open_now(desk) == {"one"}
