"""A URL or a source, whichever a person's words mean, with its story."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from headwater.database.pool import Database
from headwater.errors import HeadwaterError, NotFound, UrlRejected
from headwater.frontier.pause import CrawlPause, read_pause
from headwater.reports.crowds import CrowdedHost, crowded_hosts
from headwater.reports.discovery import DiscoveryOverview, limits_reached, overviews, time_now
from headwater.reports.freshness import SourceFreshness, freshness_of
from headwater.reports.pages import PageStory, story_of
from headwater.sources.finding import external_ids_of, find_source
from headwater.sources.health import host_in
from headwater.sources.store import Happened, events_of
from headwater.urls.canonical import canonicalise

SHOWN_EVENTS = 10


@dataclass(frozen=True, slots=True)
class SourceStory:
    """`limits` are sentences: which limit of the source keeps pages out. `now` is the database's time."""

    overview: DiscoveryOverview
    events: Sequence[Happened]
    external_ids: tuple[str, ...]
    limits: Sequence[str]
    now: datetime
    freshness: SourceFreshness
    crowds: tuple[CrowdedHost, ...]  # hosts of its channels that have more of them than turns
    pause: CrawlPause | None  # of everything


async def explain(database: Database, text: str, agent: str) -> PageStory | SourceStory:
    """Raises NotFound for what is neither; a URL that we never met is told of all the same.

    `agent` is the user agent by whose rules of robots.txt it is judged.
    """
    story: PageStory | None = None
    nothing: HeadwaterError = NotFound(
        f"{text!r} is neither a URL nor a source.",
        fix="A URL begins with https://; `headwater sources list` shows the sources there are.",
    )
    try:
        story = await story_of(database, canonicalise(text), agent)
    except UrlRejected as refused:
        nothing = refused if "://" in text else nothing
    if story is not None and story.is_known:
        return story
    # Perhaps a source was meant; if not, what is known of the URL is worth more.
    try:
        return await story_of_source(database, text)
    except NotFound:
        if story is None:
            raise nothing from None
        return story


async def story_of_source(database: Database, named: str) -> SourceStory:
    found = await find_source(database, named)
    [overview] = await overviews(database, [found])
    return SourceStory(
        overview=overview,
        events=await events_of(database, found.id, limit=SHOWN_EVENTS),
        external_ids=(await external_ids_of(database, [found.id])).get(found.id, ()),
        limits=await limits_reached(database, found),
        now=await time_now(database),
        freshness=await freshness_of(database, found.id, overview.channels),
        crowds=await crowded_hosts(database, sorted({host_in(one.url).partition(":")[0] for one in overview.channels})),
        pause=await read_pause(database),
    )
