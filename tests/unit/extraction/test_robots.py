from datetime import UTC, datetime

import pytest

from headwater.extraction.robots import PageRobots, robots_of

NOW = datetime(2026, 5, 4, tzinfo=UTC)
NOTHING, INDEX, FOLLOW, BOTH = (
    PageRobots(),
    PageRobots(noindex=True),
    PageRobots(nofollow=True),
    PageRobots(noindex=True, nofollow=True),
)


def asked(*metas: tuple[str, str], headers: tuple[str, ...] = ()) -> PageRobots:
    return robots_of(metas, headers, "Headwater", UTC, NOW)


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("noindex", INDEX),
        ("NoIndex , NOFOLLOW", BOTH),
        ("none", BOTH),
        ("all", NOTHING),
        ("headwater: noindex", INDEX),
        ("otherbot: noindex, nofollow", NOTHING),
        ("otherbot: noindex, headwater: nofollow", FOLLOW),
        ("noindex, otherbot: nofollow", INDEX),
        ("max-snippet: 20, nofollow", FOLLOW),
        ("headwaterbot: none", NOTHING),
        ("", NOTHING),
    ],
)
def test_the_header_speaks_to_all_or_to_us_by_name(header: str, expected: PageRobots) -> None:
    assert asked(headers=(header,)) == expected


def test_the_page_speaks_to_all_or_to_us_by_name() -> None:
    assert asked(("robots", "noindex")) == INDEX
    assert asked(("headwater", "nofollow")) == FOLLOW
    assert asked(("googlebot", "none")) == NOTHING


def test_the_strictest_word_wins() -> None:
    assert asked(("robots", "index, follow"), ("headwater", "noindex"), headers=("nofollow",)) == BOTH


@pytest.mark.parametrize("written", ["2026-05-01", "Fri, 01 May 2026 00:00:00 GMT", "01 May 2026 00:00:00 GMT"])
def test_a_page_that_has_run_out_must_not_be_indexed(written: str) -> None:
    assert asked(headers=(f"unavailable_after: {written}",)).noindex
    assert not asked(headers=(f"unavailable_after: {written.replace('2026', '2030')}",)).noindex
    assert asked(headers=(f"unavailable_after: {written}",)).unavailable_after == datetime(2026, 5, 1, tzinfo=UTC)
