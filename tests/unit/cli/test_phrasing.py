"""How the schedule and the pieces of commands are put into words, without a database."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from headwater.cli.sources.editing import read_assignment
from headwater.cli.sources.files import mapping_from
from headwater.cli.status.status import lines_of, push_lines, titles_of
from headwater.cli.templates.showing import show_learning
from headwater.errors import UsageError
from headwater.frontier.entry import EntryStatus
from headwater.reports.discovery import DiscoverySummary, Scheduled
from headwater.reports.frontier import HostsNow
from headwater.reports.push import PushSummary
from headwater.reports.templates import HostReport
from headwater.shapes.status import schedule_as_dicts
from headwater.sources.kinds import ChannelKind

NOW = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)


def planned(
    name: str,
    url: str = "https://a.example/feed",
    wait: timedelta | None = timedelta(hours=1),
    *,
    is_one_of_several: bool = False,
) -> Scheduled:
    at = None if wait is None else NOW + wait
    return Scheduled(
        name,
        UUID(int=1),
        ChannelKind.FEED,
        url,
        at,
        "new",
        timedelta(hours=2),
        0,
        None,
        is_running=False,
        is_one_of_several=is_one_of_several,
    )


def test_only_names_that_occur_twice_need_an_address() -> None:
    coming = [planned("A"), planned("B", "https://b.example/1", is_one_of_several=True)]
    assert titles_of(coming) == ["A", "B (feed https://b.example/1)"]


def test_a_title_cannot_start_a_line_of_its_own() -> None:
    assert titles_of([planned("A\n  Next fetch: never\x1b[2J")]) == ["A Next fetch: never [2J"]


def test_for_programs_what_is_late_counts_below_zero_and_what_rests_has_no_time() -> None:
    late, resting = schedule_as_dicts([planned("A", wait=timedelta(seconds=-90)), planned("B", wait=None)], NOW)
    assert (late["in_seconds"], late["interval_seconds"]) == (-90, 7200)
    assert (resting["next_fetch"], resting["in_seconds"]) == (None, None)


def test_the_whole_is_told_in_three_lines_with_right_plurals() -> None:
    summary = DiscoverySummary(
        *(NOW, {"active": 1, "deleted": 9}, 1, 0, 1, 1, 0, 1, timedelta(minutes=6), timedelta(minutes=22)),
        push=PushSummary(0, 0, 0, None),
    )
    hosts = HostsNow(1, 2, 0, 0, timedelta(seconds=4))
    sources, frontier, lately = lines_of(summary, dict.fromkeys(EntryStatus, 0) | {EntryStatus.PENDING: 1_902}, hosts)
    assert sources == "Sources   1 (1 active) · 1 channel, 1 due, 0 being polled"
    assert frontier.startswith("Frontier  1,902 pending · 0 fetching · ")
    assert frontier.endswith(" · 1 host open, 2 waiting, next host opens in 4s")
    assert lately == "Last 24 h 1 poll, 0 failed · 1 new item · from publication to discovery p50/p95: 6m / 22m"


def test_the_time_of_the_next_host_is_not_that_of_hosts_that_are_being_asked() -> None:
    summary = DiscoverySummary(*(NOW, {"active": 1}, 1, 0, 1, 1, 0, 1, None, None), push=PushSummary(0, 0, 0, None))
    hosts = HostsNow(open=0, waiting=1, busy=1, doubted=0, next_in=timedelta(minutes=5))
    _, frontier, _ = lines_of(summary, dict.fromkeys(EntryStatus, 0), hosts)
    assert frontier.endswith(" · 0 hosts open, 1 being asked, 1 waiting, the first that waits opens in 5m")


def test_a_fourth_line_tells_of_hubs_where_there_are_any() -> None:
    counts = (NOW, {"active": 1}, 1, 0, 1, 1, 0, 1, None, None)
    none, some = PushSummary(0, 0, 0, None), PushSummary(12, 10, 8, NOW - timedelta(minutes=3))
    assert push_lines(DiscoverySummary(*counts, push=none)) == []
    said = "Push      12 channels with a hub, 10 subscribed, 8 pushed so that polls are rare · last push 3m ago"
    assert push_lines(DiscoverySummary(*counts, push=some)) == [said]


def test_of_the_pages_to_learn_from_never_more_are_new_than_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    never: dict[str, Any] = {"learn_at": None, "learned_at": None, "disabled_at": None}
    show_learning(HostReport(host="a.example", pages=8, fresh=10, failures=0, why="", outcome="", **never), NOW)
    assert "  8 stored pages to learn from, 8 of them new since the last training\n" in capsys.readouterr().out


def test_a_mapping_names_fields_and_their_columns() -> None:
    assert mapping_from(" url = Web site , name=Org,") == {"url": "Web site", "name": "Org"}
    assert mapping_from("") == {}
    with pytest.raises(UsageError, match="is not understood"):
        mapping_from("url")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("priority=8", ("priority", 8)),
        ("priority=", ("priority", 5)),
        ("allow_external=No", ("allow_external", False)),
        ("allow_external=", ("allow_external", False)),
        ("poll_every=", ("poll_every", None)),
        ("tags= a , ,b", ("tags", ("a", "b"))),
        ("selectors=", ("selectors", {})),
        ("parser_hint=a=b", ("parser_hint", "a=b")),
        ("feed_url=", ("feed_url", ())),
        (
            "feed_url=https://a.example/1,2 ,https://b.example",
            ("feed_url", ("https://a.example/1,2", "https://b.example/")),
        ),
    ],
)
def test_an_assignment_is_read_as_its_field_wants_it(text: str, told: tuple[str, object]) -> None:
    assert read_assignment(text) == told
