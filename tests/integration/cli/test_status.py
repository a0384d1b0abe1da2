"""`headwater status`: the whole at a glance, and the schedule for pipes."""

import re
from datetime import timedelta
from pathlib import Path

import pytest
from orjson import loads
from tests.integration.cli.desk import Desk

from headwater.database.pool import Database
from headwater.reports.discovery import whole_schedule

WHEN = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d"


@pytest.fixture
def desk(database_url: str, open_folder: Path) -> Desk:
    return Desk(database_url, open_folder)


def schedule_of(desk: Desk) -> list[str]:
    lines = desk.says("status", "--show-schedule").out.splitlines()
    return lines[lines.index("Feed Schedule:") :]


def test_an_empty_house_is_told_what_to_do_first(desk: Desk) -> None:
    said = desk.says("status")
    assert said.code == 0
    assert said.out.startswith("Sources   0 (none yet) · 0 channels, 0 due, 0 being polled\n")
    assert "headwater sources add" in said.err


def test_an_empty_schedule_is_its_heading_alone(desk: Desk) -> None:
    assert schedule_of(desk) == ["Feed Schedule:", "-" * 40]


def test_the_schedule_is_written_as_r72_asks(desk: Desk) -> None:
    desk.followed("https://a.example/", "--name", "Go Blog", "--feed", "https://a.example/feed.xml")
    desk.polled_in(timedelta(minutes=15, seconds=30), timedelta(hours=1))
    due = desk.value("select to_char(next_poll_at at time zone 'utc', 'YYYY-MM-DD HH24:MI:SS') from channels")
    *schedule, why = schedule_of(desk)
    assert why.startswith("  Why:        ")
    assert schedule == [
        "Feed Schedule:",
        "----------------------------------------",
        "Go Blog",
        f"  Next fetch: {due} (in 15m)",
        "  Interval:   1h0m0s",
        "  Errors:     0",
    ]


@pytest.mark.parametrize(
    ("wait", "told"),
    [
        (timedelta(seconds=40), r"in \d\ds"),
        (timedelta(hours=2, minutes=5, seconds=30), "in 2h 5m"),
        (timedelta(days=3, hours=4, minutes=5), "in 3d 4h"),
    ],
)
def test_a_wait_is_told_by_the_minute(desk: Desk, wait: timedelta, told: str) -> None:
    desk.followed("https://a.example/", "--feed", "https://a.example/feed.xml")
    desk.polled_in(wait, timedelta(hours=1))
    assert re.fullmatch(rf"  Next fetch: {WHEN} \({told}\)", schedule_of(desk)[3])


def test_what_should_have_been_polled_is_overdue(desk: Desk) -> None:
    desk.followed("https://a.example/", "--feed", "https://a.example/feed.xml")
    desk.polled_in(timedelta(minutes=-3), timedelta(minutes=15))
    assert re.fullmatch(rf"  Next fetch: {WHEN} \(overdue\)", schedule_of(desk)[3])
    assert schedule_of(desk)[4] == "  Interval:   15m0s"


@pytest.mark.long
def test_a_paused_source_is_not_scheduled(desk: Desk) -> None:
    desk.followed("https://a.example/", "--name", "Resting", "--feed", "https://a.example/feed.xml")
    desk.says("sources", "pause", "Resting")
    assert schedule_of(desk)[2:4] == ["Resting", "  Next fetch: not scheduled"]
    [told] = desk.says("status", "--show-schedule", "--json").json["schedule"]
    assert (told["next_fetch"], told["in_seconds"]) == (None, None)
    assert told["why"] == "paused: paused by a person"


def test_two_channels_of_one_name_are_told_apart(desk: Desk) -> None:
    feeds = ("--feed", "https://a.example/one.xml", "--feed", "https://a.example/two.xml")
    desk.followed("https://a.example/", "--name", "Two", *feeds)
    titles = schedule_of(desk)[2::5]
    assert sorted(titles) == ["Two (feed https://a.example/one.xml)", "Two (feed https://a.example/two.xml)"]


@pytest.mark.long
def test_a_reader_of_a_pipe_gets_more_than_a_person_would_read(desk: Desk) -> None:
    urls = "\n".join(f"https://s{number}.example/" for number in range(30))
    assert desk.says("sources", "import", desk.file("many.txt", urls)).code == 0
    assert schedule_of(desk).count("  Errors:     0") == 30


# Each name belongs to two sources; many fall due at one moment, some rest, some were never polled.
MANY = """
    with own as (
        insert into sources (name, url, url_hash, status)
        select 'Paper ' || n % 700, 'https://p' || n || '.example/', sha256(int8send(n)),
               case n % 100 when 0 then 'paused' else 'active' end
        from generate_series(1, 1400::bigint) as n returning id, url, status)
    insert into channels (source_id, kind, url, url_hash, bucket, host, is_active, next_poll_at, last_polled_at)
    select id, 'feed', url || 'feed', sha256(url::bytea), 1, 'p.example', status = 'active',
           now() + (length(url) % 3) * interval '1 hour', case when length(url) % 2 = 0 then now() end
    from own
"""


@pytest.mark.long
def test_programs_get_a_page_of_a_long_schedule_and_all_of_it_when_asked(desk: Desk) -> None:
    desk.execute(MANY)
    page = desk.says("status", "--show-schedule", "--json").json
    assert (len(page["schedule"]), page["schedule_is_cut"]) == (1_000, True)
    whole = desk.says("status", "--all", "--json").json
    assert whole["schedule_is_cut"] is False
    assert len({one["url"] for one in whole["schedule"]}) == len(whole["schedule"]) == 1_400
    times = [one["next_fetch"] for one in whole["schedule"]]
    assert times[:1_386] == sorted(times[:1_386])
    assert times[1_386:] == [None] * 14
    assert {name: value for name, value in whole.items() if name in ("sources", "channels")} == {
        "sources": {"active": 1_386, "paused": 14},
        "channels": 1_386,
    }


@pytest.mark.long
def test_a_long_schedule_is_a_page_in_a_pipe_and_whole_when_asked(desk: Desk) -> None:
    desk.execute(MANY)
    said = desk.says("status", "--show-schedule")
    assert said.out.count("  Errors:     0") == 1_000
    assert "… and 386 more: headwater status --show-schedule --all" in said.err
    said = desk.says("status", "--all")
    assert said.out.count("  Errors:     0") == 1_400
    assert said.out.count("Feed Schedule:") == 1
    # Each name belongs to two sources, wherever the other one stands.
    assert said.out.count(".example/feed)") == 1_400
    assert " more:" not in said.err


def test_a_schedule_in_small_parts_is_the_whole_schedule(desk: Desk) -> None:
    desk.execute(MANY)

    async def urls(database: Database) -> list[str]:
        return [one.url for part in [p async for p in whole_schedule(database, 37)] for one in part]

    found = desk.on_database(urls)
    assert len(found) == len(set(found)) == 1_400


def test_json_has_whole_seconds_and_stable_keys(desk: Desk) -> None:
    desk.followed("https://a.example/", "--feed", "https://a.example/feed.xml")
    desk.polled_in(timedelta(minutes=10), timedelta(minutes=30))
    told = desk.says("status", "--show-schedule", "--json").json
    assert told["sources"] == {"active": 1}
    assert (told["channels"], told["due"], told["runs"]) == (1, 0, 0)
    assert told["delay_p50_seconds"] is None
    assert told["hosts"]["next_in_seconds"] is None
    assert set(told["frontier"]) == {"pending", "fetching", "fetched", "failed", "dead"}
    [one] = told["schedule"]
    assert 540 < one["in_seconds"] <= 600
    assert (one["interval_seconds"], one["errors"], one["kind"]) == (1800, 0, "feed")
    assert "schedule" not in desk.says("status", "--json").json


def test_deleted_sources_are_not_counted_among_those_there_are(desk: Desk) -> None:
    desk.followed("https://a.example/")
    desk.followed("https://b.example/")
    desk.says("sources", "rm", "a.example", "--yes")
    assert desk.says("status").out.startswith("Sources   1 (1 active) · 1 channel, 1 due")


@pytest.mark.long
def test_what_fails_is_pointed_at(desk: Desk) -> None:
    desk.followed("https://a.example/", "--feed", "https://a.example/feed.xml")
    assert desk.says("status").err == ""
    desk.execute("update channels set consecutive_errors = 3")
    assert desk.says("status").err == "1 problem: headwater problems\n"
    assert desk.says("status", "--json").err == ""


def test_a_wrong_option_is_a_usage_error(desk: Desk) -> None:
    said = desk.says("status", "--nonsense")
    assert said.code == 2
    assert "--nonsense" in said.err


@pytest.mark.long
def test_suspects_are_shown_and_nothing_where_there_are_none(desk: Desk) -> None:
    assert "Suspects" not in desk.says("status").out
    desk.followed("https://a.example/", "--feed", "https://a.example/feed.xml")
    desk.says("frontier", "add", "https://a.example/1", "https://a.example/2")
    desk.execute("update url_frontier set held = 'suspect'")
    desk.execute("update channels set lost_count = 1")
    told = " ".join(desk.says("status").out.split())
    assert "Suspects 2 pages to be tried alone: a worker died while it had begun them" in told
    assert "1 channel to be tried one at a time: a poller died while it polled them" in told
    assert loads(desk.says("status", "--json").out)["suspects"] == {"pages": 2, "channels": 1}
