"""Channels, pages and addresses asked once through the real path, to be shown; nothing is stored."""

from dataclasses import dataclass, replace

from headwater.discover.items import Item
from headwater.discover.trying import Trial, try_channels
from headwater.extraction.page import FeedHints
from headwater.fetch.fetcher import Clear, FetchRequest, Follower, is_closed_for_good
from headwater.fetch.outcomes import FetchOutcome, TakenDown
from headwater.ingest.page_reader import ChildReader
from headwater.ingest.simulating import SimulatedPage, simulate_pages
from headwater.net.transport import Response
from headwater.politeness.hosts import Pace, pace_of, read_host
from headwater.politeness.slots import NotBefore
from headwater.run.extraction_pools import page_pool
from headwater.run.polling import channel_reader, poll_of
from headwater.services import Services
from headwater.sources.finding import find_source
from headwater.urls.canonical import CanonicalUrl
from headwater.web import open_web


@dataclass(frozen=True, slots=True)
class Simulation:
    trials: list[Trial]
    pages: list[SimulatedPage]


@dataclass(frozen=True, slots=True)
class FetchedOnce:
    """`steps` are the addresses of all hops, each with its outcome. `pace` is None where nothing was asked."""

    steps: list[tuple[CanonicalUrl, Clear | FetchOutcome | Response]]
    outcome: FetchOutcome | NotBefore
    pace: Pace | None = None


async def try_source(services: Services, named: str) -> list[Trial]:
    """Each channel of a source, asked once."""
    found = await find_source(services.database, named)
    async with open_web(services, "headwater sources test") as web, channel_reader(services) as reader:
        asker = poll_of(services, web, reader).asker
        return [trial async for trial in try_channels(services.database, asker, reader, services.clock, found.id)]


async def simulate_source(services: Services, named: str, most: int, *, reads_pages: bool) -> Simulation:
    """Each channel of a source, and where they are wanted the first pages of the first channel that lists some."""
    trials = await try_source(services, named)
    items = next((trial.items for trial in trials if trial.items), ())[:most]
    if not reads_pages or not items:
        return Simulation(trials, [])
    profile = (await find_source(services.database, named)).profile
    async with open_web(services, "headwater sources simulate") as web, page_pool(services) as pool:
        reader = ChildReader(pool, web.identity.product_token)
        pages = [(item.url, hints_of(item)) for item in items]
        follower = Follower(web.fetcher, web.reservations)
        return Simulation(trials, await simulate_pages(follower, reader, profile, pages))


def hints_of(item: Item) -> FeedHints:
    return FeedHints(
        title=item.title,
        author=item.author,
        language=item.language,
        content=item.content,
        published_at=item.published_at,
        updated_at=item.updated_at,
    )


async def fetch_once(services: Services, target: CanonicalUrl, method: str) -> FetchedOnce:
    """One address as a worker would ask it."""
    steps: list[tuple[CanonicalUrl, Clear | FetchOutcome | Response]] = []
    async with open_web(services, "headwater fetch") as web:
        fetcher = replace(web.fetcher, observer=lambda url, what: steps.append((url, what)))
        async with web.reservations.reserve_slot(target.host, "test") as held_slot:
            if isinstance(held_slot, NotBefore):
                is_over = await is_closed_for_good(web.reservations, held_slot, target)
                return FetchedOnce(steps, TakenDown(target) if is_over else held_slot)
            outcome = await fetcher.fetch(FetchRequest(target, "test", method=method), held_slot)
        return FetchedOnce(steps, outcome, pace_of(await read_host(services.database, target.host)))
