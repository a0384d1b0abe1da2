"""What a person sees on a terminal: whole words, commands to copy, the address, and no names from inside."""

import re
from pathlib import Path

import pytest
from tests.integration.cli.desk import Desk

LONG = "https://news.harbour-and-valley-weekly.example/"
FEED = ("--feed", f"{LONG}feeds/everything.xml")
# As a program would write them: with an underscore, as nothing, or to the microsecond.
INNER = re.compile(r"\b[a-z]+_[a-z_]+\b|\bNone\b|\bnull\b|\d\d:\d\d:\d\d\.\d{3,}")


@pytest.fixture
def desk(database_url: str, open_folder: Path) -> Desk:
    return Desk(database_url, open_folder)


def failing(desk: Desk) -> str:
    source = desk.followed(LONG, *FEED, "--name", "The Harbour and Valley Weekly Courier")
    desk.execute(
        "update channels set consecutive_errors = 4, error_class = 'network', last_polled_at = now(),"
        " last_ok_at = now() - interval '3 days', next_poll_at = now() + interval '1 hour',"
        " error_cause = 'dead_domain',"
        " last_error = 'robots.txt could not be had (dns_not_found: Domain name not found)'"
    )
    return source


@pytest.mark.parametrize("columns", [80, 120])
def test_the_list_of_sources_shows_name_state_and_address(desk: Desk, columns: int) -> None:
    failing(desk)
    desk.followed("https://b.example/", "--feed", "https://b.example/feed.xml")
    said = desk.sees("sources", "list", columns=columns).out
    assert max(map(len, said.splitlines())) <= columns
    assert "https://b.example/" in said
    assert "https://news.harb" in said
    assert "struggling" in said
    assert {"name", "health", "url"} <= set(said.splitlines()[0].split())


def test_commands_against_problems_can_be_copied(desk: Desk) -> None:
    source = failing(desk)
    said = desk.sees("problems")
    lines = [line.strip() for line in said.out.splitlines()]
    assert f"headwater sources rm {source}" in lines
    assert any("3d" in line for line in lines)
    assert all(len(line) <= 80 for line in said.out.splitlines() if "headwater " not in line)


@pytest.mark.long
@pytest.mark.parametrize("columns", [40, 80, 120])
def test_no_word_is_broken_at_any_width(desk: Desk, columns: int) -> None:
    source = failing(desk)
    for words in (("problems",), ("sources", "show", source), ("explain", LONG), ("status", "--show-schedule")):
        whole = set(re.split(r"\s+", desk.says(*words).out))
        seen = desk.sees(*words, columns=columns)
        assert source in seen.out or words[0] not in ("problems", "sources")
        assert not (set(UUIDS.findall(seen.out + seen.err)) - {source, source[:8]}), seen.out
        assert "headwater" not in "".join(broken(seen.out, whole))


UUIDS = re.compile(r"\b[0-9a-f]{8}-[0-9a-f-]{1,27}")


def broken(seen: str, whole: set[str]) -> list[str]:
    """Words of commands that nobody wrote so."""
    commands = [line for line in seen.splitlines() if "headwater " in line]
    return [word for line in commands for word in line.split() if word.startswith("head") and word not in whole]


@pytest.mark.long
def test_all_that_is_set_of_a_source_is_shown_in_words_and_nothing_else(desk: Desk) -> None:
    source = desk.followed(
        "https://jobs.example/careers/",
        "--kind", "jobs", "--parser-hint", "li.vacancy", "--frequency-days", "2", "--org-type", "ingo",
        "--priority", "8", "--tag", "aid,europe", "--timezone", "Europe/Paris", "--time-window", "22:00-05:00",
        "--max-depth", "3", "--max-pages", "500", "--include", "/careers/", "--exclude", "/careers/old/",
        "--interval", "90m",
    )  # fmt: skip
    edited = desk.says(
        "sources", "edit", source, "country=FR", "policy=frequency", "rate_limit_ms=2500", "revisit_every=7d",
        'selectors={"list": {"location": ".where"}}', "allowed_domains=jobs.example",
        "start_urls=https://jobs.example/careers/all", "article_patterns=/careers/\\d+", "allow_external=yes",
        "speaks_for=partner.example",
    )  # fmt: skip
    assert edited.code == 0, edited.err
    said = desk.sees("sources", "show", source).out
    for told in (
        "li.vacancy", "every 2 days", "ingo", "priority 8", "aid, europe", "Europe/Paris", "22:00-05:00",
        "3 deep", "500 pages", "/careers/", "/careers/old/", "1h 30m", "FR", "2.5 s", "7d", ".where",
        "https://jobs.example/careers/all", r"/careers/\d+", "partner.example", "other sites",
    ):  # fmt: skip
        assert told in said, (told, said)
    assert not INNER.findall(said), said
    plain = desk.sees("sources", "show", desk.followed("https://b.example/")).out
    for unset in ("selectors", "hint", "time zone", "country", "window", "rate", "visited again"):
        assert unset not in plain


def test_a_host_is_shown_with_labels_units_and_times_from_now(desk: Desk) -> None:
    desk.says("frontier", "add", "https://b.example/one")
    desk.execute("update hosts set last_fetch_at = now() - interval '3 minutes', penalty_ms = 4000")
    desk.says("hosts", "policy", "set", "b.example", "--max-kb-per-page", "200", "--max-concurrency", "2")
    said = desk.sees("hosts", "show", "b.example").out
    assert "one request every 4 s" in said
    assert "last request:  3m" in said
    assert "200 KB" in said
    assert "2 at once" in said
    assert not INNER.findall(said), said
    assert "bucket" not in said


def test_a_closed_host_says_why_and_until_when(desk: Desk) -> None:
    desk.says("frontier", "add", "https://b.example/one")
    desk.execute(
        "insert into host_closures (bucket, host, reason, until) select bucket, host, 'robots_unreachable',"
        " now() + interval '3 minutes 30 seconds' from hosts"
    )
    desk.execute("update hosts set closed_until = now() + interval '3 minutes 30 seconds'")
    for words in (("show", "b.example"), ("list",)):
        said = desk.sees("hosts", *words).out
        assert "robots.txt" in said
        assert not INNER.findall(said), said
    assert "in 3m" in desk.sees("hosts", "show", "b.example").out


def test_a_policy_without_a_wish_says_what_can_be_set(desk: Desk) -> None:
    desk.says("frontier", "add", "https://b.example/one")
    said = desk.sees("hosts", "policy", "set", "b.example")
    assert said.code == 2
    assert "--min-request-interval-ms" in said.err
    assert "headwater hosts policy set b.example --min-request-interval-ms" in said.err.replace("\n  ", " ")
    assert desk.value("select count(*) from host_policies") == 0


def test_an_unknown_host_gets_a_policy_before_it_is_visited(desk: Desk) -> None:
    said = desk.sees("hosts", "policy", "set", "new.example", "--min-request-interval-ms", "5000")
    assert said.code == 0
    assert "one request every 5 s" in said.out
