"""/api/v1/jobs: vacancies."""

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Path, Query, Response
from pydantic import BaseModel, ConfigDict, Field

from headwater.actions.searching import jobs_wished
from headwater.actions.vacancies import remove_vacancy
from headwater.deliver.exports.request import ExportFormat
from headwater.record_kind import RecordKind
from headwater.reports.vacancies import find_vacancy
from headwater.serve.access.gate import Operator, Viewer
from headwater.serve.api.archive_filters import (
    ArchiveFilters,
    Hits,
    InView,
    SearchAccount,
    Since,
    Source,
    VacancyFilters,
    Words,
    job_wish,
)
from headwater.serve.api.exporting import EXPORT_RESPONSES, Streamed, export_stream
from headwater.serve.shared import Installed, Live
from headwater.shapes.archive import account_of, job_hit_as_dict, vacancy_as_dict

router = APIRouter(prefix="/api/v1", tags=["jobs"])

JobId = Annotated[
    str,
    Path(max_length=2_083, description="Its id, its canonical hash, or the escaped URL where one applies."),
]


class JobHit(BaseModel):
    """An open vacancy in a list; besides these, what else is known of it."""

    model_config = ConfigDict(extra="allow")

    canonical_hash: str
    title: str
    apply_url: str
    source_id: UUID
    language: str | None
    snippet: str
    rank: float


class JobList(SearchAccount):
    jobs: list[JobHit]


class SightingShape(BaseModel):
    model_config = ConfigDict(extra="allow")

    url: str
    last_seen_at: datetime


class JobShape(BaseModel):
    """A vacancy with all its columns, named as in the table `jobs`; sightings are by sources without a say in it."""

    model_config = ConfigDict(extra="allow")

    id: UUID
    canonical_hash: str
    document_hash: str | None
    title: str
    org_name: str
    apply_url: str
    status: str = Field(description="active, expired or deleted.")
    version: int
    sightings: list[SightingShape]
    ending: dict[str, Any] | None = Field(description="Since when and why it is over.")


@router.get("/jobs")
async def list_jobs(
    caller: Viewer,
    services: Installed,
    wish: ArchiveFilters,
    filters: VacancyFilters,
    page: Hits,
    q: Words = "",
) -> JobList:
    """List open vacancies, the newest first, or search them by words, the best match first."""
    answer = await jobs_wished(services, q.strip(), job_wish(wish, filters), page.limit, page.cursor)
    return JobList.model_validate({"jobs": [job_hit_as_dict(one) for one in answer.found], **account_of(answer)})


@router.get("/jobs/export", response_class=Response, responses=EXPORT_RESPONSES)
async def export_jobs(
    caller: Viewer,
    services: Installed,
    live: Live,
    format: Annotated[Streamed, Query(description="jsonl, csv or atom.")] = ExportFormat.JSONL,
    view: InView = None,
    source: Source = None,
    since: Since = None,
) -> Response:
    """Write all open vacancies, or those of a view, as a stream.

    An answer that ends before its end, without its last chunk, broke off: ask again.
    """
    return await export_stream(services, live, caller.name, RecordKind.JOB, format, (view, source, since))


@router.get("/jobs/{id:path}")
async def show_job(caller: Viewer, services: Installed, id: JobId) -> JobShape:
    """Show a vacancy: its facts, the source that tells it, other places that name it, and its end."""
    return JobShape.model_validate(vacancy_as_dict(await find_vacancy(services.database, id)))


@router.delete("/jobs/{id:path}", status_code=204)
async def remove_jobs(
    caller: Operator,
    services: Installed,
    id: JobId,
    reason: Annotated[str, Query(min_length=1, max_length=2_000, description="Why; GET says it.")],
) -> None:
    """Take a vacancy out for good: it stays out however often it is listed again."""
    await remove_vacancy(services, id, caller.name, reason)
