"""What an answer means for a poll. Pure: from what happened on the web to a few values."""

from dataclasses import dataclass
from datetime import timedelta

from headwater.discover.cadence.rests import ErrorClass
from headwater.fetch.outcomes import (
    Answered,
    BadRedirect,
    Disallowed,
    Failed,
    Later,
    LeaseLost,
    LedAway,
    Outcome,
    RobotsUnknown,
    TakenDown,
)
from headwater.fetch.request import wait_asked_for
from headwater.net.problems import FetchProblem, Problem, problem_with
from headwater.net.redirects import flaw_in_words
from headwater.net.transport import Response
from headwater.urls.canonical import CanonicalUrl

AGAIN_SOON = timedelta(seconds=5)
REFUSALS = frozenset({401, 402, 403, 407, 451})
UNREADABLE = frozenset({Problem.BAD_RESPONSE, Problem.HEADER_LIMIT, Problem.TOO_LARGE, Problem.BAD_ENCODING})


@dataclass(frozen=True, slots=True)
class Body:
    """`moved_to`: where an unbroken run of permanent redirects led, if any."""

    response: Response
    moved_to: CanonicalUrl | None = None
    sitemaps: tuple[str, ...] = ()  # that robots.txt names, where a search wants to know
    is_from_cache: bool = False  # it was the answer to a search, and cost no request


@dataclass(frozen=True, slots=True)
class NotModified:
    response: Response
    moved_to: CanonicalUrl | None = None


@dataclass(frozen=True, slots=True)
class Trouble:
    error: ErrorClass
    message: str
    status: int | None = None
    retry_after: timedelta = timedelta()
    is_deadly: bool = False  # it ended the process that read it, or the one that polled
    robots_wait: timedelta = timedelta()  # until robots.txt may be asked for again

    @property
    def is_passing(self) -> bool:
        """Whether the same request may well succeed in a moment."""
        is_servers = self.error is ErrorClass.UPSTREAM and (self.status or 0) >= 500
        return is_servers or self.error is ErrorClass.NETWORK


@dataclass(frozen=True, slots=True)
class RobotsRefusal:
    message: str


@dataclass(frozen=True, slots=True)
class Deferred:
    """The run stops here and goes on later: no slot soon, no robots.txt now, a closed time window.

    `trouble` is what keeps a run from beginning, where it is an error of the channel.
    """

    wait: timedelta
    why: str
    trouble: Trouble | None = None


Heard = Body | NotModified | Trouble | RobotsRefusal | Deferred


def classify(outcome: Outcome, *, is_conditional: bool) -> Heard:
    match outcome:
        case Answered(response, _, permanent):
            return _heard_answer(response, permanent.target, is_conditional=is_conditional)
        case Disallowed(url, decision):
            # Without the query, which may hold an API's key.
            path = url.target.partition("?")[0]
            return RobotsRefusal(f"{path}: line {decision.line_number} of robots.txt, {decision.rule_text}")
        case TakenDown(url):
            return Trouble(ErrorClass.FORBIDDEN, f"{url.host} is on the takedown list")
        case RobotsUnknown():
            return _without_robots(outcome)
        case Later(wait, url, _, why):
            return Deferred(wait, f"{url.host}: {why}")
        case LeaseLost():
            return Deferred(AGAIN_SOON, "its place at the host was lost")
        case BadRedirect(reason, _, response):
            why = f"a redirect that leads nowhere: {flaw_in_words(reason)}"
            return Trouble(ErrorClass.UPSTREAM, why, response.status)
        case LedAway(to, _, response):
            return Trouble(ErrorClass.UPSTREAM, f"redirected to {to.host}", response.status)
        case Failed(problem):
            return _heard_problem(problem)


def _without_robots(unknown: RobotsUnknown) -> Deferred:
    wait, why, status = unknown.wait, unknown.why, unknown.status
    error = ErrorClass.NETWORK if status is None else ErrorClass.UPSTREAM
    return Deferred(wait, why, None if unknown.is_asked else Trouble(error, why, status, robots_wait=wait))


def is_no_page(heard: Heard) -> bool:
    """Its host answers, only not with this page. One that fails, or was asked too often, is asked nothing more."""
    if not isinstance(heard, Trouble) or heard.error is ErrorClass.RATE_LIMITED:
        return False
    return 400 <= (heard.status or 0) < 500


def _heard_answer(response: Response, moved_to: CanonicalUrl | None, *, is_conditional: bool) -> Heard:
    status = response.status
    if status == 304:
        if is_conditional:
            return NotModified(response, moved_to)
        return Trouble(ErrorClass.UNREADABLE, "HTTP 304 to a request without validators", status)
    if 200 <= status < 300:
        if problem := problem_with(response.content):
            return _heard_problem(problem, status)
        return Body(response, moved_to)
    wait = wait_asked_for(response) or timedelta()
    return Trouble(_class_of(status), f"HTTP {status}", status, wait)


def _class_of(status: int) -> ErrorClass:
    named = {404: ErrorClass.NOT_FOUND, 410: ErrorClass.GONE, 429: ErrorClass.RATE_LIMITED}
    if status in named:
        return named[status]
    return ErrorClass.FORBIDDEN if status in REFUSALS else ErrorClass.UPSTREAM


def _heard_problem(problem: FetchProblem, status: int | None = None) -> Trouble:
    message = f"{problem.kind}: {problem.detail}" if problem.detail else str(problem.kind)
    if problem.kind is Problem.BLOCKED_ADDRESS:
        return Trouble(ErrorClass.FORBIDDEN, message)
    return Trouble(ErrorClass.UNREADABLE if problem.kind in UNREADABLE else ErrorClass.NETWORK, message, status)
