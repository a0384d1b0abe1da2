"""Vacancies that their lists and pages no longer name: over when two answers agree, not when one is odd."""

from datetime import timedelta

import orjson
import pytest
from tests.integration.discover.conftest import Desk
from tests.integration.discover.test_conditional import asked, last_visit

from headwater.discover.polls import reader
from headwater.reports.pages import story_of
from headwater.reports.problems import find_problems_of
from headwater.simweb.message import Page
from headwater.simweb.mischief.framing import ResetAt
from headwater.simweb.mischief.replies import Status
from headwater.sources.source import SourceKind
from headwater.sources.store import read_source
from headwater.urls.canonical import canonicalise

LIST = "http://a.test/jobs"
HOUR, DAY = timedelta(hours=1), timedelta(days=1)


def listing(*names: str, following: str = "") -> Page:
    rows = "".join(f'<li class="job"><a href="/jobs/{name}">Engineer {name}</a></li>' for name in names)
    more = f'<a rel="next" href="{following}">Next</a>' if following else ""
    return Page(f"<html><ul>{rows}</ul>{more}</html>".encode())


def feed(*names: str) -> Page:
    items = "".join(
        f"<item><link>http://a.test/jobs/{name}</link><title>{name} engineer</title></item>" for name in names
    )
    return Page(
        f'<rss version="2.0"><channel><title>Jobs</title>{items}</channel></rss>'.encode(), "application/rss+xml"
    )


async def follow_list(desk: Desk, *names: str) -> None:
    desk.site.pages["/jobs"] = listing(*names)
    await desk.follow(LIST, kind=SourceKind.JOBS, name="Aid Org", max_depth=0)
    await desk.poll()
    await stay_away_from_pages(desk)


async def stay_away_from_pages(desk: Desk) -> None:
    """Pages that wait would have every second turn at their host."""
    await desk.path.database.execute("update url_frontier set status = 'fetched'")


async def standing(desk: Desk) -> dict[str, str]:
    rows = await desk.path.database.fetch("select apply_url, status from jobs")
    return {row["apply_url"].rpartition("/")[2]: row["status"] for row in rows}


async def open_now(desk: Desk) -> set[str]:
    return {name for name, status in (await standing(desk)).items() if status == "active"}


async def poll_again(desk: Desk, after: timedelta = DAY) -> str:
    """Answers with the message of the run."""
    await desk.path.database.execute("update channels set next_poll_at = $1", desk.now[0] + after)
    [ran] = await desk.poll_again(after)
    await stay_away_from_pages(desk)
    assert ran.ending is not None
    return ran.ending.message


async def test_a_list_that_twice_names_others_lets_a_vacancy_expire(desk: Desk) -> None:
    await follow_list(desk, "one", "two")
    desk.site.pages["/jobs"] = listing("one", "three")
    await poll_again(desk)
    assert await open_now(desk) == {"one", "two", "three"}
    desk.site.pages["/jobs"] = listing("one", "three", "four")
    assert "1 vacancy no longer listed" in await poll_again(desk)
    assert await standing(desk) == {"one": "active", "two": "expired", "three": "active", "four": "active"}
    told = await desk.path.database.fetchrow("select op, version from outbox order by seq desc limit 1")
    assert told is not None
    assert tuple(told) == ("delete", 2)


@pytest.mark.long
async def test_not_modified_says_again_what_the_last_answer_said(desk: Desk) -> None:
    await follow_list(desk, "one", "two")
    desk.site.pages["/jobs"] = listing("one")
    await poll_again(desk)
    before = last_visit(desk)
    await poll_again(desk)
    assert asked(desk, before) == [("/jobs", 304)]
    assert await open_now(desk) == {"one"}
    for _ in range(3):
        await poll_again(desk, 10 * DAY)
    assert await open_now(desk) == {"one"}


async def test_a_vacancy_left_out_once_is_not_over(desk: Desk) -> None:
    await follow_list(desk, "one", "two")
    for names in (("one",), ("one", "two"), ("one", "three"), ("one", "two", "three")):
        desk.site.pages["/jobs"] = listing(*names)
        await poll_again(desk)
    assert await open_now(desk) == {"one", "two", "three"}


async def test_a_list_that_suddenly_names_nothing_is_doubted_for_a_day(desk: Desk) -> None:
    await follow_list(desk, "one", "two")
    desk.site.pages["/jobs"] = Page(b"<html><h1>Careers</h1><div class=v2>Loading</div></html>")
    message = await poll_again(desk)
    assert "no longer names 2 vacancies of 2" in message
    assert "list_doubted" in await desk.events()
    for _ in range(3):
        await poll_again(desk, HOUR)
    assert await open_now(desk) == {"one", "two"}
    await poll_again(desk, DAY)
    assert await open_now(desk) == set()
    assert (await desk.events()).count("list_doubted") == 1


@pytest.mark.long
async def test_a_list_that_names_only_others_is_doubted_as_well(desk: Desk) -> None:
    await follow_list(desk, "one", "two")
    for after in (DAY, HOUR, HOUR):
        desk.site.pages["/jobs"] = listing("about-our-jobs", f"x{after}".replace(":", "-").replace(" ", ""))
        await poll_again(desk, after)
    assert {"one", "two"} <= await open_now(desk)


async def test_a_list_that_recovers_is_doubted_no_more(desk: Desk) -> None:
    await follow_list(desk, "one", "two")
    desk.site.pages["/jobs"] = listing()
    await poll_again(desk)
    desk.site.pages["/jobs"] = listing("one", "two")
    await poll_again(desk)
    desk.site.pages["/jobs"] = listing()
    await poll_again(desk)
    assert await open_now(desk) == {"one", "two"}


async def test_an_empty_list_that_is_not_modified_for_a_day_is_believed(desk: Desk) -> None:
    await follow_list(desk, "one")
    desk.site.pages["/jobs"] = listing()
    await poll_again(desk)
    await poll_again(desk, HOUR)
    assert await open_now(desk) == {"one"}
    await poll_again(desk, DAY)
    assert await open_now(desk) == set()


async def test_a_failing_list_says_nothing(desk: Desk) -> None:
    await follow_list(desk, "one", "two")
    desk.path.sim.script("a.test", Status(500), "/jobs")
    for _ in range(3):
        await poll_again(desk, 10 * DAY)
    assert await open_now(desk) == {"one", "two"}


@pytest.mark.long
async def test_every_page_of_a_list_is_asked_before_anything_is_over(desk: Desk) -> None:
    desk.site.pages["/jobs?page=2"] = listing("three")
    desk.site.pages["/jobs"] = listing("one", "two", following="/jobs?page=2")
    await desk.follow(LIST, kind=SourceKind.JOBS, name="Aid Org", max_depth=0)
    await desk.poll()
    await stay_away_from_pages(desk)
    # The first page changes and the second does not, or the other way round; what both name stays open.
    for turn in range(4):
        desk.site.pages["/jobs"] = listing("one", "two", *("new" * turn,), following="/jobs?page=2")
        await poll_again(desk)
    assert {"one", "two", "three"} <= await open_now(desk)
    desk.site.pages["/jobs?page=2"] = listing("four")
    for _ in range(4):
        await poll_again(desk)
    assert "three" not in await open_now(desk)
    assert {"one", "two", "four"} <= await open_now(desk)


@pytest.mark.long
async def test_a_list_that_is_longer_than_it_may_be_read_lets_nothing_expire(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader, "MOST_PAGES", 2)
    desk.site.pages |= {"/jobs?page=2": listing("two", following="/jobs?page=3"), "/jobs?page=3": listing("three")}
    desk.site.pages["/jobs"] = listing("one", following="/jobs?page=2")
    await desk.follow(LIST, kind=SourceKind.JOBS, max_depth=0)
    await desk.poll()
    await stay_away_from_pages(desk)
    desk.site.pages["/jobs"] = listing("zero", following="/jobs?page=2")
    desk.site.pages["/jobs?page=2"] = listing("one", following="/jobs?page=3")
    for turn in range(3):
        desk.site.pages["/jobs?page=3"] = listing("two", "x" * turn)
        await poll_again(desk)
    assert await open_now(desk) == {"zero", "one", "two"}


@pytest.mark.long
async def test_an_api_that_answers_with_news_only_lets_nothing_expire(desk: Desk) -> None:
    recipe = {
        "v": 1,
        "base_url": "http://a.test",
        "path": "/api",
        "data_path": "jobs",
        "map": {"title": "title", "url": "url"},
        "since": {"enabled": True, "field": "since", "format": "iso8601", "fallback_days": 7},
    }
    asks = {"kind": SourceKind.JOBS, "is_api": True, "parser_hint": orjson.dumps(recipe).decode()}
    desk.site.pages["/api"] = Page(b'{"jobs": [{"title": "One", "url": "/jobs/one"}]}', "application/json")
    await desk.follow("http://a.test/api", **asks)
    await desk.poll()
    await stay_away_from_pages(desk)
    for name in ("two", "three", "four"):
        answer = {"jobs": [{"title": name, "url": f"/jobs/{name}"}]}
        desk.site.pages["/api"] = Page(orjson.dumps(answer), "application/json")
        await poll_again(desk)
    assert await open_now(desk) == {"one", "two", "three", "four"}


@pytest.mark.long
async def test_what_scrolls_out_of_a_feed_has_a_week(desk: Desk) -> None:
    desk.site.pages["/jobs.xml"] = feed("one", "two")
    await desk.follow(feeds=("http://a.test/jobs.xml",), kind=SourceKind.JOBS)
    await desk.poll()
    await stay_away_from_pages(desk)
    for name in ("three", "four", "five"):
        desk.site.pages["/jobs.xml"] = feed("two", name)
        await poll_again(desk)
    assert await open_now(desk) == {"one", "two", "three", "four", "five"}
    await poll_again(desk, 8 * DAY)
    assert await open_now(desk) == {"two", "five"}


async def test_a_feed_that_is_cut_off_lets_nothing_expire(desk: Desk) -> None:
    desk.site.pages["/jobs.xml"] = feed("one", "two", "three")
    await desk.follow(feeds=("http://a.test/jobs.xml",), kind=SourceKind.JOBS)
    await desk.poll()
    await stay_away_from_pages(desk)
    whole = feed("one", "two", "three").body
    for length in (190, 195, 200):
        desk.site.pages["/jobs.xml"] = Page(whole[:length], "application/rss+xml")
        await poll_again(desk, 8 * DAY)
    assert await open_now(desk) == {"one", "two", "three"}


@pytest.mark.long
async def test_a_page_beside_a_list_that_fails_keeps_no_vacancy_open(desk: Desk) -> None:
    beside = '<nav><a href="/about-us">About us</a></nav>'
    desk.site.pages["/jobs"] = Page(beside.encode() + listing("one", "two").body)
    await desk.follow(LIST, kind=SourceKind.JOBS, name="Aid Org", max_depth=2)
    await desk.poll()
    await stay_away_from_pages(desk)
    desk.site.pages["/jobs"] = Page(beside.encode() + listing("one").body)
    for _ in range(3):
        assert "HTTP 404" in await poll_again(desk)
    assert await open_now(desk) == {"one"}


async def test_the_loss_of_most_of_many_is_doubted_for_a_day(desk: Desk) -> None:
    """A further page whose link was missing once must not end what it lists."""
    names = [f"n{number}" for number in range(12)]
    await follow_list(desk, *names)
    desk.site.pages["/jobs"] = listing("n0")
    assert "no longer names 11 vacancies of 12" in await poll_again(desk, HOUR)
    await poll_again(desk, HOUR)
    assert await open_now(desk) == set(names)
    await poll_again(desk, DAY)
    await poll_again(desk, DAY)
    assert await open_now(desk) == {"n0"}


PAGE_2, PAGE_3 = "/jobs-2", "/jobs-3"
BROKEN = Page(b"Oops", status=500)


async def follow_two_pages(desk: Desk) -> None:
    desk.site.pages[PAGE_2] = listing("three", "four")
    desk.site.pages["/jobs"] = listing("one", "two", following=PAGE_2)
    await desk.follow(LIST, kind=SourceKind.JOBS, name="Aid Org", max_depth=0)
    await desk.poll()
    await stay_away_from_pages(desk)
    assert await open_now(desk) == {"one", "two", "three", "four"}


async def problem_of(desk: Desk) -> tuple[str, str, str]:
    [row] = await desk.path.database.fetch("select id from sources where name = 'Aid Org'")
    source = await read_source(desk.path.database, row["id"])
    problems = (await find_problems_of(desk.path.database, source)).found
    told = [one for one in problems if one.channel_id]
    return (told[0].kind, told[0].what, told[0].fix) if told else ("", "", "")


async def test_a_doubt_that_is_over_leaves_no_word_behind(desk: Desk) -> None:
    """By "not modified": an answer that nobody doubts any more is not a damaged one."""
    names = [f"n{number}" for number in range(8)]
    await follow_list(desk, *names)
    desk.site.pages["/jobs"] = listing("n0", "n1")
    assert "no longer names 6 vacancies of 8" in await poll_again(desk, HOUR)
    again = await poll_again(desk, HOUR)
    assert again == "not modified; It no longer names 6 vacancies of 8"
    kind, what, _ = await problem_of(desk)
    assert (kind, "6 vacancies of 8" in what) == ("list_doubted", True)
    assert await poll_again(desk, DAY) == "not modified; 6 vacancies no longer listed"
    assert await open_now(desk) == {"n0", "n1"}
    assert await problem_of(desk) == ("", "", "")


@pytest.mark.long
@pytest.mark.parametrize("why", ["HTTP 500", "line 2 of robots.txt", "reset"])
async def test_a_further_page_that_cannot_be_read_is_a_problem_with_a_name(desk: Desk, why: str) -> None:
    await follow_two_pages(desk)
    match why:
        case "HTTP 500":
            desk.site.pages[PAGE_2] = BROKEN
        case "reset":
            desk.path.sim.script("a.test", ResetAt(), PAGE_2)
        case _:
            desk.site.pages["/robots.txt"] = Page(b"User-agent: *\nDisallow: /jobs-\n", "text/plain")
            await desk.path.database.execute("update robots set expires_at = now() - interval '1 day'")
    await poll_again(desk)
    kind, what, fix = await problem_of(desk)
    assert kind == "page_unread"
    assert f"http://a.test{PAGE_2} could not be read since 2026-03-03" in what
    assert "http://a.test/jobs)" in what
    assert why in what
    assert "14 days" in fix
    assert await open_now(desk) == {"one", "two", "three", "four"}


@pytest.mark.long
async def test_explain_knows_the_further_pages_of_a_list(desk: Desk) -> None:
    await follow_two_pages(desk)
    page_2 = canonicalise(f"http://a.test{PAGE_2}")
    story = await story_of(desk.path.database, page_2)
    assert story.why == f"not queued: polls of Aid Org read it, for the listing {LIST}"
    desk.site.pages[PAGE_2] = BROKEN
    await poll_again(desk)
    story = await story_of(desk.path.database, page_2)
    assert "could not be read since 2026-03-03" in story.why
    assert "HTTP 500" in story.why
    assert "crawl logs" in story.next


@pytest.mark.long
async def test_vacancies_of_a_page_that_stays_broken_are_over_in_the_end(desk: Desk) -> None:
    await follow_two_pages(desk)
    desk.site.pages[PAGE_2] = BROKEN
    for after in (DAY, 12 * DAY):
        await poll_again(desk, after)
    assert await open_now(desk) == {"one", "two", "three", "four"}, "twelve days after the first time"
    await poll_again(desk, 3 * DAY)
    assert await open_now(desk) == {"one", "two"}
    desk.site.pages[PAGE_2] = listing("three", "four")
    await poll_again(desk)
    assert await open_now(desk) == {"one", "two", "three", "four"}
    assert await problem_of(desk) == ("", "", "")


@pytest.mark.long
async def test_a_page_that_was_broken_once_ends_nothing_after_a_long_pause(desk: Desk) -> None:
    await follow_two_pages(desk)
    for page in (BROKEN, listing("three", "four"), BROKEN):
        desk.site.pages[PAGE_2] = page
        await poll_again(desk, 15 * DAY)
    assert await open_now(desk) == {"one", "two", "three", "four"}


@pytest.mark.long
async def test_pages_before_the_broken_one_are_read_in_full(desk: Desk) -> None:
    """Unchanged, they would name nobody, and what they list would look unseen."""
    await follow_two_pages(desk)
    desk.site.pages[PAGE_2] = listing("three", "four", following=PAGE_3)
    desk.site.pages[PAGE_3] = BROKEN
    for _ in range(4):
        await poll_again(desk, 5 * DAY)
    assert await open_now(desk) == {"one", "two", "three", "four"}
