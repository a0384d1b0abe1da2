"""What must hold after every fault, asked of the database and of the server's own log of visits.

Each function names one invariant and answers with what breaks it: an empty list is well. They change nothing, and are
exact while nobody writes. `broken` asks for all that the database alone can answer.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable
from datetime import timedelta
from itertools import pairwise
from typing import Any

from tests.told import TOLD

from headwater.database.pool import Database
from headwater.database.queries import load_queries
from headwater.simweb.questions import smallest_gaps
from headwater.simweb.visits import Visit
from headwater.urls.canonical import canonicalise

queries = load_queries("headwater.frontier")

Broken = list[Any]

# Verdicts by which a lease ends. What is logged in the middle of a journey is `went_on`.
ENDINGS = ("fetched", "unchanged", "moved", "retry_later", "host_says_wait", "postponed", "dead", "crashed")
# Two arrivals may be measured this much closer than they were sent.
MEASURING_SECONDS = 0.005


async def broken(database: Database) -> Broken:
    """I1, I2, I4 and I5 as far as the database knows."""
    return [
        *await uncounted_entries(database),
        *await entries_in_no_state(database),
        *await leases_that_are_not_single(database),
        *await busy_hosts_without_requests(database),
        *await tokens_settled_twice(database),
        *await versions_that_went_back(database),
        *await documents_that_are_not_single(database),
    ]


async def lost_urls(database: Database, accepted: Collection[str]) -> Broken:
    """I1: every URL that was accepted is an entry, and each only one."""
    rows = await database.fetch("select url from url_frontier")
    found: dict[str, int] = defaultdict(int)
    for row in rows:
        found[canonicalise(row["url"]).key] += 1
    return [url for url in accepted if found[canonicalise(url).key] != 1]


async def entries_in_no_state(database: Database) -> Broken:
    """I1: an entry waits, is fetched under a lease, was fetched, or is dead for a reason; and it has a host."""
    return await _urls(
        database,
        """select e.url from url_frontier e left join hosts h using (bucket, host)
           where h.host is null or e.status not in ('pending', 'failed', 'fetching', 'fetched', 'dead')
              or (e.status = 'dead' and coalesce(e.reason, '') = '')
              or (e.status = 'fetching') <> exists (
                  select 1 from slots s where s.bucket = e.bucket and s.url_hash = e.url_hash and s.token = e.token)""",
    )


async def uncounted_entries(database: Database) -> Broken:
    """I1 and I7: the counters equal a recount."""
    counted, found = [
        {(row["source_id"], row["status"]): row["entries"] for row in await database.fetch(query)}
        for query in (queries.count_entries, queries.recount_entries)
    ]
    return [] if counted == found else [{"counted": counted, "found": found}]


async def leases_that_are_not_single(database: Database) -> Broken:
    """I2: no two leases for one entry."""
    query = "select url_hash from slots where url_hash is not null group by bucket, url_hash having count(*) > 1"
    return [row["url_hash"].hex() for row in await database.fetch(query)]


async def busy_hosts_without_requests(database: Database) -> Broken:
    """I2: a host counts as many requests as there are slots of it; otherwise it would never be free again."""
    query = """select h.host from hosts h left join slots s using (bucket, host)
               group by h.bucket, h.host having h.in_flight <> count(s.token)"""
    return [row["host"] for row in await database.fetch(query)]


def pages_asked_too_soon_again(visits: Iterable[Visit], lease: timedelta) -> Broken:
    """I2, as the server sees it: no page is begun twice within a lease."""
    by_page: dict[tuple[str, str], list[float]] = defaultdict(list)
    for visit in visits:
        if visit.path not in ("/robots.txt", "/.well-known/tdmrep.json"):
            by_page[visit.host, visit.target].append(visit.arrived)
    return [
        page
        for page, arrivals in by_page.items()
        if any(later - earlier < lease.total_seconds() for earlier, later in pairwise(sorted(arrivals)))
    ]


def hosts_asked_too_soon(visits: Iterable[Visit], delay: timedelta) -> Broken:
    """I3, as the server sees it: requests to one host lie the delay apart, robots.txt included."""
    least = delay.total_seconds() - MEASURING_SECONDS
    return [(host, gap) for host, gap in smallest_gaps(visits).items() if gap < least]


async def tokens_settled_twice(database: Database) -> Broken:
    """I4: a lease ends once. What came with a stale token was not written down."""
    query = "select token from fetch_log where verdict = any ($1) group by token having count(*) > 1"
    return [str(row["token"]) for row in await database.fetch(query, list(ENDINGS))]


async def versions_that_went_back(database: Database) -> Broken:
    """I4: the past of a document is older than its present, and no version was told of twice."""
    past = """select d.url from documents d join document_versions v using (bucket, url_hash)
              where v.version >= d.version"""
    told = f"""select d.url from documents d join {TOLD} on o.bucket = d.bucket and o.hash = d.url_hash
              where o.kind = 'document' group by d.url, o.version having count(*) > 1"""
    return [*await _urls(database, past), *await _urls(database, told)]


async def documents_that_are_not_single(database: Database) -> Broken:
    """I5: one current document per canonical address."""
    query = """select canonical_url as url from documents where deleted_at is null
               group by canonical_url having count(*) > 1"""
    return await _urls(database, query)


async def fetched_without_document(database: Database) -> Broken:
    """I5, where every page is an article: what counts as fetched has its document, and only that has one."""
    query = """select coalesce(e.url, d.url) as url from url_frontier e
               full join (select * from documents where deleted_at is null) d using (bucket, url_hash)
               where (e.status is not distinct from 'fetched') <> (d.url_hash is not null)"""
    return await _urls(database, query)


async def _urls(database: Database, query: str) -> Broken:
    return [row["url"] for row in await database.fetch(query)]
