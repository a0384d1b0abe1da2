"""The frontier as a few lines of plain Python: what every call must have done, said without SQL."""

from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from uuid import UUID

from headwater.frontier.entry import DeadReason, Lease
from headwater.frontier.submit import FoundUrl, SubmitOutcome
from headwater.frontier.verdicts import (
    Dead,
    Fetched,
    HostSaysWait,
    Moved,
    Postponed,
    Released,
    RetryLater,
    RetryPolicy,
    Unchanged,
    Verdict,
)
from headwater.politeness.slots import Slot

# delay, max_concurrency, burst
PACES = {"one.example": (1_000, 1, 1), "two.example": (2_000, 3, 1), "three.example": (500, 2, 3)}
URLS = [f"https://{host}/{n}" for host in PACES for n in range(4)]
VERDICTS: list[Verdict] = [
    Fetched(),
    Fetched(),
    Fetched(revisit_in=timedelta(seconds=30)),
    Unchanged(),
    Moved("https://elsewhere.example/"),
    RetryLater("timeout"),
    HostSaysWait(timedelta(seconds=20)),
    HostSaysWait(timedelta()),
    Postponed(timedelta(seconds=15), "https://one.example/hop", 1),
    Dead(DeadReason.NOT_FOUND),
    Dead(DeadReason.EXTRACT_FAILED),
    Released(),
]


@dataclass
class Entry:
    host: str
    source: UUID
    priority: int
    next_fetch_at: datetime
    status: str = "pending"
    held: str | None = None
    retry_count: int = 0
    changed_at: datetime | None = None
    told_at: datetime | None = None
    last_fetched_at: datetime | None = None
    reason: str | None = None
    owner_rank: int = 0
    reads_anew: bool = False
    losses: int = 0

    def is_due(self, now: datetime) -> bool:
        return self.status in ("pending", "failed") and self.held is None and self.next_fetch_at <= now

    @property
    def rank(self) -> tuple[int, datetime]:
        return -self.priority, self.next_fetch_at


@dataclass
class Running:
    """A live slot: an entry's lease if it has a URL, else a reservation."""

    host: str
    starts_at: datetime
    expires_at: datetime
    owner: str
    kind: str
    url: str | None = None
    from_status: str = ""
    from_held: str | None = None


@dataclass
class Host:
    delay: timedelta
    max_concurrency: int
    burst: int
    closed_until: datetime
    is_doubted: bool = True
    starts: list[datetime] = field(default_factory=list)

    def grant(self, start: datetime) -> None:
        self.starts.append(start)

    def crowded_starts(self) -> list[tuple[datetime, datetime]]:
        """Pairs of granted or real starts that are too close: more than a burst within one delay."""
        ordered = sorted(self.starts)
        pairs = zip(ordered, ordered[self.burst :], strict=False)
        return [(earlier, later) for earlier, later in pairs if later - earlier < self.delay]


@dataclass
class Model:
    entries: dict[str, Entry] = field(default_factory=dict)
    hosts: dict[str, Host] = field(default_factory=dict)
    running: dict[UUID, Running] = field(default_factory=dict)
    active: dict[UUID, bool] = field(default_factory=dict)

    def submit(
        self, found: FoundUrl, host: str, source: UUID, priority: int, now: datetime, *, rank: int = 0
    ) -> SubmitOutcome:
        due_at = now + (found.due_in or timedelta())
        entry = self.entries.get(found.url)
        if entry is None:
            self.entries[found.url] = Entry(host, source, priority, due_at, owner_rank=rank)
            return SubmitOutcome.QUEUED
        is_owner = entry.source == source
        outcome = _outcome(entry, found, priority, due_at, rank=0 if is_owner else rank)
        entry.owner_rank = max(entry.owner_rank, rank) if is_owner else entry.owner_rank
        if outcome is not SubmitOutcome.DUPLICATE:
            entry.priority = max(entry.priority, priority)
            entry.changed_at = max(filter(None, (entry.changed_at, found.changed_at)), default=None)
            entry.told_at = now
        if outcome is SubmitOutcome.TAKEN_OVER:
            _take_over(entry, source, due_at, rank)
        if outcome is SubmitOutcome.RAISED and entry.status == "pending":
            entry.next_fetch_at = min(entry.next_fetch_at, due_at)
        if outcome is SubmitOutcome.REVISIT and entry.status == "fetched":
            entry.status, entry.next_fetch_at = "pending", due_at
        return outcome

    def best_due(self, host: str, now: datetime) -> list[str]:
        """URLs of the host that a claim may take or set aside, best first."""
        due = [(entry.rank, url) for url, entry in self.entries.items() if entry.host == host and entry.is_due(now)]
        return [url for _, url in sorted(due)]

    def lease(self, lease: Lease, kind: str, owner: str, starts_at: datetime, expires_at: datetime) -> None:
        entry = self.entries[lease.url]
        self.running[lease.token] = Running(
            lease.host, starts_at, expires_at, owner, kind, lease.url, entry.status, entry.held
        )
        entry.status, entry.held, entry.told_at = "fetching", None, None
        self.hosts[lease.host].grant(starts_at)

    def reserve(self, slot: Slot, starts_at: datetime, expires_at: datetime) -> None:
        self.running[slot.token] = Running(slot.host, starts_at, expires_at, "poller", "feed")
        self.hosts[slot.host].grant(starts_at)

    def is_live(self, token: UUID, now: datetime) -> bool:
        return token in self.running and self.running[token].expires_at > now

    def began_late(self, token: UUID, by: timedelta) -> None:
        running = self.running[token]
        starts = self.hosts[running.host].starts
        starts.remove(running.starts_at)
        starts.append(running.starts_at + by)

    def close(self, host: str, until: datetime) -> None:
        self.hosts[host].closed_until = max(self.hosts[host].closed_until, until)

    def settle(self, token: UUID, verdict: Verdict, now: datetime) -> None:
        running = self.running.pop(token)
        assert running.url is not None
        entry = self.entries[running.url]
        if not isinstance(verdict, Released):
            entry.losses = 0
            self.hosts[running.host].is_doubted = isinstance(verdict, RetryLater)
        if isinstance(verdict, HostSaysWait):
            self.close(running.host, now + verdict.wait)
        _apply(entry, running, verdict, now)

    def rescue(self, now: datetime, lease: timedelta, living: Collection[str]) -> int:
        """What a dead owner had begun is suspected, and whatever is lost too often."""
        expired = [token for token, running in self.running.items() if running.expires_at <= now]
        seen = {
            owner: max(one.expires_at for one in self.running.values() if one.owner == owner) - lease
            for owner in {one.owner for one in self.running.values()}
        }
        for token in expired:
            running = self.running.pop(token)
            if running.url is None:
                continue
            entry, is_dead, was_alone = (
                self.entries[running.url],
                running.owner not in living,
                running.kind == "suspect",
            )
            has_begun = is_dead and running.starts_at <= seen[running.owner]
            entry.losses += 1
            is_poison = was_alone and (is_dead or entry.losses >= 10)
            is_suspect = was_alone or has_begun or entry.losses >= (2 if is_dead else 5)
            entry.status = "dead" if is_poison else running.from_status
            entry.held = "suspect" if is_suspect and not is_poison else None
        return len(expired)

    def counts(self) -> dict[tuple[str, str], int]:
        counted: dict[tuple[str, str], int] = {}
        for entry in self.entries.values():
            key = str(entry.source), entry.status
            counted[key] = counted.get(key, 0) + 1
        return counted


def _take_over(entry: Entry, source: UUID, due_at: datetime, rank: int) -> None:
    """By a source with a better claim to it: what another one read of it is read again."""
    entry.source, entry.owner_rank = source, rank
    entry.held = None if entry.held == "paused" else entry.held
    if entry.status == "pending":
        entry.next_fetch_at = min(entry.next_fetch_at, due_at)
    elif entry.status == "fetching":
        entry.reads_anew = True
    elif entry.status == "fetched" or (entry.status, entry.reason) == ("dead", "extract_failed"):
        entry.retry_count = 0 if entry.status == "dead" else entry.retry_count
        entry.status, entry.next_fetch_at = "pending", due_at


def _outcome(entry: Entry, found: FoundUrl, priority: int, due_at: datetime, *, rank: int) -> SubmitOutcome:
    if rank > entry.owner_rank:
        return SubmitOutcome.TAKEN_OVER
    rises = priority > entry.priority
    if entry.status == "pending" and (rises or due_at < entry.next_fetch_at):
        return SubmitOutcome.RAISED
    if entry.status == "failed" and rises:
        return SubmitOutcome.RAISED
    if entry.status in ("fetched", "fetching") and _is_news(entry, found.changed_at):
        return SubmitOutcome.REVISIT
    return SubmitOutcome.DUPLICATE


def _is_news(entry: Entry, changed_at: datetime | None) -> bool:
    if changed_at is None or (entry.changed_at is not None and changed_at <= entry.changed_at):
        return False
    return entry.status == "fetching" or (entry.last_fetched_at is not None and changed_at > entry.last_fetched_at)


def _apply(entry: Entry, running: Running, verdict: Verdict, now: datetime) -> None:
    is_read_anew = entry.reads_anew
    entry.reads_anew = is_read_anew and isinstance(verdict, Released)
    match verdict:
        case Fetched() | Unchanged():
            told = entry.told_at and entry.changed_at and min(entry.told_at, entry.changed_at)
            entry.status = "pending" if is_read_anew or (told and told > running.starts_at) else "fetched"
            entry.retry_count, entry.last_fetched_at = 0, now
        case Dead(DeadReason.EXTRACT_FAILED) if is_read_anew:
            entry.status, entry.retry_count = "pending", entry.retry_count + 1
        case Moved() | Dead():
            entry.status, entry.retry_count = "dead", entry.retry_count + 1
            entry.reason = str(verdict.reason) if isinstance(verdict, Dead) else "redirect"
        case RetryLater():
            entry.retry_count += 1
            entry.status = "failed" if entry.retry_count <= RetryPolicy().max_retries else "dead"
        case HostSaysWait() | Postponed():
            entry.status = "pending"
        case Released():
            entry.status, entry.held = running.from_status, running.from_held
