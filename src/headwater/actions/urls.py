"""URLs queued by hand, and how far the crawl of a site has got."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from headwater.discover.crawling import Crawl, CrawledPage, crawl_of, pages_of
from headwater.errors import UsageError
from headwater.frontier.entry import EntryOrigin, EntryStatus
from headwater.frontier.reads import count_entries_of, count_statuses, cursor_at, key_at, recount_statuses
from headwater.frontier.submit import FoundUrl, SubmitAnswer, SubmitOutcome, Submitter, submit
from headwater.reports.discovery import NOBODY, limits_reached
from headwater.reports.frontier import HostsNow, hosts_now, oldest_due_at, page_of_sources, source_names
from headwater.reports.paging import ListPage, foreign_cursor, page_of
from headwater.services import Services
from headwater.sources.finding import find_source
from headwater.sources.store import manual_source
from headwater.urls.canonical import canonicalise
from headwater.urls.effects import has_effects
from headwater.urls.fingerprint import entry_id

QUEUED_AT_ONCE = 1_000
PAGE_STATUSES = ("pending", "processing", "completed", "failed")


@dataclass(frozen=True, slots=True)
class QueuedUrl:
    """`has_effects`: it would not be fetched if a site had named it, since it looks as if fetching it did something."""

    url: str
    outcome: SubmitOutcome
    reason: str = ""  # why it was rejected
    id: UUID | None = None
    has_effects: bool = False


@dataclass(frozen=True, slots=True)
class FrontierStats:
    """`by_source` is of a page of sources; `oldest_due_at` is since when the page that waits longest could be had."""

    by_status: Mapping[EntryStatus, int]
    by_source: Mapping[UUID, Mapping[EntryStatus, int]]
    names: Mapping[UUID, str]
    hosts: HostsNow
    oldest_due_at: datetime | None
    cursor: str | None


@dataclass(frozen=True, slots=True)
class CrawlStory:
    """`limits` are sentences: which limit of the source keeps pages out."""

    crawl: Crawl
    pages: ListPage[CrawledPage]
    limits: Sequence[str]


async def queue_urls(
    services: Services,
    urls: Sequence[str],
    source: str | None,
    *,
    origin: EntryOrigin = EntryOrigin.MANUAL,
    priorities: Sequence[int | None] = (),
    is_dry: bool = False,
) -> list[QueuedUrl]:
    """Of each whether it was new. Without a source they belong to the one of all that is added by hand.

    Some at a time: reading ten thousand addresses at once would keep all others waiting. `is_dry` takes each of these
    steps back, so that the answer is what it would be, and nothing was changed.
    """
    given = (await find_source(services.database, source)).id if source else None
    wished = list(priorities) or [None] * len(urls)
    found = [FoundUrl(url, priority=priority) for url, priority in zip(urls, wished, strict=True)]
    queued: list[QueuedUrl] = []
    for start in range(0, len(found), QUEUED_AT_ONCE):
        with suppress(_TakenBack):
            async with services.database.transaction() as connection:
                submitter = Submitter(given or await manual_source(connection), origin)
                batch, delay = found[start : start + QUEUED_AT_ONCE], services.settings.politeness.delay
                queued += map(_queued, await submit(connection, submitter, batch, default_delay=delay))
                if is_dry:
                    raise _TakenBack
    return queued


class _TakenBack(Exception):
    """Ends a transaction whose answer alone was wanted."""


def _queued(answer: SubmitAnswer) -> QueuedUrl:
    if answer.outcome is SubmitOutcome.REJECTED:
        return QueuedUrl(answer.url, answer.outcome, answer.reason)
    url = canonicalise(answer.url)
    return QueuedUrl(answer.url, answer.outcome, "", entry_id(url.bucket, url.url_hash), has_effects(url))


async def frontier_stats(
    services: Services, limit: int, cursor: str | None, *, recounts: bool = False
) -> FrontierStats:
    """Of everything, and of a page of sources by name."""
    database = services.database
    names = await _sources_after(services, cursor, limit + 1)
    page = dict(list(names.items())[:limit])
    counts = await count_entries_of(database, list(page))
    return FrontierStats(
        await (recount_statuses if recounts else count_statuses)(database),
        {source: counts.by_source[source] for source in page if source in counts.by_source},
        page,
        await hosts_now(database),
        await oldest_due_at(database),
        str(list(page)[-1]) if len(names) > limit else None,
    )


async def _sources_after(services: Services, cursor: str | None, limit: int) -> dict[UUID, str]:
    last, name = NOBODY, ""
    if cursor:
        try:
            last = UUID(cursor)
        except ValueError:
            raise foreign_cursor() from None
        name = (await source_names(services.database, [last])).get(last, "")
    return await page_of_sources(services.database, limit, (name, last))


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
