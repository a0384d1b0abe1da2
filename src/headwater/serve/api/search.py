"""/api/v1/search: the archive by words."""

from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import Field

from headwater.actions.searching import ArchiveWish, documents_wished, jobs_wished
from headwater.errors import UsageError
from headwater.record_kind import RecordKind
from headwater.serve.access.gate import Viewer
from headwater.serve.api.archive_filters import (
    ArchiveFilters,
    Hits,
    JobFilters,
    SearchAccount,
    VacancyFilters,
    Words,
    job_wish,
)
from headwater.serve.api.documents import DocumentHit
from headwater.serve.api.jobs import JobHit
from headwater.serve.shared import Installed
from headwater.shapes.archive import account_of, document_hit_as_dict, job_hit_as_dict

router = APIRouter(prefix="/api/v1", tags=["search"])


class SearchResults(SearchAccount):
    """The best first; without words the newest. One of the two lists is empty: a search is for one kind."""

    kind: RecordKind
    documents: list[DocumentHit] = Field(default_factory=list)
    jobs: list[JobHit] = Field(default_factory=list)


@router.get("/search")
async def search(
    caller: Viewer,
    services: Installed,
    wish: ArchiveFilters,
    filters: VacancyFilters,
    page: Hits,
    q: Words = "",
    kind: Annotated[RecordKind, Query(description="document or job.")] = RecordKind.DOCUMENT,
) -> SearchResults:
    """Search documents or open vacancies, the best match first, with a piece of the text around it.

    Filters of vacancies are refused with documents, and `author` with vacancies. `engine` and `took_ms` say who
    answered, and how quickly.
    """
    asked = q.strip()
    _require_filters_of(kind, wish, filters)
    if kind is RecordKind.JOB:
        answer = await jobs_wished(services, asked, job_wish(wish, filters), page.limit, page.cursor)
        found = {"jobs": [job_hit_as_dict(one) for one in answer.found]}
    else:
        answer = await documents_wished(services, asked, wish, page.limit, page.cursor)
        found = {"documents": [document_hit_as_dict(one) for one in answer.found]}
    return SearchResults.model_validate({"kind": kind, **found, **account_of(answer)})


def _require_filters_of(kind: RecordKind, wish: ArchiveWish, filters: JobFilters) -> None:
    """A filter that was silently left out would find everything."""
    if kind is RecordKind.JOB and wish.author is not None:
        raise UsageError("Vacancies have no authors.", fix="Leave `author` out, or search for documents.")
    given = [name for name, value in asdict(filters).items() if value is not None]
    if kind is RecordKind.DOCUMENT and given:
        raise UsageError(f"Only vacancies have this: {', '.join(given)}.", fix="Search with kind=job, or leave it out.")
