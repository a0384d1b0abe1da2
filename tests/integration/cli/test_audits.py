"""`headwater audit robots`: requests compared with the rules of their time."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.integration.cli.desk import Desk, Served, served

from headwater.simweb.message import Page

REQUESTED = """
    insert into fetch_log (at, bucket, host, token, kind, owner, url_hash, started_at, verdict)
    select now(), bucket, host, gen_random_uuid(), 'page', 'nobody', url_hash, now(), 'fetched' from url_frontier
"""


def rules_of(site: Served, text: str) -> None:
    site.pages["/robots.txt"] = Page(text.encode(), "text/plain")


@pytest.fixture
def site() -> Iterator[Served]:
    with served() as serving:
        yield serving


@pytest.fixture
def desk(database_url: str, open_folder: Path, site: Served) -> Desk:
    return Desk(database_url, open_folder, site.settings)


@pytest.fixture
def requested(desk: Desk, site: Served) -> Desk:
    """A page was requested that is forbidden, and one that is not; by hand, since no worker of ours does it."""
    rules_of(site, "User-agent: *\nDisallow: /private")
    desk.says("fetch", f"{site.url}/")
    desk.says("frontier", "add", f"{site.url}/private/page", f"{site.url}/open")
    desk.execute(REQUESTED)
    return desk


def test_a_forbidden_request_is_named_with_its_rule(requested: Desk, site: Served) -> None:
    said = requested.says("audit", "robots")
    assert said.code == 1
    assert "✗ 1 of 2 requests of the last 24 h were forbidden by the rules of their time." in said.out
    assert f"{site.url}/private/page" in said.out
    assert "Disallow: /private" in said.out
    assert [one["rule"] for one in requested.says("audit", "robots", "--json").json["named"]] == ["Disallow: /private"]


def test_rules_that_were_replaced_are_those_of_the_requests_before(requested: Desk, site: Served) -> None:
    rules_of(site, "User-agent: *\nDisallow: /open")
    requested.execute("update robots set expires_at = now()")
    requested.says("fetch", f"{site.url}/")
    assert requested.value("select count(*) from former_robots") == 1
    assert [one["url"] for one in requested.says("audit", "robots", "--json").json["named"]] == [
        f"{site.url}/private/page"
    ]


def test_requests_whose_rules_are_not_known_are_counted(requested: Desk) -> None:
    requested.execute("delete from robots")
    said = requested.says("audit", "robots")
    assert said.code == 0
    assert "✓ 0 of 0 requests" in said.out
    assert "2 requests could not be judged" in said.out
