"""/api/v1/sources: who we follow. The answers hold the fields of the systems before this one as well."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query, Request
from pydantic import BaseModel, Field
from starlette.responses import Response

from headwater.accounts.role import Role
from headwater.actions.described import (
    DescribedSource,
    add_described,
    change_described,
    describe_source,
    described,
    look_at_described,
    require_source_as_known,
    source_at,
    switch_feeds_off,
    switch_feeds_on,
)
from headwater.actions.sources import stop_sources
from headwater.discover.searching.following import NotFollowed
from headwater.editions import KnownEditions
from headwater.errors import HeadwaterError, QueryFailed, UsageError
from headwater.reports.discovery import (
    TOLD_BY_CHANNELS,
    ListOrder,
    SourceFilter,
    SourceOrder,
    count_matching,
    sorted_sources,
)
from headwater.reports.explaining import story_of_source
from headwater.reports.paging import page_of_sources, status_named
from headwater.serve.access.caller import Caller
from headwater.serve.access.gate import Allowed, Operator, Viewer
from headwater.serve.api.crawl import SourcePolled, poll_one
from headwater.serve.api.source_parts import SourceName
from headwater.serve.api.source_shapes import ChangedSource, NewSource, SourceList, SourceShape, SourceStoryShape, Word
from headwater.serve.bodies import KeptText, StrictBody
from headwater.serve.editions import IfMatch, tagged
from headwater.serve.long_work import ACCEPTED, accepted
from headwater.serve.operations import Progress
from headwater.serve.shared import USUAL_PAGE, Cursor, Installed, Limit, LongWork, OnceOnly, parts_of
from headwater.services import Services
from headwater.shapes.older import described_as_dict, in_our_words
from headwater.shapes.sources import source_story_as_dict
from headwater.shapes.trials import added_as_dict
from headwater.sources.exchange.described import row_described
from headwater.sources.finding import find_source
from headwater.sources.source import SourceKind, SourceStatus

router = APIRouter(prefix="/api/v1", tags=["sources"])

FARTHEST_OFFSET = 10_000
COUNTED_TO = 10_000
MOST_AT_ONCE = 500
SHOWN_ITEMS = 3
SECRET_FOR_STRANGERS = ("parser_hint",)


class PublicReading(Allowed):
    """Everybody, where the setting web.public_sources says so."""

    async def __call__(self, request: Request) -> Caller | None:
        if parts_of(request).services.settings.web.public_sources:
            return None
        return await super().__call__(request)


Reader = Annotated[Caller | None, Depends(PublicReading(Role.VIEWER))]


class Reason(StrictBody):
    """Why; shown with the source."""

    reason: Word = Field("", examples=["moved to another publisher"])


class BatchOutcome(BaseModel):
    """Of one source of a batch."""

    index: int
    outcome: str = Field(description="added, known or failed.")
    id: str | None
    url: str | None
    error: str | None


class BatchAnswer(BaseModel):
    added: int
    known: int
    failed: int
    results: list[BatchOutcome]


class NewSources(StrictBody):
    sources: list[dict[str, Any]] = Field(max_length=MOST_AT_ONCE, description="Each as POST /sources takes it.")


@router.get("/sources")
async def list_sources(
    caller: Reader,
    services: Installed,
    status: Annotated[
        KeptText | None,
        Query(
            max_length=20,
            description="active, paused, blocked, deleted, failing, silent, overdue (by 15 min), idle (nothing new for "
            "30 days); or a health: ok, unknown, warning, struggling. Health is judged as it is asked for: of a "
            "rare one a page may hold few sources, or none, and still have a cursor.",
        ),
    ] = None,
    kind: SourceKind | None = None,
    tag: Annotated[KeptText | None, Query(max_length=100, description="Only with this tag.")] = None,
    text: Annotated[KeptText | None, Query(max_length=200, description="The beginning of a name.")] = None,
    feed_active: Annotated[bool, Query(description="Only sources with a feed that is polled.")] = False,
    order: Annotated[
        ListOrder,
        Query(description="By cursor. `next` lists only sources with a poll to come, `-errors` those with errors."),
    ] = ListOrder.NAME,
    sort_by: Annotated[SourceOrder | None, Query(description="For pages by offset.")] = None,
    sort_order: Literal["asc", "desc"] = "asc",
    offset: Annotated[int | None, Query(ge=0, le=2**31 - 1, description="Instead of a cursor; 10,000 at most.")] = None,
    limit: Limit = USUAL_PAGE,
    cursor: Cursor = None,
) -> SourceList:
    """List sources with their health and their next poll, by name; or in another order, by offset."""
    stored, health = status_named(status)
    wanted = SourceFilter(stored, kind, tag, text, has_polled_feed=feed_active)
    if offset is None and sort_by is None and sort_order == "asc" and not feed_active:
        page = await page_of_sources(services.database, wanted, health, limit, cursor, order)
        found, following = page.items, page.cursor
    else:
        require_by_offset(wanted, health, offset, cursor)
        following, by = None, sort_by or SourceOrder.NAME
        found = await sorted_sources(
            services.database, wanted, by, offset or 0, limit, is_descending=sort_order == "desc"
        )
    is_counted = not health and stored not in TOLD_BY_CHANNELS and order not in (ListOrder.NEXT_POLL, ListOrder.ERRORS)
    total = await _count(services, wanted) if is_counted else None
    told = [_told(services, one, caller) for one in await described(services, list(found))]
    return SourceList.model_validate(
        {
            "sources": told,
            "cursor": following,
            "total": total,
            "total_is_capped": total is not None and total >= COUNTED_TO,
        }
    )


def require_by_offset(wanted: SourceFilter, health: object, offset: int | None, cursor: str | None) -> None:
    if offset is not None and offset > FARTHEST_OFFSET:
        raise UsageError(
            f"offset = {offset} is too far: 10,000 at most.", fix="Page by `cursor`: each answer holds the next one."
        )
    if cursor or wanted.text or health or wanted.status in TOLD_BY_CHANNELS:
        raise UsageError(
            "Pages by offset know no cursor, no text and no computed status.",
            fix="Leave offset, sort_by, sort_order and feed_active out, and page by `cursor`.",
        )


async def _count(services: Services, wanted: SourceFilter) -> int:
    return await count_matching(services.database, wanted, COUNTED_TO)


def _told(services: Services, one: DescribedSource, caller: Caller | None) -> dict[str, Any]:
    told = described_as_dict(one, services.settings.politeness.delay)
    return told if caller else told | dict.fromkeys(SECRET_FOR_STRANGERS)


@router.post("/sources", status_code=201, response_model=SourceShape, responses=ACCEPTED)
async def add_source(
    caller: Operator,
    services: Installed,
    operations: LongWork,
    once: OnceOnly,
    wanted: NewSource,
    look: Annotated[bool, Query(description="Look at the site now, as `headwater sources add` does.")] = False,
    anyway: Annotated[bool, Query(description="With look: follow it although it does not answer.")] = False,
) -> Response:
    """Follow a site. It is stored at once, and a poller looks for channels that are not named.

    With `look=true` the site is looked at first, and the answer is 202 with an operation: its result names what was
    found, or its problem says why the site is not followed.
    """
    said = in_our_words(wanted.said)
    if look:
        row_described(said)

        async def work(_: Progress) -> Mapping[str, Any]:
            seen = await look_at_described(services, said, caller.name, is_dry=False, is_forced=anyway)
            if isinstance(seen, NotFollowed):
                raise UsageError(seen.what, fix="anyway=true follows it all the same.")
            return added_as_dict(seen, SHOWN_ITEMS, is_dry=False)

        return accepted(await operations.begin("sources.add", caller.name, work))

    async def add() -> SourceShape:
        return await _shown(services, str(await add_described(services, said, caller.name)), caller)

    return await once.answer(caller.name, add, 201)


@router.post("/sources/batch", name="add_sources")
async def add_batch(caller: Operator, services: Installed, asked: NewSources) -> BatchAnswer:
    """Follow several sites; each has its outcome, and one that fails keeps no other from being added."""
    results = [await _added(services, index, one, caller.name) for index, one in enumerate(asked.sources)]
    counts = {word: sum(one.outcome == word for one in results) for word in ("added", "known", "failed")}
    return BatchAnswer(**counts, results=results)


async def _added(services: Services, index: int, said: dict[str, Any], actor: str) -> BatchOutcome:
    url = str(said.get("url") or said.get("feed_url") or "")[:2_083] or None
    try:
        read = in_our_words(NewSource.model_validate(said).said)
        if known := await _known(services, read):
            return BatchOutcome(index=index, outcome="known", id=known, url=url, error=None)
        source_id = await add_described(services, read, actor)
    except QueryFailed:
        raise
    except HeadwaterError as error:
        return BatchOutcome(index=index, outcome="failed", id=None, url=url, error=error.what)
    except ValueError as error:
        return BatchOutcome(index=index, outcome="failed", id=None, url=url, error=str(error)[:500])
    return BatchOutcome(index=index, outcome="added", id=str(source_id), url=url, error=None)


async def _known(services: Services, said: Mapping[str, Any]) -> str | None:
    found = await source_at(services, row_described(said).url)
    return str(found) if found else None


@router.get("/sources/by-identity")
async def find_by_identity(
    caller: Viewer, services: Installed, identity_key: Annotated[KeptText, Query(min_length=1, max_length=500)]
) -> SourceShape:
    """Find a source by its id in another system; or by its host, which older systems make such ids of."""
    return await _shown(services, identity_key, caller)


@router.patch("/sources/{id:path}/feed-disable")
async def disable_feeds(
    caller: Operator, services: Installed, id: SourceName, why: Reason | None = None
) -> SourceShape:
    """Poll the feeds of a source no more; its other channels go on."""
    await switch_feeds_off(services, id, (why and why.reason) or "by a person", caller.name)
    return await _shown(services, id, caller)


@router.patch("/sources/{id:path}/feed-enable")
async def enable_feeds(caller: Operator, services: Installed, id: SourceName) -> SourceShape:
    """Poll the feeds of a source again that were switched off."""
    await switch_feeds_on(services, id, caller.name)
    return await _shown(services, id, caller)


@router.patch("/sources/{id:path}/disable")
async def disable_source(
    caller: Operator, services: Installed, id: SourceName, why: Reason | None = None
) -> SourceShape:
    """Pause a source; the same as `pause`."""
    return await _set_status(services, id, SourceStatus.PAUSED, why, caller)


@router.patch("/sources/{id:path}/enable")
async def enable_source(caller: Operator, services: Installed, id: SourceName) -> SourceShape:
    """Resume a source; the same as `resume`."""
    return await _set_status(services, id, SourceStatus.ACTIVE, None, caller)


@router.post("/sources/{id:path}/pause")
async def pause_source(caller: Operator, services: Installed, id: SourceName, why: Reason | None = None) -> SourceShape:
    """Stop polling a source and set its waiting URLs aside."""
    return await _set_status(services, id, SourceStatus.PAUSED, why, caller)


@router.post("/sources/{id:path}/resume")
async def resume_source(caller: Operator, services: Installed, id: SourceName) -> SourceShape:
    """Poll a source again that was paused or blocked; its count of errors starts at zero."""
    return await _set_status(services, id, SourceStatus.ACTIVE, None, caller)


@router.post("/sources/{id:path}/run", response_model=SourcePolled)
async def run_source(caller: Operator, services: Installed, once: OnceOnly, id: SourceName) -> Response:
    """Poll a source as soon as its hosts allow, whatever its schedule or time window says."""
    return await once.answer(caller.name, lambda: poll_one(services, id))


@router.get("/sources/{id:path}")
async def show_source(caller: Reader, services: Installed, response: Response, id: SourceName) -> SourceStoryShape:
    """Show a source: its channels, why each is polled when, and what happened to it."""
    story = await story_of_source(services.database, id)
    (one,) = await described(services, [story.overview])
    told = source_story_as_dict(story) | _told(services, one, caller)
    tagged(response, one.edition)
    return SourceStoryShape.model_validate(told)


@router.put("/sources/{id:path}")
async def replace_source(
    caller: Operator, services: Installed, response: Response, id: SourceName, changes: ChangedSource, known: IfMatch
) -> SourceShape:
    """Change fields of a source, as PATCH does: what is not named stays, also what an older program never knew."""
    return await _changed(services, response, id, changes, caller, known)


@router.patch("/sources/{id:path}")
async def change_source(
    caller: Operator, services: Installed, response: Response, id: SourceName, changes: ChangedSource, known: IfMatch
) -> SourceShape:
    """Change fields of a source; what is not named stays, null takes a field back to its default."""
    return await _changed(services, response, id, changes, caller, known)


@router.delete("/sources/{id:path}", status_code=204)
async def remove_source(caller: Operator, services: Installed, id: SourceName, known: IfMatch) -> None:
    """Delete a source: it is no longer polled or fetched, and its vacancies expire. Documents and history stay."""
    if known is not None:
        await require_source_as_known(services, (await find_source(services.database, id)).id, known)
    await stop_sources(services, [id], SourceStatus.DELETED, "deleted by a person", caller.name)


async def _changed(
    services: Services, response: Response, named: str, changes: ChangedSource, caller: Caller, known: KnownEditions
) -> SourceShape:
    before = await describe_source(services, named)
    told = SourceShape.model_validate(_told(services, before, caller)).model_dump(mode="json")
    # A program that sends an answer back means what it changed of it.
    said = {name: value for name, value in changes.said.items() if name not in told or told[name] != value}
    if said.get("type") and "tags" not in said:
        said["tags"] = list(before.overview.source.profile.tags)
    source = await change_described(services, str(before.overview.source.id), in_our_words(said), caller.name, known)
    shown = await _shown(services, str(source.id), caller)
    tagged(response, shown.edition)
    return shown


async def _set_status(
    services: Services, named: str, status: SourceStatus, why: Reason | None, caller: Caller
) -> SourceShape:
    reason = None if status is SourceStatus.ACTIVE else (why and why.reason) or f"{status} by a person"
    ((source, _),) = await stop_sources(services, [named], status, reason, caller.name)
    return await _shown(services, str(source.id), caller)


async def _shown(services: Services, named: str, caller: Caller) -> SourceShape:
    return SourceShape.model_validate(_told(services, await describe_source(services, named), caller))
