"""/api/v1/frontier: the queue of URLs, also as systems before this one asked for it."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Depends, Path, Query, Response

from headwater.actions.searching import source_id_of
from headwater.actions.urls import frontier_stats, queue_urls
from headwater.errors import Refused, UsageError
from headwater.frontier.control import kill, kill_where, raise_now, remove_where, retry_now, retry_where
from headwater.frontier.control import remove as forget
from headwater.frontier.entry import EntryOrigin, EntryStatus
from headwater.frontier.listing import EntryOrder, count_matching, entry_with_id, filter_for, list_in_order
from headwater.frontier.reads import Filter, failures_by_class, list_entries
from headwater.frontier.submit import SubmitOutcome
from headwater.serve.access.gate import Operator, Viewer
from headwater.serve.api.frontier_shapes import (
    BulkAnswer,
    BulkSubmission,
    EntryList,
    EntryShape,
    FailureClassList,
    FrontierStatsShape,
    KillReason,
    KillWish,
    ManyWish,
    RetryWish,
    Submission,
    SubmittedEntry,
)
from headwater.serve.api.operations import OperationShape
from headwater.serve.operations import Progress
from headwater.serve.shared import USUAL_PAGE, Cursor, Installed, Limit, LongWork, OnceOnly
from headwater.services import Services
from headwater.shapes.frontier import entry_as_dict, failure_as_dict, queued_as_dicts, stats_as_dict
from headwater.urls.canonical import canonicalise

router = APIRouter(prefix="/api/v1", tags=["frontier"])

MOST_LEFT_OUT = 10_000
EntryId = Annotated[UUID, Path(description="Of the entry, as lists say it.")]
Named = Annotated[
    str | None, Query(max_length=2_083, description="Found by this source: its id, address, host or name.")
]


@dataclass(frozen=True, slots=True)
class EntryWish:
    """Which URLs."""

    status: EntryStatus | None = None
    source_id: Named = None
    source: Annotated[str | None, Query(max_length=2_083, description="The same as source_id.")] = None
    host: Annotated[str | None, Query(max_length=255, description="Only this host.")] = None
    origin: EntryOrigin | None = None
    reason: Annotated[str | None, Query(max_length=200, description="Why it failed or died.")] = None
    prefix: Annotated[str | None, Query(max_length=2_083, description="Only URLs that begin so.")] = None
    search: Annotated[str | None, Query(max_length=2_083, description="The same as prefix, by its older name.")] = None

    async def filter(self, services: Services) -> Filter:
        return filter_for(
            status=self.status,
            source_id=await source_id_of(services, self.source_id or self.source),
            host=self.host,
            origin=self.origin,
            reason=self.reason,
            prefix=self.prefix or self.search or None,
        )


@router.get("/frontier")
async def list_frontier(
    caller: Viewer,
    services: Installed,
    wish: Annotated[EntryWish, Depends(EntryWish)],
    sort_by: Annotated[
        EntryOrder | None, Query(description="Of the waiting URLs of one host; otherwise the order is that of keys.")
    ] = None,
    limit: Limit = USUAL_PAGE,
    cursor: Cursor = None,
    offset: Annotated[
        int, Query(ge=0, le=2**31 - 1, description="URLs to leave out, up to 10,000; a cursor reaches further.")
    ] = 0,
) -> EntryList:
    """List the queued and known URLs, a page at a time.

    Keys have no meaning: the order is the same on every page, and new URLs stand anywhere in it. A page with fewer URLs
    than asked for and a cursor has searched so far. `total` is exact where `total_is_capped` is false.
    """
    require_near(offset)
    wanted, database = await wish.filter(services), services.database
    if sort_by:
        page = await list_in_order(database, wanted, sort_by, limit=limit, cursor=cursor, offset=offset)
    else:
        page = await list_entries(database, wanted, limit=limit, cursor=cursor, offset=offset)
    total = await count_matching(database, wanted)
    return EntryList.model_validate(
        {
            "urls": [entry_as_dict(one) for one in page.entries],
            "total": total.count,
            "total_is_capped": total.is_capped,
            "cursor": page.cursor,
        }
    )


def require_near(offset: int) -> None:
    if offset > MOST_LEFT_OUT:
        raise UsageError(
            f"An offset of {offset:,} is too far.",
            fix=f"Up to {MOST_LEFT_OUT:,}; beyond, follow `cursor` of each page.",
        )


@router.get("/frontier/stats", name="show_frontier_stats")
async def show_stats(
    caller: Viewer, services: Installed, limit: Limit = USUAL_PAGE, cursor: Cursor = None
) -> FrontierStatsShape:
    """Count URLs by status, of everything and of a page of sources by name; say since when the oldest waits."""
    found = await frontier_stats(services, limit, cursor)
    hosts = {name: getattr(found.hosts, name) for name in ("open", "waiting", "busy", "doubted")}
    totals = {f"total_{status}": count for status, count in found.by_status.items()}
    more = {"hosts": hosts, "oldest_due_at": found.oldest_due_at, "total": sum(found.by_status.values())}
    return FrontierStatsShape.model_validate(stats_as_dict(found) | totals | more)


@router.get("/frontier/failures")
async def list_failures(caller: Viewer, services: Installed) -> FailureClassList:
    """Group the URLs that failed or are dead by what went wrong, the largest group first."""
    found = await failures_by_class(services.database)
    return FailureClassList.model_validate({"failures": [failure_as_dict(one) for one in found]})


@router.get("/frontier/{id}")
async def show_entry(caller: Viewer, services: Installed, id: EntryId) -> EntryShape:
    """Show one URL of the queue."""
    return EntryShape.model_validate(entry_as_dict(await entry_with_id(services.database, id)))


@router.post(
    "/frontier/submit",
    status_code=201,
    response_model=None,
    responses={201: {"model": SubmittedEntry, "description": "It is in the queue: new, or known already."}},
    name="submit_url",
)
async def submit(caller: Operator, services: Installed, once: OnceOnly, wanted: Submission) -> Response:
    """Queue a URL by hand; `outcome` says whether it was new. 422 tells why one is never fetched."""

    async def work() -> SubmittedEntry:
        return await _submitted(services, wanted)

    return await once.answer(caller.name, work, 201)


async def _submitted(services: Services, wanted: Submission) -> SubmittedEntry:
    (queued,) = await queue_urls(
        services, [wanted.url], wanted.source_id, origin=wanted.origin, priorities=[wanted.priority]
    )
    if queued.outcome is SubmitOutcome.REJECTED or queued.id is None:
        if queued.reason == "takedown":
            raise Refused("This URL is taken down.", fix="GET /api/v1/takedowns shows by what, and since when.")
        canonicalise(wanted.url)  # raises UrlRejected with a sentence, where the address itself is the reason
        raise UsageError(f"This URL is not queued: {queued.reason}.", fix="Give another one, or another source.")
    entry = await entry_with_id(services.database, queued.id)
    told = {"outcome": queued.outcome, "has_effects": queued.has_effects}
    return SubmittedEntry.model_validate(entry_as_dict(entry) | told)


@router.post(
    "/frontier/submit/bulk",
    response_model=None,
    responses={200: {"model": BulkAnswer, "description": "What became of each, in order."}},
    name="submit_urls",
)
async def submit_many(caller: Operator, services: Installed, once: OnceOnly, wanted: BulkSubmission) -> Response:
    """Queue up to 10,000 URLs by hand, and say of each whether it was new or why it is never fetched."""

    async def work() -> BulkAnswer:
        items = wanted.every_item
        priorities = [one.priority for one in items]
        urls = [one.url for one in items]
        queued = await queue_urls(
            services,
            urls,
            wanted.source_id,
            origin=wanted.origin,
            priorities=priorities,
            is_dry=wanted.dry_run,
        )
        counts = Counter(str(one.outcome) for one in queued)
        return BulkAnswer.model_validate({"answers": queued_as_dicts(queued), "counts": dict(counts)})

    return await once.answer(caller.name, work)


@router.delete("/frontier/{id}", status_code=204)
async def remove_url(caller: Operator, services: Installed, id: EntryId) -> None:
    """Forget a URL; if a channel lists it again, it is new. 409 while it is being fetched."""
    entry = await entry_with_id(services.database, id)
    await forget(services.database, canonicalise(entry.url))


@router.post("/frontier/{id}/retry")
async def retry_url(caller: Operator, services: Installed, id: EntryId) -> EntryShape:
    """Queue a known URL again, also one that was fetched or given up; its host's pace holds all the same."""
    entry = await entry_with_id(services.database, id)
    await retry_now(services.database, canonicalise(entry.url))
    return EntryShape.model_validate(entry_as_dict(await entry_with_id(services.database, id)))


@router.post("/frontier/{id}/raise")
async def raise_url(caller: Operator, services: Installed, id: EntryId) -> EntryShape:
    """Queue a known URL again as the next of its host, whose pace holds all the same."""
    entry = await entry_with_id(services.database, id)
    await raise_now(services.database, canonicalise(entry.url))
    return EntryShape.model_validate(entry_as_dict(await entry_with_id(services.database, id)))


@router.post("/frontier/{id}/kill")
async def kill_url(caller: Operator, services: Installed, id: EntryId, wanted: KillReason) -> EntryShape:
    """Never fetch a URL again, whoever lists it, until a person retries it. 409 while it is being fetched."""
    entry = await entry_with_id(services.database, id)
    await kill(services.database, canonicalise(entry.url), caller.name, wanted.because)
    return EntryShape.model_validate(entry_as_dict(await entry_with_id(services.database, id)))


@router.post("/frontier/kill", status_code=202, name="kill_urls")
async def kill_many(
    caller: Operator, services: Installed, work: LongWork, wanted: KillWish, response: Response
) -> OperationShape:
    """Never fetch again all URLs that match; the operation counts them."""
    chosen, who = await _chosen(services, wanted), caller.name

    async def kill_all(progress: Progress) -> Mapping[str, Any]:
        return {"killed": await kill_where(services.database, chosen, who, wanted.because, progress)}

    begun = await work.begin("frontier.kill", who, kill_all)
    response.headers["location"] = f"/api/v1/operations/{begun.id}"
    return OperationShape.model_validate(begun)


@router.post("/frontier/remove", status_code=202, name="remove_urls")
async def remove_many(
    caller: Operator, services: Installed, work: LongWork, wanted: ManyWish, response: Response
) -> OperationShape:
    """Forget all URLs that match: a channel that lists one again makes it new. The operation counts them."""
    chosen = await _chosen(services, wanted)

    async def remove_all(progress: Progress) -> Mapping[str, Any]:
        return {"removed": await remove_where(services.database, chosen, progress)}

    begun = await work.begin("frontier.remove", caller.name, remove_all)
    response.headers["location"] = f"/api/v1/operations/{begun.id}"
    return OperationShape.model_validate(begun)


async def _chosen(services: Services, wanted: ManyWish) -> Filter:
    return filter_for(
        status=wanted.status,
        source_id=await source_id_of(services, wanted.source_id),
        host=wanted.host,
        origin=wanted.origin,
        reason=wanted.reason,
        prefix=wanted.prefix,
    )


@router.post("/frontier/retry", status_code=202, name="retry_urls")
async def retry_many(
    caller: Operator, services: Installed, work: LongWork, wanted: RetryWish, response: Response
) -> OperationShape:
    """Queue all URLs of a status again that match; the operation counts them.

    Those that are taken down, or whose source is not followed, are left.
    """
    chosen = filter_for(
        status=wanted.status,
        source_id=await source_id_of(services, wanted.source_id),
        host=wanted.host,
        reason=wanted.reason,
        prefix=wanted.prefix,
    )

    async def retry_all(progress: Progress) -> Mapping[str, Any]:
        return {"retried": await retry_where(services.database, chosen, progress)}

    begun = await work.begin("frontier.retry", caller.name, retry_all)
    response.headers["location"] = f"/api/v1/operations/{begun.id}"
    return OperationShape.model_validate(begun)
