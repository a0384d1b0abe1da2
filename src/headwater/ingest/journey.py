"""One URL from lease to verdict: the function to read first."""

from dataclasses import dataclass
from datetime import timedelta

from headwater.chance import Random
from headwater.clock import Clock
from headwater.database.pool import Connection, Database
from headwater.fetch.fetcher import Fetcher, Wish
from headwater.fetch.seat import Regrants, Seat
from headwater.frontier.entry import Lease
from headwater.frontier.settle import lock_hosts_of, settle
from headwater.frontier.submit import Found, Submitter, submit
from headwater.frontier.verdicts import Moved, RetryPolicy, Verdict, settlement_of
from headwater.ingest.judge import judge
from headwater.politeness.settlement import Visit
from headwater.urls.canonical import CanonicalUrl, canonicalise


@dataclass(frozen=True, slots=True)
class Told:
    """What became of a journey, for whoever watches."""

    lease: Lease
    verdict: Verdict | None  # None: the lease was lost
    visit: Visit


@dataclass(frozen=True, slots=True)
class Journey:
    fetcher: Fetcher
    regrants: Regrants
    database: Database
    clock: Clock
    random: Random
    policy: RetryPolicy
    default_delay: timedelta

    async def travel(self, lease: Lease) -> Told:
        """Fetch, judge, settle. Whatever the web does, there is a verdict; a lost lease changes nothing."""
        seat = Seat(lease.bucket, lease.host, lease.token, lease.window, "page", self.regrants, self.clock)
        url = canonicalise(lease.resume_url or lease.url)
        outcome = await self.fetcher.fetch(wish_of(lease, url), seat)
        verdict = judge(outcome, lease)
        if verdict is None:
            return Told(lease, None, seat.past)
        is_ours = await self._settle(lease, verdict, seat.past)
        return Told(lease, verdict if is_ours else None, seat.past)

    async def _settle(self, lease: Lease, verdict: Verdict, visit: Visit) -> bool:
        settlement = settlement_of(lease, verdict, visit, self.policy, self.random)
        async with self.database.transaction() as connection:
            if isinstance(verdict, Moved):
                await self._submit_target(connection, lease, verdict)
            return lease.token in await settle(connection, [settlement])

    async def _submit_target(self, connection: Connection, lease: Lease, moved: Moved) -> None:
        """The target inherits source and origin. Both hosts are locked together first, in the order everybody keeps."""
        target = canonicalise(moved.to)
        await lock_hosts_of(connection, [lease.host, target.host], self.default_delay)
        found = Found(moved.to, lease.url, lease.depth, priority=lease.priority, hops=moved.hops)
        await submit(connection, Submitter(lease.source_id, lease.origin), [found], default_delay=self.default_delay)


def wish_of(lease: Lease, url: CanonicalUrl) -> Wish:
    """Validators belong to the entry's own page, not to a hop where its journey was interrupted."""
    is_own = url.url_hash == lease.url_hash
    etag, last_modified = (lease.etag, lease.last_modified) if is_own else (None, None)
    return Wish(url, "page", etag, last_modified, hops=lease.hops)
