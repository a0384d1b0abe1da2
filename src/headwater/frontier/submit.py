"""The only way into the queue: canonical, deduplicated, judged in one transaction, answered URL by URL."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from enum import StrEnum
from typing import Any
from uuid import UUID

from headwater.database.pool import Connection
from headwater.database.queries import load_queries
from headwater.errors import NotFound, UrlRejected, UsageError
from headwater.frontier.entry import EntryOrigin
from headwater.politeness.takedown import takedowns_for
from headwater.storable import storable
from headwater.urls.canonical import CanonicalUrl, canonicalise
from headwater.urls.domains import NO_VOICE, Voice, registrable_domain
from headwater.urls.fingerprint import bucket_of
from headwater.urls.scope import Placement, Scope, folder_of, placement_of, without_www
from headwater.urls.traps import Trap, trap_in

queries = load_queries("headwater.frontier")

# One statement judges this many; a larger call is cut into such batches inside the caller's transaction.
BATCH = 5_000
DEEPEST = 1_000
# How good a source's claim to a URL is: none, it may speak for the domain, the URL lies below its own address.
NO_CLAIM, DOMAIN_CLAIM, HOME_CLAIM = 0, 1, 2
DEFAULT_DELAY = timedelta(seconds=1)
JOBS_DELAY = timedelta(seconds=3)
TOO_MANY_NEW_HOSTS = "too_many_new_hosts"
LOWEST, HIGHEST = 1, 10
BONUS = {EntryOrigin.FEED: 2, EntryOrigin.SITEMAP: 1, EntryOrigin.SPIDER: 0, EntryOrigin.MANUAL: 0, EntryOrigin.API: 0}
EXTERNAL_PENALTY = 2


class SubmitOutcome(StrEnum):
    QUEUED = "queued"
    DUPLICATE = "duplicate"
    RAISED = "raised"
    REVISIT = "revisit"
    TAKEN_OVER = "taken_over"  # from a source that may not speak for it, by one that may
    REJECTED = "rejected"


TO_BE_FETCHED = frozenset({SubmitOutcome.QUEUED, SubmitOutcome.RAISED, SubmitOutcome.REVISIT})


@dataclass(frozen=True, slots=True)
class FoundUrl:
    """A URL as a channel, a page or a person gives it."""

    url: str
    parent_url: str | None = None
    depth: int = 0
    due_in: timedelta | None = None
    changed_at: datetime | None = None
    # Set only for the target of a redirect: priority and hops of the entry that redirected.
    priority: int | None = None
    hops: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.depth <= DEEPEST:
            raise UsageError(f"A depth of {self.depth} is not possible.", fix=f"Give 0 to {DEEPEST:,}.")


@dataclass(frozen=True, slots=True)
class SubmitAnswer:
    url: str
    outcome: SubmitOutcome
    reason: str = ""  # why it was rejected


@dataclass(frozen=True, slots=True)
class Submitter:
    """`scope` None accepts every host: a person's own list, or a feed whose items may be anywhere.

    URLs of hosts that its `voice` covers belong to its source, surest those below its `home`; the others only until a
    source with a better claim finds them. `is_link`: a page led to them, which may link to pages of its neighbours.
    """

    source_id: UUID
    origin: EntryOrigin
    channel_id: UUID | None = None
    scope: Scope | None = None
    voice: Voice = NO_VOICE
    home: CanonicalUrl | None = None
    is_link: bool = False
    most_new_hosts: int | None = None  # of its source, in an hour; what lies beyond is rejected


@dataclass(frozen=True, slots=True)
class _WantedUrl:
    found: FoundUrl
    url: CanonicalUrl
    is_external: bool


async def submit(
    connection: Connection,
    submitter: Submitter,
    found: Sequence[FoundUrl],
    *,
    default_delay: timedelta = DEFAULT_DELAY,
    now: datetime | None = None,
) -> list[SubmitAnswer]:
    """One answer per URL, in order. A URL that will never be fetched is rejected; the rest goes through."""
    source = await _source(connection, submitter.source_id)
    delay = max(default_delay, JOBS_DELAY) if source["kind"] == "jobs" else default_delay
    if source["status"] != "active":
        # It takes nothing over: nobody would fetch it.
        submitter = replace(submitter, voice=NO_VOICE)
    today = (now or source["now"]).date()
    wanted = [wanted_or_why(one, submitter, today) for one in found]
    if len(wanted) > BATCH:
        await hold_hosts(connection, _hosts(wanted), delay)
    answers: list[SubmitAnswer] = []
    for start in range(0, len(found), BATCH):
        batch = found[start : start + BATCH]
        judged = list(await _without_takedowns(connection, wanted[start : start + BATCH]))
        rows, places = _rows(judged, submitter, source["priority"])
        told = await connection.fetch(
            queries.submit_urls,
            submitter.source_id,
            submitter.channel_id,
            rows,
            milliseconds(delay),
            now,
            submitter.most_new_hosts,
        )
        outcomes = {row["place"]: row["outcome"] for row in told}
        answers.extend(_answers(batch, judged, places, outcomes))
    if any(answer.outcome in TO_BE_FETCHED for answer in answers):
        connection.after_commit(queries.wake_sleepers)
    return answers


async def hold_hosts(connection: Connection, hosts: Collection[str], default_delay: timedelta = DEFAULT_DELAY) -> None:
    """Lock every host a transaction is going to touch.

    Locked piece by piece, by a settle and a submit or by several submits, two transactions could wait for each other.
    """
    named = list(hosts)
    buckets = [bucket_of(host) for host in named]
    domains = [registrable_domain(host) for host in named]
    await connection.execute(queries.hold_hosts, buckets, named, milliseconds(default_delay), domains)


def wanted_or_why(found: FoundUrl, submitter: Submitter, today: date) -> "_WantedUrl | str":
    """The URL under its key, or the word that says why it will never be fetched."""
    scope = submitter.scope
    try:
        url = canonicalise(found.url)
    except UrlRejected as rejected:
        return rejected.reason
    placement = placement_of(url, scope) if scope is not None else Placement.INSIDE
    if not placement.is_followed:
        return str(placement)
    if not found.hops and (trap := trap_for(url, submitter.origin, today)):
        return str(trap)
    # What a feed or a sitemap lists elsewhere is as good as the rest of its list.
    return _WantedUrl(found, url, placement is Placement.EXTERNAL and submitter.origin is EntryOrigin.SPIDER)


def trap_for(url: CanonicalUrl, origin: EntryOrigin, today: date) -> Trap | None:
    """A person's URLs are fetched; of a redirect only its target's effects count, which were looked at before."""
    if origin is EntryOrigin.MANUAL:
        return None
    return trap_in(url, today=today, is_told=origin is not EntryOrigin.SPIDER)


async def _source(connection: Connection, source_id: UUID) -> Any:
    row = await connection.fetchrow(queries.read_source_for_submit, source_id)
    if row is None:
        raise NotFound(f"There is no source {source_id}.", fix="Create it first.")
    if row["status"] in ("deleted", "blocked"):
        raise UsageError(f"The source {source_id} is {row['status']}; it takes no new URLs.")
    return row


async def _without_takedowns(connection: Connection, judged: "list[_WantedUrl | str]") -> "Iterator[_WantedUrl | str]":
    taken_down = await takedowns_for(connection, _hosts(judged))
    return (
        "takedown" if taken_down and isinstance(one, _WantedUrl) and taken_down.covers(one.url) else one
        for one in judged
    )


def _hosts(judged: "Sequence[_WantedUrl | str]") -> set[str]:
    return {one.url.host for one in judged if isinstance(one, _WantedUrl)}


def _rows(
    judged: "Sequence[_WantedUrl | str]", submitter: Submitter, base: int
) -> tuple[list[tuple[object, ...]], dict[tuple[int, bytes], int]]:
    """Rows for the database, each URL once, and the place (from 1) under which it is answered."""
    best: dict[tuple[int, bytes], tuple[_WantedUrl, int]] = {}
    for one in judged:
        if not isinstance(one, str):
            found, key = one.found, (one.url.bucket, one.url.url_hash)
            priority = found.priority or entry_priority(
                base, submitter.origin, found.depth, is_external=one.is_external
            )
            best[key] = _best_of(best[key], (one, priority)) if key in best else (one, priority)
    rows = [_row(one, priority, submitter) for one, priority in best.values()]
    return rows, {key: place for place, key in enumerate(best, 1)}


def _best_of(first: tuple[_WantedUrl, int], second: tuple[_WantedUrl, int]) -> tuple[_WantedUrl, int]:
    """Of a URL that is listed twice: with the better priority, as soon and as newly changed as either says."""
    (better, priority), (other, _) = (second, first) if second[1] > first[1] else (first, second)
    ours, theirs = better.found, other.found
    due_in = min(ours.due_in, theirs.due_in) if ours.due_in and theirs.due_in else None
    changed_at = max((at for at in (ours.changed_at, theirs.changed_at) if at), default=None)
    return replace(better, found=replace(ours, due_in=due_in, changed_at=changed_at)), priority


def _row(one: _WantedUrl, priority: int, submitter: Submitter) -> tuple[object, ...]:
    """As the database's type `submission` has it."""
    found, url = one.found, one.url
    return (
        url.bucket,
        url.url_hash,
        url.host,
        url.url,
        str(submitter.origin),
        storable(found.parent_url),
        found.depth,
        priority,
        found.due_in,
        found.changed_at,
        found.hops,
        registrable_domain(url.host),
        rank_of(url, submitter),
    )


def rank_of(url: CanonicalUrl, submitter: Submitter) -> int:
    """How good its source's claim to a URL is: a better one takes it over from a lesser one."""
    if not submitter.voice.covers(url.host):
        return NO_CLAIM
    if submitter.home is not None and is_below(url, submitter.home):
        return HOME_CLAIM
    return NO_CLAIM if submitter.is_link else DOMAIN_CLAIM


def is_below(url: CanonicalUrl, home: CanonicalUrl) -> bool:
    """In the folder of an address, with or without `www.`."""
    return without_www(url.site) == without_www(home.site) and f"{url.path}/".startswith(folder_of(home))


def _answers(
    batch: Sequence[FoundUrl],
    judged: "Sequence[_WantedUrl | str]",
    places: dict[tuple[int, bytes], int],
    outcomes: dict[int, str],
) -> Iterator[SubmitAnswer]:
    answered: set[int] = set()
    for found, one in zip(batch, judged, strict=True):
        if isinstance(one, str):
            yield SubmitAnswer(found.url, SubmitOutcome.REJECTED, one)
            continue
        place = places[one.url.bucket, one.url.url_hash]
        if outcomes[place] == TOO_MANY_NEW_HOSTS:
            yield SubmitAnswer(found.url, SubmitOutcome.REJECTED, TOO_MANY_NEW_HOSTS)
            continue
        # Listed twice in one call: the first is queued, the second is its duplicate.
        yield SubmitAnswer(found.url, SubmitOutcome.DUPLICATE if place in answered else SubmitOutcome(outcomes[place]))
        answered.add(place)


def milliseconds(wait: timedelta) -> int:
    return round(wait.total_seconds() * 1000)


def entry_priority(base: int, origin: EntryOrigin, depth: int = 0, *, is_external: bool = False) -> int:
    """The source's own priority, more for what a publisher announces, less for what lies deep or elsewhere."""
    depth_penalty = depth if origin is EntryOrigin.SPIDER else 0
    wanted = base + BONUS[origin] - depth_penalty - (EXTERNAL_PENALTY if is_external else 0)
    return max(LOWEST, min(HIGHEST, wanted))


def priority_in_words(priority: int, base: int, origin: EntryOrigin, depth: int) -> str:
    """How the priority of an entry was made: `7 = 5 of its source + 2 from a feed`. Pure."""
    terms = [(base, "of its source"), (BONUS[origin], f"from a {origin}")]
    if origin is EntryOrigin.SPIDER:
        terms.append((-depth, "for the links on the way to it"))
        if priority == entry_priority(base, origin, depth, is_external=True) != entry_priority(base, origin, depth):
            terms.append((-EXTERNAL_PENALTY, "on another host"))
    told = " ".join(f"{'+' if term > 0 else '−'} {abs(term)} {what}" for term, what in terms if term)
    told, sum_ = told.removeprefix("+ "), sum(term for term, _ in terms)
    usual = max(LOWEST, min(HIGHEST, sum_))
    bound = f", and it is {LOWEST} to {HIGHEST}" if usual != sum_ else ""
    if priority == usual:
        return f"{priority} = {told}{bound}"
    # A person, a redirect, a revisit, or its source as it was then.
    return f"{priority}, set otherwise than its source, origin and depth say: {told}{bound}"
