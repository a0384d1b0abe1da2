"""`headwater sources add`: what is not there is not added, and what is there is taken for what it is."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.integration.cli.desk import PLACE, Desk, Served, assert_a_sentence, served

from headwater.database.pool import Database
from headwater.simweb.message import Page

NAMESPACE = "http://www.sitemaps.org/schemas/sitemap/0.9"
EVERY_TABLE = """
    select relname from pg_class where relkind in ('r', 'p') and relnamespace = 'public'::regnamespace order by relname
"""


@pytest.fixture
def desk(database_url: str, open_folder: Path) -> Desk:
    return Desk(database_url, open_folder)


@pytest.fixture
def site(desk: Desk) -> Iterator[Served]:
    with served() as serving:
        desk.settings = serving.settings
        yield serving


def sources(desk: Desk) -> int:
    return int(desk.value("select count(*) from sources"))


def kinds(desk: Desk) -> str:
    return str(desk.value("select string_agg(kind || ' ' || url, ', ' order by kind) from channels where is_enabled"))


def jobs_feed(site: Served) -> Page:
    items = "".join(
        f"<item><title>Water Engineer {n}</title><link>{site.url}/jobs/{n}</link>"
        f"<description>Location: Kampala, Uganda. Apply by 30 December 2026.</description></item>"
        for n in range(5)
    )
    return Page(f"<rss version='2.0'><channel><title>Jobs</title>{items}</channel></rss>".encode(), "text/xml")


def news_feed(site: Served) -> Page:
    items = "".join(
        f"<item><title>Story {n}</title><link>{site.url}/{n}</link>"
        f"<pubDate>Sun, 15 Nov 2026 08:0{n}:00 GMT</pubDate></item>"
        for n in range(5)
    )
    return Page(f"<rss version='2.0'><channel><title>News</title>{items}</channel></rss>".encode(), "text/xml")


def sitemap_of(*urls: str, kind: str = "urlset", of: str = "url") -> Page:
    rows = "".join(f"<{of}><loc>{url}</loc></{of}>" for url in urls)
    return Page(f'<{kind} xmlns="{NAMESPACE}">{rows}</{kind}>'.encode(), "application/xml")


@pytest.mark.parametrize("more", [(), ("--dry-run",), ("--no-discover",), ("--kind", "jobs"), ("--json",)])
def test_a_word_is_not_the_address_of_a_site(desk: Desk, more: tuple[str, ...]) -> None:
    said = desk.says("sources", "add", "not-a-url", *more)
    assert said.code == 2
    assert "'not-a-url' is not the address of a site: a name on the web has a dot in it" in said.err
    assert "http://not-a-url/" in said.err
    assert_a_sentence(said)
    assert sources(desk) == 0


MISSING = [
    ("https://no-such-name.invalid/",),
    ("https://no-such-name.invalid/", "--dry-run"),
    ("https://no-such-name.invalid/", "--kind", "jobs"),
    ("https://no-such-name.invalid/", "--kind", "docs"),
    ("https://no-such-name.invalid/", "--feed", "https://no-such-name.invalid/feed.xml"),
]


@pytest.mark.parametrize("words", MISSING)
def test_a_name_that_leads_nowhere_is_not_added(desk: Desk, words: tuple[str, ...]) -> None:
    said = desk.says("sources", "add", *words)
    # Whether there is no such name, or nobody to ask for it, is up to the machine this runs on.
    assert said.code in (4, 5)
    assert "no-such-name.invalid" in said.err
    assert "--anyway" in said.err
    assert "Added" not in said.out
    assert sources(desk) == 0


def test_a_name_that_leads_nowhere_may_be_followed_all_the_same(desk: Desk) -> None:
    said = desk.says("sources", "add", "https://no-such-name.invalid/", "--anyway")
    assert said.code == 0, said.err
    assert "Added" in said.out
    assert "could not be had" in said.err
    assert sources(desk) == 1


def test_a_host_that_does_not_answer_is_not_added_unless_that_is_wanted(desk: Desk, site: Served) -> None:
    nowhere = f"http://{PLACE}:1/"
    desk.settings = site.settings | {"network.allow": f"{PLACE}:1"}
    said = desk.says("sources", "add", nowhere)
    assert said.code == 5
    assert f"{nowhere} does not answer: " in said.err
    assert "connect_refused" in said.err
    assert "--anyway" in said.err
    assert sources(desk) == 0
    assert desk.says("sources", "add", nowhere, "--anyway").code == 0
    assert sources(desk) == 1


ERRORS = [
    (404, 4, "there is no such page"),
    (410, 4, "the page is gone for good"),
    (403, 6, "it refuses us"),
    (500, 5, "the site has trouble of its own"),
    (503, 5, "the site has trouble of its own"),
]


@pytest.mark.parametrize(("status", "code", "meaning"), ERRORS)
def test_an_address_that_answers_with_an_error_is_refused(
    desk: Desk, site: Served, status: int, code: int, meaning: str
) -> None:
    site.pages["/place"] = Page(b"no", status=status)
    said = desk.says("sources", "add", f"{site.url}/place", "--kind", "docs")
    assert said.code == code
    assert f"{site.url}/place answers with HTTP {status}: {meaning}." in said.err
    assert "--anyway" in said.err
    assert sources(desk) == 0


@pytest.mark.parametrize("more", [(), ("--kind", "docs"), ("--dry-run",)])
def test_an_address_whose_redirect_leads_nowhere_is_refused(desk: Desk, site: Served, more: tuple[str, ...]) -> None:
    site.pages["/place"] = Page(b"", status=302, headers=(("Location", "/place"),))
    said = desk.says("sources", "add", f"{site.url}/place", *more)
    assert said.code == 4
    assert f"{site.url}/place answers with a redirect that leads nowhere: it leads to itself." in said.err
    assert sources(desk) == 0
    assert desk.says("sources", "add", f"{site.url}/place", "--anyway", *more).code == 0


@pytest.mark.parametrize("more", [(), ("--kind", "jobs"), ("--dry-run",)])
def test_an_address_without_a_page_may_be_followed_all_the_same(
    desk: Desk, site: Served, more: tuple[str, ...]
) -> None:
    said = desk.says("sources", "add", f"{site.url}/place", *more)
    assert said.code == 4
    assert f"{site.url}/place answers with HTTP 404: there is no such page." in said.err
    assert desk.says("sources", "add", f"{site.url}/place", "--anyway", *more).code == 0
    assert sources(desk) == int("--dry-run" not in more)


def test_a_site_that_asks_to_come_back_later_is_added(desk: Desk, site: Served) -> None:
    site.pages["/"] = Page(b"no", status=429)
    said = desk.says("sources", "add", site.url)
    assert said.code == 0
    assert f"{site.url}/: HTTP 429: it asks us to come back later. A poller will look." in said.err


def test_a_site_without_a_page_is_added_where_its_feed_was_found(desk: Desk, site: Served) -> None:
    site.pages |= {"/": Page(b"no", status=404), "/feed": news_feed(site)}
    said = desk.says("sources", "add", site.url)
    assert said.code == 0, said.err
    assert "HTTP 404" in said.err
    assert kinds(desk) == f"feed {site.url}/feed"


PARKED = [
    b"<title>a.example</title><h1>This domain may be for sale!</h1><a href='/offer'>Buy this domain</a>",
    b"<html><head><script src='https://img.sedoparking.com/js/jquery.js'></script></head></html>",
    b"<title>a.example steht zum Verkauf</title><p>Diese Domain steht zum Verkauf.</p>",
]


@pytest.mark.parametrize("body", PARKED)
def test_a_parked_domain_is_refused_unless_it_is_wanted_anyway(desk: Desk, site: Served, body: bytes) -> None:
    site.pages["/"] = Page(body)
    said = desk.says("sources", "add", site.url)
    assert said.code == 4
    assert f"{site.url}/ is a parked domain: nobody publishes there." in said.err
    assert "--anyway" in said.err
    assert sources(desk) == 0
    assert desk.says("sources", "add", site.url, "--anyway").code == 0


def test_a_paper_that_writes_of_parked_domains_is_added(desk: Desk, site: Served) -> None:
    head = '<link rel="alternate" type="application/rss+xml" href="/feed.xml">'
    site.pages |= {"/": Page(f"{head}<h1>This domain is for sale</h1>".encode()), "/feed.xml": news_feed(site)}
    assert desk.says("sources", "add", site.url).code == 0


@pytest.fixture
def other(desk: Desk, site: Served) -> Iterator[Served]:
    """A second host, which leads to the first."""
    with served("127.0.0.3") as serving:
        both = f"{site.settings['network.allow']},{serving.settings['network.allow']}"
        desk.settings = site.settings | {"network.allow": both}
        serving.pages["/"] = Page(b"", status=301, headers=(("Location", f"{site.url}/"),))
        yield serving


@pytest.mark.parametrize("status", [301, 302])
def test_an_address_that_leads_to_a_sources_site_is_no_second_source(
    desk: Desk, site: Served, other: Served, status: int
) -> None:
    followed = desk.followed(f"{site.url}/news/", "--name", "Paper", "--feed", f"{site.url}/feed.xml")
    other.pages["/"] = Page(b"", status=status, headers=(("Location", f"{site.url}/"),))
    site.pages |= {"/": Page(b"<title>Paper</title>"), "/feed.xml": news_feed(site)}
    said = desk.says("sources", "add", other.url)
    assert said.code == 2
    assert f"{other.url}/ leads to {site.url}/, a site that is followed already: Paper" in said.err
    assert f"headwater sources show {followed}" in said.err
    assert sources(desk) == 1


def test_an_address_that_moved_for_good_to_another_host_is_followed_there(
    desk: Desk, site: Served, other: Served
) -> None:
    site.pages |= {"/": Page(b"<title>Docs</title><a href='/one'>One</a>")}
    said = desk.says("sources", "add", other.url, "--kind", "docs")
    assert said.code == 0, said.err
    assert f"{other.url}/ moved to {site.url}/ for good, and is followed there." in said.err
    assert desk.value("select url || ' ' || name from sources") == f"{site.url}/ {site.url.removeprefix('http://')}"
    assert kinds(desk) == f"crawl {site.url}/"


def test_a_site_whose_feed_is_followed_already_is_no_second_source(desk: Desk, site: Served) -> None:
    desk.followed(f"{site.url}/news/", "--name", "Paper", "--feed", f"{site.url}/feed.xml")
    site.pages |= {
        "/": Page(b'<link rel="alternate" type="application/rss+xml" href="/feed.xml">'),
        "/feed.xml": news_feed(site),
        "/sitemap.xml": sitemap_of(f"{site.url}/1"),
    }
    said = desk.says("sources", "add", site.url)
    assert said.code == 2
    assert f"{site.url}/feed.xml is followed already, for Paper" in said.err
    assert sources(desk) == 1


def empty_feed() -> Page:
    return Page(b"<rss version='2.0'><channel><title>Quiet</title></channel></rss>", "text/xml")


@pytest.mark.parametrize("more", [(), ("--kind", "jobs")])
def test_an_empty_feed_is_said_to_be_there_and_empty(desk: Desk, site: Served, more: tuple[str, ...]) -> None:
    site.pages["/feed.xml"] = empty_feed()
    said = desk.says("sources", "add", f"{site.url}/feed.xml", *more)
    assert said.code == 0, said.err
    assert f"  1) feed     {site.url}/feed.xml  empty: it lists no items now" in said.out
    assert "looked for" not in said.out + said.err
    assert kinds(desk) == f"feed {site.url}/feed.xml"


def test_an_empty_feed_that_a_page_names_is_told_and_a_full_one_beats_it(desk: Desk, site: Served) -> None:
    link = '<link rel="alternate" type="application/rss+xml" href="{}">'
    site.pages |= {"/": Page(link.format("/empty.xml").encode()), "/empty.xml": empty_feed()}
    told = desk.says("sources", "add", site.url, "--dry-run", "--json").json
    assert [(one["kind"], one["url"], one["items"]) for one in told["found"]] == [("feed", f"{site.url}/empty.xml", 0)]
    site.pages |= {
        "/": Page((link.format("/empty.xml") + link.format("/feed.xml")).encode()),
        "/feed.xml": news_feed(site),
    }
    assert desk.says("sources", "add", site.url).code == 0
    assert kinds(desk) == f"feed {site.url}/feed.xml"


def test_a_document_of_another_kind_is_no_empty_feed(desk: Desk, site: Served) -> None:
    site.pages["/opml"] = Page(b"<opml version='2.0'><body></body></opml>", "text/xml")
    said = desk.says("sources", "add", f"{site.url}/opml")
    assert "feed  " not in said.out
    assert "Found no feed" in said.err


@pytest.mark.parametrize("more", [(), ("--dry-run",), ("--kind", "jobs")])
@pytest.mark.parametrize("form", ["rss", "atom"])
def test_a_feed_that_breaks_off_is_said_to_be_damaged(
    desk: Desk, site: Served, form: str, more: tuple[str, ...]
) -> None:
    entries = "".join(
        f"<entry><title>Story {n}</title><id>{n}</id><link href='{site.url}/{n}'/></entry>" for n in range(5)
    )
    atom = f"<feed xmlns='http://www.w3.org/2005/Atom'><title>News</title>{entries}</feed>".encode()
    whole = news_feed(site).body if form == "rss" else atom
    assert isinstance(whole, bytes)
    site.pages["/feed.xml"] = Page(whole[: whole.index(b"Story 3")], "text/xml")
    said = desk.says("sources", "add", f"{site.url}/feed.xml", *more)
    assert said.code == 0, said.err
    assert "damaged: Read up to where it breaks off" in said.out + said.err
    if "--dry-run" in more:
        [found] = desk.says("sources", "add", f"{site.url}/feed.xml", "--dry-run", "--json").json["found"]
        assert found["damage"].startswith("Read up to where it breaks off")


def test_a_private_address_is_refused_with_the_setting_that_allows_it(desk: Desk, site: Served) -> None:
    desk.settings = {}
    said = desk.says("sources", "add", f"{site.url}/feed.xml")
    assert said.code == 6
    assert f"--set network.allow={site.place}:{site.port}" in said.err
    assert f"HEADWATER_NETWORK__ALLOW={site.place}:{site.port}" in said.err


def test_nothing_is_said_to_be_looked_at_where_nothing_is(desk: Desk, site: Served) -> None:
    recipe = '{"v": 1, "data_path": "rows", "map": {"url": "link", "title": "title"}}'
    for words in (("--api", "--parser-hint", recipe), ("--feed", f"{site.url}/feed.xml"), ("--no-discover",)):
        said = desk.says("sources", "add", f"{site.url}/{len(words)}", *words)
        assert said.code == 0, said.err
        assert "Looking at" not in said.err
    assert site.asked() == []
    said = desk.says("sources", "add", f"{site.url}/dry", "--feed", f"{site.url}/other.xml", "--dry-run")
    assert "Looking at" in said.err


@pytest.mark.parametrize("kind", ["news", "jobs", "docs"])
def test_a_feed_is_a_feed_whatever_the_kind(desk: Desk, site: Served, kind: str) -> None:
    site.pages["/jobs.rss"] = jobs_feed(site)
    said = desk.says("sources", "add", f"{site.url}/jobs.rss", "--kind", kind)
    assert said.code == 0, said.err
    assert f"  1) feed     {site.url}/jobs.rss  5 items" in said.out
    assert kinds(desk) == f"feed {site.url}/jobs.rss"
    assert desk.value("select ingestion_mode from sources") == "feed"


def test_a_feed_is_a_feed_even_where_pages_were_to_be_looked_through(desk: Desk, site: Served) -> None:
    site.pages["/jobs.rss"] = jobs_feed(site)
    assert desk.says("sources", "add", f"{site.url}/jobs.rss", "--mode", "spider").code == 0
    assert kinds(desk) == f"feed {site.url}/jobs.rss"


@pytest.mark.parametrize("kind", ["news", "jobs", "docs"])
def test_a_sitemap_is_a_sitemap_whatever_the_kind(desk: Desk, site: Served, kind: str) -> None:
    site.pages["/map.xml"] = sitemap_of(*(f"{site.url}/docs/{n}" for n in range(4)))
    said = desk.says("sources", "add", f"{site.url}/map.xml", "--kind", kind)
    assert said.code == 0, said.err
    assert kinds(desk) == f"sitemap {site.url}/map.xml"


@pytest.mark.parametrize("kind", ["news", "jobs"])
def test_json_is_an_api_once_a_recipe_says_how_to_read_it(desk: Desk, site: Served, kind: str) -> None:
    site.pages["/api"] = Page(b'{"rows": [{"title": "One", "link": "/1"}]}', "application/json")
    bare = desk.says("sources", "add", f"{site.url}/api", "--kind", kind)
    assert bare.code == 2
    assert "answers with JSON that is no JSON Feed" in bare.err
    assert "--parser-hint" in bare.err
    assert "Found no feed" not in bare.err
    assert site.asked() == ["/robots.txt", "/api"]
    assert sources(desk) == 0
    recipe = '{"v": 1, "data_path": "rows", "map": {"url": "link", "title": "title"}}'
    said = desk.says("sources", "add", f"{site.url}/api", "--kind", kind, "--parser-hint", recipe)
    assert said.code == 0, said.err
    assert kinds(desk) == f"api {site.url}/api"


def test_a_page_of_vacancies_is_asked_once_and_says_what_it_lists(desk: Desk, site: Served) -> None:
    posting = '{"@type": "JobPosting", "title": "Nurse", "url": "/jobs/1", "hiringOrganization": {"name": "Aid"}}'
    site.pages["/jobs"] = Page(f'<script type="application/ld+json">{posting}</script>'.encode())
    said = desk.says("sources", "add", f"{site.url}/jobs", "--kind", "jobs")
    assert said.code == 0, said.err
    assert f"listing {site.url}/jobs: 1 vacancy" in said.out
    assert kinds(desk) == f"listing {site.url}/jobs"
    assert site.asked() == ["/robots.txt", "/jobs"]


def rows(desk: Desk) -> dict[str, int]:
    """How many every table has."""

    async def counted(database: Database) -> dict[str, int]:
        names = [row["relname"] for row in await database.fetch(EVERY_TABLE)]
        return {name: await database.fetchval(f"select count(*) from {name}") for name in names}

    return desk.on_database(counted)


def dry(desk: Desk, *words: str) -> str:
    # The first command of all notes when the installation began.
    desk.says("sources", "list")
    before = rows(desk)
    said = desk.says("sources", "add", *words, "--dry-run")
    assert said.code == 0, said.err
    assert rows(desk) == before
    assert "Nothing was stored." in said.out
    return said.out


def test_a_dry_run_shows_three_items_and_leaves_every_table_as_it_was(desk: Desk, site: Served) -> None:
    site.pages |= {
        "/": Page(b'<link rel="alternate" type="application/rss+xml" href="/feed.xml">'),
        "/feed.xml": news_feed(site),
        "/robots.txt": Page(f"Sitemap: {site.url}/map.xml\n".encode(), "text/plain"),
        "/map.xml": sitemap_of(f"{site.url}/maps/1.xml", kind="sitemapindex", of="sitemap"),
        "/maps/1.xml": sitemap_of(*(f"{site.url}/archive/{n}" for n in range(4))),
    }
    out = dry(desk, site.url)
    assert f"feed {site.url}/feed.xml: 5 items" in out
    assert f"  2026-11-15 08:02 Story 2\n    {site.url}/2\n" in out
    assert "Story 3" not in out
    assert f"    {site.url}/archive/0\n" in out
    assert f"{site.url}/archive/3" not in out
    # The feed that was found is not asked for a second time.
    assert site.asked().count("/feed.xml") == 1
    assert site.asked().count("/robots.txt") == 1


@pytest.mark.long
def test_a_dry_run_shows_vacancies_with_employer_place_and_deadline(desk: Desk, site: Served) -> None:
    postings = ",".join(
        f'{{"@type": "JobPosting", "title": "Nurse {n}", "url": "/jobs/{n}", "validThrough": "2026-12-30",'
        f'"hiringOrganization": {{"name": "Aid"}}, "jobLocation": {{"address": {{"addressCountry": "UG"}}}}}}'
        for n in range(5)
    )
    site.pages["/jobs"] = Page(f'<script type="application/ld+json">[{postings}]</script>'.encode())
    out = dry(desk, f"{site.url}/jobs", "--kind", "jobs")
    assert f"listing {site.url}/jobs: 5 vacancies" in out
    assert "vacancy: Nurse 2 (Aid, UG, until 2026-12-30;" in out
    assert f"    {site.url}/jobs/2\n" in out
    assert "Nurse 3" not in out


def test_a_dry_run_of_a_manual_shows_where_its_crawl_would_go(desk: Desk, site: Served) -> None:
    links = "".join(f'<p><a href="{path}">A page</a></p>' for path in ("/docs/install", "/blog/", "/docs/use"))
    site.pages["/docs/"] = Page(f"<title>Docs</title>{links}".encode())
    out = dry(desk, f"{site.url}/docs/", "--kind", "docs")
    assert f"    {site.url}/docs/install\n" in out
    assert "/blog/" not in out


@pytest.mark.long
def test_a_dry_run_asks_the_channels_that_a_person_names(desk: Desk, site: Served) -> None:
    site.pages |= {
        "/feed.xml": news_feed(site),
        "/api": Page(b'{"rows": [{"title": "Mapped", "link": "/1"}]}', "application/json"),
    }
    out = dry(desk, f"{site.url}/", "--feed", f"{site.url}/feed.xml", "--sitemap", f"{site.url}/none.xml")
    assert f"feed {site.url}/feed.xml: 5 items" in out
    assert f"sitemap {site.url}/none.xml: HTTP 404" in out
    recipe = '{"v": 1, "data_path": "rows", "map": {"url": "link", "title": "title"}}'
    out = dry(desk, f"{site.url}/api", "--api", "--parser-hint", recipe)
    assert f"  Mapped\n    {site.url}/1\n" in out
    assert "/" not in site.asked()


def test_a_dry_run_keeps_the_delay_that_robots_txt_asks_for(desk: Desk, site: Served) -> None:
    site.pages |= {
        "/": Page(b"<title>Slow</title>"),
        "/robots.txt": Page(b"User-agent: *\nCrawl-delay: 15\n", "text/plain"),
    }
    said = desk.says("sources", "add", site.url, "--dry-run")
    assert "15 s between requests (Crawl-delay of robots.txt)" in said.err
    assert site.asked() == ["/robots.txt"]


def test_a_dry_run_asks_a_host_that_is_known_in_the_slots_of_all(desk: Desk, site: Served) -> None:
    site.pages["/feed.xml"] = news_feed(site)
    desk.followed(f"{site.url}/elsewhere", "--feed", f"{site.url}/other.xml")
    desk.says("crawl", "run-due")
    hosts = desk.value("select count(*) from hosts")
    assert desk.says("sources", "add", f"{site.url}/feed.xml", "--dry-run").code == 0
    assert desk.value("select count(*) from hosts") == hosts
    assert desk.value("select count(*) from fetch_log where kind = 'search'") == 1


def test_limits_and_paths_are_said_when_a_source_is_added_and_shown(desk: Desk) -> None:
    words = ("--include", "/docs/,/api/", "--exclude", "/docs/old/", "--max-pages", "500", "--max-depth", "-1")
    desk.followed("https://a.example/docs/", "--kind", "docs", "--name", "Alpha", *words)
    told = desk.says("sources", "show", "Alpha")
    assert (
        "  scope: pages of a.example below /docs/ and /api/, not /docs/old/; links are followed to the end; "
        "at most 500 pages\n"
    ) in told.out
    asked = desk.says("sources", "show", "Alpha", "--json").json
    assert (asked["include_paths"], asked["max_pages"]) == (["/docs/", "/api/"], 500)
    assert asked["scope"].startswith("pages of a.example below")


def test_a_manual_shows_the_path_that_was_given_as_its_scope(desk: Desk) -> None:
    desk.followed("https://a.example/docs/", "--kind", "docs", "--name", "Alpha")
    out = desk.says("sources", "show", "Alpha").out
    assert "  scope: pages of a.example below /docs/; links are followed 2 deep\n" in out


@pytest.mark.long
def test_a_limit_that_is_reached_is_shown_with_the_way_on(desk: Desk) -> None:
    limits = ("--max-pages", "3", "--max-depth", "1")
    source = desk.followed("https://a.example/docs/", "--kind", "docs", "--name", "Alpha", *limits)
    assert "reached" not in desk.says("sources", "show", "Alpha").out
    for n in range(3):
        desk.says("frontier", "add", f"https://a.example/docs/{n}", "--source", "Alpha")
    desk.execute("update discoveries set depth = 1")
    desk.execute("update url_frontier set status = 'fetched' where url like '%/docs/1'")
    out = desk.says("sources", "show", "Alpha").out
    more = f"`headwater sources edit {source} max_pages=30`, then: headwater crawl run {source}"
    deeper = f"`headwater sources edit {source} max_depth=2`, then: headwater crawl run {source}"
    assert f"  max_pages = 3 is reached: further pages are left out. Allow more with {more}\n" in out
    left = "links on 1 page, if there are any to further pages, are not followed"
    assert f"  max_depth = 1 is reached: {left}. Go deeper with {deeper}\n" in out
    told = desk.says("sources", "show", "Alpha", "--json").json
    assert len(told["limits_reached"]) == 2
    assert "max_pages = 3 is reached" in desk.says("crawl", "pages", "Alpha").out
    desk.says("sources", "edit", "Alpha", "max_pages=30", "max_depth=-1")
    assert "is reached" not in desk.says("sources", "show", "Alpha").out


def test_adding_says_that_a_manual_is_only_the_path_that_was_given(desk: Desk, site: Served) -> None:
    site.pages["/docs/"] = Page(b"<title>Docs</title>")
    said = desk.says("sources", "add", f"{site.url}/docs/", "--kind", "docs")
    assert "Only pages below /docs/ are wanted; --include / would be the whole site." in said.err


def test_a_backfill_is_asked_for_shown_and_ended(desk: Desk) -> None:
    desk.followed("https://a.example/", "--name", "Alpha", "--feed", "https://a.example/feed.xml", "--backfill", "1y")
    assert "  backfill: reads the past back to 20" in desk.says("sources", "show", "Alpha").out
    said = desk.says("sources", "edit", "Alpha", "backfill=")
    assert said.out.startswith("Changed: backfill\n")
    assert "  backfill: ended by a person\n" in said.out
    assert desk.says("sources", "edit", "Alpha", "backfill=6mo").code == 0
    assert desk.value("select is_enabled from channels where kind = 'backfill'")


def test_paths_can_be_edited_by_the_names_they_were_added_with(desk: Desk) -> None:
    desk.followed("https://a.example/docs/", "--kind", "docs", "--name", "Alpha")
    said = desk.says("sources", "edit", "Alpha", "include=/", "exclude=/blog/,/shop/", "max_pages=20")
    assert said.out.startswith("Changed: include_paths, exclude_paths, max_pages\n")
    assert "pages of a.example, not /blog/ and /shop/; " in said.out


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--include", "/docs/*"), "'/docs/*' is no path: write how the paths begin, such as /docs/."),
        (("--exclude", "https://a.example/blog"), "is no path"),
        (("--max-pages", "0"), "max_pages = 0 is not possible: give 1 to 1000000."),
        (("--max-pages", "many"), "--max-pages"),
        (("--backfill", "long"), "--backfill should be a length of time such as 1y, 6mo, 8w or 90d, not 'long'."),
        (("--backfill", "1h"), "A backfill of 1h is not possible: give 1d to 30y."),
    ],
)
def test_limits_that_cannot_be_are_refused_with_a_sentence(desk: Desk, words: tuple[str, ...], told: str) -> None:
    said = desk.says("sources", "add", "https://a.example/docs/", "--kind", "docs", "--no-discover", *words)
    assert said.code == 2
    assert told in said.err
    assert_a_sentence(said)
    assert sources(desk) == 0
