"""A source's channels asked once, to see what would come of it: through the real path, and nothing of it stored."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from headwater.clock import Clock
from headwater.database.pool import Database
from headwater.database.queries import load_queries
from headwater.discover.cadence.wording import in_words
from headwater.discover.items import Item
from headwater.discover.polls.asking import Asker
from headwater.discover.polls.hearing import Body, Heard, NotModified, RobotsRefusal, Trouble, Wait
from headwater.discover.polls.lease import Leased, leased_from
from headwater.discover.polls.reader import ChannelReader, task_of
from headwater.discover.polls.starting import start_of, start_pages
from headwater.extract.jobs.vacancy import Vacancy
from headwater.net.transport import Response
from headwater.politeness.hosts import pace_of, read_host
from headwater.sources.channels import ChannelKind

queries = load_queries("headwater.discover")


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
    vacancies: tuple[Vacancy, ...] = ()
    left_out: tuple[str, ...] = ()  # what looked like a vacancy and is none, and why


async def try_channels(
    database: Database, asker: Asker, reader: ChannelReader, clock: Clock, source_id: UUID
) -> AsyncIterator[Trial]:
    rows = await database.fetch(queries.read_channels_of_source, source_id)
    for row in rows:
        yield await try_channel(asker, reader, leased_from(row, clock.monotonic()), row["now"])


async def try_channel(asker: Asker, reader: ChannelReader, channel: Leased, now: datetime) -> Trial:
    """As if it were polled for the first time: without validators, or there would be nothing to see."""
    if channel.kind is ChannelKind.CRAWL:
        return Trial(channel.kind, channel.url.url, items=start_pages(channel))
    walk = start_of(channel)
    heard = await asker.ask(channel, walk, is_trial=True)
    if not isinstance(heard, Body):
        problem = await why_not(asker.database, heard)
        return Trial(channel.kind, channel.url.url, _response_of(heard), problem=problem)
    read = await reader.read(task_of(channel, walk, heard, now))
    if isinstance(read, Trouble):
        return Trial(channel.kind, channel.url.url, heard.response, problem=read.message)
    return Trial(
        channel.kind,
        channel.url.url,
        heard.response,
        read.items,
        len(read.walk.todo) - 1,
        read.walk.notes,
        vacancies=read.harvest.vacancies,
        left_out=tuple(f"{one.reason}: {one.title or one.url}" for one in read.harvest.skipped),
    )


def _response_of(heard: Heard) -> Response | None:
    return heard.response if isinstance(heard, Body | NotModified) else None


async def why_not(database: Database, heard: NotModified | Trouble | RobotsRefusal | Wait) -> str:
    """In words, for somebody who asked and has nothing to look at."""
    match heard:
        case NotModified():
            return "not modified"
        case Wait(wait, why):
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
