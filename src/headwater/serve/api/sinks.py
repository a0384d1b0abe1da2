"""/api/v1/sinks: where documents and vacancies are delivered."""

from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Path, Query, Response
from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from headwater.actions.adding_sinks import add_sink
from headwater.actions.delivery import (
    check_sink,
    costs_of_rebuild,
    pause_sink,
    rebuild_sink,
    remove_sink,
    resume_sink,
    retry_sink,
    story_of_sink,
    verify_sink,
)
from headwater.deliver.options import every_kind
from headwater.deliver.store import sink_named
from headwater.errors import UsageError
from headwater.reports.sinks import delivery_now
from headwater.serve.access.gate import Admin, Operator, Viewer
from headwater.serve.api.operations import OperationShape
from headwater.serve.bodies import KeptText
from headwater.serve.editions import IfMatch, tagged
from headwater.serve.operations import Progress
from headwater.serve.shared import Installed, LongWork
from headwater.services import Services
from headwater.shapes.sinks import added_as_dict, sink_as_dict, sink_story_as_dict, verification_as_dict
from headwater.sources.health_word import HealthStatus

router = APIRouter(prefix="/api/v1", tags=["sinks"])

SinkName = Annotated[str, Path(max_length=63, description="The sink's name.", examples=["search"])]
OptionName = Annotated[str, StringConstraints(min_length=1, max_length=63)]
# Nothing that a path, an address or a header could not hold.
OptionValue = Annotated[str, StringConstraints(max_length=4_000, pattern=r"^[^\x00-\x1f\x7f]*$")]


class SinkShape(BaseModel):
    """A sink and how it stands. `behind` counts changes that it was not sent yet."""

    id: UUID
    name: str
    type: str
    options: dict[str, Any] = Field(description="As they were given: secrets by their names only.")
    view_id: UUID | None
    view_name: str | None = Field(description="The view it delivers; null: everything.")
    state: str = Field(description="active, paused, or disabled by its own wish.", examples=["active"])
    state_reason: str | None
    standing: str = Field(description="In a word for people.", examples=["up to date"])
    health: HealthStatus = Field(description="The worst of its last try and its checks.")
    edition: str = Field(description="What people decide of it, in short: a removal that sends it as If-Match is safe.")
    set_by: str | None = Field(description="The setting that made it, and that it follows at each start.")
    position: int
    log_position: int
    oldest_position: int
    owner: str | None
    is_worked: bool
    leased_until: datetime | None
    failures: int = Field(description="Tries of the whole sink that failed in a row.")
    retry_at: datetime | None
    looked_at: datetime | None
    last_success_at: datetime | None
    last_error: str | None
    last_error_at: datetime | None
    sent: int
    created_at: datetime
    behind: int
    behind_since: datetime | None
    is_left_behind: bool = Field(description="The log no longer reaches back to where it stands: it is filled anew.")
    parked: int = Field(description="Records that it refused to the last try.")
    retrying: int
    backfill_reason: str | None
    backfill_done: int | None
    backfill_kind: str | None
    backfill_bucket: int | None
    backfill_share: float | None


class FailedRecordShape(BaseModel):
    kind: str
    id: str
    position: int
    version: int
    attempts: int
    next_try_at: datetime | None = Field(description="null: it is parked.")
    error: str = Field(description="The sink's own words.")
    failed_at: datetime


class FailureGroupShape(BaseModel):
    error: str = Field(description="The sink's own words, with … in place of numbers and ids.")
    records: int
    parked: int
    last_at: datetime


class SinkStoryShape(SinkShape):
    forgets_not: str | None = Field(description="Why it cannot take back what it was sent; null: it can.")
    failed_records: list[FailedRecordShape]
    failed_by_error: list[FailureGroupShape] = Field(description="The same by what it said, of the first 10,000.")


class SinkList(BaseModel):
    sinks: list[SinkShape]
    log_position: int


class SinkOptionShape(BaseModel):
    name: str
    says: str
    default: str | None = Field(description="null: it must be given.")


class SinkTypeShape(BaseModel):
    name: str
    summary: str
    options: list[SinkOptionShape]
    is_events: bool = Field(description="A stream of events begins at the log's end; a store is filled first.")
    forgets_not: str | None
    why_not: str | None = Field(description="Why it cannot be used here; null: it can.")


class SinkTypeList(BaseModel):
    types: list[SinkTypeShape]


class NewSink(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: str = Field(max_length=63, description="Small letters, digits, - and _.", examples=["search"])
    type: str = Field(max_length=63, description="GET /api/v1/sinks/types lists them.", examples=["webhook"])
    options: dict[OptionName, OptionValue] = Field(
        default_factory=dict,
        max_length=50,
        description="As `headwater sinks add` takes them. Secrets are named: env:NAME or file:/path.",
        examples=[{"url": "https://example.org/hook", "secret": "env:HOOK_SECRET"}],
    )
    view: str | None = Field(None, max_length=63, description="Deliver this view only; otherwise everything.")
    from_archive: bool = Field(False, description="Send the whole archive first, also to a stream of events.")


class SinkTrouble(BaseModel):
    what: str
    fix: str


class AddedSinkShape(BaseModel):
    """`answer` is what the sink said to a try, `trouble` why it could not be tried: it is tried again by itself."""

    name: str
    type: str
    is_filled: bool
    answer: str
    trouble: SinkTrouble | None


class TriedSink(BaseModel):
    name: str
    answer: str


class SinkState(BaseModel):
    name: str
    state: str


class Retried(SinkState):
    retried: int = Field(description="Records that will be tried again.")


class Rebuilt(SinkState):
    is_filled: bool
    costs: list[str] = Field(description="What it changes in the sink beside bringing it up to date.")


class PauseWish(BaseModel):
    model_config = ConfigDict(extra="forbid")

    reason: str = Field("", max_length=2_000, description="Why; GET shows it.")


class RebuildWish(BaseModel):
    model_config = ConfigDict(extra="forbid")

    confirm: bool = Field(False, description="That its costs are wanted. Without it the answer, 422, tells them.")


class VerifyWish(BaseModel):
    model_config = ConfigDict(extra="forbid")

    mend: bool = Field(False, description="Send or remove the records that differ once more.")
    remove_unknown: bool = Field(False, description="With mend: remove records, too, that this archive does not know.")


@router.get("/sinks")
async def list_sinks(caller: Viewer, services: Installed) -> SinkList:
    """List the sinks: state, how far behind, what is parked, the last success."""
    found = await delivery_now(services.database)
    return SinkList.model_validate(
        {"sinks": [sink_as_dict(one) for one in found.sinks], "log_position": found.position}
    )


@router.get("/sinks/types")
async def list_types(caller: Viewer) -> SinkTypeList:
    """List the types of sinks with their options."""
    return SinkTypeList.model_validate({"types": [asdict(one) for one in every_kind()]})


@router.post("/sinks", status_code=201, name="add_sink")
async def add(caller: Admin, services: Installed, wanted: NewSink) -> AddedSinkShape:
    """Deliver to a sink. A store is filled from the archive; a stream of events begins at the log's end.

    A sink that does not answer is added all the same, and is tried again by itself. A cloud's metadata service is
    refused, and so are folders outside of the data folder.
    """
    added = await add_sink(
        services,
        wanted.name,
        wanted.type,
        wanted.options,
        view=wanted.view,
        from_archive=wanted.from_archive,
        is_remote=True,
    )
    return AddedSinkShape.model_validate(added_as_dict(wanted.name, added))


@router.get("/sinks/{name}")
async def show_sink(caller: Viewer, services: Installed, response: Response, name: SinkName) -> SinkStoryShape:
    """Show a sink: its state, its options without secrets, what it refused and why, how far it is filled."""
    shown = SinkStoryShape.model_validate(sink_story_as_dict(await story_of_sink(services, name)))
    tagged(response, shown.edition)
    return shown


@router.delete("/sinks/{name}", status_code=204)
async def delete_sink(caller: Admin, services: Installed, name: SinkName, known: IfMatch) -> None:
    """Deliver to a sink no longer. What it holds stays there, also what a takedown asks for later."""
    await remove_sink(services, name, known)


@router.post("/sinks/{name}/test", name="test_sink")
async def check(caller: Operator, services: Installed, name: SinkName) -> TriedSink:
    """Try a sink once, without sending a record; 503 tells why it failed."""
    return TriedSink(name=name, answer=await check_sink(services, name))


@router.post("/sinks/{name}/pause", name="pause_sink")
async def pause(caller: Operator, services: Installed, name: SinkName, wish: PauseWish | None = None) -> SinkState:
    """Send nothing to a sink until it is resumed; it goes on where it stood."""
    await pause_sink(services, name, wish.reason if wish else "")
    return SinkState(name=name, state="paused")


@router.post("/sinks/{name}/resume", name="resume_sink")
async def resume(caller: Operator, services: Installed, name: SinkName) -> SinkState:
    """Let a sink go on that was paused, or that asked to be sent nothing; one that is down is tried at once."""
    await resume_sink(services, name)
    return SinkState(name=name, state="active")


@router.post("/sinks/{name}/retry")
async def retry_failed_records(
    caller: Operator,
    services: Installed,
    name: SinkName,
    error: Annotated[
        KeptText | None, Query(max_length=200, description="Only those of a group of `failed_by_error`.")
    ] = None,
) -> Retried:
    """Try the records again that a sink refused, parked ones too."""
    sink, count = await retry_sink(services, name, error)
    return Retried(name=name, state=sink.state, retried=count)


@router.post("/sinks/{name}/rebuild", name="rebuild_sink")
async def rebuild(
    caller: Operator,
    services: Installed,
    name: SinkName,
    wish: RebuildWish | None = None,
) -> Rebuilt:
    """Send a sink everything anew, in the background; changes are delivered meanwhile. It wants `confirm`."""
    costs = await _costs(services, name)
    if wish is None or not wish.confirm:
        what = " ".join([f"Everything would be sent to {name} anew.", *costs])
        raise UsageError(what, fix='Send {"confirm": true} to do it.')
    sink = await rebuild_sink(services, name)
    return Rebuilt(name=name, state=sink.state, is_filled=True, costs=costs)


async def _costs(services: Services, name: str) -> list[str]:
    return costs_of_rebuild(await sink_named(services.database, name))


@router.post("/sinks/{name}/verify", status_code=202, name="verify_sink")
async def verify(
    caller: Operator,
    services: Installed,
    work: LongWork,
    name: SinkName,
    response: Response,
    wish: VerifyWish | None = None,
) -> OperationShape:
    """Compare a sink with the archive: missing, outdated, too much, in the wrong place.

    The operation's result says what differs, as `headwater sinks verify --json` does.
    """
    await sink_named(services.database, name)
    meant = wish or VerifyWish(mend=False, remove_unknown=False)

    async def compare(_: Progress) -> Mapping[str, Any]:
        found = await verify_sink(services, name, mends=meant.mend, removes_unknown=meant.remove_unknown)
        return verification_as_dict(name, found)

    begun = await work.begin("sinks.verify", caller.name, compare)
    response.headers["location"] = f"/api/v1/operations/{begun.id}"
    return OperationShape.model_validate(begun)
