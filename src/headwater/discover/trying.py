"""A source's channels asked once, to see their items: through the real path, and nothing of it stored."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from uuid import UUID

from headwater.clock import Clock
from headwater.database.pool import Database
from headwater.database.queries import load_queries
from headwater.discover.cadence.forecast import price_from
from headwater.discover.items import Item
from headwater.discover.polls.lease import ChannelPast, Leased, leased_from, start_of, start_pages
from headwater.discover.polls.reader import ChannelReader, task_of
from headwater.discover.polls.requesting import (
    Asker,
    Body,
    ChannelAnswer,
    Deferred,
    NotModified,
    RobotsRefusal,
    Trouble,
)
from headwater.discover.publisher_hints import PublisherHints
from headwater.net.transport import Response
from headwater.phrases import in_words
from headwater.politeness.hosts import pace_of, read_host
from headwater.sources.kinds import ChannelKind
from headwater.sources.source import Profile, SourceKind
from headwater.sources.store import NewChannel
from headwater.urls.canonical import canonicalise
from headwater.vacancy import NewJob

queries = load_queries("headwater.discover")

NOBODY = UUID(int=0)


@dataclass(frozen=True, slots=True)
class Trial:
    """`problem` is a sentence where there is nothing to show."""

    kind: ChannelKind
    url: str
    response: Response | None = None
    items: tuple[Item, ...] = ()
    further: int = 0  # answers a run would ask for beyond this one
    notes: tuple[str, ...] = ()
    problem: str = ""
    vacancies: tuple[NewJob, ...] = ()
    left_out: tuple[str, ...] = ()  # what looked like a vacancy and is none, and why
    more: tuple[str, ...] = ()  # the addresses of the further answers


async def try_channels(
    database: Database, asker: Asker, reader: ChannelReader, clock: Clock, source_id: UUID
) -> AsyncIterator[Trial]:
    rows = await database.fetch(queries.read_channels_of_source, source_id)
    for row in rows:
        yield await try_channel(asker, reader, leased_from(row, clock.monotonic()), row["now"])


async def preview(
    asker: Asker, reader: ChannelReader, profile: Profile, new: NewChannel, now: datetime, answer: Body | None = None
) -> Trial:
    """A channel that is not stored yet: its items, whatever their age. `answer` is its own, where it was asked."""
    channel = _unstored(profile, new, now)
    trial = await try_channel(asker, reader, channel, now, answer)
    if trial.items or trial.problem or not trial.more:
        return trial
    # An index has no items of its own: those of its first sitemap say what it leads to.
    first = replace(channel, url=canonicalise(trial.more[0]))
    shown = await try_channel(asker, reader, first, now)
    return replace(trial, items=shown.items, notes=(*trial.notes, *shown.notes), problem=shown.problem)


async def _links(reader: ChannelReader, channel: Leased, page: Body, now: datetime) -> tuple[Item, ...]:
    """Where a crawl would go from its start page, read as a list of links."""
    listing = replace(channel, kind=ChannelKind.LISTING, source=replace(channel.source, kind=SourceKind.NEWS))
    read = await reader.read(task_of(listing, start_of(listing), page, now))
    return () if isinstance(read, Trouble) else (*read.items, *(Item(one.url) for one in read.run_state.todo[1:]))


def _unstored(profile: Profile, new: NewChannel, now: datetime) -> Leased:
    return Leased(
        id=NOBODY,
        token=NOBODY,
        source_id=NOBODY,
        source=profile,
        followed_since=now,
        failures=0,
        kind=new.kind,
        url=new.url,
        recipe=new.recipe or profile.parser_hint,
        trigger="manual",
        interval=None,
        etag=None,
        last_modified=None,
        progress=None,
        publisher_hints=PublisherHints(),
        answers={},
        past=ChannelPast(),
        price=price_from(None),
        common=(),
        host_delay=timedelta(),
        most_pages=None,
        now=now,
        leased_at=0.0,
        speaks_for_site=new.speaks_for_site,
        # Whatever its age: people want to see that it works.
        since=datetime.min.replace(tzinfo=UTC),
    )


async def try_channel(
    asker: Asker, reader: ChannelReader, channel: Leased, now: datetime, known: Body | None = None
) -> Trial:
    """As if it were polled for the first time: without validators, or there would be nothing to see.

    `known` is its answer where it was asked already.
    """
    if channel.kind is ChannelKind.CRAWL:
        links = await _links(reader, channel, known, now) if known else ()
        return Trial(channel.kind, channel.url.url, items=(*start_pages(channel), *links))
    run_state = start_of(channel)
    heard = known or await asker.ask(channel, run_state, is_trial=True)
    if not isinstance(heard, Body):
        problem = await why_not(asker.database, heard)
        return Trial(channel.kind, channel.url.url, _response_of(heard), problem=problem)
    read = await reader.read(task_of(channel, run_state, heard, now))
    if isinstance(read, Trouble):
        return Trial(channel.kind, channel.url.url, heard.response, problem=read.message)
    return Trial(
        channel.kind,
        channel.url.url,
        heard.response,
        read.items,
        len(read.run_state.todo) - 1,
        read.run_state.notes,
        vacancies=read.harvest.vacancies,
        left_out=tuple(f"{one.reason}: {one.title or one.url}" for one in read.harvest.skipped),
        more=tuple(todo.url for todo in read.run_state.todo[1:]),
    )


def _response_of(heard: ChannelAnswer) -> Response | None:
    return heard.response if isinstance(heard, Body | NotModified) else None


async def why_not(database: Database, heard: NotModified | Trouble | RobotsRefusal | Deferred) -> str:
    """In words, for a person who asked and has nothing to look at."""
    match heard:
        case NotModified():
            return "not modified"
        case Deferred(wait, why):
            return f"{await _why_wait(database, why)}; it can be asked again in {in_words(wait)}"
        case _:
            return heard.message


async def _why_wait(database: Database, why: str) -> str:
    host, _, cause = why.rpartition(": ")
    match cause:
        case "delay":
            pace = pace_of(await read_host(database, host))
            return f"{host}: {in_words(pace.delay)} between requests ({pace.decided_by})"
        case "closed":
            return f"{host} is left alone for now"
        case "full" | "turn":
            return f"{host} is being asked for other things"
        case _:
            return why
