import gzip
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from urllib.parse import urlsplit

import pytest

from headwater.discover.items import Item, Reading, Unreadable
from headwater.discover.sitemaps.read import read_sitemap, span_of
from headwater.simweb.message import Request
from headwater.simweb.world import World

NOW = datetime(2026, 5, 10, 12, 0, tzinfo=UTC)
TWO_DAYS = timedelta(hours=48)
BASE = "https://www.harbour.example/sitemap.xml"
HOME = "https://www.harbour.example"
SITEMAP = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
NEWS = 'xmlns:news="http://www.google.com/schemas/sitemap-news/0.9"'


def urlset(*urls: str) -> bytes:
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<urlset {SITEMAP} {NEWS}>{"".join(urls)}</urlset>'.encode()


def url(path: str, lastmod: str = "", more: str = "") -> str:
    return f"<url><loc>{HOME}{path}</loc>{f'<lastmod>{lastmod}</lastmod>' if lastmod else ''}{more}</url>"


def index(*children: tuple[str, str]) -> bytes:
    listed = "".join(
        f"<sitemap><loc>{loc}</loc>{f'<lastmod>{lastmod}</lastmod>' if lastmod else ''}</sitemap>"
        for loc, lastmod in children
    )
    return f"<sitemapindex {SITEMAP}>{listed}</sitemapindex>".encode()


def read(body: bytes, newer_than: timedelta | None = None, base: str = BASE) -> Reading:
    reading = read_sitemap(body, base, NOW, newer_than)
    assert isinstance(reading, Reading), reading
    return reading


def refusal(body: bytes) -> str:
    reading = read_sitemap(body, BASE, NOW, None)
    assert isinstance(reading, Unreadable), reading
    return reading.why


def paths(reading: Reading) -> list[str]:
    return [item.url.removeprefix(HOME) for item in reading.items]


def test_urls_come_with_their_date() -> None:
    reading = read(urlset(url("/a", "2026-05-09T10:00:00+02:00"), url("/b")))
    assert reading.items == (
        Item(f"{HOME}/a", updated_at=datetime(2026, 5, 9, 8, 0, tzinfo=UTC)),
        Item(f"{HOME}/b"),
    )
    assert reading.notes == ()


def test_only_what_changed_lately_is_kept() -> None:
    body = urlset(url("/old", "2026-05-08T11:59:59Z"), url("/new", "2026-05-08T12:00:00Z"), url("/undated"))
    reading = read(body, TWO_DAYS)
    assert paths(reading) == ["/new", "/undated"]
    assert reading.notes == ("Left out because they did not change lately: 1.",)


@pytest.mark.parametrize("no_filter", [None, timedelta()])
def test_an_age_of_nothing_filters_nothing(no_filter: timedelta | None) -> None:
    assert paths(read(urlset(url("/old", "1999-01-01")), no_filter)) == ["/old"]


def test_a_day_counts_until_it_is_over() -> None:
    body = urlset(url("/then", "2026-05-07"), url("/still", "2026-05-08"))
    assert paths(read(body, TWO_DAYS)) == ["/still"]
    assert read(body).items[1].updated_at == datetime(2026, 5, 8, tzinfo=UTC)


def test_a_date_nobody_can_read_is_no_date() -> None:
    reading = read(urlset(url("/a", "last Tuesday"), url("/b", "2026-02-30")), TWO_DAYS)
    assert [(item.url[-1], item.updated_at) for item in reading.items] == [("a", None), ("b", None)]


def test_a_news_sitemap_tells_title_date_and_language() -> None:
    told = (
        "<news:news><news:publication><news:name>Harbour</news:name><news:language>de</news:language></news:publication>"
        "<news:publication_date>2026-05-10T09:00Z</news:publication_date>"
        "<news:title>Ships &amp;\n tides</news:title></news:news>"
    )
    item = read(urlset(url("/a", more=told))).items[0]
    assert (item.title, item.language) == ("Ships & tides", "de")
    assert item.published_at == datetime(2026, 5, 10, 9, 0, tzinfo=UTC)


def test_where_a_news_sitemap_has_no_lastmod_the_publication_date_counts() -> None:
    def told(day: str) -> str:
        return f"<news:news><news:publication_date>{day}</news:publication_date></news:news>"

    body = urlset(url("/old", more=told("2026-05-01")), url("/new", more=told("2026-05-09")))
    assert paths(read(body, TWO_DAYS)) == ["/new"]
    revived = urlset(url("/old", "2026-05-10", told("2026-05-01")))
    assert paths(read(revived, TWO_DAYS)) == ["/old"]


def test_the_address_of_an_image_is_not_the_pages() -> None:
    image = (
        f"<image:image xmlns:image='i'><image:loc>{HOME}/x.png</image:loc><image:title>no</image:title></image:image>"
    )
    item = read(urlset(url("/a", more=image))).items[0]
    assert (item.url, item.title) == (f"{HOME}/a", "")


def test_a_wrong_or_missing_namespace_does_not_matter() -> None:
    assert paths(read(f"<urlset>{url('/a')}</urlset>".encode())) == ["/a"]
    assert paths(read(f"<urlset xmlns='urn:x'>{url('/a')}</urlset>".encode())) == ["/a"]


def test_an_index_gives_its_children_once_and_skips_the_old_ones() -> None:
    new, old, undated = f"{HOME}/new.xml", f"{HOME}/old.xml", f"{HOME}/undated.xml"
    body = index((new, "2026-05-10"), (old, "2026-01-01"), (undated, ""), (new, ""))
    reading = read(body, TWO_DAYS)
    assert (reading.items, reading.more) == ((), (new, undated))
    assert reading.notes == ("Left out because they did not change lately: 1.",)


def test_an_index_may_list_an_index() -> None:
    assert read(index((f"{HOME}/index2.xml", ""))).more == (f"{HOME}/index2.xml",)


def test_a_plain_list_is_a_sitemap_too() -> None:
    assert paths(read(f"\ufeff{HOME}/a\r\n\r\n  {HOME}/b  \n".encode())) == ["/a", "/b"]


def test_gzip_is_known_by_its_first_bytes() -> None:
    body = urlset(url("/a"))
    assert paths(read(gzip.compress(body))) == ["/a"]
    assert paths(read(gzip.compress(f"{HOME}/a\n".encode()))) == ["/a"]


def test_a_gzip_that_is_cut_off_gives_what_came() -> None:
    packed = gzip.compress(urlset(*(url(f"/{number}-{number**7}") for number in range(2000))))
    reading = read(packed[: len(packed) // 2])
    assert 500 < len(reading.items) < 1500
    assert reading.notes[0] == "Its gzip is cut off; only the start could be read."


def test_xml_that_is_cut_off_gives_what_came() -> None:
    reading = read(urlset(url("/a"), url("/b"))[:-20])
    assert paths(reading) == ["/a"]
    assert "not well-formed" in reading.notes[0]


def test_a_bare_ampersand_does_not_damage_the_link() -> None:
    reading = read(urlset(url("/a?x=1&y=2"), url("/b?x=1&amp;y=2")))
    assert paths(reading) == ["/a?x=1&y=2", "/b?x=1&y=2"]


@pytest.mark.parametrize("charset", ["iso-8859-1", "utf-16"])
def test_the_declared_charset_is_used(charset: str) -> None:
    text = urlset(url("/a", more="<news:news><news:title>Großé</news:title></news:news>")).decode()
    assert read(text.replace("UTF-8", charset).encode(charset)).items[0].title == "Großé"


def test_blank_lines_before_the_declaration_are_forgiven() -> None:
    assert paths(read(b"\n\n " + urlset(url("/a")))) == ["/a"]


@pytest.mark.parametrize(
    ("loc", "is_kept"),
    [
        ("https://harbour.example/a", True),
        ("http://news.harbour.example/a", True),
        ("https://harbour.example.evil.test/a", False),
        ("https://notharbour.example/a", False),
        ("https://example/a", False),
    ],
)
def test_only_the_own_host_and_hosts_below_are_believed(loc: str, is_kept: bool) -> None:
    reading = read(urlset(url("/own"), f"<url><loc>{loc}</loc></url>"))
    assert [item.url for item in reading.items[1:]] == ([loc] if is_kept else [])
    assert reading.notes == (() if is_kept else ("Left out because they are on other hosts: 1.",))
    assert read(index((loc, ""))).more == ((loc,) if is_kept else ())


def test_what_will_never_be_fetched_is_counted_by_reason() -> None:
    bad = [f"<url><loc>{loc}</loc></url>" for loc in ("ftp://harbour.example/", "/relative", "/other", "")]
    reading = read(urlset(url("/a"), *bad))
    assert paths(reading) == ["/a"]
    assert reading.notes == ("Left out because they will never be fetched: no_host 3, unsupported_scheme 1.",)


def test_a_feed_is_told_to_be_a_feed() -> None:
    assert "feed" in refusal(b"<rss version='2.0'><channel/></rss>")
    assert "feed" in refusal(b"<feed xmlns='http://www.w3.org/2005/Atom'/>")
    assert "feed" in refusal(b"<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'/>")


@pytest.mark.parametrize("page", [b"<!DOCTYPE html><html></html>", b"<html><p>", b"<HTML>"])
def test_a_web_page_is_told_to_be_one(page: bytes) -> None:
    assert refusal(page) == "It is a web page."


@pytest.mark.parametrize("body", [b"", b"\n", b"{}", b"not found", b"<x/>", b"<", b"\x1f\x8bnot gzip", b"\x00\x01\xff"])
def test_what_is_no_sitemap_is_refused_with_a_sentence(body: bytes) -> None:
    assert refusal(body).endswith(".")


def test_an_empty_sitemap_is_a_sitemap() -> None:
    assert read(urlset()) == Reading(())


@pytest.mark.parametrize(
    ("text", "begins", "length"),
    [
        ("2026", datetime(2026, 1, 1, tzinfo=UTC), timedelta(days=366)),
        ("2026-05", datetime(2026, 5, 1, tzinfo=UTC), timedelta(days=31)),
        ("2026-05-09", datetime(2026, 5, 9, tzinfo=UTC), timedelta(days=1)),
        ("2026-05-09T10:00", datetime(2026, 5, 9, 10, tzinfo=UTC), timedelta()),
        (" 2026-05-09T10:00:00.123-05:00 ", datetime(2026, 5, 9, 15, 0, 0, 123000, tzinfo=UTC), timedelta()),
    ],
)
def test_every_form_of_date_is_read(text: str, begins: datetime, length: timedelta) -> None:
    assert span_of(text) == (begins, begins + length)


@pytest.mark.parametrize("text", ["", "x", "0001-01-01", "9999-12-31T23:59:59-05:00", "٢٠٢٦", "2026-13", "1" * 10_000])
def test_what_is_no_date_is_none(text: str) -> None:
    assert span_of(text) is None


def test_the_sitemaps_of_the_simulated_web_are_read_whole() -> None:
    world = World(7, 24, start=NOW, rate=0.1)
    kinds = set()
    for publisher in world.publishers:
        for sitemap in publisher.sitemaps:
            found = [item.url for item in everything(world, sitemap.url)]
            truth = [item.url for item in world.items(publisher, NOW)]
            truth += [vacancy.url for vacancy in world.vacancies(publisher, NOW)]
            assert found == truth or (sitemap.kind == "news" and set(found) < set(truth))
            kinds.add(sitemap.kind)
    assert kinds == {"plain", "index", "news", "gzip"}


def everything(world: World, address: str) -> Iterator[Item]:
    parts = urlsplit(address)
    page = world.sites[parts.netloc].page(Request("GET", parts.netloc, parts.path, parts.query, {}), NOW)
    assert page is not None
    reading = read(page.body, base=address)
    yield from reading.items
    for child in reading.more:
        yield from everything(world, child)
