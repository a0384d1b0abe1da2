"""Sites looked at, channels tried and polled, and the log of it: commands against a small site of the simulated web."""

import json
import os
import re
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from datetime import UTC, datetime, timedelta
from io import StringIO
from pathlib import Path
from threading import Timer
from unittest.mock import patch

import pytest
from tests.integration.cli.conftest import LIMIT_SECONDS, Starts
from tests.integration.cli.desk import PLACE, Desk, Served, assert_a_sentence, served

from headwater.cli.crawl import show_runs
from headwater.cli.output import show_table
from headwater.reports.discovery import RunFilter, list_runs
from headwater.simweb.message import Page


@pytest.fixture
def site() -> Iterator[Served]:
    with served() as serving:
        yield serving


@pytest.fixture
def desk(database_url: str, open_folder: Path, site: Served) -> Desk:
    return Desk(database_url, open_folder, site.settings)


def publish(site: Served, *titles: str) -> str:
    """A front page, its feed and its sitemap; answers with the address of the feed."""
    now = datetime.now(UTC)
    items = [
        {"id": str(number), "url": f"{site.url}/2026/11/{number}-the-story-of-a-day", "title": title}
        | {"date_published": (now - timedelta(hours=number + 2)).isoformat()}
        for number, title in enumerate(titles)
    ]
    feed = {"version": "https://jsonfeed.org/version/1.1", "title": "Harbour News", "items": items}
    locations = "".join(f"<url><loc>{site.url}/{number}</loc></url>" for number in range(4))
    sitemap = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{locations}</urlset>'
    site.pages |= {
        "/": Page(b'<title>Harbour</title><link rel="alternate" type="application/feed+json" href="/feed.json">'),
        "/feed.json": Page(json.dumps(feed).encode(), "application/feed+json"),
        "/robots.txt": Page(f"Sitemap: {site.url}/sitemap.xml\n".encode(), "text/plain"),
        "/sitemap.xml": Page(sitemap.encode(), "application/xml"),
    }
    return f"{site.url}/feed.json"


def test_a_site_is_looked_at_named_and_followed(desk: Desk, site: Served) -> None:
    feed = publish(site, "One", "Two", "Three")
    tried = desk.says("sources", "add", site.url, "--dry-run")
    assert (tried.code, desk.value("select count(*) from sources")) == (0, 0)
    said = desk.says("sources", "add", site.url)
    assert said.code == 0, said.err
    assert f"  1) feed     {feed}  3 items, newest 2h old" in said.out
    assert f"  2) sitemap  {site.url}/sitemap.xml  4 items" in said.out
    assert 'Added "Harbour News" (id ' in said.out
    assert "headwater crawl run-due" in said.err
    [told] = desk.says("sources", "list", "--json").json["sources"]
    assert (told["feed_url"], told["sitemap_url"]) == (feed, f"{site.url}/sitemap.xml")


def test_json_of_a_look_is_one_object_and_nothing_else(desk: Desk, site: Served) -> None:
    feed = publish(site, "One")
    said = desk.says("sources", "add", site.url, "--json", "--name", "Mine")
    assert said.err == ""
    assert said.json["name"] == "Mine"
    assert said.json["found"][0] == {"kind": "feed", "url": feed, "title": "Harbour News", "items": 1}


def test_a_known_site_is_not_asked_again(desk: Desk, site: Served) -> None:
    publish(site, "One")
    desk.says("sources", "add", site.url)
    before = len(site.asked())
    assert desk.says("sources", "add", site.url).code == 2
    assert len(site.asked()) == before


def test_a_site_with_nothing_to_poll_is_followed_and_looked_at_again(desk: Desk, site: Served) -> None:
    site.pages["/"] = Page(b"<title>Empty</title>")
    said = desk.says("sources", "add", site.url)
    assert said.code == 0
    assert "Found no feed, no sitemap and no list of articles; a poller will look again." in said.err
    assert desk.value("select kind from channels") == "search"


def test_a_site_that_is_down_may_be_followed_all_the_same(desk: Desk, site: Served) -> None:
    site.pages["/"] = Page(b"broken", status=500)
    assert desk.says("sources", "add", site.url).code == 5
    said = desk.says("sources", "add", site.url, "--anyway")
    assert said.code == 0
    assert f"{site.url}/: HTTP 500" in said.err


@pytest.mark.parametrize("json_wanted", [(), ("--json",)])
def test_a_site_that_wants_no_robots_is_refused_with_its_rule(
    desk: Desk, site: Served, json_wanted: tuple[str, ...]
) -> None:
    site.pages["/robots.txt"] = Page(b"User-agent: *\nDisallow: /\n", "text/plain")
    said = desk.says("sources", "add", site.url, *json_wanted)
    assert said.code == 6
    assert "line 2 of robots.txt" in said.err
    assert "--no-discover" in said.err
    assert desk.value("select count(*) from sources") == 0
    assert site.asked() == ["/robots.txt"]


def test_an_address_that_is_off_limits_is_refused(desk: Desk, site: Served) -> None:
    desk.settings = {"politeness.delay": "20ms"}
    said = desk.says("sources", "add", site.url)
    assert said.code == 6
    assert "off limits" in said.err
    assert site.asked() == []


def test_a_domain_that_was_taken_down_is_refused(desk: Desk, site: Served) -> None:
    desk.says("takedown", "add", PLACE)
    said = desk.says("sources", "add", site.url)
    assert said.code == 6
    assert "takedown" in said.err


def test_trying_shows_what_each_channel_answers_and_stores_nothing(desk: Desk, site: Served) -> None:
    feed = publish(site, "One")
    desk.followed(site.url, "--name", "Harbour", "--feed", feed, "--sitemap", f"{site.url}/gone.xml")
    said = desk.says("sources", "test", "Harbour")
    assert said.code == 3
    assert "HTTP 404" in said.out
    told = {one["kind"]: one for one in desk.says("sources", "test", "Harbour", "--json").json["channels"]}
    assert told["feed"]["status"] == 200
    assert told["feed"]["size_bytes"] == len(site.pages["/feed.json"].body)
    assert isinstance(told["feed"]["took_ms"], int)
    assert told["feed"]["problem"] is None
    assert told["sitemap"]["problem"] == "HTTP 404"
    assert desk.value("select count(*) from url_frontier") == 0
    assert desk.value("select count(*) from runs") == 0


def test_simulating_shows_the_first_items_inert(desk: Desk, site: Served) -> None:
    feed = publish(site, "First \x1b[31mred", "Second", "Third", "Fourth")
    desk.followed(site.url, "--name", "Harbour", "--feed", feed)
    said = desk.says("sources", "simulate", "Harbour")
    assert said.code == 0
    assert said.out.startswith(f"feed {feed}: 4 items\n")
    assert "\x1b" not in said.out
    assert "Third" in said.out
    assert "Fourth" not in said.out
    [told] = desk.says("sources", "simulate", "Harbour", "--items", "1", "--json").json["channels"]
    assert (told["count"], len(told["items"]), told["problem"]) == (4, 1, None)
    assert told["items"][0]["url"].startswith(f"{site.url}/2026/11/0-")


@pytest.mark.long
def test_simulating_pages_says_what_would_be_made_of_them(desk: Desk, site: Served) -> None:
    feed = publish(site, "A long story of the harbour")
    desk.followed(site.url, "--name", "Harbour", "--feed", feed)
    [item] = desk.says("sources", "simulate", "Harbour", "--json").json["channels"][0]["items"]
    prose = " ".join(
        f"The tide of day {n} was higher than the one before it, said the harbour master." for n in range(12)
    )
    story = f"<html lang=en><title>Tides</title><article><h1>Tides</h1><p>{prose}</p></article></html>"
    site.pages[item["url"].removeprefix(site.url)] = Page(story.encode())
    said = desk.says("sources", "simulate", "Harbour", "--pages")
    assert said.code == 0
    assert "page: A long story of the harbour (192 words by" in said.out
    [told] = desk.says("sources", "simulate", "Harbour", "--pages", "--json").json["pages"]
    assert (told["language"], told["words"]) == ("en", 192)
    assert desk.value("select count(*) from documents") == 0


def test_simulating_a_job_source_shows_vacancies_and_what_was_left_out(desk: Desk, site: Served) -> None:
    row = '<li class="job"><a href="/jobs/{0}">{1}</a> <span>Nairobi, Kenya</span></li>'
    rows = row.format(1, "Water engineer") + row.format(2, "Nurse") + row.format(2, "Nurse")
    site.pages["/jobs"] = Page(f"<ul>{rows}</ul>".encode())
    desk.followed(f"{site.url}/jobs", "--name", "Aid", "--kind", "jobs")
    said = desk.says("sources", "simulate", "Aid")
    assert "vacancy: Water engineer (Aid, KE; by selector)" in said.out
    assert "left out, duplicate: Nurse" in said.out
    assert desk.value("select count(*) from jobs") == 0


@pytest.mark.parametrize("verb", ["test", "simulate"])
def test_trying_a_source_that_has_nothing_to_ask_says_so(desk: Desk, verb: str) -> None:
    desk.followed("https://a.example/", "--name", "Alpha")
    desk.execute("update channels set is_enabled = false, is_active = false")
    said = desk.says("sources", verb, "Alpha")
    assert (said.code, said.out) == (0, "")
    assert said.err == "It has no channel to ask.\n"
    assert desk.says("sources", verb, "nobody").code == 4
    assert desk.says("sources", verb).code == 2


@pytest.mark.parametrize("command", [("crawl", "run"), ("sources", "run")])
def test_asked_for_now_a_source_is_due_now(desk: Desk, command: tuple[str, str]) -> None:
    desk.followed("https://a.example/", "--name", "Alpha", "--feed", "https://a.example/feed.xml")
    desk.polled_in(timedelta(days=1))
    said = desk.says(*command, "Alpha")
    assert (said.code, said.out) == (0, "Alpha: 1 channel due now\n")
    assert desk.says("status", "--json").json["due"] == 1


def test_what_rests_is_not_polled_and_the_code_says_so(desk: Desk) -> None:
    desk.followed("https://a.example/", "--name", "Alpha")
    desk.followed("https://b.example/", "--name", "Beta")
    desk.says("sources", "block", "Beta", "--reason", "their lawyer wrote")
    refused = desk.says("crawl", "run", "Beta")
    assert refused.code == 6
    assert "Beta is blocked (their lawyer wrote): nothing of it is polled." in refused.err
    assert_a_sentence(refused)
    partly = desk.says("crawl", "run", "Alpha", "Beta")
    assert partly.code == 3
    assert partly.out.splitlines() == [
        "Alpha: 1 channel due now",
        "Beta is blocked (their lawyer wrote): nothing of it is polled.",
    ]


@pytest.mark.parametrize(("words", "code"), [((), 2), (("nobody",), 4)])
def test_crawl_run_needs_sources_that_are_there(desk: Desk, words: tuple[str, ...], code: int) -> None:
    said = desk.says("crawl", "run", *words)
    assert said.code == code
    assert_a_sentence(said)


def test_with_nothing_due_run_due_ends_at_once(desk: Desk) -> None:
    said = desk.says("crawl", "run-due")
    assert (said.code, said.out, said.err) == (0, "0 channels polled, 0 failed, 0 new items\n", "")
    assert desk.says("crawl", "run-due", "--json").json == {"polled": 0, "failed": 0, "found": 0}


def test_an_added_source_is_polled_by_run_due_and_its_run_logged(desk: Desk, site: Served) -> None:
    feed = publish(site, "One", "Two")
    source = desk.followed(site.url, "--name", "Harbour", "--feed", feed)
    said = desk.says("crawl", "run-due")
    assert (said.code, said.err) == (0, ""), "what is shown is not logged as well"
    assert said.out.splitlines()[0].startswith("ok    Harbour ")
    assert said.out.splitlines()[1] == "1 channel polled, 0 failed, 2 new items"
    [run] = [json.loads(line) for line in desk.says("crawl", "logs", "--json").out.splitlines()]
    assert (run["source_id"], run["status"], run["found"], run["inserted"]) == (source, "ok", 2, 2)
    header, row = desk.says("crawl", "logs", "Harbour").out.splitlines()
    assert header.split()[:4] == ["when", "source", "channel", "result"]
    assert "Harbour  feed     ok      2      2    0" in row
    assert desk.says("status", "--json").json["due"] == 0


def test_what_a_person_asks_for_is_polled_with_the_schedule_switched_off(desk: Desk, site: Served) -> None:
    desk.followed(site.url, "--name", "Harbour", "--feed", publish(site, "One"))
    desk.polled_in(timedelta(days=3))
    desk.settings = {**desk.settings, "poll.enabled": "false"}
    assert desk.says("crawl", "run-due").out == "0 channels polled, 0 failed, 0 new items\n"
    assert desk.says("crawl", "run", "Harbour").code == 0
    assert desk.says("crawl", "run-due").out.splitlines()[-1] == "1 channel polled, 0 failed, 1 new item"


def test_without_adaptive_scheduling_run_due_polls_every_channel(desk: Desk, site: Served) -> None:
    desk.followed(site.url, "--name", "Harbour", "--feed", publish(site, "One"))
    desk.polled_in(timedelta(days=3))
    assert desk.says("crawl", "run-due").out == "0 channels polled, 0 failed, 0 new items\n"
    desk.settings |= {"poll.adaptive": "false"}
    assert desk.says("crawl", "run-due").out.splitlines()[-1] == "1 channel polled, 0 failed, 1 new item"
    assert desk.says("crawl", "run-due").out == "0 channels polled, 0 failed, 0 new items\n", "it was, just now"
    desk.execute("update channels set last_polled_at = now() - interval '20 minutes'")
    assert desk.says("crawl", "run-due").out.splitlines()[-1] == "1 channel polled, 0 failed, 0 new items"


def test_without_adaptive_scheduling_a_channel_rests_after_errors_all_the_same(desk: Desk, site: Served) -> None:
    desk.followed(site.url, "--name", "Harbour", "--feed", publish(site, "One"))
    desk.polled_in(timedelta(days=3))
    desk.execute("update channels set consecutive_errors = 3, error_class = 'upstream', class_errors = 3")
    desk.settings |= {"poll.adaptive": "false"}
    assert desk.says("crawl", "run-due").out == "0 channels polled, 0 failed, 0 new items\n"


def test_without_adaptive_scheduling_a_feed_is_polled_at_the_default_interval(desk: Desk, site: Served) -> None:
    desk.followed(site.url, "--name", "Harbour", "--feed", publish(site, "One"))
    desk.settings |= {"poll.adaptive": "false", "poll.jitter_percent": "0"}
    assert desk.says("crawl", "run-due").code == 0
    assert desk.value("select poll_interval from channels") == timedelta(hours=1)
    assert desk.value("select policy from runs") == "fixed"


@pytest.mark.long
@pytest.mark.parametrize("role", [("run", "poll"), ("up",)])
def test_a_poller_that_is_switched_off_says_so_and_by_what(desk: Desk, starts: Starts, role: tuple[str, ...]) -> None:
    off = {"HEADWATER_POLL__ENABLED": "false", "HEADWATER_DATABASE__URL": desk.database_url}
    running = starts(*role, **off)
    assert running.stderr
    # Nothing else ends a wait for a line that does not come.
    limit = Timer(LIMIT_SECONDS, running.kill)
    limit.start()
    said = next((line for line in running.stderr if "polling_is_off" in line), "{}")
    limit.cancel()
    assert json.loads(said).get("setting") == "poll.enabled = false"
    assert running.poll() is None
    running.send_signal(signal.SIGINT)
    running.communicate(timeout=LIMIT_SECONDS)


def test_a_poll_that_failed_makes_run_due_end_with_partly(desk: Desk, site: Served) -> None:
    publish(site, "One")
    desk.followed(site.url, "--name", "Harbour", "--feed", f"{site.url}/gone.xml")
    assert desk.says("crawl", "run-due").code == 3
    [failing] = desk.says("sources", "list", "--status", "failing", "--json").json["sources"]
    assert failing["health"] == "warning"
    assert "HTTP 404" in desk.says("sources", "show", "Harbour").out


def test_logs_that_are_asked_for_are_given(desk: Desk, site: Served) -> None:
    feed = publish(site, "One")
    desk.followed(site.url, "--feed", feed)
    desk.settings |= {"log.level": "info"}
    assert '"polled"' in desk.says("crawl", "run-due").err


def test_an_empty_log_says_how_to_fill_it(desk: Desk) -> None:
    said = desk.says("crawl", "logs")
    assert (said.code, said.out) == (0, "")
    assert "headwater crawl run-due" in said.err
    assert desk.says("crawl", "logs", "--json").out == ""
    assert desk.says("crawl", "logs", "nobody").code == 4


@pytest.mark.parametrize("limit", ["0", "-4", "x"])
def test_an_impossible_limit_is_a_usage_error(desk: Desk, limit: str) -> None:
    desk.followed("https://a.example/", "--name", "Alpha")
    for words in (("crawl", "logs"), ("crawl", "pages", "Alpha"), ("sources", "list")):
        said = desk.says(*words, "--limit", limit)
        assert said.code == 2
        assert_a_sentence(said)


@pytest.mark.long
def test_the_log_holds_the_last_runs_in_their_order(desk: Desk, site: Served) -> None:
    feed = publish(site, "One")
    source = desk.followed(site.url, "--name", "Harbour", "--feed", feed)
    for _ in range(3):
        desk.says("crawl", "run-due")
        desk.says("crawl", "run", source)
    told = [json.loads(line) for line in desk.says("crawl", "logs", "--limit", "2", "--json").out.splitlines()]
    assert len(told) == 2
    assert [run["trigger"] for run in told] == ["manual", "manual"]
    assert told[0]["at"] < told[1]["at"]


@pytest.mark.long
def test_followed_the_log_goes_on_until_it_is_interrupted(desk: Desk, site: Served, starts: Starts) -> None:
    feed = publish(site, "One", "Two")
    desk.followed(site.url, "--name", "海の新聞", "--feed", feed)
    desk.says("crawl", "run-due")
    following = starts("crawl", "logs", "--follow", HEADWATER_DATABASE__URL=desk.database_url)
    assert following.stdout
    assert following.stdout.readline().startswith("when")
    assert "2 new" in following.stdout.readline()
    desk.says("crawl", "run", "海の新聞")
    desk.says("crawl", "run-due")
    assert "  ok    海の新聞                        feed     " in following.stdout.readline()
    following.send_signal(signal.SIGINT)
    assert following.wait(LIMIT_SECONDS) == 130
    assert "Traceback" not in following.communicate(timeout=LIMIT_SECONDS)[1]


@pytest.mark.long
def test_a_run_that_comes_late_is_followed_too_and_none_is_shown_twice(
    desk: Desk, site: Served, starts: Starts
) -> None:
    desk.followed(site.url, "--name", "Harbour", "--feed", publish(site, "One"))
    desk.says("crawl", "run-due")
    stored = """
        insert into runs (at, id, source_id, channel_id, kind, trigger, status, duration_ms, message)
        select clock_timestamp() - $1::interval, gen_random_uuid(), source_id, id, kind, 'schedule', 'ok', 9, $2
        from channels
    """
    desk.execute(stored, timedelta(minutes=3), "older than the list")
    following = starts("crawl", "logs", "--follow", "--limit", "1", HEADWATER_DATABASE__URL=desk.database_url)
    assert following.stdout
    assert following.stdout.readline().startswith("when")
    assert "1 new" in following.stdout.readline()
    desk.execute(stored, timedelta(), "young")
    told = [following.stdout.readline()]
    for wait, message in ((90, "slow and large"), (30, "slow"), (0, "last")):
        desk.execute(stored, timedelta(seconds=wait), message)
    while "last" not in told[-1]:
        told.append(following.stdout.readline())
    assert [line.split("feed")[1].strip() for line in told] == ["young", "slow and large", "slow", "last"]
    following.send_signal(signal.SIGINT)
    assert following.wait(LIMIT_SECONDS) == 130


def several_feeds(desk: Desk, site: Served) -> None:
    """Three that list the same two articles."""
    publish(site, "One", "Two")
    feeds = [f"/{name}.json" for name in ("world", "coast", "sport")]
    site.pages |= dict.fromkeys(feeds, site.pages["/feed.json"])
    desk.followed(site.url, "--name", "Harbour", *(word for path in feeds for word in ("--feed", f"{site.url}{path}")))


def test_an_article_of_three_feeds_is_three_new_items_and_not_three_urls(desk: Desk, site: Served) -> None:
    several_feeds(desk, site)
    assert desk.says("crawl", "run-due").out.splitlines()[-1] == "3 channels polled, 0 failed, 6 new items"
    told = desk.says("status").out
    assert "3 polls, 0 failed · 6 new items · " in told
    assert "2 pending" in told


@pytest.mark.long
def test_runs_of_one_of_several_feeds_say_of_which_and_when_it_is_polled_next(desk: Desk, site: Served) -> None:
    several_feeds(desk, site)
    said = [line.split() for line in desk.says("crawl", "run-due").out.splitlines()[:3]]
    assert sorted(words[3] for words in said) == ["/coast.json:", "/sport.json:", "/world.json:"]
    header, *rows = desk.says("crawl", "logs").out.splitlines()
    assert sorted(row.split()[4] for row in rows) == ["/coast.json", "/sport.json", "/world.json"]
    assert all(row[header.index("next poll") :].startswith("in ") for row in rows)
    told = [json.loads(line) for line in desk.says("crawl", "logs", "--json").out.splitlines()]
    known = {str(row[0]): row[1] for row in desk.on_database(lambda base: base.fetch("select id, url from channels"))}
    assert {run["channel_id"]: run["channel_url"] for run in told} == known


def test_a_feed_at_another_host_is_named_with_it(desk: Desk, site: Served) -> None:
    feed = publish(site, "One")
    desk.followed(
        "https://harbour.example/", "--name", "Harbour", "--feed", f"{feed}?page=1", "--feed", f"{feed}?page=2"
    )
    site.pages |= {"/feed.json": Page(b"nothing")}
    desk.says("crawl", "run-due")
    assert f"feed {PLACE}:{site.port}/feed.json?page=1  fail" in desk.says("crawl", "logs").out


@pytest.mark.long
def test_interrupted_run_due_gives_back_what_it_was_polling(desk: Desk, starts: Starts) -> None:
    with socket.create_server((PLACE, 0)) as first, socket.create_server(("127.0.0.3", 0)) as second:
        silent = [":".join(map(str, one.getsockname())) for one in (first, second)]
        for listening, place in zip((first, second), silent, strict=True):
            listening.settimeout(LIMIT_SECONDS)
            desk.followed(f"http://{place}/", "--feed", f"http://{place}/feed.xml")
        allowed = {"HEADWATER_NETWORK__ALLOW": ",".join(silent), "HEADWATER_DATABASE__URL": desk.database_url}
        polling = starts("crawl", "run-due", **allowed)
        connections = [one.accept()[0] for one in (first, second)]
        assert desk.value("select count(*) from channels where token is not null") == 2
        polling.send_signal(signal.SIGINT)
        assert polling.wait(LIMIT_SECONDS) == 130
        for connection in connections:
            connection.close()
    assert desk.says("status", "--json").json["polling"] == 0
    assert desk.value("select count(*) from channels where is_active and next_poll_at <= clock_timestamp()") == 2


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


def on_terminal(columns: int, show: Callable[[], None]) -> list[str]:
    out = Terminal()
    with patch.dict(os.environ, {"COLUMNS": str(columns), "TERM": "xterm"}), redirect_stdout(out):
        show()
    return [re.sub(r"\x1b\[\d*m", "", line).rstrip() for line in out.getvalue().splitlines()]


def test_without_room_spare_columns_go_and_narrow_ones_stay_whole() -> None:
    columns, row = (
        ("name", "state", "every", "url"),
        ("The Harbour and Coast Gazette", "in 2h 48m", "12m 30s", "x" * 40),
    )

    def show() -> None:
        show_table(columns, [row], spare=("url", "every"))

    assert on_terminal(100, show)[-1] == "  ".join(row)
    assert on_terminal(70, show)[-1] == "  ".join(row[:3])
    assert on_terminal(40, show)[0].split() == ["name", "state"]
    assert on_terminal(30, show)[2:] == ["The Harbour and      in 2h 48m", "Coast Gazette"]


def test_the_log_can_be_read_on_a_terminal_of_eighty_columns(desk: Desk, site: Served) -> None:
    several_feeds(desk, site)
    desk.says("crawl", "run-due")
    runs = desk.on_database(lambda database: list_runs(database, RunFilter()))
    header, _, first, *_ = on_terminal(80, lambda: show_runs(runs, runs[0].at, json=False))
    assert header.split() == ["when", "source", "channel", "result", "next", "poll", "message"]
    assert first.endswith("2 items, 2 new, 0 changed")


def test_the_pages_of_a_crawl_are_listed_by_their_state(desk: Desk, site: Served) -> None:
    publish(site)
    source = desk.followed(site.url, "--name", "Handbook", "--kind", "docs")
    assert desk.says("crawl", "pages", "Handbook").out == "none: nothing was queued yet (no pages)\n"
    assert desk.says("crawl", "run-due").code == 0
    head, columns, row = desk.says("crawl", "pages", source).out.splitlines()
    assert head == "running (1 pending)"
    assert columns.split() == ["url", "status", "depth", "error"]
    assert row.split() == [f"{site.url}/", "pending", "0"]
    assert desk.says("crawl", "pages", source, "--status", "failed").out == "running (1 pending)\n"
    told = desk.says("crawl", "pages", source, "--json").json
    assert (told["state"], told["pages"]) == ("running", {"pending": 1})
    (page,) = told["data"]
    listed = {"source_id": source, "url": f"{site.url}/", "status": "pending", "depth": 0, "error": None}
    assert {name: page[name] for name in listed} == listed


@pytest.mark.parametrize(("words", "code"), [((), 2), (("nobody",), 4), (("Alpha", "--status", "sleeping"), 2)])
def test_pages_that_cannot_be_listed_are_refused(desk: Desk, words: tuple[str, ...], code: int) -> None:
    desk.followed("https://a.example/", "--name", "Alpha")
    said = desk.says("crawl", "pages", *words)
    assert said.code == code
    assert_a_sentence(said)


def test_a_paused_source_that_is_to_be_polled_says_how_it_is_resumed(desk: Desk) -> None:
    paused, active = desk.followed("https://a.example/", "--name", "Alpha"), desk.followed("https://b.example/")
    desk.says("sources", "pause", "Alpha")
    said = desk.says("crawl", "run", "Alpha")
    assert (said.code, f"Resume it: headwater sources resume {paused}" in said.err) == (6, True)
    both = desk.says("crawl", "run", "Alpha", str(active))
    assert (both.code, f"Resume it: headwater sources resume {paused}" in both.err) == (3, True)
    assert "or keep polling: headwater up" in both.err


def test_everything_is_paused_and_resumed(desk: Desk) -> None:
    paused = json.loads(desk.says("crawl", "pause", "--reason", "moving", "--json").out)
    assert (paused["set_by"], paused["reason"]) == ("a person", "moving")
    assert "a person paused everything: moving." in desk.says("problems").out
    assert json.loads(desk.says("crawl", "resume", "--json").out) == {"was_paused": True}
    assert "Nothing was paused." in desk.says("crawl", "resume").out
