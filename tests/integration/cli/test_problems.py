"""`headwater problems`: what is wrong, since when, what to do; and the health of sources by the same rules."""

from datetime import timedelta
from pathlib import Path
from uuid import UUID

import pytest
from tests.integration.cli.desk import Desk

FEED = ("--feed", "https://a.example/feed.xml")
POLLED = "update channels set last_polled_at = now(), last_ok_at = now(), last_new_at = now(), last_item_count = 5"
POLLED += ", next_poll_at = now() + interval '1 hour'"


@pytest.fixture
def desk(database_url: str, open_folder: Path) -> Desk:
    return Desk(database_url, open_folder)


def kinds(desk: Desk, *words: str) -> list[tuple[str, str]]:
    said = desk.says("problems", "--json", *words)
    assert said.code == int(bool(said.json["problems"]))
    return [(one["grade"], one["kind"]) for one in said.json["problems"]]


def followed(desk: Desk, *words: str, polled: bool = True) -> str:
    source = desk.followed("https://a.example/", *(words or FEED))
    if polled:
        desk.execute(POLLED)
    return source


def health(desk: Desk, source: str) -> str:
    return str(desk.says("sources", "show", source, "--json").json["health"])


def test_nothing_wrong_is_said_with_the_time_of_the_look(desk: Desk) -> None:
    followed(desk)
    said = desk.says("problems")
    assert (said.code, said.err) == (0, "")
    assert said.out.startswith("No problems. Looked at 20")
    told = desk.says("problems", "--json").json
    assert (told["count"], told["problems"]) == (0, [])
    assert told["looked_at"]


def test_a_problem_is_one_line_with_its_age_and_its_fix(desk: Desk) -> None:
    source = followed(desk)
    desk.execute(
        "update channels set consecutive_errors = 4, error_class = 'network', last_ok_at = now() - interval '3 days',"
        " error_cause = 'dead_domain',"
        " last_error = 'robots.txt could not be had (dns_not_found: Domain name not found)'"
    )
    said = desk.says("problems")
    assert said.code == 1
    header, line = said.out.splitlines()
    assert header.split("  ")[1:] != []
    assert line.startswith("✗  3d")
    assert "The name a.example does not exist: 4 errors in a row (feed https://a.example/feed.xml)." in line
    assert f"headwater sources rm {source}" in line
    assert said.err == "1 error\n"
    assert kinds(desk) == [("error", "dead_domain")]


RESTING = "consecutive_errors = 10, class_errors = 10, error_class = 'upstream', last_error = 'HTTP 500'"
CHANNEL_FAULTS = [
    ("consecutive_errors = 1, error_class = 'upstream', last_error = 'HTTP 500'", ("warning", "failing"), "warning"),
    (
        "consecutive_errors = 9, class_errors = 9, error_class = 'network', last_ok_at = null, last_error = 'no'",
        ("warning", "failing"),
        "warning",
    ),
    (RESTING, ("error", "failing"), "struggling"),
    (
        "consecutive_errors = 9, class_errors = 4, error_class = 'forbidden', last_error = 'HTTP 403'",
        ("warning", "refused"),
        "warning",
    ),
    (
        "consecutive_errors = 5, class_errors = 5, error_class = 'forbidden', last_error = 'HTTP 403'",
        ("error", "refused"),
        "struggling",
    ),
    (
        "consecutive_errors = 1, error_class = 'rate_limited', last_error = 'HTTP 429'",
        ("warning", "refused"),
        "warning",
    ),
    (
        (
            "consecutive_errors = 1, error_class = 'forbidden', error_cause = 'robots_forbid',"
            " last_error = 'robots disallow (/: line 2)'"
        ),
        ("error", "robots_forbid"),
        "struggling",
    ),
    (
        "consecutive_errors = 1, error_class = 'upstream', last_error = 'dns_not_found, said a page'",
        ("warning", "failing"),
        "warning",
    ),
    (
        "consecutive_errors = 1, error_class = 'upstream', error_cause = 'unheard of', last_error = 'HTTP 500'",
        ("warning", "failing"),
        "warning",
    ),
    (
        "unread_page = 'https://a.example/2', unread_since = now(), last_error = 'it was not to be had'",
        ("warning", "page_unread"),
        "warning",
    ),
    (
        (
            "consecutive_errors = 2, error_class = 'upstream', error_cause = 'robots_unreachable',"
            " last_error = 'robots.txt could not be had (HTTP 500)'"
        ),
        ("warning", "robots_unreachable"),
        "warning",
    ),
    (
        (
            "consecutive_errors = 1, error_class = 'unreadable', error_cause = 'secret',"
            " last_error = 'The secret KEY is not set.'"
        ),
        ("error", "secret"),
        "struggling",
    ),
    ("last_error = 'Read tolerantly: no element found.'", ("warning", "truncated"), "warning"),
    ("last_error = 'Nothing a rule knows by its words.'", ("warning", "truncated"), "warning"),
    (
        "doubted_since = now(), last_error = 'It no longer names 5 vacancies of 6.'",
        ("warning", "list_doubted"),
        "warning",
    ),
    ("last_item_count = 0", ("warning", "empty"), "warning"),
    ("last_item_count = 0, last_new_at = null", ("error", "empty"), "struggling"),
    ("silent_since = now() - interval '2 days'", ("warning", "quiet"), "silent"),
]


@pytest.mark.parametrize(("state", "problem", "word"), CHANNEL_FAULTS)
def test_the_state_of_a_channel_is_told_and_its_health_agrees(
    desk: Desk, state: str, problem: tuple[str, str], word: str
) -> None:
    source = followed(desk)
    desk.execute(f"update channels set {state}")
    assert kinds(desk) == [problem]
    assert kinds(desk, "--source", "a.example") == [problem]
    assert health(desk, source) == word
    assert "1 problem: headwater problems" in desk.says("status").err
    assert f"1 problem: headwater problems --source {source}" in desk.says("sources", "show", source).err
    assert "1 problem here: headwater problems" in desk.says("sources", "list").err


def test_one_sound_channel_keeps_a_source_from_struggling(desk: Desk) -> None:
    source = followed(desk, *FEED, "--feed", "https://a.example/two.xml")
    desk.execute("update channels set consecutive_errors = 9, last_error = 'HTTP 500' where url like '%two.xml'")
    assert health(desk, source) == "warning"


def test_a_listing_without_items_is_told(desk: Desk) -> None:
    source = followed(desk, "--mode", "spider")
    desk.execute("update channels set last_item_count = 0, last_new_at = null")
    assert kinds(desk) == [("error", "no_items")]
    assert health(desk, source) == "struggling"


@pytest.mark.long
def test_a_feed_that_is_shorter_than_the_gap_between_polls_says_what_was_missed(desk: Desk) -> None:
    source = followed(desk)
    desk.execute(
        "insert into events (kind, level, actor, source_id, channel_id, message, details, at)"
        " select 'channel_overflowed', 'warn', 'headwater', source_id, id, 'm', '{\"missed\": 40}',"
        " clock_timestamp() - n * interval '2 hours' from channels, generate_series(1, 3) as n"
    )
    [told] = desk.says("problems", "--json").json["problems"]
    assert (told["grade"], told["kind"]) == ("error", "overflow")
    assert "Probably missed 120 items in 24 h: the feed is shorter than the polling gap, 3 times" in told["what"]
    desk.execute("update events set at = at - interval '2 days' where kind = 'channel_overflowed'")
    assert kinds(desk) == []
    assert health(desk, source) == "ok"


def overflowed(desk: Desk, covers: int = 10, floor: int = 15) -> None:
    """In minutes: the time that its items span, and the shortest interval that the poller is allowed."""
    desk.execute(
        "insert into events (kind, level, actor, source_id, channel_id, message, details)"
        " select 'channel_overflowed', 'warn', 'headwater', source_id, id, 'm', $1 from channels",
        {"missed": 40, "covers_seconds": covers * 60, "shortest_seconds": floor * 60},
    )


def fix_of_overflow(desk: Desk) -> str:
    [told] = desk.says("problems", "--json").json["problems"]
    assert told["kind"] == "overflow"
    [shown] = desk.says("sources", "show", "a.example", "--json").json["problems"]
    assert shown["fix"] == told["fix"]
    return str(told["fix"])


@pytest.mark.parametrize(
    ("floor", "every", "covers", "fix"),
    [
        # A setting that helps, and no shorter one than is allowed.
        (15, 60, 120, "headwater sources edit {id} poll_every=54m"),
        (15, 60, 10, "headwater sources edit {id} poll_every=15m"),
        (30, 60, 10, "headwater sources edit {id} poll_every=30m"),
        (30, 31, 120, "headwater sources edit {id} poll_every=54m"),
        # The floor is reached: only a lower floor helps.
        (15, 15, 10, "poll.min_interval to 4m"),
        (30, 31, 20, "poll.min_interval to 9m"),
    ],
)
def test_the_advice_for_a_feed_that_overflows_is_something_that_helps(
    desk: Desk, floor: int, every: int, covers: int, fix: str
) -> None:
    source = followed(desk)
    desk.execute("update channels set poll_interval = $1, next_reason = 'by its rhythm'", timedelta(minutes=every))
    overflowed(desk, covers, floor)
    told = fix_of_overflow(desk)
    assert fix.format(id=source) in told
    assert ("poll_every" in told) == ("poll_every" in fix)


def test_an_interval_that_a_person_set_to_the_floor_is_not_advised_again(desk: Desk) -> None:
    followed(desk, *FEED, "--interval", "15m")
    desk.execute("update channels set poll_interval = interval '16 minutes'")
    overflowed(desk)
    told = fix_of_overflow(desk)
    assert "as often as poll.min_interval (15m) allows" in told
    assert "poll.min_interval to 4m" in told


@pytest.mark.parametrize(
    ("held_by", "fix"),
    [
        ("publisher", "Its publisher asks for that wait"),
        ("cache_lifetime", "poll.respect_cache_control=false"),
        ("time_window", "time_window="),
    ],
)
def test_no_interval_is_advised_where_another_wish_holds(desk: Desk, held_by: str, fix: str) -> None:
    followed(desk)
    desk.execute("update channels set poll_interval = interval '1 hour', held_by = $1", held_by)
    overflowed(desk)
    told = fix_of_overflow(desk)
    assert fix in told
    assert "poll_every" not in told


@pytest.mark.parametrize(
    ("state", "told"),
    [
        ("consecutive_errors = 1, last_error = 'An HTML page, not a feed.'", "An HTML page, not a feed: 1 error (feed"),
        ("consecutive_errors = 2, last_error = 'The feed is empty.'", "The feed is empty: 2 errors in a row (feed"),
        ("last_error = 'Read tolerantly: no element found.'", "Read tolerantly: no element found (feed"),
    ],
)
def test_a_sentence_within_a_sentence_has_no_full_stop_of_its_own(desk: Desk, state: str, told: str) -> None:
    source = followed(desk)
    desk.execute(f"update channels set {state}")
    said = desk.says("problems").out
    assert told in said
    assert not any(odd in said for odd in (".:", "..", ".;", ".)"))
    assert ".:" not in desk.says("sources", "show", source).out


def test_a_channel_at_a_private_address_says_how_it_is_allowed(desk: Desk) -> None:
    followed(desk)
    desk.execute(
        "update channels set consecutive_errors = 1, error_class = 'forbidden',"
        " error_cause = 'private_address', last_error = 'blocked_address: 10.1.2.3:8080 is off limits: private network'"
    )
    [told] = desk.says("problems", "--json").json["problems"]
    assert (told["grade"], told["kind"]) == ("error", "private_address")
    assert "HEADWATER_NETWORK__ALLOW=10.1.2.3:8080" in told["fix"]


@pytest.mark.long
def test_what_a_person_paused_is_no_problem_and_what_paused_by_itself_is(desk: Desk) -> None:
    source = followed(desk)
    desk.says("sources", "pause", source)
    assert kinds(desk) == []
    desk.execute("update sources set status_reason = 'auto-paused after failures'")
    assert kinds(desk) == [("error", "auto_paused")]
    desk.execute("update sources set status = 'blocked', status_reason = 'robots disallow'")
    assert kinds(desk) == [("error", "robots_forbid")]


def test_a_source_without_a_channel_is_told(desk: Desk) -> None:
    followed(desk)
    desk.execute("update channels set is_enabled = false, is_active = false, disabled_reason = 'moved away'")
    [told] = desk.says("problems", "--json").json["problems"]
    assert told["kind"] == "no_channel"
    assert "moved away" in told["what"]


def test_a_row_that_cannot_be_read_hides_no_other_problem(desk: Desk) -> None:
    followed(desk)
    desk.execute(f"update channels set {RESTING}")
    desk.followed("https://b.example/", "--feed", "https://b.example/feed.xml")
    desk.execute("update sources set time_window = 'never', status = 'blocked' where url like '%b.example%'")
    desk.execute("update sources set status_reason = 'its row cannot be read: no time' where status = 'blocked'")
    assert sorted(kinds(desk)) == [("error", "failing"), ("error", "unreadable")]


@pytest.mark.long
def test_work_that_nobody_does_is_told(desk: Desk) -> None:
    followed(desk)
    desk.polled_in(timedelta(hours=-1))
    assert kinds(desk) == [("error", "not_polled")]
    desk.polled_in(timedelta(minutes=-5))
    assert kinds(desk) == []
    desk.says("frontier", "add", "https://b.example/page")
    assert kinds(desk) == []
    desk.execute("update hosts set wake_at = clock_timestamp() - interval '1 hour'")
    assert kinds(desk) == [("error", "stuck")]


def test_hosts_that_rest_or_refuse_are_told(desk: Desk) -> None:
    desk.says("frontier", "add", "https://b.example/page", "https://c.example/page")
    desk.execute("update hosts set bad_in_a_row = 6 where host = 'b.example'")
    desk.execute(
        "insert into host_closures select bucket, host, 'breaker', now() + interval '10 minutes' from hosts"
        " where host = 'b.example'"
    )
    desk.execute(
        "insert into host_statistics (bucket, host, requests, failed, last_status, last_seen_at)"
        " select bucket, host, 10, 9, 403, now() from hosts where host = 'c.example'"
    )
    assert sorted(kinds(desk)) == [("warning", "breaker"), ("warning", "refused")]


def test_pages_that_end_their_readers_are_told(desk: Desk) -> None:
    desk.says("frontier", "add", "https://b.example/one", "https://b.example/two")
    desk.execute("update url_frontier set held = 'suspect' where url like '%one'")
    desk.execute("update url_frontier set status = 'dead', reason = 'poison', updated_at = now() where url like '%two'")
    assert sorted(kinds(desk)) == [("warning", "poison"), ("warning", "suspects")]


def test_a_missing_file_of_secrets_is_told_as_such(desk: Desk) -> None:
    followed(desk)
    desk.settings["poll.secrets_file"] = str(desk.home / "none.txt")
    [told] = desk.says("problems", "--json").json["problems"]
    assert told["kind"] == "installation"
    assert "none.txt does not exist or cannot be read" in told["what"]
    assert "none.txt does not exist" in desk.says("doctor").out


def test_an_archive_that_received_nothing_is_told_with_the_commonest_reason(desk: Desk) -> None:
    source = UUID(followed(desk))
    desk.execute("insert into counters values ($1, 'fetched', 4), ($1, 'dead', 8)", source)
    desk.execute("update sources set last_run_at = now()")
    [told] = desk.says("problems", "--json").json["problems"]
    assert (told["grade"], told["kind"]) == ("error", "nothing_kept")
    assert told["what"] == "12 pages were dealt with and no document was kept."


def test_an_alarm_of_extraction_is_told_until_it_has_recovered(desk: Desk) -> None:
    source = UUID(followed(desk))
    alarm = "insert into events (kind, actor, source_id, message) values ($1, 'headwater', $2, 'it is read worse')"
    desk.execute(alarm, "extraction_decayed", source)
    assert kinds(desk) == [("warning", "drift")]
    desk.execute(alarm, "extraction_recovered", source)
    assert kinds(desk) == []


def test_a_source_that_is_taken_down_is_not_ok(desk: Desk) -> None:
    source = followed(desk)
    desk.says("takedown", "add", "a.example", "--reason", "its owner asked")
    assert kinds(desk) == [("warning", "takedown")]
    assert health(desk, source) == "blocked"
    said = desk.says("sources", "show", source)
    assert "taken down with a.example since" in said.out
    assert "its owner asked" in said.out
    assert "taken down" in desk.says("explain", source).out


def test_the_worst_comes_first_and_a_limit_says_what_it_hides(desk: Desk) -> None:
    followed(desk)
    desk.execute("update channels set silent_since = now()")
    desk.followed("https://b.example/", "--feed", "https://b.example/feed.xml")
    desk.execute(f"update channels set {RESTING} where url like '%b.ex%'")
    desk.polled_in(timedelta(hours=1))
    assert kinds(desk) == [("error", "failing"), ("warning", "quiet")]
    said = desk.says("problems", "--limit", "1")
    assert len(said.out.splitlines()) == 2
    assert said.err == "1 error, 1 warning; 1 not shown: headwater problems --limit 2\n"


def test_an_unknown_source_is_not_found(desk: Desk) -> None:
    assert desk.says("problems", "--source", "nobody.example").code == 4


def test_a_crawl_that_failed_at_its_start_is_told(desk: Desk) -> None:
    source = desk.followed("https://a.example/", "--kind", "docs")
    desk.execute("update channels set kind = 'crawl'")
    desk.execute(POLLED)
    desk.says("frontier", "add", "https://a.example/")
    desk.execute(
        "update url_frontier set status = 'dead', reason = 'not_found', last_error = 'HTTP 404', updated_at = now()"
    )
    [told] = desk.says("problems", "--json").json["problems"]
    assert (told["grade"], told["kind"]) == ("error", "crawl_start")
    assert "ended at its first page: not_found: HTTP 404" in told["what"]
    assert health(desk, source) == "struggling"


def test_a_crawl_of_which_every_start_page_ended_is_told(desk: Desk) -> None:
    source = desk.followed("https://a.example/", "--kind", "docs")
    desk.execute("update channels set kind = 'crawl'")
    desk.execute(POLLED)
    desk.execute("insert into counters values ($1, 'dead', 2)", UUID(source))
    assert kinds(desk) == [("error", "crawl_start")]
    desk.execute("insert into counters values ($1, 'pending', 1)", UUID(source))
    assert kinds(desk) == []
