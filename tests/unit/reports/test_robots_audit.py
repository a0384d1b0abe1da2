"""Which rules a request is judged by."""

from datetime import UTC, datetime, timedelta

import pytest

from headwater.politeness.robots import parse_robots
from headwater.reports.robots import Rules, rule_broken
from headwater.urls.canonical import canonicalise

CHANGED = datetime(2026, 5, 1, 12, tzinfo=UTC)
URL = canonicalise("https://a.example/private/page")
OPEN, SHUT = parse_robots(b"", "headwater"), parse_robots(b"User-agent: *\nDisallow: /private", "headwater")


@pytest.mark.parametrize(
    ("before", "now", "minutes", "is_broken"),
    [
        (OPEN, SHUT, -1, False),  # requested while it was allowed
        (OPEN, SHUT, 0.5, False),  # judged before the change, begun after it
        (OPEN, SHUT, 2, True),
        (SHUT, OPEN, -1, True),
        (SHUT, OPEN, 2, False),
        (SHUT, SHUT, 0.5, True),
        (None, SHUT, -1, False),
        (None, SHUT, 2, True),
    ],
)
def test_a_request_is_judged_by_the_rules_of_its_time(before, now, minutes: float, is_broken: bool) -> None:  # type: ignore[no-untyped-def]
    rules = [Rules(before, CHANGED), Rules(now, None)]
    assert bool(rule_broken(rules, URL, CHANGED + timedelta(minutes=minutes))) is is_broken


def test_where_only_former_rules_are_known_the_last_ones_hold() -> None:
    assert rule_broken([Rules(SHUT, CHANGED)], URL, CHANGED + timedelta(days=1)) == "Disallow: /private"
