"""`headwater sources` on a database: listed, shown, changed, paused, deleted, and what is refused with a sentence."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.integration.cli.desk import PLACE, Desk, Served, assert_a_sentence, served

from headwater.simweb.message import Page

NOBODY = "00000000-0000-0000-0000-000000000001"


@pytest.fixture
def desk(database_url: str, open_folder: Path) -> Desk:
    return Desk(database_url, open_folder)


@pytest.fixture
def site(desk: Desk) -> Iterator[Served]:
    with served() as serving:
        desk.settings = serving.settings
        yield serving


def rss(site: Served) -> Page:
    item = f"<item><title>One</title><link>{site.url}/one</link></item>"
    return Page(f"<rss version='2.0'><channel><title>A</title>{item}</channel></rss>".encode(), "application/rss+xml")


def sitemap_of(*urls: str, kind: str = "urlset", of: str = "url") -> Page:
    rows = "".join(f"<{of}><loc>{url}</loc></{of}>" for url in urls)
    namespace = "http://www.sitemaps.org/schemas/sitemap/0.9"
    return Page(f'<{kind} xmlns="{namespace}">{rows}</{kind}>'.encode(), "application/xml")


def index_at(site: Served) -> Page:
    return sitemap_of(f"{site.url}/1.xml", f"{site.url}/2.xml", kind="sitemapindex", of="sitemap")


def shown(desk: Desk, source: str) -> Any:
    return desk.says("sources", "show", source, "--json").json


def test_an_empty_list_says_how_to_begin(desk: Desk) -> None:
    said = desk.says("sources", "list")
    assert (said.code, said.out) == (0, "")
    assert "headwater sources add https://example.org" in said.err
    assert desk.says("sources", "list", "--json").json == {"sources": [], "cursor": None}


def test_a_list_says_when_each_is_polled_next(desk: Desk) -> None:
    desk.followed("https://a.example/", "--name", "Alpha", "--feed", "https://a.example/feed.xml")
    desk.polled_in(timedelta(hours=2, seconds=30), timedelta(hours=3))
    header, row = desk.says("sources", "list").out.splitlines()
    assert header.split()[:5] == ["name", "kind", "mode", "health", "next"]
    assert row.split() == ["Alpha", "news", "feed", "unknown", "in", "2h", "3h", "0", "never", "https://a.example/"]
    desk.polled_in(timedelta(hours=-5), timedelta(hours=3))
    assert "  overdue 5h  " in desk.says("sources", "list").out


def test_a_filter_that_nothing_matches_says_so(desk: Desk) -> None:
    desk.followed("https://a.example/")
    said = desk.says("sources", "list", "--tag", "nowhere")
    assert (said.code, said.out, said.err) == (0, "", "No source matches.\n")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--status", "sleeping"), "There is no status 'sleeping'.\n  fix: One of: active, paused, blocked, deleted,"),
        (("--status", "sleeping"), "failing, silent, overdue, idle, ok, unknown, warning, struggling."),
        (("--kind", "films"), "There is no kind 'films'.\n  fix: One of: news, jobs, docs."),
        (("--limit", "0"), "--limit"),
        (("--limit", "-1"), "--limit"),
        (("--limit", "many"), "--limit"),
        (("--cursor", "x"), "This cursor was not made by a list."),
    ],
)
def test_a_wrong_filter_is_a_usage_error(desk: Desk, words: tuple[str, ...], told: str) -> None:
    said = desk.says("sources", "list", *words)
    assert said.code == 2
    assert told in said.err
    assert_a_sentence(said)


@pytest.mark.long
def test_sources_are_found_by_the_word_their_health_is_told_with(desk: Desk) -> None:
    for name in ("ash", "birch", "cedar", "dill"):
        desk.followed(f"https://{name}.example/", "--name", name, "--feed", f"https://{name}.example/feed")
    desk.followed("https://elm.example/", "--name", "elm", "--feed", "https://elm.example/feed")
    desk.execute(
        "update channels set last_polled_at = now(), last_ok_at = now(), last_item_count = 1"
        " where host <> 'elm.example'"
    )
    desk.execute(
        "update channels set consecutive_errors = 10, class_errors = 10, error_class = 'network'"
        " where host in ('ash.example', 'cedar.example')"
    )
    desk.says("sources", "pause", "dill")

    def found(*words: str) -> list[tuple[str, str]]:
        told = desk.says("sources", "list", "--json", *words).json["sources"]
        return [(one["name"], one["health"]) for one in told]

    assert found("--status", "struggling") == [("ash", "struggling"), ("cedar", "struggling")]
    assert found("--status", "ok") == [("birch", "ok")]
    assert found("--status", "unknown") == [("elm", "unknown")]
    assert found("--status", "paused") == [("dill", "paused")]
    first = desk.says("sources", "list", "--status", "struggling", "--limit", "1", "--json").json
    assert [one["name"] for one in first["sources"]] == ["ash"]
    assert found("--status", "struggling", "--limit", "1", "--cursor", first["cursor"]) == [("cedar", "struggling")]


@pytest.mark.long
def test_pages_follow_each_other_without_a_gap(desk: Desk) -> None:
    for name in ("cedar", "Ash", "Birch", "ash", "Élan"):
        desk.followed(f"https://{desk.value('select count(*) from sources')}.example/", "--name", name)
    names, after = [], ""
    while True:
        page = desk.says("sources", "list", "--limit", "2", "--json", *(("--cursor", after) if after else ())).json
        names += [one["name"] for one in page["sources"]]
        if not (after := page["cursor"]):
            break
    assert sorted(names) == sorted(("cedar", "Ash", "Birch", "ash", "Élan"))
    assert names[:2] != ["Birch", "cedar"]


def test_a_full_last_page_promises_no_other(desk: Desk) -> None:
    desk.followed("https://a.example/")
    assert desk.says("sources", "list", "--limit", "1").err == ""


@pytest.mark.parametrize("name", ["Alpha Times", "alpha times", "alpha t", "https://a.example/", "a.example"])
def test_a_source_is_found_by_what_a_person_types(desk: Desk, name: str) -> None:
    source = desk.followed("https://a.example/", "--name", "Alpha Times")
    assert shown(desk, name)["id"] == source
    assert shown(desk, source[:8])["id"] == source


@pytest.mark.parametrize("name", ["nobody", "", "alp", "%%%%", "____", NOBODY, "Alpha_Times"])
def test_a_source_that_is_not_there_is_not_found(desk: Desk, name: str) -> None:
    desk.followed("https://a.example/", "--name", "Alpha Times")
    said = desk.says("sources", "show", name)
    assert said.code == 4
    assert "`headwater sources list`" in said.err
    assert_a_sentence(said)


def test_an_ambiguous_name_lists_what_it_may_mean(desk: Desk) -> None:
    first = desk.followed("https://a.example/", "--name", "Daily")
    desk.followed("https://b.example/", "--name", "Daily")
    said = desk.says("sources", "show", "daily")
    assert said.code == 2
    assert f"Daily (https://a.example/, id {first[:8]})" in said.err
    assert "https://b.example/" in said.err
    assert_a_sentence(said)
    assert desk.says("sources", "pause", "daily").code == 2
    assert shown(desk, "https://a.example/")["status"] == "active"


def test_show_says_why_each_channel_is_polled_when_it_is(desk: Desk) -> None:
    desk.followed("https://a.example/", "--name", "Alpha", "--feed", "https://a.example/feed.xml", "--tag", "x")
    desk.polled_in(timedelta(days=3, minutes=30))
    desk.execute("update channels set next_reason = 'every 6 h'")
    out = desk.says("sources", "show", "Alpha").out
    assert out.splitlines()[:2] == ["Alpha  https://a.example/", "  unknown: not polled yet"]
    assert "news, priority 5, mode feed, tags x" in out
    assert "every 6 h" in out
    assert "command line  Alpha added" in out
    assert desk.says("explain", "Alpha").out.splitlines()[:5] == out.splitlines()[:5]


def test_json_of_a_source_has_the_names_that_are_asked_for(desk: Desk) -> None:
    feed = ("--feed", "https://a.example/feed.xml")
    desk.followed("https://a.example/", "--name", "Alpha", "--interval", "30m", *feed)
    told = shown(desk, "Alpha")
    assert told["feed_url"] == "https://a.example/feed.xml"
    assert "sitemap_url" not in told
    assert (told["poll_every_seconds"], told["feed_poll_interval_minutes"]) == (1800, 30)
    assert (told["ingestion_mode"], told["status"], told["health"]) == ("feed", "active", "unknown")
    assert told["channels"][0]["poll_interval_seconds"] is None
    assert [event["kind"] for event in told["events"]] == ["channel_added", "source_created"]


def test_explain_tells_a_source_a_url_and_neither_apart(desk: Desk) -> None:
    desk.followed("https://a.example/", "--name", "Alpha")
    assert desk.says("explain", "https://a.example/").out.startswith("Alpha  https://a.example/")
    neither, unknown, wrong = (desk.says("explain", what) for what in ("no such", "https://b.example/x", "ftp://x/"))
    assert (neither.code, unknown.code, wrong.code) == (4, 4, 2)
    assert "'no such' is neither a URL nor a source." in neither.err
    assert "unknown: not queued: no source follows b.example" in unknown.out


def test_pausing_resuming_and_blocking_are_told_and_kept(desk: Desk) -> None:
    desk.followed("https://a.example/", "--name", "Alpha", "--feed", "https://a.example/feed.xml")
    assert desk.says("sources", "pause", "Alpha", "--reason", "a holiday").out == "Alpha: paused\n"
    assert "  paused: a holiday" in desk.says("sources", "show", "Alpha").out
    assert [one["name"] for one in desk.says("sources", "list", "--status", "paused", "--json").json["sources"]] == [
        "Alpha"
    ]
    desk.execute("update sources set consecutive_failures = 5")
    assert desk.says("sources", "resume", "Alpha").out == "Alpha: active\n"
    assert shown(desk, "Alpha")["consecutive_failures"] == 0
    assert desk.says("sources", "block", "Alpha").out == "Alpha: blocked\n"
    assert shown(desk, "Alpha")["status_reason"] == "blocked by a person"
    kinds = [event["kind"] for event in shown(desk, "Alpha")["events"][:3]]
    assert kinds == ["source_blocked", "source_resumed", "source_paused"]


@pytest.mark.parametrize("verb", ["pause", "resume", "block", "rm", "run"])
def test_a_verb_needs_sources_and_changes_none_if_one_is_unknown(desk: Desk, verb: str) -> None:
    desk.followed("https://a.example/", "--name", "Alpha")
    consent = ("--yes",) if verb == "rm" else ()
    nobody = desk.says("sources", verb, *consent)
    assert nobody.code == 2
    assert "No source was named." in nobody.err
    unknown = desk.says("sources", verb, "Alpha", "nobody", *consent)
    assert unknown.code == 4
    assert shown(desk, "Alpha")["status"] == "active"


def test_deleting_has_to_be_meant_and_names_what_goes(desk: Desk) -> None:
    desk.followed("https://a.example/", "--name", "Alpha")
    asked = desk.says("sources", "rm", "Alpha")
    assert asked.code == 2
    assert "Delete Alpha (https://a.example/)?" in asked.err
    assert "--yes" in asked.err
    assert shown(desk, "Alpha")["status"] == "active"


def test_a_deleted_source_is_gone_on_record_and_free_to_be_added_again(desk: Desk) -> None:
    old = desk.followed("https://a.example/", "--name", "Alpha")
    assert desk.says("sources", "rm", "Alpha", "--yes").out == "Alpha: deleted. Its documents stay.\n"
    assert desk.says("sources", "list", "--json").json["sources"] == []
    assert desk.says("sources", "show", old).code == 4
    assert desk.says("sources", "rm", "Alpha", "--yes").code == 4
    [kept] = desk.says("sources", "list", "--status", "deleted", "--json").json["sources"]
    assert kept["id"] == old
    assert desk.followed("https://a.example/", "--name", "Alpha") != old


def test_a_second_source_for_one_address_is_refused_before_anything_is_asked(desk: Desk) -> None:
    desk.followed("https://a.example/")
    for more in ((), ("--dry-run",), ("--no-discover",)):
        said = desk.says("sources", "add", "http://A.example", *more)
        assert said.code == 2
        assert "already" in said.err
        assert "Looking" not in said.err
        assert "headwater sources show" in said.err


def test_a_dry_run_stores_nothing(desk: Desk) -> None:
    said = desk.says("sources", "add", "https://a.example/", "--no-discover", "--dry-run")
    assert (said.code, desk.value("select count(*) from sources")) == (0, 0)
    assert "Nothing was stored." in said.out


CANNOT_BE_FOLLOWED: list[tuple[tuple[str, ...], str]] = [
    (("not a url",), "host"),
    (("ftp://a.example/",), "scheme"),
    (("https://a.example/", "--interval", "soon"), "--interval should be a duration"),
    (("https://a.example/", "--interval", "5s"), "poll_every = 5s is not possible: give 1m to 365d."),
    (("https://a.example/", "--kind", "films"), "One of: news, jobs, docs."),
    (("https://a.example/", "--mode", "psychic"), "One of: feed, spider, both."),
    (("https://a.example/", "--priority", "11"), "give 1 to 10"),
    (("https://a.example/", "--priority", "high"), "--priority"),
    (("https://a.example/", "--timezone", "Mars"), "There is no time zone 'Mars'"),
    (("https://a.example/", "--time-window", "9-5"), "write it as 22:00-05:00"),
    (("https://a.example/", "--max-depth", "-2"), "give -1 to 100"),
    (("https://a.example/", "--frequency-days", "0"), "crawl_frequency_days"),
    (("https://a.example/", "--feed", "htp:x"), "scheme"),
    (("https://a.example/", "--api", "--parser-hint", '{"a": 1}'), "The API mapping has no key a."),
    (("https://a.example/", "--kind", "jobs", "--parser-hint", "div[["), "'div[[' is not a CSS selector"),
    (("https://a.example/", "--name", "x" * 201), "at most 200 characters"),
    ((), "url"),
]


def test_what_cannot_be_followed_is_refused_with_a_sentence(desk: Desk, subtests: pytest.Subtests) -> None:
    for words, told in CANNOT_BE_FOLLOWED:
        with subtests.test(words=words, told=told):
            said = desk.says("sources", "add", *words, "--no-discover")
            assert said.code == 2
            assert told in said.err
            assert_a_sentence(said)
            assert desk.value("select count(*) from sources") == 0


def test_a_feed_is_followed_for_one_source_only(desk: Desk) -> None:
    desk.followed("https://a.example/", "--feed", "https://a.example/feed.xml")
    said = desk.says("sources", "add", "https://b.example/", "--no-discover", "--feed", "https://a.example/feed.xml")
    assert said.code == 2
    assert "https://a.example/feed.xml is followed already" in said.err
    assert desk.value("select count(*) from sources") == 1


EVIL = "Evil \x1b[31mred\x07\x9b1m\nname\u202eX\udc9b"


@pytest.mark.parametrize("verb", [("sources", "list"), ("sources", "show", "evil"), ("status", "--show-schedule")])
def test_what_a_terminal_would_obey_is_printed_inert(desk: Desk, verb: tuple[str, ...]) -> None:
    desk.followed("https://a.example/", "--name", EVIL, "--tag", "t\x1b[1m")
    desk.execute("update channels set last_error = $1, next_reason = $1, consecutive_errors = 1", "\x1b]0;x\x07\u202e")
    desk.execute("update sources set last_run_at = now(), last_run_status = 'fail', last_run_message = $1", "\x1b[2J")
    desk.execute("update events set message = message || $1, actor = $1", "\x1b[5m")
    said = desk.says(*verb)
    assert said.code == 0, said.err
    assert "Evil [31mred1m name" in said.out
    assert not set(said.out) & {"\x1b", "\x07", "\x9b", "\u202e", "\udc9b"}


def test_a_reason_is_kept_inert(desk: Desk) -> None:
    desk.followed("https://a.example/", "--name", "Alpha")
    assert desk.says("sources", "block", "Alpha", "--reason", "bad\x1b[31m\udc9b news").code == 0
    assert shown(desk, "Alpha")["status_reason"] == "bad[31m news"


def test_tags_are_told_apart_by_commas_as_in_every_list(desk: Desk) -> None:
    desk.followed("https://a.example/", "--name", "Alpha", "--tag", "a,b", "--tag", "c", "--tag", "a")
    assert shown(desk, "Alpha")["tags"] == ["a", "b", "c"]


def test_a_tag_that_no_list_could_carry_is_refused_with_a_sentence(desk: Desk) -> None:
    said = desk.says("sources", "add", "https://a.example/", "--no-discover", "--tag", "x" * 1_000)
    assert said.code == 2
    assert "--tag should be at most" in said.err
    assert_a_sentence(said)


@pytest.mark.parametrize("status", [404, 403, 410])
def test_where_the_page_is_not_to_be_had_robots_and_the_usual_places_are_asked(
    desk: Desk, site: Served, status: int
) -> None:
    site.pages |= {
        "/nohome": Page(b"no", status=status),
        "/feed.xml": rss(site),
        "/robots.txt": Page(f"Sitemap: {site.url}/map.xml\n".encode(), "text/plain"),
        "/map.xml": sitemap_of(f"{site.url}/one"),
    }
    said = desk.says("sources", "add", f"{site.url}/nohome")
    assert said.code == 0, said.err
    assert f"{site.url}/nohome: HTTP {status}\n" in said.err
    assert f"  1) sitemap  {site.url}/map.xml  1 item\n" in said.out
    assert f"  2) feed     {site.url}/feed.xml  1 item\n" in said.out
    assert "first poll now" in said.out
    assert "Found no" not in said.err


@pytest.mark.parametrize("status", [500, 503, 429])
def test_a_server_in_trouble_is_asked_for_nothing_more_and_the_search_stays_due(
    desk: Desk, site: Served, status: int
) -> None:
    site.pages["/"] = Page(b"broken", status=status)
    said = desk.says("sources", "add", site.url, "--anyway", "--json")
    assert said.json["found"] == []
    assert said.json["reason"] == f"{site.url}/: HTTP {status}"
    assert set(site.asked()) == {"/robots.txt", "/"}
    assert desk.value("select next_poll_at <= now() from channels")


def test_a_connection_refused_is_the_reason_that_is_given(desk: Desk, site: Served) -> None:
    nowhere = f"http://{PLACE}:1/"
    desk.settings = site.settings | {"network.allow": f"{PLACE}:1"}
    told = desk.says("sources", "add", nowhere, "--dry-run", "--anyway", "--json").json
    assert told["found"] == []
    assert "connect_refused" in told["reason"]


@pytest.mark.parametrize("home", [Page(b"<title>Empty</title>"), Page(b"no", status=404)], ids=["empty", "missing"])
def test_what_was_looked_for_in_vain_is_not_looked_for_again_before_its_time(
    desk: Desk, site: Served, home: Page
) -> None:
    site.pages["/"] = home
    desk.settings |= {"poll.discovery_retry": "3d"}
    before = datetime.now(UTC)
    said = desk.says("sources", "add", site.url, "--anyway", "--name", "Alpha")
    asked = len(site.asked())
    assert asked == 2 + 11
    assert desk.says("crawl", "run-due").out.startswith("0 channels polled")
    assert len(site.asked()) == asked
    [search] = shown(desk, "Alpha")["channels"]
    next_poll_at = datetime.fromisoformat(search["next_poll_at"])
    assert next_poll_at - before >= timedelta(days=3)
    assert f"looked for again on {next_poll_at:%Y-%m-%d}" in said.out
    assert search["next_reason"] == "nothing was found when it was added: looked for again after poll.discovery_retry"


def test_json_says_that_a_look_was_in_vain(desk: Desk, site: Served) -> None:
    site.pages["/"] = Page(b"<title>Empty</title>")
    told = desk.says("sources", "add", site.url, "--json").json
    assert (told["found"], told["reason"]) == ([], "Found no feed, no sitemap and no list of articles")


def slow(site: Served) -> str:
    site.pages |= {
        "/": Page(b"<title>Slow</title>"),
        "/feed.xml": rss(site),
        "/robots.txt": Page(b"User-agent: *\nCrawl-delay: 15\n", "text/plain"),
    }
    return f"{PLACE}: 15 s between requests (Crawl-delay of robots.txt); it can be asked again in "


def test_a_host_that_wants_a_long_delay_is_left_to_the_poller(desk: Desk, site: Served) -> None:
    why = slow(site)
    said = desk.says("sources", "add", site.url)
    assert f"  {why}" in said.err
    assert " s. A poller will look.\n" in said.err
    assert "Found no" not in said.err
    assert "first poll now" in said.out
    assert site.asked() == ["/robots.txt"]
    assert desk.value("select kind || ' ' || next_reason from channels") == "search looks for its channels"
    assert desk.value("select next_poll_at <= now() from channels")


def test_json_says_which_delay_a_look_ended_at(desk: Desk, site: Served) -> None:
    why = slow(site)
    told = desk.says("sources", "add", site.url, "--json").json
    assert told["found"] == []
    assert told["reason"].startswith(why)


@pytest.mark.parametrize("verb", ["test", "simulate"])
def test_trying_a_channel_says_in_words_that_its_host_wants_a_long_delay(desk: Desk, site: Served, verb: str) -> None:
    why = slow(site)
    desk.followed(site.url, "--name", "Slow", "--feed", f"{site.url}/feed.xml")
    [told] = desk.says("sources", verb, "Slow", "--json").json["channels"]
    assert told["problem"].startswith(why)


def test_an_index_of_sitemaps_is_not_taken_for_items(desk: Desk, site: Served) -> None:
    site.pages |= {"/": Page(b"<title>Plain</title>"), "/sitemap.xml": index_at(site)}
    said = desk.says("sources", "add", site.url, "--dry-run")
    assert f"  1) sitemap  {site.url}/sitemap.xml  an index of sitemaps\n" in said.out
    [found] = desk.says("sources", "add", site.url, "--dry-run", "--json").json["found"]
    assert (found["kind"], found["items"]) == ("sitemap", None)


def test_simulating_an_index_says_how_many_sitemaps_a_run_would_read(desk: Desk, site: Served) -> None:
    site.pages["/sitemap.xml"] = index_at(site)
    desk.followed(site.url, "--name", "Indexed", "--sitemap", f"{site.url}/sitemap.xml")
    said = desk.says("sources", "simulate", "Indexed")
    assert said.out == f"sitemap {site.url}/sitemap.xml: an index, 2 sitemaps to ask for\n"
    [told] = desk.says("sources", "simulate", "Indexed", "--json").json["channels"]
    assert (told["count"], told["further"]) == (0, 2)
