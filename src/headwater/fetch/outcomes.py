"""The possible outcomes of a fetch, as values."""

from dataclasses import dataclass
from datetime import timedelta

from headwater.net.problems import FetchProblem
from headwater.net.redirects import PermanentRun
from headwater.net.transport import Response
from headwater.politeness.robots import Decision
from headwater.rights.headers import price_in
from headwater.rights.record import UseStatement
from headwater.urls.canonical import CanonicalUrl


@dataclass(frozen=True, slots=True)
class Answered:
    """A final answer, whatever its status. `permanent` may replace a channel's address.

    `statements` on its use were asked for beside it: those of robots.txt and tdmrep.json.
    """

    response: Response
    hops: int
    permanent: PermanentRun
    allow_js: bool = False  # by its host's policy
    statements: tuple[UseStatement, ...] = ()


@dataclass(frozen=True, slots=True)
class LedAway:
    """Redirected to another host, a place with its own slot and rules; or to another page, if that was not wanted."""

    to: CanonicalUrl
    hops: int
    response: Response
    permanent: PermanentRun


@dataclass(frozen=True, slots=True)
class Disallowed:
    """robots.txt forbids it; the decision names the line."""

    url: CanonicalUrl
    decision: Decision


@dataclass(frozen=True, slots=True)
class TakenDown:
    url: CanonicalUrl


@dataclass(frozen=True, slots=True)
class RobotsUnknown:
    """robots.txt could not be had: nothing is asked of the host until then. `is_final` after thirty days of that."""

    wait: timedelta
    why: str
    is_final: bool = False
    status: int | None = None  # that robots.txt was answered with; None: there was no answer
    is_asked: bool = False  # the host itself asked for the wait: it is no failure


@dataclass(frozen=True, slots=True)
class Later:
    """The next request has no slot soon: go on from here then."""

    wait: timedelta
    url: CanonicalUrl
    hops: int
    why: str


@dataclass(frozen=True, slots=True)
class BadRedirect:
    reason: str
    hops: int
    response: Response


@dataclass(frozen=True, slots=True)
class Failed:
    problem: FetchProblem
    hops: int


@dataclass(frozen=True, slots=True)
class LeaseLost:
    """Another worker may hold the entry: drop everything."""


FetchOutcome = Answered | LedAway | Disallowed | TakenDown | RobotsUnknown | Later | BadRedirect | Failed | LeaseLost


def status_with_price(response: Response) -> str:
    """The status, and the price and licence that its header names."""
    headers = ((name.decode("latin-1"), value.decode("latin-1")) for name, value in response.raw_headers)
    price = price_in(headers, response.url.url)
    return f"HTTP {response.status}" + (f"; {price}" if any(price) else "")
