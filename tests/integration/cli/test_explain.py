"""`headwater explain` ends in no dead end: why there is no document, and as its last line what happens next."""

import re
from itertools import pairwise
from pathlib import Path

import pytest
from tests.integration.archive.shelf import Shelf
from tests.integration.cli.desk import Desk

from headwater.database.pool import Database

PAGE = "https://a.example/story"


@pytest.fixture
def desk(database_url: str, open_folder: Path) -> Desk:
    return Desk(database_url, open_folder)


def explained(desk: Desk, what: str = PAGE) -> tuple[str, str]:
    """All it says, and what is next; `docs show` of a page without a document says why, too."""
    out = desk.says("explain", what).out
    last = out.splitlines()[-1]
    assert last.startswith("Next: ")
    return out, last


def queued(desk: Desk, state: str = "status = 'pending'", reason: str | None = None) -> None:
    desk.says("frontier", "add", PAGE)
    desk.execute(f"update url_frontier set {state}")
    if reason:
        desk.execute(
            "insert into fetch_log (at, bucket, host, token, kind, owner, url_hash, status, verdict, reason)"
            " select now(), bucket, host, gen_random_uuid(), 'page', 'w', url_hash, 200, 'fetched', $1"
            " from url_frontier",
            reason,
        )


@pytest.mark.parametrize(
    ("reason", "told"),
    [
        ("vacancy", "its vacancies were kept instead"),
        ("no_vacancy", "it belongs to a job source and no vacancy was found in it"),
        ("listing", "it is a list of other pages"),
        ("noindex", "it asks not to be kept (noindex)"),
        ("too_short", "its text is too short for an article"),
    ],
)
def test_a_fetched_page_without_a_document_says_why(desk: Desk, reason: str, told: str) -> None:
    queued(desk, "status = 'fetched'", reason)
    out, following = explained(desk)
    assert f"document: none: {told}" in out
    assert f"headwater frontier retry {PAGE}" in following
    said = desk.says("docs", "show", PAGE)
    assert said.code == 4
    assert told in said.err
    assert "Next: nothing until a feed or sitemap says that it changed" in said.err


def test_a_page_whose_reading_is_long_past_says_that(desk: Desk) -> None:
    queued(desk, "status = 'fetched'")
    assert "no longer in the log" in explained(desk)[0]


ENDINGS = [
    ("status = 'dead', reason = 'extract_failed', last_error = 'too_short: 12 words'", "too short", "Try it again"),
    ("status = 'dead', reason = 'not_found', last_error = 'HTTP 404'", "not found (HTTP 404)", "Try it again"),
    ("status = 'dead', reason = 'robots_blocked'", "robots.txt forbids it", "once robots.txt allows it"),
    (
        "status = 'dead', reason = 'redirect', moved_to = 'https://b.example/'",
        "redirect",
        "headwater explain https://b.example/",
    ),
    ("status = 'pending', next_fetch_at = now() + interval '1 hour'", "not due yet", "fetched, not before 20"),
    ("status = 'pending'", "none yet: it was not fetched", "fetched, not before 20"),
    (
        "status = 'fetched', revisit_at = now() + interval '1 hour'",
        "fetched again by the clock of its source",
        "visited again at 20",
    ),
]


@pytest.mark.parametrize(("state", "told", "following"), ENDINGS)
def test_every_state_says_what_is_next(desk: Desk, state: str, told: str, following: str) -> None:
    queued(desk, state)
    out, last = explained(desk)
    assert told in out
    assert following in last


def requested(desk: Desk, kind: str, verdict: str, reason: str | None, status: int | None, took: int | None) -> None:
    desk.execute(
        "insert into fetch_log (at, bucket, host, token, kind, owner, url_hash, status, verdict, reason, duration_ms)"
        " select now(), bucket, host, gen_random_uuid(), $1, 'w', url_hash, $4, $2, $3, $5 from url_frontier",
        kind,
        verdict,
        reason,
        status,
        took,
    )


@pytest.mark.parametrize(
    ("reason", "told"),
    [
        ("robots_blocked", "none: robots.txt forbids it, so that its page is not asked for"),
        ("poison", "none: the workers that tried to read it died"),
        ("not_found", "none: its page is not there (HTTP 404)"),
        ("extract_failed", "none: its page gave none"),
    ],
)
def test_a_page_that_was_never_read_is_not_said_to_have_given_nothing(desk: Desk, reason: str, told: str) -> None:
    queued(desk, f"status = 'dead', reason = '{reason}'")
    requested(desk, "page", "dead", reason, None, None)
    assert f"document: {told}" in explained(desk)[0]


def test_a_page_that_could_not_be_read_was_asked_for(desk: Desk) -> None:
    queued(desk, "status = 'failed', retry_count = 1, last_error = 'bad_encoding'")
    requested(desk, "page", "retry_later", "bad_encoding", 200, 12)
    requested(desk, "rights", "went_on", None, 404, 3)
    assert "document: none yet: its last try failed (HTTP 200, bad encoding)" in explained(desk)[0]


def test_each_request_says_what_it_asked_for_and_how_long_it_took(desk: Desk) -> None:
    queued(desk)
    for kind, took in (("page", 0), ("rights", 1_200), ("robots", None)):
        requested(desk, kind, "went_on", None, 404, took)
    rows = [line.split("  ") for line in explained(desk)[0].splitlines() if "a step on the way" in line]
    told = [[cell.strip() for cell in row if cell.strip()] for row in rows]
    assert sorted(row[3:] for row in told) == [
        ["/robots.txt"],
        ["1,200 ms", "/.well-known/tdmrep.json"],
        ["< 1 ms", "the page"],
    ]


def test_a_takedown_says_that_nothing_follows(desk: Desk) -> None:
    queued(desk)
    desk.says("takedown", "add", "a.example")
    out, last = explained(desk)
    assert "taken down with a.example" in out
    assert last == "Next: nothing while the takedown stands. See and lift it: headwater takedown list"
    assert explained(desk, "https://a.example/other")[1] == last


def test_a_source_that_is_taken_down_says_that_nothing_follows(desk: Desk) -> None:
    source = desk.followed("https://a.example/", "--feed", "https://a.example/feed.xml")
    assert explained(desk, source)[1].startswith("Next: its feed is polled ")
    desk.says("takedown", "add", "a.example")
    out, last = explained(desk, source)
    assert "blocked: It is taken down with a.example" in out
    assert last == "Next: nothing while the takedown stands. See and lift it: headwater takedown list"
    desk.says("takedown", "rm", "a.example")
    desk.says("sources", "pause", source)
    assert explained(desk, source)[1] == f"Next: nothing until it is resumed: headwater sources resume {source}"


UNKNOWN = [
    ("https://a.example/logout", "did something when it is fetched", "headwater frontier add https://a.example/logout"),
    ("https://a.example/shop/boots", "links to shops", "headwater frontier add"),
    (
        "https://elsewhere.example/x",
        "no source follows elsewhere.example",
        "headwater sources add https://elsewhere.example/",
    ),
    ("https://a.example/old-story", "no channel of Alpha has listed it so far", "headwater frontier add"),
]


@pytest.mark.parametrize(("url", "told", "following"), UNKNOWN)
def test_a_url_that_was_never_queued_says_why(desk: Desk, url: str, told: str, following: str) -> None:
    desk.followed("https://a.example/", "--name", "Alpha", "--feed", "https://a.example/feed.xml")
    said = desk.says("explain", url)
    assert said.code == 4
    out, last = explained(desk, url)
    assert told in out
    assert following in last
    assert desk.says("explain", url, "--json").json["status"] == "unknown"
    assert told in desk.says("docs", "show", url).err


def test_a_page_too_old_for_its_sitemap_says_so(desk: Desk) -> None:
    desk.followed("https://a.example/", "--name", "Alpha", "--sitemap", "https://a.example/map.xml")
    desk.execute("update channels set last_ok_at = now()")
    assert "did not change since is too old for it" in explained(desk)[0]


def test_a_page_is_told_of_by_the_source_whose_place_it_lies_in(desk: Desk) -> None:
    desk.followed("https://a.example/", "--name", "Harbour", "--sitemap", "https://a.example/map.xml")
    desk.execute("update channels set last_ok_at = now()")
    desk.followed("https://a.example/manual/", "--name", "Manual", "--feed", "https://a.example/manual/feed.xml")
    out = explained(desk, "https://a.example/manual/basics")[0]
    assert "no channel of Manual has listed it so far" in out
    assert "Harbour" not in out
    assert "no channel of Harbour has listed it as new" in explained(desk)[0]
    desk.execute("update sources set exclude_paths = '{/manual/basics}'")
    assert "for Manual, its path is excluded" in explained(desk, "https://a.example/manual/basics")[0]


def test_a_page_out_of_scope_says_so(desk: Desk) -> None:
    source = desk.followed("https://a.example/", "--name", "Alpha", "--sitemap", "https://a.example/map.xml")
    desk.execute("update sources set exclude_paths = '{/story}'")
    assert "for Alpha, its path is excluded" in explained(desk)[0]
    desk.execute("update sources set exclude_paths = '{}', status = 'paused'")
    assert "its source Alpha is paused" in explained(desk)[0]
    assert source


@pytest.mark.long
@pytest.mark.parametrize("state", ["status = 'pending'", "status = 'fetched'"])
def test_a_page_of_a_removed_source_says_so_and_can_be_fetched_by_hand(desk: Desk, state: str) -> None:
    desk.says("frontier", "add", PAGE)
    owner = desk.followed("https://a.example/")
    desk.execute(f"update url_frontier set source_id = '{owner}', owner_rank = 2, {state}")
    desk.execute(f"update discoveries set source_id = '{owner}'")
    assert desk.says("sources", "rm", owner, "--yes").code == 0
    following = explained(desk)[1]
    assert "its own was removed" in following
    assert f"headwater frontier add {PAGE}" in following
    retried = desk.says("frontier", "retry", PAGE)
    assert retried.code != 0
    assert "was removed" in retried.err
    assert f"headwater frontier add {PAGE}" in retried.err
    assert "belongs to this source now" in desk.says("frontier", "add", PAGE).out
    assert "its own was removed" not in explained(desk)[1]


def test_a_page_of_a_paused_source_is_not_retried_in_vain(desk: Desk) -> None:
    desk.says("frontier", "add", PAGE)
    owner = desk.followed("https://a.example/")
    desk.execute(f"update url_frontier set source_id = '{owner}', owner_rank = 2, status = 'fetched'")
    desk.says("sources", "pause", owner)
    retried = desk.says("frontier", "retry", PAGE)
    assert retried.code != 0
    assert f"headwater sources resume {owner}" in retried.err


def redirected(desk: Desk, *way: str) -> None:
    """Each address to the next one."""
    desk.says("frontier", "add", *way)
    for one, to in pairwise(way):
        desk.execute(
            "update url_frontier set status = 'dead', reason = 'redirect', moved_to = $2 where url = $1", one, to
        )


TARGETS = [
    ("status = 'pending'", "which waits to be fetched"),
    ("status = 'fetched'", "which was fetched and gave none"),
    ("status = 'dead', reason = 'gone'", "which ended: gone"),
]


@pytest.mark.parametrize(("state", "told"), TARGETS)
def test_a_page_that_redirected_names_its_target_and_what_became_of_it(desk: Desk, state: str, told: str) -> None:
    middle, target = "https://a.example/moved", "https://b.example/story"
    redirected(desk, PAGE, middle, target)
    desk.execute(f"update url_frontier set {state} where url = $1", target)
    out, _ = explained(desk)
    assert f"document: none: it redirected to {target}, {told}" in out
    assert f"it redirected to {target}, {told}" in desk.says("docs", "show", PAGE).err


def test_a_page_that_redirected_names_the_document_of_its_target(desk: Desk) -> None:
    target = "https://b.example/story"
    redirected(desk, PAGE, target)

    async def keep(database: Database) -> None:
        await Shelf(database).keep(target)

    desk.on_database(keep)
    told = f"it redirected to {target}, which has a document: headwater docs show {target}"
    assert told in explained(desk)[0]
    assert told in desk.says("docs", "show", PAGE).err


def test_redirects_in_a_circle_are_called_so(desk: Desk) -> None:
    other = "https://b.example/story"
    redirected(desk, PAGE, other, PAGE)
    out, last = explained(desk)
    assert f"it redirects in a circle, and no page is there: {PAGE} → {other} → {PAGE}" in out
    assert last.startswith("Next: nothing: each address of the circle was asked")


def test_how_a_page_was_found_is_told(desk: Desk) -> None:
    desk.followed("https://a.example/", "--feed", "https://a.example/feed.xml", "--backfill", "1y")
    desk.says("frontier", "add", PAGE)
    assert re.search(r"^  found [0-9-]+ [0-9:]+ UTC, by hand$", explained(desk)[0], re.MULTILINE)
    found = "update discoveries set channel_id = (select id from channels where kind = $1), origin = $2"
    desk.execute(found, "feed", "feed")
    assert ", by the feed https://a.example/feed.xml\n" in explained(desk)[0]
    desk.execute(found, "backfill", "sitemap")
    assert ", by the backfill of its source, in a sitemap\n" in explained(desk)[0]
    assert desk.says("explain", PAGE, "--json").json["found_by"].startswith("by the backfill")


def test_a_page_that_robots_forbids_and_nobody_queued_says_so(desk: Desk) -> None:
    desk.says("frontier", "add", PAGE)
    desk.execute(
        "insert into robots (bucket, host, scheme, port, access, body, body_hash, fetched_at, expires_at)"
        " select bucket, host, 'https', 443, 'rules', $1, '\\x00', now(), now() + interval '1 day' from url_frontier",
        b"User-agent: *\nDisallow: /private\n",
    )
    said = desk.says("explain", "https://a.example/private/page")
    assert "unknown: robots.txt forbids it, by line 2: Disallow: /private; not queued: no source follows" in said.out
    following = said.out.splitlines()[-1]
    assert following.startswith("Next: nothing while robots.txt forbids it.")
    assert "headwater hosts robots a.example --check https://a.example/private/page" in following
    assert "robots.txt" not in desk.says("explain", "https://a.example/public/page").out
