from collections.abc import Mapping, Sequence

import pytest

from headwater.simweb.message import Request
from headwater.simweb.questions import (
    Allows,
    by_host,
    connections,
    disallowed,
    highest_concurrency,
    report,
    smallest_gap,
    smallest_gaps,
    statuses,
    unconditional_repeats,
)
from headwater.simweb.rules import allows, rules_for
from headwater.simweb.visits import Visit, VisitLog

ROBOTS = """
User-agent: *
Disallow: /members/
Allow: /members/open
Disallow: /members/open/not
Disallow: /*.pdf$
Disallow: /tie
Allow: /tie
Sitemap: /map.xml

User-agent: otherbot
User-agent: HeadwaterBot
Disallow: /slow
"""


def visited(
    log: VisitLog, at: float, until: float | None, url: str = "a.test/", connection: int = 1, if_none_match: str = ""
) -> Visit:
    host, _, path = url.partition("/")
    visit = log.begin(Request("GET", host, "/" + path, "", {"if-none-match": if_none_match}), connection, at, at)
    visit.status = 200
    if until is not None:
        log.finish(visit, until)
    return visit


def test_the_smallest_gap_is_between_arrivals_at_one_host_in_whatever_order_they_were_noted() -> None:
    log = VisitLog()
    for at, url in ((3.0, "a.test/"), (0.0, "a.test/"), (1.5, "a.test/"), (1.6, "b.test/"), (9.0, "c.test/")):
        visited(log, at, at, url)
    assert smallest_gap(log.of("a.test")) == 1.5
    assert smallest_gaps(log.all()) == {"a.test": 1.5}
    assert smallest_gap(log.of("c.test")) is None


def test_a_gap_is_between_arrivals_however_late_the_server_read_them() -> None:
    log = VisitLog()
    for arrived, read in ((1.0, 1.3), (1.3, 1.3)):
        log.begin(Request("GET", "a.test", "/", "", {}), 1, arrived, read)
    assert smallest_gap(log.all()) == pytest.approx(0.3)


def test_concurrency_counts_what_is_open_and_not_what_merely_touches() -> None:
    log = VisitLog()
    visited(log, 0, 10)
    visited(log, 2, 5)
    visited(log, 5, 6)
    assert highest_concurrency(log.all()) == 2
    visited(log, 3, None)
    assert highest_concurrency(log.all()) == 3


def test_asking_again_without_the_validators_we_gave_is_noticed() -> None:
    log = VisitLog()
    visited(log, 0, 1).got_validators = True
    visited(log, 1, 2, if_none_match='"x"')
    rude = visited(log, 2, 3)
    visited(log, 3, 4, "a.test/without").got_validators = False
    visited(log, 4, 5, "a.test/without")
    assert unconditional_repeats(log.all()) == [rude]


def test_forbidden_visits_are_found_by_prefix() -> None:
    log = VisitLog()
    rude = visited(log, 0, 1, "a.test/members/x")
    visited(log, 1, 2, "b.test/members/x")
    assert disallowed(log.all(), allows_by_prefix({"a.test": ["/members/"]})) == [rude]


def test_counts_by_status_host_and_connection() -> None:
    log = VisitLog()
    visited(log, 0, 1, connection=1)
    visited(log, 1, 2, connection=1).status = 304
    visited(log, 2, 3, connection=2)
    assert statuses(log.all()) == {200: 2, 304: 1}
    assert connections(log.all()) == 2
    assert {host: len(group) for host, group in by_host(log.all()).items()} == {"a.test": 3}


def test_the_ring_says_how_much_it_dropped() -> None:
    log = VisitLog(most=3)
    for at in range(5):
        visited(log, at, at)
    assert [visit.number for visit in log.all()] == [3, 4, 5]
    assert log.dropped == 2
    assert [visit.number for visit in log.of(since=4)] == [5]


def test_the_report_covers_every_host_and_the_whole() -> None:
    log = VisitLog()
    for at, url in ((0.0, "a.test/"), (0.25, "a.test/members/"), (0.3, "b.test/")):
        visited(log, at, at + 0.01, url)
    told = report(log.all(), allows_by_prefix({"a.test": ["/members/"]}))
    total, hosts = told["total"], told["hosts"]
    assert isinstance(total, dict)
    assert isinstance(hosts, dict)
    assert (total["hosts"], total["requests"], total["smallest_gap_ms"], total["disallowed"]) == (2, 3, 250.0, 1)
    assert (hosts["b.test"]["requests"], hosts["b.test"]["smallest_gap_ms"]) == (1, None)


def test_the_owners_reading_of_robots_follows_the_longest_rule() -> None:
    everyone = rules_for("somebot", ROBOTS)
    for target, may in (
        ("/", True),
        ("/members/1", False),
        ("/members/open/1", True),
        ("/members/open/not/this", False),
        ("/a.pdf", False),
        ("/a.pdf?x", True),
        ("/slow", True),
        ("/tie", True),
        ("/robots.txt", True),
    ):
        assert allows(everyone, target) is may, target


def test_a_named_agent_has_its_own_group_only() -> None:
    named = rules_for("headwaterbot", ROBOTS)
    assert not allows(named, "/slow/1")
    assert allows(named, "/members/1")
    assert allows(rules_for("x", ""), "/anything")


def allows_by_prefix(forbidden: Mapping[str, Sequence[str]]) -> Allows:
    return lambda host, target: not target.startswith(tuple(forbidden.get(host, ())))
