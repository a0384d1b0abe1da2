"""While everything is paused every command that speaks of what comes next says so, and none waits for it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.integration.cli.desk import Desk, Served, served
from tests.integration.cli.test_operations import line, runs

from headwater.simweb.message import Page

PAGE = "https://a.example/story"
PAUSED = "everything is paused by a person (moving house), since 20"
RESUME = "resume: headwater crawl resume"


@pytest.fixture
def desk(database_url: str, open_folder: Path) -> Desk:
    return Desk(database_url, open_folder)


@pytest.fixture
def site() -> Iterator[Served]:
    with served() as one:
        one.pages["/"] = Page(b"<title>Harbour</title>")
        one.pages["/feed.xml"] = Page(b"<rss version='2.0'><channel><title>Harbour</title></channel></rss>", "text/xml")
        yield one


@pytest.fixture
def neighbour(desk: Desk, site: Served) -> Desk:
    desk.settings |= site.settings
    return desk


def paused(desk: Desk) -> Desk:
    assert desk.says("crawl", "pause", "--reason", "moving house").code == 0
    return desk


def test_a_page_that_waits_is_explained_by_the_pause(desk: Desk) -> None:
    desk.says("frontier", "add", PAGE)
    out = paused(desk).says("explain", PAGE).out
    assert f"pending: {PAUSED}" in out
    assert RESUME in out
    assert out.splitlines()[-1] == "Next: nothing until everything is resumed: headwater crawl resume"
    assert desk.says("explain", PAGE, "--json").json["next_at"] is None
    desk.says("crawl", "resume")
    assert "pending: ready; " in desk.says("explain", PAGE).out


def test_a_page_that_ended_is_explained_as_before(desk: Desk) -> None:
    desk.says("frontier", "add", PAGE)
    desk.execute("update url_frontier set status = 'dead', reason = 'not_found'")
    assert "paused" not in paused(desk).says("explain", PAGE).out


def test_a_source_is_shown_and_explained_as_paused_with_everything(desk: Desk) -> None:
    source = desk.followed("https://a.example/", "--feed", "https://a.example/feed.xml")
    paused(desk)
    explained, shown = desk.says("explain", source).out, desk.says("sources", "show", source).out
    assert explained.splitlines()[-1] == "Next: nothing until everything is resumed: headwater crawl resume"
    for out in (explained, shown):
        assert PAUSED in out
        assert RESUME in out
    assert desk.says("sources", "show", source, "--json").json["crawl_pause"]["reason"] == "moving house"
    desk.says("crawl", "resume")
    assert desk.says("sources", "show", source, "--json").json["crawl_pause"] is None
    assert "everything is paused" not in desk.says("sources", "show", source).out


def test_the_installation_is_degraded_and_says_who_paused_it(desk: Desk) -> None:
    paused(desk)
    said = desk.says("healthcheck", "--json")
    troubled = {one["name"]: (one["state"], one["fix"]) for one in said.json["parts"] if one["state"] != "ok"}
    resume = ("degraded", "Go on: headwater crawl resume")
    assert (said.code, said.json["state"]) == (0, "degraded")
    assert troubled == {"polling": resume, "fetching": resume}
    assert "moving house" in desk.says("healthcheck").out


@pytest.mark.parametrize("words", [(), ("--operations",)])
def test_the_status_has_a_line_of_it(desk: Desk, words: tuple[str, ...]) -> None:
    assert line(desk, "Paused", *words) == ""
    told = line(paused(desk), "Paused", *words)
    assert told.startswith(f"Paused    {PAUSED}")
    assert told.endswith(RESUME)


def test_what_is_due_is_not_waited_for(neighbour: Desk, site: Served) -> None:
    neighbour.followed(site.url, "--feed", f"{site.url}/feed.xml")
    said = paused(neighbour).says("crawl", "run-due")
    assert said.code == 6
    assert PAUSED[1:] in said.err
    assert "headwater crawl resume" in said.err
    assert site.asked() == []
    neighbour.says("crawl", "resume")
    assert "1 channel polled" in neighbour.says("crawl", "run-due").out


def test_what_a_person_asks_for_is_asked_with_a_warning(neighbour: Desk, site: Served) -> None:
    source = neighbour.followed(site.url, "--feed", f"{site.url}/feed.xml")
    asks = (("fetch", f"{site.url}/"), ("sources", "test", source), ("sources", "simulate", source))
    for words in asks:
        assert "paused" not in neighbour.says(*words).err
    paused(neighbour)
    before = len(site.asked())
    for words in asks:
        said = neighbour.says(*words)
        assert PAUSED in said.err
        assert "paused" not in said.out
    assert len(site.asked()) > before


def test_a_poll_that_is_asked_for_waits_for_the_end_of_the_pause(neighbour: Desk, site: Served) -> None:
    source = neighbour.followed(site.url, "--feed", f"{site.url}/feed.xml")
    said = paused(neighbour).says("crawl", "run", source)
    assert (said.code, "due now" in said.out) == (0, False)
    assert "1 channel due, polled when everything is resumed" in said.out
    assert PAUSED[1:] in said.err


def test_a_site_that_is_added_is_polled_when_everything_is_resumed(neighbour: Desk, site: Served) -> None:
    said = paused(neighbour).says("sources", "add", site.url, "--feed", f"{site.url}/feed.xml")
    assert "first poll when everything is resumed" in said.out
    assert PAUSED[1:] in said.err
    assert "headwater up" not in said.err


def test_a_poller_that_runs_is_named_in_place_of_a_start(neighbour: Desk, site: Served) -> None:
    runs(neighbour, "poll", "fetch")
    said = neighbour.says("sources", "add", site.url, "--feed", f"{site.url}/feed.xml")
    assert "The running poller polls it." in said.err
    assert "headwater up" not in said.err
    assert "run-due" not in said.err
    asked = neighbour.says("crawl", "run", site.url)
    assert "The running poller polls it." in asked.err
    assert "headwater up" not in asked.err
    runs(neighbour, "poll", "fetch", "web")
    assert "2 running pollers poll it." in neighbour.says("crawl", "run", site.url).err
