"""Reasons against a request: takedowns, robots.txt, the host's policy; asked anew before every one."""

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field

from headwater.database.pool import Database
from headwater.database.queries import load_queries
from headwater.fetch.fetcher import Clear, Refusal
from headwater.fetch.held_slot import HeldSlot
from headwater.fetch.outcomes import TakenDown
from headwater.fetch.robots import RobotsCache, StoredRobots, stored_robots_from
from headwater.politeness.takedown import Takedown, Takedowns, domains_above, taken_down_in_words
from headwater.politeness.takedown import queries as takedown_queries
from headwater.urls.canonical import CanonicalUrl
from headwater.urls.origin import Origin

queries = load_queries("headwater.fetch")

REMEMBERED = 10_000
# Career pages are small; a larger one is something else.
JOB_PAGE_BYTES = 1024 * 1024


async def is_taken_down(database: Database, url: CanonicalUrl) -> bool:
    """For callers that get no held slot at its host, and so are not told by a look before a request."""
    rows = await database.fetch(takedown_queries.takedowns_of_domains, list(domains_above(url.host)))
    return bool(taken_down_in_words(rows, url))


@dataclass(slots=True)
class DatabasePreflight:
    database: Database
    robots_cache: RobotsCache
    body_bytes: int
    strangers: Mapping[Origin, StoredRobots] = field(
        default_factory=dict
    )  # robots.txt that is kept in this process alone
    _hashes: OrderedDict[Origin, bytes] = field(default_factory=OrderedDict, init=False)

    async def look(self, url: CanonicalUrl, held_slot: HeldSlot) -> Clear | Refusal:
        origin = url.origin
        row = await self.database.fetchrow(
            queries.look_before_request,
            url.bucket,
            url.host,
            origin.scheme,
            origin.port,
            list(domains_above(url.host)),
            self._remembered(origin),
        )
        assert row is not None
        if Takedowns(tuple(Takedown(*one) for one in row["takedowns"])).covers(url):
            return TakenDown(url)
        is_job_host = bool(row["serves_jobs"])
        known = self.strangers.get(origin) or stored_robots_from(row)
        refusal = await self.robots_cache.why_not(url, known, held_slot, is_job_host=is_job_host)
        if refusal is not None:
            return refusal
        self._remember(origin, row["body_hash"])
        usual = min(JOB_PAGE_BYTES, self.body_bytes) if is_job_host else self.body_bytes
        return Clear((row["max_kb_per_page"] or 0) * 1024 or usual, bool(row["allow_js"]))

    def _remembered(self, origin: Origin) -> bytes | None:
        """The hash of the copy we have read already, so that it is not sent again."""
        known = self._hashes.get(origin)
        return known if self.robots_cache.remembers(known) else None

    def _remember(self, origin: Origin, body_hash: bytes | None) -> None:
        if body_hash is not None:
            self._hashes[origin] = body_hash
            self._hashes.move_to_end(origin)
            if len(self._hashes) > REMEMBERED:
                self._hashes.popitem(last=False)
