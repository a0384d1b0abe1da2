"""Was that us? Each answer, from what a site owner can know."""

from datetime import UTC, datetime, timedelta
from ipaddress import ip_address

import pytest

from headwater.errors import UsageError
from headwater.reports.verifying import (
    LoggedRequest,
    SeenRequest,
    WasUs,
    judge_address,
    judge_seen,
    moment_in,
    seen_request_from,
)

NOW = datetime(2026, 11, 18, 22, 36, 14, tzinfo=UTC)
SINCE = NOW - timedelta(days=30)
MINUTES = timedelta(minutes=2)
PUBLIC, OTHER, INSIDE = ip_address("198.51.100.7"), "203.0.113.5", ip_address("10.0.0.7")
PAGE, HOST = "https://example.org/story", "example.org"


def seen(place: str = PAGE, address: str = "", at: str = "2026-11-18T22:36:14Z") -> SeenRequest:
    return seen_request_from(place, at, address, MINUTES)


def logged(sent_from: object = INSIDE, kind: str = "page", *, is_page: bool = True) -> LoggedRequest:
    return LoggedRequest(HOST, NOW, kind, 200, sent_from, is_page, is_page)  # type: ignore[arg-type]


def answer(seen: SeenRequest, *requests: LoggedRequest, egress: tuple[str, ...] = ()) -> WasUs:
    return judge_seen(seen, requests, egress, SINCE, NOW + MINUTES).was_us


def test_the_page_at_that_time_was_ours() -> None:
    assert answer(seen(), logged()) is WasUs.YES


def test_a_host_needs_no_page() -> None:
    assert answer(seen(HOST), logged(is_page=False)) is WasUs.YES


def test_another_page_of_the_host_is_only_likely() -> None:
    assert answer(seen(), logged(is_page=False)) is WasUs.LIKELY


@pytest.mark.parametrize(
    ("place", "kind", "was_us"),
    [
        ("https://example.org/robots.txt", "robots", WasUs.YES),
        ("https://example.org/.well-known/tdmrep.json", "rights", WasUs.YES),
        (PAGE, "robots", WasUs.LIKELY),
        (PAGE, "render", WasUs.LIKELY),
        (PAGE, "feed", WasUs.LIKELY),
    ],
)
def test_what_stands_at_one_place_on_every_host_is_known_by_its_kind(place: str, kind: str, was_us: WasUs) -> None:
    assert answer(seen(place), logged(kind=kind, is_page=False)) is was_us


def test_a_poll_of_the_channel_that_stands_there_was_ours() -> None:
    assert answer(seen(), logged(kind="feed")) is WasUs.YES


def test_nothing_in_the_log_is_a_no() -> None:
    assert answer(seen()) is WasUs.NO


def test_before_the_log_nobody_knows() -> None:
    assert answer(seen(at="2026-01-01T00:00:00Z")) is WasUs.UNKNOWN
    assert judge_seen(seen(), [], (), None, NOW).was_us is WasUs.UNKNOWN


def test_a_time_to_come_is_nobodys() -> None:
    assert judge_seen(seen(at="2026-11-19T00:00:00Z"), [], (), SINCE, NOW).was_us is WasUs.UNKNOWN


@pytest.mark.parametrize(
    ("sent_from", "address", "egress", "was_us"),
    [
        (PUBLIC, str(PUBLIC), (), WasUs.YES),
        (PUBLIC, OTHER, (), WasUs.NO),
        (PUBLIC, OTHER, (OTHER,), WasUs.NO),
        (INSIDE, OTHER, (), WasUs.LIKELY),
        (INSIDE, OTHER, ("203.0.113.0/24",), WasUs.YES),
        (INSIDE, OTHER, ("192.0.2.0/24",), WasUs.NO),
        (None, OTHER, (), WasUs.LIKELY),
        (None, OTHER, (OTHER,), WasUs.YES),
    ],
)
def test_an_address_is_compared_with_what_others_can_have_seen(
    sent_from: object, address: str, egress: tuple[str, ...], was_us: WasUs
) -> None:
    # Documentation addresses count as private: a public one stands in for ours.
    of_ours = ip_address("8.8.8.8") if sent_from == PUBLIC else sent_from
    asked = "8.8.8.8" if address == str(PUBLIC) else address
    assert answer(seen(address=asked), logged(of_ours), egress=egress) is was_us


@pytest.mark.parametrize(
    ("configured", "recent", "is_nat_told", "was_us"),
    [
        (("203.0.113.0/24",), set(), True, WasUs.YES),
        ((), {ip_address(OTHER)}, False, WasUs.YES),
        ((), {ip_address("8.8.8.8")}, False, WasUs.NO),
        ((), {INSIDE}, False, WasUs.UNKNOWN),
        ((), set(), False, WasUs.UNKNOWN),
        (("192.0.2.1",), {INSIDE}, True, WasUs.NO),
    ],
)
def test_an_address_alone(configured: tuple[str, ...], recent: set[object], is_nat_told: bool, was_us: WasUs) -> None:
    found = judge_address(ip_address(OTHER), configured, recent, is_nat_told=is_nat_told)  # type: ignore[arg-type]
    assert found.was_us is was_us


@pytest.mark.parametrize(
    "written",
    [
        "2026-11-18T22:36:14Z",
        "2026-11-18 23:36:14+01:00",
        "18/Nov/2026:22:36:14 +0000",
        "[18/Nov/2026:23:36:14 +0100]",
        "1795041374",
        " 1795041374.0 ",
    ],
)
def test_times_are_read_as_site_owners_have_them(written: str) -> None:
    assert moment_in(written) == NOW


@pytest.mark.parametrize(
    "written",
    [
        *("yesterday", "2026-11-18T22:36:14", "18/Now/2026:22:36:14 +0000", "9" * 400, "\0"),
        *("9999-12-31T23:59:59Z", "0001-01-01T00:00:00Z", "99999999999"),
    ],
)
def test_a_time_that_could_be_several_is_refused(written: str) -> None:
    with pytest.raises(UsageError, match="no time with its zone"):
        moment_in(written)


@pytest.mark.parametrize(
    ("place", "at", "address", "says"),
    [
        ("", "", "", "What was seen is not said"),
        ("", "", "\x1c", "What was seen is not said"),
        (PAGE, "", "", "When it was seen"),
        ("", "", "example.org", "no address of a machine"),
    ],
)
def test_a_question_that_is_none_says_what_it_needs(place: str, at: str, address: str, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        seen_request_from(place, at, address, MINUTES)


@pytest.mark.parametrize("tolerance", [timedelta(), timedelta(minutes=11)])
def test_a_tolerance_has_bounds(tolerance: timedelta) -> None:
    with pytest.raises(UsageError, match="tolerance"):
        seen_request_from(PAGE, "1795041374", "", tolerance)
