"""The meaning of an answer to a request for robots.txt, and how long it holds (RFC 9309 2.3.1, 2.4). Pure."""

from datetime import datetime, timedelta
from enum import StrEnum

FRESH_FOR = timedelta(hours=24)
FRESH_FOR_JOBS = timedelta(hours=12)
# A site that says max-age=0 would have us ask before every page.
FRESH_AT_LEAST = timedelta(hours=1)
UNREACHABLE_AT_MOST = timedelta(days=30)


class RobotsFailure(StrEnum):
    """Why there is no status."""

    TIMEOUT = "timeout"
    DNS = "dns"
    TLS = "tls"
    CONNECTION = "connection"
    BODY = "body"  # broke off, or cannot be decompressed
    REFUSED_ADDRESS = "refused_address"  # a redirect to where we do not go


class RobotsAccess(StrEnum):
    RULES = "rules"  # the body says
    UNCHANGED = "unchanged"  # the copy says, and is fresh again
    ALLOW_ALL = "allow_all"  # there is none ("unavailable")
    UNREACHABLE = "unreachable"  # nobody knows: not now


class WhileUnreachable(StrEnum):
    USE_COPY = "use_copy"
    WAIT = "wait"
    GIVE_UP = "give_up"


def access_from_response(answer: int | RobotsFailure) -> RobotsAccess:
    """`answer` is the status after at most five redirects; one that still redirects counts as none at all."""
    if isinstance(answer, RobotsFailure):
        return RobotsAccess.UNREACHABLE
    if 200 <= answer < 300:
        return RobotsAccess.RULES
    if answer == 304:
        return RobotsAccess.UNCHANGED
    # 429 is about our pace, not about the file: a host that asks for less must not get everything.
    if 300 <= answer < 500 and answer != 429:
        return RobotsAccess.ALLOW_ALL
    return RobotsAccess.UNREACHABLE


def fresh_for(max_age: timedelta | None, *, is_job_host: bool) -> timedelta:
    """`max_age` of Cache-Control may shorten our own term, never lengthen it."""
    longest = FRESH_FOR_JOBS if is_job_host else FRESH_FOR
    return longest if max_age is None else min(max(max_age, FRESH_AT_LEAST), longest)


def while_unreachable(since: datetime, now: datetime, *, has_copy: bool) -> WhileUnreachable:
    """`since` is the first failure after the last answer; after 30 days entries die `unreachable`, copy or not."""
    if now - since >= UNREACHABLE_AT_MOST:
        return WhileUnreachable.GIVE_UP
    return WhileUnreachable.USE_COPY if has_copy else WhileUnreachable.WAIT
