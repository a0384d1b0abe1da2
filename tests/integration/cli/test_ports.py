"""Two sites on one host name: names, takedowns, robots.txt and explanations go by the port, too."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from tests.integration.cli.desk import Desk, Served, served

from headwater.simweb.message import Page


@pytest.fixture
def sites() -> Iterator[tuple[Served, Served]]:
    with ExitStack() as stack:
        yield stack.enter_context(served()), stack.enter_context(served())


@pytest.fixture
def desk(database_url: str, open_folder: Path, sites: tuple[Served, Served]) -> Desk:
    allowed = ",".join(f"127.0.0.2:{one.port}" for one in sites)
    return Desk(database_url, open_folder, {"network.allow": allowed, "politeness.delay": "20ms"})


def test_sources_on_two_ports_have_two_names(desk: Desk, sites: tuple[Served, Served]) -> None:
    for one in sites:
        desk.followed(one.url)
    names = [source["name"] for source in desk.says("sources", "list", "--json").json["sources"]]
    assert sorted(names) == sorted(f"127.0.0.2:{one.port}" for one in sites)
    for one in sites:
        shown = desk.says("sources", "show", f"127.0.0.2:{one.port}")
        assert (shown.code, one.url in shown.out) == (0, True)


def test_a_source_with_another_name_is_found_by_its_host_and_port(desk: Desk, sites: tuple[Served, Served]) -> None:
    for number, one in enumerate(sites):
        desk.followed(f"{one.url}/news/", "--name", f"Paper {number}")
    for number, one in enumerate(sites):
        assert f"Paper {number}" in desk.says("sources", "show", f"127.0.0.2:{one.port}").out


@pytest.mark.long
def test_a_takedown_of_a_port_leaves_the_other_alone(desk: Desk, sites: tuple[Served, Served]) -> None:
    first, second = sites
    for one in sites:
        desk.says("frontier", "add", f"{one.url}/story")
    said = desk.says("takedown", "add", f"127.0.0.2:{first.port}")
    assert said.out.startswith(f"127.0.0.2:{first.port} is taken down; 1 URL ended")
    assert desk.says("explain", f"{first.url}/story", "--json").json["status"] == "dead"
    assert desk.says("explain", f"{second.url}/story", "--json").json["status"] == "pending"
    assert "(takedown)" in desk.says("frontier", "add", f"{first.url}/other").out
    assert desk.says("frontier", "add", f"{second.url}/other").code == 0
    second.pages["/other"] = Page(b"<title>Here</title><p>Still.</p>")
    assert desk.says("fetch", f"{second.url}/other").code == 0
    assert desk.says("fetch", f"{first.url}/other").code != 0
    assert desk.says("takedown", "rm", f"{first.url}/").code == 0


def test_a_takedown_of_the_host_covers_both(desk: Desk, sites: tuple[Served, Served]) -> None:
    for one in sites:
        desk.says("frontier", "add", f"{one.url}/story")
    assert "2 URLs ended" in desk.says("takedown", "add", "127.0.0.2").out


def test_a_takedown_of_a_port_is_no_problem_of_the_other_source(desk: Desk, sites: tuple[Served, Served]) -> None:
    first, _ = sites
    for one in sites:
        desk.followed(one.url)
    desk.says("takedown", "add", f"127.0.0.2:{first.port}")
    told = desk.says("problems", "--json").json["problems"]
    blamed = {one["about"] for one in told if one["kind"] == "takedown"}
    assert blamed == {f"127.0.0.2:{first.port}"}


def test_an_address_of_another_port_is_not_explained_by_this_ones_source(
    desk: Desk, sites: tuple[Served, Served]
) -> None:
    first, second = sites
    desk.followed(first.url)
    assert f"no source follows 127.0.0.2:{second.port}" in desk.says("explain", f"{second.url}/story").out
    assert f"no channel of 127.0.0.2:{first.port}" in desk.says("explain", f"{first.url}/story").out


def test_robots_of_one_port_decide_nothing_at_the_other(desk: Desk, sites: tuple[Served, Served]) -> None:
    first, second = sites
    first.pages["/robots.txt"] = Page(b"User-agent: *\nDisallow: /\n", "text/plain")
    desk.says("frontier", "add", f"{first.url}/story")
    desk.says("fetch", f"{first.url}/story")
    assert desk.says("hosts", "robots", "127.0.0.2", "--check", f"{first.url}/story").code == 6
    unknown = desk.says("hosts", "robots", "127.0.0.2", "--check", f"{second.url}/story")
    assert unknown.code == 4
    assert f"No robots.txt of {second.url} is known yet" in unknown.err
    assert desk.says("hosts", "robots", f"127.0.0.2:{second.port}").code == 4
    assert "Disallow" in desk.says("hosts", "robots", f"127.0.0.2:{first.port}").out
    assert desk.says("hosts", "robots", f"127.0.0.2:{first.port}", "--check", "/story").code == 6


@pytest.mark.long
def test_the_sitemaps_of_one_port_are_not_guessed_for_the_other(desk: Desk, sites: tuple[Served, Served]) -> None:
    first, second = sites
    urls = "".join(f"<url><loc>{first.url}/{n}</loc></url>" for n in range(3))
    first.pages |= {
        "/": Page(b"<title>First</title>"),
        "/robots.txt": Page(f"Sitemap: {first.url}/map.xml\n".encode(), "text/plain"),
        "/map.xml": Page(f"<urlset>{urls}</urlset>".encode(), "application/xml"),
    }
    second.pages["/"] = Page(b"<title>Second</title>")
    desk.settings["poll.sitemaps"] = "true"
    assert f"{first.url}/map.xml" in desk.says("sources", "add", first.url).out
    before = first.asked().count("/map.xml")
    said = desk.says("sources", "add", second.url)
    assert f":{first.port}" not in said.out + said.err
    assert first.asked().count("/map.xml") == before
    assert "/sitemap.xml" in second.asked()
