"""Tools that read: documents, vacancies, changes, sources, views, and how things stand."""

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from headwater.actions.delivery import view_stories
from headwater.actions.searching import ArchiveWish, documents_wished, filters_for, require_of_vacancies
from headwater.deliver.pulling import newest_position, pull_changes
from headwater.errors import NotFound, UsageError
from headwater.extraction.jobs.countries import country_called
from headwater.frontier.reads import count_statuses
from headwater.net.identity import identity_of
from headwater.record_kind import RecordKind
from headwater.reports.archive import find_jobs
from headwater.reports.discovery import SourceFilter, summary
from headwater.reports.documents import document_named
from headwater.reports.explaining import SourceStory
from headwater.reports.explaining import explain as explain_named
from headwater.reports.frontier import source_names
from headwater.reports.paging import page_of_sources, status_named
from headwater.reports.problems import HINTED_SOURCES, find_problems
from headwater.search.facets import Facet
from headwater.search.question import Filters
from headwater.search.views import view_named, within
from headwater.serve.agents.shapes import (
    change_as_dict,
    document_as_dict,
    found_as_dict,
    page_story_as_dict,
    source_as_dict,
    source_story_as_dict,
    status_as_dict,
    views_as_dict,
)
from headwater.serve.agents.text import MOST_CHARACTERS, USUAL_CHARACTERS, fitting
from headwater.serve.agents.tools import (
    LARGEST_POSITION,
    AgentSession,
    AgentTool,
    Arguments,
    NoArguments,
    ToolCursor,
    ToolLimit,
    ToolText,
    ToolView,
)
from headwater.services import data_folder
from headwater.shapes.views import view_as_dict
from headwater.sources.source import SourceKind

MOST_VIEWS = 50
ToolResult = Mapping[str, Any]


class SearchArguments(Arguments):
    query: ToolText = Field(
        "", max_length=500, description='Words, "whole phrases", or, -without. Nothing: the newest are listed.'
    )
    kind: RecordKind = Field(RecordKind.DOCUMENT, description="document (articles) or job (vacancies).")
    view: ToolView = None
    source: ToolText = Field("", max_length=2_083, description="Only of this source: its id, address, host or name.")
    host: ToolText = Field("", max_length=260, description="Only articles of pages of this host.")
    language: ToolText = Field("", max_length=20, description="Only in this language, by its two letters.")
    page_type: ToolText = Field("", max_length=40, description="Only articles of such pages: article, video, live, …")
    author: ToolText = Field("", max_length=300, description="Only articles of this author.")
    month: ToolText = Field("", max_length=40, description="Only published in this month (UTC): 2026-05.")
    day: ToolText = Field("", max_length=40, description="Only published on this day (UTC): 2026-05-06.")
    facets: list[Facet] = Field(
        default_factory=list,
        max_length=len(Facet),
        description="Also count the values of these fields over all articles that match; each value can be asked for "
        "by the argument of that name.",
    )
    limit: ToolLimit = 10
    cursor: ToolCursor = None

    @property
    def wish(self) -> ArchiveWish:
        said: dict[str, Any] = {str(one): getattr(self, one) or None for one in Facet}
        return ArchiveWish(view=self.view, **said)


class JobArguments(Arguments):
    query: ToolText = Field(
        "", max_length=500, description='ToolText, "whole phrases", or, -without. Nothing: the newest are listed.'
    )
    country: ToolText = Field("", max_length=100, description="Its name or two letters, such as KE.")
    view: ToolView = None
    limit: ToolLimit = 10
    cursor: ToolCursor = None


class DocumentArguments(Arguments):
    document: ToolText = Field(min_length=1, max_length=2_083, description="Its id (64 hex digits) or its URL.")
    max_chars: int = Field(USUAL_CHARACTERS, ge=1, le=MOST_CHARACTERS, description="Characters of text at most.")
    offset: int = Field(
        0, ge=0, le=1_000_000_000, description="Where the text begins: `next_offset` of the piece before."
    )


class ChangesArguments(Arguments):
    position: int | None = Field(
        None,
        ge=0,
        le=LARGEST_POSITION,
        description="`next_position` of the answer before. Nothing: the newest changes, to begin with.",
    )
    view: ToolView = None
    limit: ToolLimit = 20


class SourcesArguments(Arguments):
    name: ToolText = Field("", max_length=200, description="Only names that begin so.")
    status: ToolText = Field(
        "", max_length=20, description="active, paused, blocked, failing or silent; or ok, warning or struggling."
    )
    kind: SourceKind | None = Field(None, description="news, jobs or docs.")
    tag: ToolText = Field("", max_length=100, description="Only with this tag.")
    limit: ToolLimit = 20
    cursor: ToolCursor = None


class ExplainArguments(Arguments):
    what: ToolText = Field(min_length=1, max_length=2_083, description="A URL, or a source by its id, address or name.")


async def search_documents(session: AgentSession, asked: SearchArguments) -> ToolResult:
    services, wish = session.services, asked.wish
    wanted = tuple(dict.fromkeys(asked.facets))
    if asked.kind is RecordKind.JOB:
        require_of_vacancies(wish, wanted)
        filters = await filters_for(services, RecordKind.JOB, wish)
        return await _jobs(session, asked.query, filters, {}, asked.limit, asked.cursor)

    async def page(limit: int) -> ToolResult:
        answer = await documents_wished(services, asked.query, wish, limit, asked.cursor, wanted)
        return found_as_dict(answer, "documents")

    return await fitting(page, asked.limit)


async def search_jobs(session: AgentSession, asked: JobArguments) -> ToolResult:
    filters = await _in_view(session, Filters(RecordKind.JOB), asked.view)
    wanted = {"country_iso": _country(asked.country)} if asked.country else {}
    return await _jobs(session, asked.query, filters, wanted, asked.limit, asked.cursor)


async def _jobs(
    session: AgentSession, query: str, filters: Filters, wanted: Mapping[str, str], limit: int, cursor: str | None
) -> ToolResult:
    services = session.services

    async def page(most: int) -> ToolResult:
        answer = await find_jobs(services.search, services.clock, query, filters, most, wanted, cursor)
        return found_as_dict(answer, "jobs")

    return await fitting(page, limit)


async def _in_view(session: AgentSession, filters: Filters, view: str | None) -> Filters:
    database = session.services.database
    return await within(database, filters, await view_named(database, view)) if view else filters


def _country(said: str) -> str:
    code = country_called(said)
    if not code:
        raise UsageError(f"There is no country {said!r}.", fix="Write its name or its two letters, such as KE.")
    return code


async def get_document(session: AgentSession, asked: DocumentArguments) -> ToolResult:
    database = session.services.database
    found = await document_named(database, asked.document)
    if found.deleted_at:
        raise NotFound("This document was withdrawn.", fix="`explain` tells why; its text is not given out again.")
    names = await source_names(database, [found.source_id])
    return document_as_dict(found, names.get(found.source_id, ""), asked.offset, asked.max_chars)


async def changes_since(session: AgentSession, asked: ChangesArguments) -> ToolResult:
    database = session.services.database
    view = await view_named(database, asked.view) if asked.view else None
    start = asked.position
    after = await newest_position(database, asked.limit) if start is None else start

    async def page(limit: int) -> ToolResult:
        pulled = await pull_changes(database, after, limit, view)
        told = [change_as_dict(one) for one in pulled.changes]
        return {"changes": told, "next_position": pulled.next, "has_more": pulled.more}

    return await fitting(page, asked.limit)


async def list_sources(session: AgentSession, asked: SourcesArguments) -> ToolResult:
    status, health = status_named(asked.status or None)
    wanted = SourceFilter(status, asked.kind, asked.tag or None, asked.name or None)

    async def page(limit: int) -> ToolResult:
        found = await page_of_sources(session.services.database, wanted, health, limit, asked.cursor)
        return {"sources": [source_as_dict(one) for one in found.items], "cursor": found.cursor}

    return await fitting(page, asked.limit)


async def explain(session: AgentSession, asked: ExplainArguments) -> ToolResult:
    services = session.services
    agent = identity_of(services.settings.fetch).user_agent
    story = await explain_named(services.database, asked.what, agent)
    return source_story_as_dict(story) if isinstance(story, SourceStory) else page_story_as_dict(story)


async def list_views(session: AgentSession, _: NoArguments) -> ToolResult:
    stories = [view_as_dict(one) for one in await view_stories(session.services)]

    async def page(limit: int) -> ToolResult:
        return views_as_dict(stories, limit)

    return await fitting(page, MOST_VIEWS)


async def status(session: AgentSession, _: NoArguments) -> ToolResult:
    services, database = session.services, session.services.database
    settings = services.settings
    problems = await find_problems(database, settings, data_folder(settings), services.clock, HINTED_SOURCES)
    return status_as_dict(await summary(database), await count_statuses(database), problems)


READING = (
    AgentTool(
        "search_documents",
        "Search the archive of stored articles (or, with kind job, vacancies). Nothing is fetched. To go on, give"
        " `cursor` again; to read one whole, give its `id` to get_document.",
        SearchArguments,
        search_documents,
    ),
    AgentTool(
        "get_document",
        "Read a stored document, a piece of its text at a time. To go on, give `next_offset` as `offset`.",
        DocumentArguments,
        get_document,
    ),
    AgentTool(
        "search_jobs",
        "Search the open vacancies, or list the newest. To go on, give `cursor` again.",
        JobArguments,
        search_jobs,
    ),
    AgentTool(
        "changes_since",
        "List what was added, changed or removed behind a position of the log, with each record as it is now. To go on,"
        " now or later, give `next_position` as `position`: no change is missed and none comes twice.",
        ChangesArguments,
        changes_since,
    ),
    AgentTool(
        "list_sources",
        "List the publishers that are followed, by name, with their health and next poll. To go on, give `cursor`.",
        SourcesArguments,
        list_sources,
    ),
    AgentTool(
        "explain",
        "Tell what became of a URL, or how a source is doing: why there is no document, what happens next and when.",
        ExplainArguments,
        explain,
    ),
    AgentTool("list_views", "List the views: named filters that other tools take.", NoArguments, list_views),
    AgentTool(
        "status", "Tell how the installation is doing: sources, polls, queued URLs, problems.", NoArguments, status
    ),
)
