"""/api/v1/search: the archive by words."""

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import Field

from headwater.actions.searching import documents_wished, jobs_wished
from headwater.record_kind import RecordKind
from headwater.serve.access.gate import Viewer
from headwater.serve.api.archive_filters import (
    ArchiveFilters,
    Hits,
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

    Filters of vacancies mean nothing to documents, and `author` nothing to vacancies. `engine` and `took_ms` say who
    answered, and how quickly.
    """
    asked = q.strip()
    if kind is RecordKind.JOB:
        answer = await jobs_wished(services, asked, job_wish(wish, filters), page.limit, page.cursor)
        found = {"jobs": [job_hit_as_dict(one) for one in answer.found]}
    else:
        answer = await documents_wished(services, asked, wish, page.limit, page.cursor)
        found = {"documents": [document_hit_as_dict(one) for one in answer.found]}
    return SearchResults.model_validate({"kind": kind, **found, **account_of(answer)})
