"""A site crawled page by page: start pages in, links of fetched pages in, and how far it has got (R100 to R106)."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from uuid import UUID

from headwater.database.pool import Connection, Database
from headwater.database.queries import load_queries
from headwater.errors import UrlRejected
from headwater.frontier.entry import Origin
from headwater.frontier.submit import Answer, Found, Submitter, submit
from headwater.sources.source import Profile
from headwater.urls.canonical import canonicalise
from headwater.urls.scope import placement_of
from headwater.urls.skip import why_skipped
from headwater.urls.traps import trap_in

queries = load_queries("headwater.discover")

WITHOUT_LIMIT = -1
MOST_PAGES = 100_000


class CrawlState(StrEnum):
    NONE = "none"
    RUNNING = "running"
    COMPLETE = "complete"
    FAILED = "failed"  # only where a start page failed


@dataclass(frozen=True, slots=True)
class Crawl:
    state: CrawlState
    pages: dict[str, int]  # by status: pending, processing, completed, failed
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Page:
    url: str
    status: str
    depth: int
    error: str | None
    key: tuple[int, bytes]  # where the next page of the list begins


async def submit_links(
    connection: Connection, source_id: UUID, profile: Profile, parent: Found, links: Iterable[str], today: date
) -> list[Answer]:
    """The links of a fetched page, one level deeper: only what is in scope, and only what is new becomes an entry.

    Called in the transaction that settles the page; a page that is processed twice adds nothing.
    """
    if not goes_deeper(profile, parent.depth) or await _is_full(connection, source_id, profile):
        return []
    wanted = [Found(url, parent.url, parent.depth + 1) for url in followed(links, profile, today)]
    return await submit(connection, Submitter(source_id, Origin.SPIDER, scope=profile.scope), wanted)


def goes_deeper(profile: Profile, depth: int) -> bool:
    return profile.max_depth == WITHOUT_LIMIT or depth < profile.max_depth


def followed(links: Iterable[str], profile: Profile, today: date) -> list[str]:
    """Each address once, without what leads out of scope, in circles, or nowhere a reader would go."""
    scope = profile.scope
    kept: dict[bytes, str] = {}
    for link in links:
        try:
            url = canonicalise(link)
        except UrlRejected:
            continue
        placement = placement_of(url, scope)
        if placement.is_followed and why_skipped(url) is None and trap_in(url, today=today) is None:
            kept.setdefault(url.url_hash, link)
    return list(kept.values())


async def _is_full(connection: Connection, source_id: UUID, profile: Profile) -> bool:
    entries: int = await connection.fetchval(queries.count_entries_of_source, source_id)
    return entries >= (profile.max_pages or MOST_PAGES)


async def crawl_of(database: Database, source_id: UUID) -> Crawl:
    """Complete when nothing waits; failed only if no start page could be had."""
    rows = await database.fetch(queries.crawl_counts, source_id)
    pages: dict[str, int] = {}
    for row in rows:
        pages[row["status"]] = pages.get(row["status"], 0) + row["pages"]
    starts = [row for row in rows if row["is_start"]]
    if not pages:
        return Crawl(CrawlState.NONE, {}, "nothing was queued yet")
    if starts and all(row["status"] == "failed" for row in starts):
        return Crawl(CrawlState.FAILED, pages, f"its start page failed: {starts[0]['error']}")
    is_running = bool(pages.get("pending") or pages.get("processing"))
    return Crawl(CrawlState.RUNNING if is_running else CrawlState.COMPLETE, pages)


async def pages_of(
    database: Database,
    source_id: UUID,
    status: str | None = None,
    after: tuple[int, bytes] = (-1, b""),
    limit: int = 50,
) -> list[Page]:
    rows = await database.fetch(queries.pages_of_source, source_id, *after, status, limit)
    return [
        Page(row["url"], row["status"], row["depth"], row["error"], (row["bucket"], row["url_hash"])) for row in rows
    ]
