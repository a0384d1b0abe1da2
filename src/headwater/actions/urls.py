"""URLs queued by hand, and how far the crawl of a site has got."""

from collections.abc import Sequence
from dataclasses import dataclass

from headwater.discover.crawling import Crawl, CrawledPage, crawl_of, pages_of
from headwater.errors import UsageError
from headwater.frontier.entry import EntryOrigin
from headwater.frontier.reads import cursor_at, key_at
from headwater.frontier.submit import FoundUrl, SubmitAnswer, Submitter, submit
from headwater.reports.discovery import limits_reached
from headwater.reports.paging import Page, page_of
from headwater.services import Services
from headwater.sources.store import find_source, manual_source

PAGE_STATUSES = ("pending", "processing", "completed", "failed")


@dataclass(frozen=True, slots=True)
class CrawlStory:
    """`limits` are sentences: which limit of the source keeps pages out."""

    crawl: Crawl
    pages: Page[CrawledPage]
    limits: Sequence[str]


async def queue_urls(services: Services, urls: Sequence[str], source: str | None) -> list[SubmitAnswer]:
    """Of each whether it was new. Without a source they belong to the one of all that is added by hand."""
    given = (await find_source(services.database, source)).id if source else None
    async with services.database.transaction() as connection:
        owner = given or await manual_source(connection)
        found = [FoundUrl(url) for url in urls]
        delay = services.settings.politeness.delay
        return await submit(connection, Submitter(owner, EntryOrigin.MANUAL), found, default_delay=delay)


async def crawl_story_of(
    services: Services, source: str, status: str | None, limit: int, cursor: str | None
) -> CrawlStory:
    if status not in (None, *PAGE_STATUSES):
        raise UsageError(f"There is no status {status!r}.", fix=f"One of: {', '.join(PAGE_STATUSES)}.")
    database = services.database
    found = await find_source(database, source)
    after = key_at(cursor) if cursor else (-1, b"")
    read = await pages_of(database, found.id, status, after, limit + 1)
    pages = page_of(read, limit, lambda one: cursor_at(*one.key))
    return CrawlStory(await crawl_of(database, found.id), pages, await limits_reached(database, found))
