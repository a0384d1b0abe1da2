"""The verdicts on a request, and the change of entry and host that each of them means. Pure."""

from dataclasses import dataclass, field
from datetime import timedelta

from headwater.chance import Random
from headwater.frontier.entry import DeadReason, EntryStatus, Lease
from headwater.politeness.backoff import Backoff, wait_before_retry
from headwater.politeness.slots import HOST_OK, HOST_SAID_SLOW_DOWN, HOST_UNJUDGED, HOST_UNREACHABLE, Settlement, Visit
from headwater.storable import storable

LONGEST_CLOSURE = timedelta(hours=24)


@dataclass(frozen=True, slots=True)
class Fetched:
    etag: str | None = None
    last_modified: str | None = None
    content_hash: bytes | None = None  # of the extracted text; until a page is read, of its body
    fetch_url: str | None = None  # the better spelling of the same page, learned from a redirect
    revisit_in: timedelta | None = None
    no_document: str | None = None  # the word for why none was made of it, for the log


@dataclass(frozen=True, slots=True)
class Unchanged:
    etag: str | None = None
    last_modified: str | None = None
    revisit_in: timedelta | None = None


@dataclass(frozen=True, slots=True)
class Moved:
    """To another page: this entry ends, its target is an entry of its own and goes on counting hops."""

    to: str
    hops: int = 1


@dataclass(frozen=True, slots=True)
class RetryLater:
    """The attempt failed and counts. `is_connection`: the host itself did not answer, which may rest it."""

    reason: str
    detail: str = ""
    asked_by_server: timedelta = timedelta()
    gives_up_as: DeadReason = DeadReason.MAX_RETRIES
    is_connection: bool = False


@dataclass(frozen=True, slots=True)
class HostSaysWait:
    """429, 503 and their like close the host, not the entry: it does not count against the URL."""

    wait: timedelta
    reason: str = "rate_limited"
    closure: str = "retry_after"
    slows_us_down: bool = True


@dataclass(frozen=True, slots=True)
class Postponed:
    """The journey goes on later where it stopped: its next hop has no slot soon."""

    wait: timedelta
    resume_url: str
    hops: int


@dataclass(frozen=True, slots=True)
class Dead:
    reason: DeadReason
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Released:
    """Given back unworked: a shutdown, or a slot that could not be used in time."""


Verdict = Fetched | Unchanged | Moved | RetryLater | HostSaysWait | Postponed | Dead | Released


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    max_retries: int = 3
    backoff: Backoff = field(default_factory=Backoff)


def settlement_of(lease: Lease, verdict: Verdict, visit: Visit, policy: RetryPolicy, random: Random) -> Settlement:
    """The change that a verdict means. The fence, the counters and the log are the database's part."""
    base = _of_visit(lease, visit)
    match verdict:
        case Fetched():
            return settle_fetched(base, verdict)
        case Unchanged():
            return settle_unchanged(base, verdict)
        case Moved(to):
            return dead(base, Dead(DeadReason.REDIRECT, f"moved to {to}"))._replace(
                verdict="moved", moved_to=to, host_feedback=HOST_OK
            )
        case RetryLater():
            return retry_later(base, verdict, lease.retry_count + 1, policy, random)
        case HostSaysWait():
            return host_says_wait(base, verdict)
        case Postponed(wait, resume_url, hops):
            return base._replace(
                verdict="postponed", status=EntryStatus.PENDING, next_fetch_in=wait, resume_url=resume_url, hops=hops
            )
        case Dead():
            return dead(base, verdict)
        case Released():
            return base._replace(verdict="released", resume_url=lease.resume_url, hops=lease.hops)


def settle_fetched(base: Settlement, verdict: Fetched) -> Settlement:
    return base._replace(
        verdict="fetched",
        status=EntryStatus.FETCHED,
        etag=storable(verdict.etag),
        last_modified=storable(verdict.last_modified),
        content_hash=verdict.content_hash,
        fetch_url=verdict.fetch_url,
        revisit_in=verdict.revisit_in,
        reason=verdict.no_document,
        host_feedback=HOST_OK,
    )


def settle_unchanged(base: Settlement, verdict: Unchanged) -> Settlement:
    return base._replace(
        verdict="unchanged",
        status=EntryStatus.FETCHED,
        etag=storable(verdict.etag),
        last_modified=storable(verdict.last_modified),
        revisit_in=verdict.revisit_in,
        host_feedback=HOST_OK,
    )


def retry_later(base: Settlement, verdict: RetryLater, attempt: int, policy: RetryPolicy, random: Random) -> Settlement:
    host_feedback = HOST_UNREACHABLE if verdict.is_connection else HOST_UNJUDGED
    if attempt > policy.max_retries:
        detail = f"{attempt} attempts failed, the last by {verdict.reason}: {verdict.detail}"
        return dead(base, Dead(verdict.gives_up_as, detail))._replace(host_feedback=host_feedback)
    return base._replace(
        verdict="retry_later",
        status=EntryStatus.FAILED,
        next_fetch_in=wait_before_retry(attempt, policy.backoff, random, bounded_wait(verdict.asked_by_server)),
        counts_as_failure=True,
        reason=verdict.reason,
        last_error=storable(verdict.detail) or verdict.reason,
        host_feedback=host_feedback,
    )


def host_says_wait(base: Settlement, verdict: HostSaysWait) -> Settlement:
    return base._replace(
        verdict="host_says_wait",
        status=EntryStatus.PENDING,
        reason=verdict.reason,
        close_for=bounded_wait(verdict.wait),
        close_reason=verdict.closure,
        host_feedback=HOST_SAID_SLOW_DOWN if verdict.slows_us_down else HOST_UNJUDGED,
    )


def bounded_wait(asked: timedelta) -> timedelta:
    """A server may ask for a day; a time in the past is no wait."""
    return min(max(asked, timedelta()), LONGEST_CLOSURE)


def dead(base: Settlement, verdict: Dead) -> Settlement:
    return base._replace(
        verdict="dead",
        status=EntryStatus.DEAD,
        counts_as_failure=True,
        reason=verdict.reason,
        last_error=storable(verdict.detail) or verdict.reason,
    )


def _of_visit(lease: Lease, visit: Visit) -> Settlement:
    return Settlement(
        bucket=lease.bucket,
        token=lease.token,
        host=lease.host,
        verdict="",
        http_status=visit.status,
        body_bytes=visit.body_bytes,
        started_after=visit.started_after,
        kind=visit.kind,
        address=visit.address,
        sent_from=visit.sent_from,
        duration_ms=round(visit.duration.total_seconds() * 1000) if visit.duration is not None else None,
    )
