"""How far the crawl of a site has got, and its pages. Links come in with the pages that hold them."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from headwater.database.pool import Database
from headwater.database.queries import load_queries

queries = load_queries("headwater.discover")


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
class CrawledPage:
    id: UUID
    source_id: UUID
    url: str
    status: str
    depth: int
    error: str | None
    created_at: datetime
    updated_at: datetime
    key: tuple[int, bytes]  # where the next page of the list begins


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
) -> list[CrawledPage]:
    rows = await database.fetch(queries.pages_of_source, source_id, *after, status, limit)
    names = [name for name in CrawledPage.__dataclass_fields__ if name != "key"]
    return [CrawledPage(**{name: row[name] for name in names}, key=(row["bucket"], row["url_hash"])) for row in rows]
