"""What an answer means for a poll."""

from datetime import UTC, datetime, timedelta

import pytest

from headwater.discover.cadence.rests import ErrorClass
from headwater.discover.polls.requesting import Body, Deferred, NotModified, RobotsRefusal, Trouble, classify
from headwater.fetch.outcomes import (
    Answered,
    BadRedirect,
    Disallowed,
    Failed,
    Later,
    LeaseLost,
    RobotsUnknown,
    TakenDown,
)
from headwater.net.body import BodyOutcome, Complete, TooLarge, Truncated, Undecodable
from headwater.net.problems import FetchProblem, Problem
from headwater.net.redirects import PermanentRun
from headwater.net.transport import Response
from headwater.politeness.robots import parse_robots
from headwater.sources.causes import ErrorCause
from headwater.urls.canonical import canonicalise

URL = canonicalise("http://a.test/feed")


def answer(status: int, content: BodyOutcome = Complete(b"x"), retry_after: str = "") -> Response:  # noqa: B008
    headers = {"Retry-After": retry_after} if retry_after else {}
    raw = [(name.encode(), value.encode()) for name, value in headers.items()]
    return Response(URL, status, headers, raw, content, timedelta(), False, None, datetime(2026, 3, 2, tzinfo=UTC))


def heard(status: int, content: BodyOutcome = Complete(b"x"), retry_after: str = "") -> object:  # noqa: B008
    return classify(Answered(answer(status, content, retry_after), 0, PermanentRun()), is_conditional=True)


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (400, ErrorClass.UPSTREAM),
        (401, ErrorClass.FORBIDDEN),
        (403, ErrorClass.FORBIDDEN),
        (404, ErrorClass.NOT_FOUND),
        (410, ErrorClass.GONE),
        (429, ErrorClass.RATE_LIMITED),
        (451, ErrorClass.FORBIDDEN),
        (500, ErrorClass.UPSTREAM),
        (503, ErrorClass.UPSTREAM),
    ],
)
def test_every_status_has_its_class(status: int, error: ErrorClass) -> None:
    trouble = heard(status)
    assert isinstance(trouble, Trouble)
    assert (trouble.error, trouble.status, trouble.message) == (error, status, f"HTTP {status}")


def test_how_long_to_stay_away_is_heard() -> None:
    trouble = heard(503, retry_after="120")
    assert isinstance(trouble, Trouble)
    assert trouble.retry_after == timedelta(minutes=2)


def test_a_304_counts_only_if_it_was_asked_for() -> None:
    assert isinstance(heard(304), NotModified)
    unasked = classify(Answered(answer(304), 0, PermanentRun()), is_conditional=False)
    assert isinstance(unasked, Trouble)
    assert unasked.error is ErrorClass.UNREADABLE


def test_where_permanent_redirects_led_is_told_with_the_body() -> None:
    new = canonicalise("http://b.test/feed")
    body = classify(Answered(answer(200), 1, PermanentRun(new)), is_conditional=False)
    assert isinstance(body, Body)
    assert body.moved_to == new


@pytest.mark.parametrize(
    ("content", "error"),
    [
        (TooLarge(b"x"), ErrorClass.UNREADABLE),
        (Undecodable("gzip"), ErrorClass.UNREADABLE),
        (Truncated(b"x"), ErrorClass.NETWORK),
    ],
)
def test_half_a_body_is_none(content: BodyOutcome, error: ErrorClass) -> None:
    trouble = heard(200, content)
    assert isinstance(trouble, Trouble)
    assert trouble.error is error


@pytest.mark.parametrize(
    ("kind", "error"),
    [
        (Problem.BLOCKED_ADDRESS, ErrorClass.FORBIDDEN),
        (Problem.DNS_NOT_FOUND, ErrorClass.NETWORK),
        (Problem.TIMEOUT, ErrorClass.NETWORK),
        (Problem.HEADER_LIMIT, ErrorClass.UNREADABLE),
    ],
)
def test_every_problem_has_its_class(kind: Problem, error: ErrorClass) -> None:
    trouble = classify(Failed(FetchProblem(kind, "why"), 0), is_conditional=False)
    assert isinstance(trouble, Trouble)
    assert (trouble.error, trouble.message) == (error, f"{kind}: why")


def test_waiting_for_a_host_is_no_error() -> None:
    minute = timedelta(minutes=1)
    assert classify(Later(minute, URL, 0, "delay"), is_conditional=False) == Deferred(minute, "a.test: delay")
    asked = RobotsUnknown(minute, "its host asks us to wait", is_asked=True)
    assert classify(asked, is_conditional=False) == Deferred(minute, "its host asks us to wait")
    assert isinstance(classify(LeaseLost(), is_conditional=False), Deferred)


def test_robots_that_cannot_be_had_keep_a_run_from_beginning() -> None:
    minute = timedelta(minutes=1)
    for status, error in ((None, ErrorClass.NETWORK), (500, ErrorClass.UPSTREAM)):
        heard = classify(RobotsUnknown(minute, "why", status=status), is_conditional=False)
        trouble = Trouble(error, "why", status, robots_wait=minute, cause=ErrorCause.ROBOTS_UNREACHABLE)
        assert heard == Deferred(minute, "why", trouble)


@pytest.mark.parametrize(
    ("outcome", "cause"),
    [
        (Failed(FetchProblem(Problem.BLOCKED_ADDRESS, "10.0.0.1:80 is off limits: private"), 0), "private_address"),
        (Failed(FetchProblem(Problem.DNS_NOT_FOUND, "no such name"), 0), "dead_domain"),
        (Failed(FetchProblem(Problem.TIMEOUT, "10 s"), 0), None),
        (RobotsUnknown(timedelta(), "robots.txt could not be had (dns_not_found: no such name)"), "dead_domain"),
        (RobotsUnknown(timedelta(), "robots.txt could not be had (timeout: 10 s)"), "robots_unreachable"),
    ],
)
def test_the_cause_of_an_error_is_a_value(outcome: Failed | RobotsUnknown, cause: str | None) -> None:
    heard = classify(outcome, is_conditional=False)
    trouble = heard.trouble if isinstance(heard, Deferred) else heard
    assert isinstance(trouble, Trouble)
    assert trouble.cause == cause


def test_refusals_are_told_apart() -> None:
    decision = parse_robots(b"User-agent: *\nDisallow: /feed\n", "headwater").decide("/feed")
    assert classify(Disallowed(URL, decision), is_conditional=False) == RobotsRefusal(
        "/feed: line 2 of robots.txt, Disallow: /feed"
    )
    assert isinstance(classify(TakenDown(URL), is_conditional=False), Trouble)
    assert isinstance(classify(BadRedirect("self_loop", 1, answer(301)), is_conditional=False), Trouble)
