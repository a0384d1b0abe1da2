import re
from collections.abc import Callable
from datetime import datetime
from itertools import islice
from urllib.parse import urljoin

import pytest
from lxml import etree

from headwater.simweb.message import Page
from headwater.simweb.world import World

Ask = Callable[..., Page | None]


def found(ask: Ask, url: str, **headers: str) -> Page:
    page = ask(url, **headers)
    assert page is not None, url
    assert page.status == 200
    return page


def links(page: Page, url: str) -> list[str]:
    return [urljoin(url, link) for link in etree.HTML(page.body).xpath("//main//a/@href")]


def test_every_special_host_is_a_working_site_with_truth(world: World, ask: Ask, start: datetime) -> None:
    for publisher in world.specials:
        found(ask, publisher.home)
        found(ask, publisher.feeds[0].url)
        found(ask, next(world.items(publisher, start)).url, cookie="consent=yes")


@pytest.mark.parametrize(
    ("host", "entrance"),
    [
        ("calendar.test", "/calendar"),
        ("endless.test", "/archive"),
        ("maze.test", "/maze/"),
        ("repeat.test", "/loop/"),
        ("facets.test", "/shop"),
    ],
)
def test_traps_lead_ever_further(ask: Ask, host: str, entrance: str) -> None:
    home = f"http://{host}/"
    url = next(link for link in links(found(ask, home), home) if link.startswith(f"http://{host}{entrance}"))
    seen = {url}
    for _ in range(30):
        fresh = [link for link in links(found(ask, url), url) if link not in seen]
        assert fresh, url
        url = fresh[0]
        seen.add(url)


def test_calendar_survives_absurd_months(ask: Ask) -> None:
    found(ask, "http://calendar.test/calendar?month=9999-12")
    found(ask, "http://calendar.test/calendar?month=0-00")
    assert ask("http://calendar.test/calendar?month=soon") is None


def test_every_link_of_a_session_site_is_new(ask: Ask) -> None:
    home = "http://session.test/"
    first = links(found(ask, home), home)
    assert first
    assert all(";jsessionid=" in link for link in first)
    second = links(found(ask, first[0]), first[0])
    assert not set(first) & set(second)


def test_a_session_id_does_not_change_the_article(world: World, ask: Ask, start: datetime) -> None:
    publisher = next(p for p in world.specials if p.host == "session.test")
    item = next(world.items(publisher, start))
    assert item.title.encode() in found(ask, item.url + ";jsessionid=0a1b").body


def test_soft404_says_200_to_anything(ask: Ask) -> None:
    assert b"not found" in found(ask, "http://soft404.test/no/such/page").body


def test_the_mirror_shows_the_first_publishers_pages(world: World, ask: Ask, start: datetime) -> None:
    original = world.publishers[0]
    for item in islice(world.items(original, start), 5):
        there = item.url.replace(original.host, "mirror.test")
        copy = found(ask, there).body
        assert copy.replace(b"mirror.test", original.host.encode()) == found(ask, item.url).body
        assert original.host.encode() not in copy


def test_the_near_copy_differs_by_one_sentence(world: World, ask: Ask, start: datetime) -> None:
    original = world.publishers[0]
    item = next(world.items(original, start))
    near = found(ask, item.url.replace(original.host, "near.test")).body.decode()
    extra = " Our readers knew it first."
    assert near.count(extra) == 1
    assert near.replace(extra, "").replace("near.test", original.host) == found(ask, item.url).body.decode()


def test_private_pages_exist_are_linked_and_disallowed(ask: Ask) -> None:
    assert b"Disallow: /members/" in found(ask, "http://private.test/robots.txt").body
    assert b'href="/members/"' in found(ask, "http://private.test/").body
    found(ask, "http://private.test/members/2")


def test_noindex_is_said_in_the_page_or_in_the_header(ask: Ask) -> None:
    assert b'content="noindex"' in found(ask, "http://noindex.test/hidden/meta").body
    assert ("X-Robots-Tag", "noindex") in found(ask, "http://noindex.test/hidden/header").headers
    assert b'content="nofollow"' in found(ask, "http://noindex.test/hidden/nofollow").body


def test_variants_of_an_article_name_one_canonical_address(world: World, ask: Ask, start: datetime) -> None:
    publisher = next(p for p in world.specials if p.host == "canonical.test")
    item = next(world.items(publisher, start))
    path = item.url.removeprefix("http://canonical.test")
    for variant in (path, f"/amp{path}", path.upper(), f"{path}?utm_source=x"):
        page = found(ask, f"http://canonical.test{variant}")
        assert etree.HTML(page.body).xpath("//link[@rel='canonical']/@href") == [item.url]
    assert f"http://canonical.test/amp{path}" in links(found(ask, publisher.home), publisher.home)


def test_a_meta_refresh_leads_to_an_existing_page(ask: Ask) -> None:
    target = re.search(rb"url=([^\"]+)\"", found(ask, "http://refresh.test/moved").body)
    assert target is not None
    found(ask, f"http://refresh.test{target[1].decode()}")


def test_the_consent_wall_opens_with_its_cookie(world: World, ask: Ask, start: datetime) -> None:
    publisher = next(p for p in world.specials if p.host == "consent.test")
    item = next(world.items(publisher, start))
    assert item.title.encode() not in found(ask, item.url).body
    assert item.title.encode() in found(ask, item.url, cookie="consent=yes").body
