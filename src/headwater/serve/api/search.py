"""/api/v1/search: the archive by words."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import Field

from headwater.actions.searching import ArchiveWish, documents_wished, jobs_wished, require_of_vacancies
from headwater.errors import UsageError
from headwater.record_kind import RecordKind
from headwater.search.facets import Facet, facets_wanted
from headwater.serve.access.gate import Viewer
from headwater.serve.api.archive_filters import (
    ArchiveFilters,
    FacetsShape,
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
from headwater.shapes.archive import account_of, document_hit_as_dict, facets_as_dict, job_hit_as_dict

router = APIRouter(prefix="/api/v1", tags=["search"])


class SearchResults(SearchAccount):
    """The best first; without words the newest. One of the two lists is empty: a search is for one kind."""

    kind: RecordKind
    documents: list[DocumentHit] = Field(default_factory=list)
    jobs: list[JobHit] = Field(default_factory=list)
    facets: FacetsShape | None = Field(default=None, description="Where they are asked for.")


AskedFacets = Annotated[
    list[str] | None,
    Query(
        max_length=20,
        description="Fields whose values are counted over all documents that match, with commas between them: "
        f"{', '.join(Facet)}. Each value can be given to the filter of that name.",
        examples=[["source,language,month"]],
    ),
]


@router.get("/search")
async def search(
    caller: Viewer,
    services: Installed,
    wish: ArchiveFilters,
    filters: VacancyFilters,
    page: Hits,
    q: Words = "",
    kind: Annotated[RecordKind, Query(description="document or job.")] = RecordKind.DOCUMENT,
    facets: AskedFacets = None,
) -> SearchResults:
    """Search documents or open vacancies, the best match first, with a piece of the text around it.

    Filters of vacancies are refused with documents, and `author`, `host`, `page_type` and `facets` with vacancies.
    `engine` and `took_ms` say who answered, and how quickly.
    """
    asked, wanted = q.strip(), facets_wanted(facets or ())
    _require_parameters_of(kind, wish, filters, wanted)
    if kind is RecordKind.JOB:
        answer = await jobs_wished(services, asked, job_wish(wish, filters), page.limit, page.cursor)
        found: dict[str, Any] = {"jobs": [job_hit_as_dict(one) for one in answer.found]}
    else:
        answer = await documents_wished(services, asked, wish, page.limit, page.cursor, wanted)
        found = {"documents": [document_hit_as_dict(one) for one in answer.found]}
    if answer.facets:
        found["facets"] = facets_as_dict(answer.facets)
    return SearchResults.model_validate({"kind": kind, **found, **account_of(answer)})


def _require_parameters_of(kind: RecordKind, wish: ArchiveWish, filters: JobFilters, facets: Sequence[Facet]) -> None:
    given = [name for name, value in asdict(filters).items() if value is not None]
    if kind is RecordKind.DOCUMENT and given:
        raise UsageError(f"Only vacancies have this: {', '.join(given)}.", fix="Search with kind=job, or leave it out.")
    if kind is RecordKind.JOB:
        require_of_vacancies(wish, facets)
