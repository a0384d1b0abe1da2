"""Stored pages read once more: stored anew by today's rules, compared, or explained. Nothing is fetched."""

from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from shlex import quote

from headwater.archive.raw import KeptBody
from headwater.errors import NotFound
from headwater.ingest.inspection import Compared, Explained, InspectedPage, Inspection
from headwater.ingest.page_context import Context
from headwater.ingest.page_reader import ChildReader, PageReader
from headwater.ingest.replay import Replay, Replayed
from headwater.learning.template_cache import TemplateCache
from headwater.net.identity import identity_of
from headwater.politeness.hosts import site_of
from headwater.reports.archive import count_stored_pages
from headwater.reports.documents import body_of
from headwater.reports.templates import read_schooling, state_of
from headwater.run.extraction_pools import page_pool, pool_size_of
from headwater.services import Services
from headwater.sources.finding import find_source


@dataclass(slots=True)
class Account:
    """How many pages of each outcome; also what a run that was interrupted had done."""

    pages: int = 0  # to look at, known before the first
    outcomes: Counter[str] = field(default_factory=Counter)


async def reextract(
    services: Services,
    named: str,
    account: Account,
    on_page: Callable[[Replayed], None],
    *,
    limit: int | None = None,
    stores: bool = True,
) -> None:
    """The stored pages of a source by its selectors and the extractor of today; `account` grows page by page."""
    found = await find_source(services.database, named)
    pages = await count_stored_pages(services.database, found.id)
    account.pages = min(pages, limit or pages)
    async with replay_of(services) as replay:
        async for one in replay.over(found.id, limit=limit, stores=stores):
            account.outcomes[one.outcome] += 1
            on_page(one)


async def reextract_page(services: Services, named: str, *, stores: bool = True) -> Replayed:
    """One stored page, by its URL or the id of its document. Raises NotFound where it is no longer kept."""
    body = await read_stored_page(services, named)
    async with replay_of(services) as replay:
        return await replay.page(body, stores=stores)


async def compare_pages(
    services: Services, named: str, on_page: Callable[[Compared], None], limit: int | None = None
) -> None:
    """The stored pages of a source by their hosts' templates and by the general extractor."""
    found = await find_source(services.database, named)
    async with inspection_of(services) as inspection:
        async for one in inspection.compare(found.id, limit=limit):
            on_page(one)


async def explain_page(services: Services, url: str) -> Explained:
    """How its host's template reads a stored page, block by block. Raises NotFound without a page or a template."""
    body = await read_stored_page(services, url)
    async with inspection_of(services) as inspection:
        found = await inspection.explain(body)
    if found is None:
        raise await why_no_template(services, body.raw.url)
    return found


async def inspect_page(services: Services, url: str) -> InspectedPage:
    """Which readings there are of a stored page, and which is believed. Raises NotFound without a page."""
    body = await read_stored_page(services, url)
    async with inspection_of(services) as inspection:
        return await inspection.readings_of(body)


async def read_stored_page(services: Services, url: str) -> KeptBody:
    try:
        return await body_of(services.database, url, services.stores)
    except NotFound:
        raise NotFound(
            f"No page is stored for {url}.",
            fix=f"Pages are kept for keep.raw_days days. What became of it: headwater explain {quote(url)}",
        ) from None


async def why_no_template(services: Services, url: str) -> NotFound:
    host = site_of(url)
    host_learning = (await read_schooling(services.database, host)).host_learning
    sections = ", ".join(f"/{one.section}/" for one in host_learning.active)
    state = f"only pages below {sections} are read by one" if sections else state_of(host_learning)
    return NotFound(f"No template reads this page of {host}: {state}.", fix=f"More: headwater templates show {host}")


@asynccontextmanager
async def replay_of(services: Services) -> AsyncIterator[Replay]:
    settings = services.settings
    template_cache = TemplateCache(services.clock, services.random, is_open=settings.extract.templates)
    async with page_pool(services) as pool:
        reader = ChildReader(pool, identity_of(settings.fetch).product_token)
        context = Context(services.database, services.clock, template_cache, services.stores)
        page_reader = PageReader(context, reader)
        yield Replay(services.database, page_reader, pool_size_of(settings.extract), services.stores)


@asynccontextmanager
async def inspection_of(services: Services) -> AsyncIterator[Inspection]:
    """By what was learned, also where `extract.templates` is off: to look is not to use."""
    settings = services.settings
    context = Context(services.database, services.clock, TemplateCache(services.clock, services.random))
    async with page_pool(services) as pool:
        reader = ChildReader(pool, identity_of(settings.fetch).product_token)
        yield Inspection(services.database, context, reader, pool_size_of(settings.extract), services.stores)
