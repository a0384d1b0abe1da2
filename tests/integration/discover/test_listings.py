"""Lists of several pages, with pages beside them that bring nothing: read to the end, each page asked once."""

from collections import Counter
from collections.abc import Callable
from datetime import timedelta

import orjson
import pytest
from tests.integration.discover.conftest import DELAY, Desk

from headwater.frontier.submit import hold_hosts
from headwater.simweb.message import Page
from headwater.simweb.mischief.redirects import Redirect
from headwater.sources.source import SourceKind, SourceMode

BESIDE = ("/our-team", "/offices", "/culture", "/partners")
MENU = "".join(f'<li><a href="{path}">Menu {path[1:]}</a></li>' for path in BESIDE)


def list_page(path: str, numbers: range, pager: str, place: str = "jobs", menu: str = MENU) -> Page:
    rows = "".join(f'<li class="job"><a href="/{place}/{n}">Water engineer {n}</a></li>' for n in numbers)
    return Page(f"<html><head><title>{path}</title></head><ul>{menu}</ul><ul>{rows}</ul>{pager}</html>".encode())


def by_next(page: int, last: int) -> str:
    return f'<a rel="next" href="/list?page={page + 1}">Next</a>' if page < last else ""


def by_numbers(page: int, last: int) -> str:
    return "".join(f'<a href="/list?page={n}">{n}</a>' for n in range(1, last + 1) if n != page)


def by_offsets(page: int, last: int) -> str:
    return "".join(f'<a href="/list?start={3 * n - 3}">{n}</a>' for n in range(1, last + 1) if n != page)


def by_loading_more(page: int, last: int) -> str:
    return f'<a href="/list?after=v{page}">Load more</a>' if page < last else ""


Pager = Callable[[int, int], str]


def place_of(page: int, pager: Pager) -> str:
    if page == 1:
        return "/list"
    if pager is by_offsets:
        return f"/list?start={3 * page - 3}"
    return f"/list?after=v{page - 1}" if pager is by_loading_more else f"/list?page={page}"


def publish(desk: Desk, pager: Pager, pages: int = 3) -> None:
    """Three vacancies a page; the pages beside the list bring none."""
    desk.site.pages |= {path: Page(f"<html><ul>{MENU}</ul><p>Nothing here.</html>".encode()) for path in BESIDE}
    for page in range(1, pages + 1):
        path = place_of(page, pager)
        desk.site.pages[path] = list_page(path, range(3 * page - 3, 3 * page), pager(page, pages))


async def follow(desk: Desk, **more: object) -> None:
    await desk.follow("http://a.test/list", kind=SourceKind.JOBS, name="Aid Org", **more)


def asked(desk: Desk, since: int = 0) -> Counter[str]:
    visits = desk.path.sim.visits.of(since=since)
    return Counter(visit.target for visit in visits if visit.path != "/robots.txt")


async def fetch_all(desk: Desk) -> None:
    """Everything that waits in the queue."""
    while await desk.path.database.fetchval("select count(*) from url_frontier where status = 'pending'"):
        await desk.path.reopen()
        await desk.path.travel_all(10)


async def titles(desk: Desk) -> set[str]:
    return {row["title"] for row in await desk.path.database.fetch("select title from jobs")}


@pytest.mark.parametrize("pager", [by_next, by_numbers, by_offsets, by_loading_more])
async def test_a_list_is_read_to_its_end_whatever_stands_beside_it(desk: Desk, pager: Pager) -> None:
    publish(desk, pager, pages=4)
    await follow(desk)
    [ran] = await desk.poll()
    assert await titles(desk) == {f"Water engineer {n}" for n in range(12)}
    assert ran.run_state.tally.inserted == 12
    assert await desk.entries() == {f"http://a.test/jobs/{n}" for n in range(12)}
    assert set(asked(desk).values()) == {1}
    assert set(BESIDE) <= asked(desk).keys()


@pytest.mark.long
async def test_a_list_of_many_pages_is_not_cut_short_by_the_pages_beside_it(desk: Desk) -> None:
    publish(desk, by_next, pages=9)
    await follow(desk)
    await desk.poll()
    assert len(await titles(desk)) == 27
    assert sum(asked(desk).values()) == 10


@pytest.mark.long
async def test_a_list_of_vacancies_is_read_to_its_end_also_without_news(desk: Desk) -> None:
    """What it no longer names anywhere is over: for that all of it must be known."""
    publish(desk, by_numbers)
    await follow(desk)
    await desk.poll()
    desk.site.pages["/list"] = list_page("/list, again", range(3), by_numbers(1, 3))
    before = desk.path.sim.visits.all()[-1].number
    await desk.poll_again()
    assert asked(desk, before).keys() == {"/list", "/list?page=2", "/list?page=3", *BESIDE}


@pytest.mark.long
async def test_a_page_far_down_a_list_that_failed_is_asked_for_again(desk: Desk) -> None:
    publish(desk, by_next, pages=4)
    whole = desk.site.pages["/list?page=3"]
    desk.site.pages["/list?page=3"] = Page(b"no", status=500)
    await follow(desk)
    [ran] = await desk.poll()
    assert ran.ending is not None
    assert ran.ending.status == "warn"
    assert len(await titles(desk)) == 6
    desk.site.pages["/list?page=3"] = whole
    await desk.poll_again()
    assert await titles(desk) == {f"Water engineer {n}" for n in range(12)}


async def test_articles_of_a_news_site_come_from_all_pages_of_its_list(desk: Desk) -> None:
    def page(number: int) -> Page:
        links = "".join(f'<a href="/2026/03/01/a-story-of-the-day-{number}-{n}">Story {n}</a>' for n in range(3))
        return Page(f"<html><ul>{MENU}</ul>{links}{by_next(number, 3)}</html>".encode())

    publish(desk, by_next)
    desk.site.pages |= {"/list": page(1), "/list?page=2": page(2), "/list?page=3": page(3)}
    await desk.follow("http://a.test/list", mode=SourceMode.SPIDER)
    await desk.poll()
    assert len(await desk.entries()) == 9
    assert set(asked(desk).values()) == {1}


async def test_pages_of_vacancies_are_left_to_the_queue_whatever_their_address(desk: Desk) -> None:
    for number in (1, 2):
        pager = by_next(number, 2)
        desk.site.pages["/list" if number == 1 else "/list?page=2"] = list_page(
            str(number),
            range(3 * number, 3 * number + 3),
            pager,
            place="v",
            menu='<li><a href="/v/5">Featured</a></li>',
        )
    await follow(desk)
    await desk.poll()
    assert asked(desk).keys() == {"/list", "/list?page=2"}
    assert await desk.entries() == {f"http://a.test/v/{n}" for n in range(3, 9)}
    await fetch_all(desk)
    assert set(asked(desk).values()) == {1}


async def test_a_page_beside_the_list_that_is_a_vacancy_itself_is_asked_once(desk: Desk) -> None:
    posting = {
        "@context": "https://schema.org",
        "@type": "JobPosting",
        "title": "Wasserbauingenieurin",
        "description": "Plans wells. " * 30,
        "hiringOrganization": {"@type": "Organization", "name": "Aid Org"},
        "jobLocation": {"address": {"addressLocality": "Nairobi", "addressCountry": "KE"}},
        "url": "http://a.test/w/7",
    }
    data = f'<script type="application/ld+json">{orjson.dumps(posting).decode()}</script>'
    desk.site.pages |= {
        "/list": Page(b'<html><ul><li><a href="/w/7">Wasserbau</a></li></ul></html>'),
        "/w/7": Page(f"<html><head>{data}</head><h1>Wasserbauingenieurin</h1></html>".encode()),
    }
    await follow(desk)
    await desk.poll()
    [job] = await desk.path.database.fetch("select title, is_detailed, page_url from jobs")
    assert tuple(job) == ("Wasserbauingenieurin", True, "http://a.test/w/7")
    rows = await desk.path.database.fetch("select url, status, fetch_count, etag is null from url_frontier")
    assert [tuple(row) for row in rows] == [("http://a.test/w/7", "fetched", 1, False)]
    await fetch_all(desk)
    assert asked(desk) == {"/list": 1, "/w/7": 1}
    counters = "select status, sum(entries)::int from counter_deltas group by 1 having sum(entries) <> 0"
    assert [tuple(row) for row in await desk.path.database.fetch(counters)] == [("fetched", 1)]

    desk.site.pages["/list"] = Page(b'<html><ul><li><a href="/w/7">Wasserbau!</a></li></ul></html>')
    await desk.poll_again(after=timedelta(days=8))
    assert asked(desk) == {"/list": 2, "/w/7": 1}


@pytest.mark.long
async def test_the_page_that_a_redirect_led_to_is_not_asked_again_in_the_same_run(desk: Desk) -> None:
    publish(desk, by_next)
    back = '<a href="/vacancies-now">All</a>'
    desk.site.pages["/vacancies-now"] = list_page("/list", range(3), '<a rel="next" href="/list?page=2">Next</a>')
    desk.site.pages["/list?page=2"] = list_page("2", range(3, 6), back)
    desk.path.sim.script("a.test", Redirect("http://a.test/vacancies-now", code=302), "/list", times=1)
    await follow(desk)
    async with desk.path.database.transaction() as connection:
        await hold_hosts(connection, ["a.test"], DELAY)
    await desk.poll()
    assert asked(desk)["/vacancies-now"] == 1
