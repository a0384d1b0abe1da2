"""/api/v1/takedowns: what we were asked to leave alone."""

from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Path, Query, Response
from pydantic import BaseModel, ConfigDict, Field

from headwater.actions.takedowns import (
    covered_in_words,
    grant_request,
    question_before,
    refuse_request,
    takedown_story,
)
from headwater.errors import UsageError
from headwater.ingest.taking_down import lift_everywhere, reach_of, record, sweep
from headwater.politeness.takedown import Takedown, parse_takedown
from headwater.politeness.takedown_requests import MOST_OPEN, open_requests
from headwater.reports.paging import page_of_takedowns
from headwater.serve.access.gate import Admin, Operator, Viewer
from headwater.serve.api.operations import OperationShape
from headwater.serve.operations import Progress
from headwater.serve.shared import USUAL_PAGE, Cursor, Installed, Limit, LongWork
from headwater.services import Services
from headwater.shapes.takedowns import story_as_dict

router = APIRouter(prefix="/api/v1", tags=["takedowns"])

Address = Annotated[
    str,
    Path(max_length=2_083, description="A domain, or a URL, as it is listed; escaped.", examples=["example.org"]),
]


class NewTakedown(BaseModel):
    model_config = ConfigDict(extra="forbid")

    domain_or_url: str = Field(
        min_length=1,
        max_length=2_083,
        description="example.org with all below it, example.org:8080 for that port only, or URLs that begin so.",
        examples=["example.org", "https://example.org/members"],
    )
    reason: str = Field("", max_length=2_000, description="Who asked, and why.")
    confirm: bool = Field(
        False,
        description="For a whole domain or port that documents are stored of: without it the answer, 422, counts.",
    )


class ReachOfTakedown(BaseModel):
    """Documents and queued URLs are counted up to 10,000 each."""

    domain_or_url: str = Field(description="The name under which it would be listed.")
    covers: str = Field(description="In a sentence.", examples=["example.org with all its subdomains and ports"])
    documents: int
    queued_urls: int = Field(description="Of its hosts; those of one port are counted with its host.")
    wants_confirmation: bool = Field(description="Whether `confirm` has to be sent.")


class TakedownInShort(BaseModel):
    domain_or_url: str
    reason: str | None
    created_at: datetime
    swept_at: datetime | None = Field(description="Since when nothing of it is left; null: it is still being applied.")


class TakedownShape(TakedownInShort):
    domain: str
    key_prefix: str | None = Field(description="null: the whole domain with all below it.")


class TakedownList(BaseModel):
    takedowns: list[TakedownShape]
    cursor: str | None


class SinkRemovalShape(BaseModel):
    """`held` records of the place may still be in the sink."""

    name: str
    is_confirmed: bool = Field(description="It was sent every removal, and holds nothing of it.")
    held: int
    forgets_not: str | None = Field(description="Why it cannot take back what it was sent.")
    state: str
    behind: int


class TakedownStoryShape(TakedownInShort):
    sinks: list[SinkRemovalShape]


class AcceptedTakedown(BaseModel):
    """From now on nothing of it is requested or stored; the operation withdraws what stands of it."""

    domain_or_url: str = Field(description="The name under which it is listed.")
    covers: str = Field(description="In a sentence.", examples=["example.org with all its subdomains and ports"])
    operation: OperationShape


@router.get("/takedowns")
async def list_takedowns(
    caller: Viewer, services: Installed, limit: Limit = USUAL_PAGE, cursor: Cursor = None
) -> TakedownList:
    """List takedowns by name."""
    page = await page_of_takedowns(services.database, limit, cursor)
    return TakedownList.model_validate({"takedowns": [dict(row) for row in page.items], "cursor": page.cursor})


@router.post("/takedowns", status_code=202)
async def add_takedown(
    caller: Operator, services: Installed, work: LongWork, wanted: NewTakedown, response: Response
) -> AcceptedTakedown:
    """Never visit a domain or URLs again, and withdraw what is stored of them.

    It holds at once. Entries are ended, documents and vacancies withdrawn by the operation, and every sink is told.
    A whole domain or port that documents are stored of wants `confirm`; `GET /api/v1/takedown-reach` counts them.
    """
    takedown = parse_takedown(wanted.domain_or_url)
    if not wanted.confirm and (question := await question_before(services.database, takedown)):
        raise UsageError(question, fix='Send "confirm": true with it.')
    begun = await begin_takedown(services, work, takedown, wanted.reason, caller.name)
    response.headers["location"] = f"/api/v1/operations/{begun.id}"
    return AcceptedTakedown(domain_or_url=takedown.name, covers=covered_in_words(takedown), operation=begun)


@router.get("/takedown-reach")
async def show_takedown_reach(
    caller: Viewer,
    services: Installed,
    domain_or_url: Annotated[str, Query(min_length=1, max_length=2_083, examples=["example.org"])],
) -> ReachOfTakedown:
    """Say what a takedown would cover and remove, and change nothing."""
    takedown = parse_takedown(domain_or_url)
    reach = await reach_of(services.database, takedown)
    return ReachOfTakedown(
        domain_or_url=takedown.name,
        covers=covered_in_words(takedown),
        documents=reach.documents,
        queued_urls=reach.waiting,
        wants_confirmation=takedown.is_of_whole_site and reach.documents > 0,
    )


async def begin_takedown(
    services: Services, work: LongWork, takedown: Takedown, reason: str, actor: str
) -> OperationShape:
    """It holds when this ends; the operation withdraws what stands of it."""
    await record(services.database, takedown, reason)

    async def apply(progress: Progress) -> Mapping[str, Any]:
        done = await sweep(services.database, takedown)
        progress(done.entries)
        return done._asdict()

    return OperationShape.model_validate(await work.begin("takedowns.apply", actor, apply))


class TakedownRequestShape(BaseModel):
    """What a site owner asked for on /crawler. Look whether it is theirs to ask: nobody has checked it."""

    id: UUID
    place: str = Field(examples=["example.org"])
    contact: str
    reason: str
    asked_at: datetime


class TakedownRequestList(BaseModel):
    requests: list[TakedownRequestShape]


@router.get("/takedown-requests")
async def list_takedown_requests(caller: Viewer, services: Installed) -> TakedownRequestList:
    """List what site owners asked for and nobody has decided, oldest first: 500 at most."""
    found = await open_requests(services.database, MOST_OPEN)
    return TakedownRequestList.model_validate({"requests": [asdict(one) for one in found]})


@router.post("/takedown-requests/{id}/accept", status_code=202)
async def accept_takedown_request(
    caller: Operator, services: Installed, work: LongWork, id: UUID, response: Response
) -> AcceptedTakedown:
    """Take down what a site owner asked for: it holds at once, and the operation withdraws what stands of it."""
    _, takedown, reason = await grant_request(services, id, caller.name)
    begun = await begin_takedown(services, work, takedown, reason, caller.name)
    response.headers["location"] = f"/api/v1/operations/{begun.id}"
    return AcceptedTakedown(domain_or_url=takedown.name, covers=covered_in_words(takedown), operation=begun)


@router.post("/takedown-requests/{id}/refuse")
async def refuse_takedown_request(caller: Operator, services: Installed, id: UUID) -> TakedownRequestShape:
    """Close a request without a takedown. Nobody is told: write to its contact."""
    return TakedownRequestShape.model_validate(asdict(await refuse_request(services, id, caller.name)))


@router.get("/takedowns/{name:path}")
async def show_takedown(caller: Viewer, services: Installed, name: Address) -> TakedownStoryShape:
    """Show a takedown: since when, whether it is applied, and for each sink whether its removals were delivered."""
    return TakedownStoryShape.model_validate(story_as_dict(await takedown_story(services, name)))


@router.delete("/takedowns/{name:path}", status_code=204)
async def lift_takedown(caller: Admin, services: Installed, name: Address) -> None:
    """Lift a takedown: its channels are polled at once. URLs it ended are queued again when a channel lists them."""
    await lift_everywhere(services.database, parse_takedown(name))
