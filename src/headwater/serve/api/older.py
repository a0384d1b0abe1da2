"""Addresses of the systems before this one, with the same handlers and answers: their programs need not change."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter
from pydantic import BaseModel, Field
from starlette.responses import StreamingResponse

from headwater.reports.discovery import RunFilter, summary
from headwater.serve.access.gate import Operator, Viewer
from headwater.serve.api import crawl, hosts, source_exchange, source_parts, source_trying, sources
from headwater.serve.api.crawl import SourcePolled, begin_run_due, poll_one
from headwater.serve.api.source_parts import RunShape, runs_that_match
from headwater.serve.bodies import KeptText, StrictBody
from headwater.serve.long_work import ACCEPTED
from headwater.serve.shared import Cursor, Installed, Limit, LongWork

OLDER = "older addresses"
router = APIRouter(tags=[OLDER])


class SourceToRun(StrictBody):
    source_id: Annotated[KeptText, Field(max_length=2_100, description="Its id, or anything that names it.")]


class QueuedChannels(BaseModel):
    queued: int = Field(description="Channels that are due.")
    operation_id: UUID = Field(description="Under which /api/v1/operations tells how far it is.")


class CrawlLogs(BaseModel):
    logs: list[RunShape]
    cursor: str | None


@router.post("/admin/crawl/run", name="older_run_source")
async def run_one(caller: Operator, services: Installed, asked: SourceToRun) -> SourcePolled:
    """Poll a source as soon as its hosts allow."""
    return await poll_one(services, asked.source_id)


@router.post("/admin/crawl/run_due", name="older_run_due")
async def run_all_due(caller: Operator, services: Installed, operations: LongWork) -> QueuedChannels:
    """Poll every channel that is due, once; answers with how many there are."""
    queued = (await summary(services.database)).due
    begun = await begin_run_due(services, operations, caller.name)
    return QueuedChannels(queued=queued, operation_id=begun.id)


@router.get("/admin/crawl/logs", name="older_list_runs")
async def list_logs(
    caller: Viewer,
    services: Installed,
    source_id: UUID | None = None,
    limit: Limit = 20,
    cursor: Cursor = None,
) -> CrawlLogs:
    """List the log of runs, newest first."""
    found = await runs_that_match(services, RunFilter(source_id), limit, cursor)
    return CrawlLogs(logs=found.runs, cursor=found.cursor)


router.get("/admin/crawl/status", name="older_crawl_status")(crawl.crawl_status)
router.get("/admin/robots/{host}", name="older_show_robots")(hosts.show_robots)
router.get("/admin/domain_policies/{host}", name="older_show_policy")(hosts.show_policy)
router.post("/admin/domain_policies/{host}", name="older_change_policy")(hosts.change_policy)
router.get("/admin/sources", name="older_list_sources")(sources.list_sources)
router.get("/admin/sources/export", name="older_export_list", response_class=StreamingResponse)(
    source_exchange.export_list
)
router.post(
    "/admin/sources/{id:path}/test",
    name="older_test_source",
    response_model=source_trying.TestedSource,
    responses=ACCEPTED,
)(source_trying.test_source)
router.post(
    "/admin/sources/{id:path}/simulate_extract",
    name="older_simulate",
    response_model=source_trying.SimulatedSource,
    responses=ACCEPTED,
)(source_trying.simulate)
router.patch("/admin/sources/{id:path}", name="older_change_source")(sources.change_source)
router.delete("/admin/sources/{id:path}", name="older_remove_source", status_code=204)(sources.remove_source)
router.get("/sources/{id:path}/pages", name="older_list_pages")(source_parts.list_pages)
