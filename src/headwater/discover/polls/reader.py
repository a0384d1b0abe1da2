"""A channel's answer read in a child: whatever it does to the parser, it costs one child, and the channel rests."""

from dataclasses import dataclass, replace
from datetime import datetime

from headwater.discover.cadence.rests import ErrorClass
from headwater.discover.items import Unreadable
from headwater.discover.polls.lease import Leased
from headwater.discover.polls.requesting import Body, Trouble
from headwater.discover.polls.run_state import RunState
from headwater.discover.polls.task import ReadAnswer, Reply, Subject, Task, encode_task, read_from
from headwater.errors import DependencyDown, UsageError
from headwater.extraction.jobs.normalise import Employer
from headwater.extraction.pool.extraction_pool import (
    Crashed,
    Done,
    ExtractionPool,
    OutOfMemory,
    WorkOutcome,
    end_in_words,
)
from headwater.plugins import READERS, Plugin, plugin_for
from headwater.sources.kinds import ChannelKind
from headwater.sources.source import SourceKind
from headwater.urls.canonical import canonicalise
from headwater.urls.domains import registrable_domain
from headwater.urls.scope import Scope

MOST_PAGES = 10

TOO_LONG = (
    "Reading it took longer than extract.timeout allows and was ended. "
    "Look at the answer; if it is only large, raise extract.timeout."
)
TOO_LARGE = (
    "Reading it needed more memory than extract.memory_mb allows and was ended. "
    "Look at the answer; if it is only large, raise extract.memory_mb."
)
TAKEN_OVER = "Its reader answered with something that no reader says: the answer may be an attack. Look at it."


class ReadersGone(DependencyDown):
    """No child can be started to read a channel's answer in."""


@dataclass(frozen=True, slots=True)
class ChannelReader:
    pool: ExtractionPool

    async def read(self, task: Task) -> ReadAnswer | Trouble:
        """Raises ReadersGone where there is no child to be had: that is no fault of the answer's."""
        outcome = await self._ask_child(task)
        read = read_of(outcome, task)
        plugin = plugin_asked(task) if isinstance(read, Trouble) and read.is_deadly else None
        if plugin is None:
            return read
        # The child died over the answer or over the plug-in: our own reading tells which.
        task = replace(task, reply=replace(task.reply, asks_plugins=False))
        own = read_of(await self._ask_child(task), task)
        failure = plugin.failed(end_in_words(outcome)).sentence
        if isinstance(own, Trouble):
            return own if own.is_deadly else replace(own, message=f"{own.message} {failure}")
        return own.noting(failure)

    async def _ask_child(self, task: Task) -> WorkOutcome:
        share = registrable_domain(canonicalise(task.reply.url).host)
        try:
            return await self.pool.run(encode_task(task), share)
        except DependencyDown as error:
            raise ReadersGone(error.what, fix=error.fix) from error


def read_of(outcome: WorkOutcome, task: Task) -> ReadAnswer | Trouble:
    match outcome:
        case Done(value):
            return _believed(value, task)
        case OutOfMemory():
            return _deadly(TOO_LARGE)
        case Crashed(how, where) if where:
            # A fault of ours in the parser: the child lives, and so does everybody else.
            message = f"It could not be read ({how} at {where}). Report it, with its URL."
            return Trouble(ErrorClass.UNREADABLE, message)
        case Crashed(how):
            return _deadly(f"Reading it ended the process that read it ({how}). Look at the answer.")
        case _:
            return _deadly(TOO_LONG)


def plugin_asked(task: Task) -> Plugin | None:
    """The plug-in that a child may have asked."""
    kind = task.subject.kind
    return plugin_for(READERS, task.reply.url) if kind.traits.asks_plugins or kind is ChannelKind.SEARCH else None


def task_of(channel: Leased, run_state: RunState, heard: Body, now: datetime) -> Task:
    return Task(subject_of(channel), run_state, reply_of(channel.kind, channel.url.url, heard), now)


def reply_of(kind: ChannelKind, url: str, heard: Body) -> Reply:
    response = heard.response
    return Reply(
        # Where an API's pages are holds our key.
        url if kind is ChannelKind.API else response.url.url,
        response.body,
        response.headers.get("Content-Type", ""),
        response.asked_as,
        heard.sitemaps,
    )


def subject_of(channel: Leased) -> Subject:
    source = channel.source
    return Subject(
        kind=channel.kind,
        url=channel.url.url,
        recipe=channel.recipe if channel.kind is ChannelKind.API else None,
        scope=source.scope if channel.kind.traits.reads_in_scope else Scope(),
        article_patterns=source.article_patterns,
        selectors=source.selectors,
        max_depth=source.max_depth,
        most_answers=most_answers(channel),
        most_api_pages=channel.most_pages,
        is_wanted_whole=source.kind is SourceKind.DOCS,
        lists_vacancies=channel.lists_vacancies,
        employer=Employer(source.name, source.org_type or "", channel.url.url),
        vacancy_selector=source.parser_hint or "",
        followed_since=channel.followed_since,
        last_ok_at=channel.past.last_ok_at,
        since=channel.since,
        answers=channel.answers,
        followed=channel.followed,
    )


def most_answers(channel: Leased) -> int:
    """How many answers a run may ask for: of pages what the source and its host allow, whichever is less."""
    pages = min(channel.source.max_pages or MOST_PAGES, channel.most_pages or MOST_PAGES)
    return channel.kind.traits.most_answers or pages


def _believed(value: object, task: Task) -> ReadAnswer | Trouble:
    try:
        read = read_from(value, task)
    except UsageError:
        return _deadly(TAKEN_OVER)
    return Trouble(ErrorClass.UNREADABLE, read.why) if isinstance(read, Unreadable) else read


def _deadly(message: str) -> Trouble:
    return Trouble(ErrorClass.UNREADABLE, message, is_deadly=True)
