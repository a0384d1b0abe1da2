"""Looks at sites and channels through the one fetch path, with its slots; nothing of them is stored.

A look that takes longer than half a minute is answered with its operation, and goes on.
"""

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from headwater.actions.described import look_at_described
from headwater.actions.trying import simulate_source, try_source
from headwater.discover.searching.following import NotFollowed
from headwater.serve.access.gate import Operator
from headwater.serve.api.source_parts import SourceName
from headwater.serve.api.source_shapes import AddressToLookAt
from headwater.serve.long_work import ACCEPTED, result_or_operation
from headwater.serve.shared import Installed, LongWork
from headwater.services import Services
from headwater.shapes.older import in_our_words
from headwater.shapes.trials import added_as_dict, answer_as_dict, simulation_as_dict

router = APIRouter(prefix="/api/v1", tags=["sources"])

USUAL_ITEMS = 3
MOST_ITEMS = 100
EMPTY: Mapping[str, Any] = {"found": [], "channels": []}

ItemCount = Annotated[int, Query(ge=1, le=MOST_ITEMS, description="How many items to show of each channel.")]


class TriedChannel(BaseModel):
    """The answer of one channel: what a person needs of its head, never raw headers."""

    kind: str
    url: str
    status: int | None
    size_bytes: int | None
    took_ms: int | None
    etag: str | None
    last_modified: str | None
    problem: str | None


class TestedSource(BaseModel):
    """Every channel, asked once; beside them the first one, as older programs read it."""

    channels: list[TriedChannel]
    status: int | None
    size: int | None
    etag: str | None
    last_modified: str | None


class SimulatedSource(BaseModel):
    """The items that each channel would bring; `jobs` are the first vacancies among them."""

    channels: list[dict[str, Any]]
    pages: list[dict[str, Any]]
    jobs: list[dict[str, Any]]


class SeenSiteShape(BaseModel):
    """What a site has; `followed` false says by `against` and `reason` why it would not be followed."""

    model_config = ConfigDict(extra="allow")

    followed: bool
    against: str | None = Field(examples=["no_such_host"])
    reason: str | None
    url: str | None
    name: str | None
    feed_url: str | None
    sitemap_url: str | None
    ingestion_mode: str | None
    found: list[dict[str, Any]]
    channels: list[dict[str, Any]]


@router.post("/sources/test-crawl", response_model=SeenSiteShape, responses=ACCEPTED)
async def test_crawl(caller: Operator, services: Installed, operations: LongWork, site: AddressToLookAt) -> Response:
    """Look at a site as adding it would: its channels, and the items they bring. Nothing is stored."""
    return await _seen(services, operations, caller.name, site)


@router.post("/sources/fetch-metadata", response_model=SeenSiteShape, responses=ACCEPTED)
async def fetch_metadata(
    caller: Operator, services: Installed, operations: LongWork, site: AddressToLookAt
) -> Response:
    """Find out the name, feed and sitemap of a site; nothing is stored. The same look as `test-crawl`."""
    return await _seen(services, operations, caller.name, site)


async def _seen(services: Services, operations: LongWork, actor: str, site: AddressToLookAt) -> Response:
    said = in_our_words(site.said)

    async def work() -> Mapping[str, Any]:
        seen = await look_at_described(services, said, actor, is_dry=True)
        if isinstance(seen, NotFollowed):
            nothing = dict.fromkeys(("url", "name", "feed_url", "sitemap_url", "ingestion_mode"))
            return {"followed": False, "against": seen.against, "reason": seen.what, **nothing, **EMPTY}
        told = added_as_dict(seen, USUAL_ITEMS, is_dry=True)
        found = {
            "feed_url": next(iter(seen.wanted.feeds), None),
            "sitemap_url": next(iter(seen.wanted.sitemaps), None),
            "ingestion_mode": seen.wanted.mode or ("feed" if seen.wanted.feeds or seen.wanted.sitemaps else "spider"),
        }
        return {"followed": True, "against": None, **told, **found}

    return await result_or_operation(operations, "sources.look", actor, work)


@router.post("/sources/{id:path}/test", response_model=TestedSource, responses=ACCEPTED)
async def test_source(caller: Operator, services: Installed, operations: LongWork, id: SourceName) -> Response:
    """Ask each channel of a source once: status, size, validators, timing. Nothing is stored."""

    async def work() -> Mapping[str, Any]:
        answers = [answer_as_dict(trial) for trial in await try_source(services, id)]
        first = answers[0] if answers else dict.fromkeys(TriedChannel.model_fields)
        named = {"status": first["status"], "size": first["size_bytes"]}
        return {"channels": answers, **named, "etag": first["etag"], "last_modified": first["last_modified"]}

    return await result_or_operation(operations, "sources.test", caller.name, work)


@router.post("/sources/{id:path}/simulate", response_model=SimulatedSource, responses=ACCEPTED, name="simulate_source")
async def simulate(
    caller: Operator,
    services: Installed,
    operations: LongWork,
    id: SourceName,
    items: ItemCount = USUAL_ITEMS,
    pages: Annotated[bool, Query(description="Also fetch and read the pages of the first items.")] = False,
) -> Response:
    """Read each channel of a source once and show the first items it would bring. Nothing is stored."""

    async def work() -> Mapping[str, Any]:
        told = simulation_as_dict(await simulate_source(services, id, items, reads_pages=pages), items)
        jobs = [one for channel in told["channels"] for one in channel["vacancies"]]
        return told | {"jobs": jobs[:items]}

    return await result_or_operation(operations, "sources.simulate", caller.name, work)
