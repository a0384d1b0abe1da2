"""Filters over the archive, as requests say them, and answers of searches."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Query
from pydantic import BaseModel, Field

from headwater.actions.searching import ArchiveWish, JobWish, require_of_vacancies
from headwater.search.facets import Facet
from headwater.search.search import LARGEST_PAGE
from headwater.serve.shared import Cursor

USUAL_HITS = 20

HitLimit = Annotated[int, Query(ge=1, le=LARGEST_PAGE, description="The most that one page lists.")]
Words = Annotated[
    str,
    Query(
        max_length=500, description='Words, "whole phrases", or, and -without; nothing: the newest.', examples=["ferry"]
    ),
]
Source = Annotated[
    str | None, Query(max_length=2_083, description="Only of this source: its id, address, host or name.")
]
Language = Annotated[
    str | None, Query(max_length=20, description="Only in this language, by its two letters.", examples=["en"])
]
Since = Annotated[
    str | None,
    Query(max_length=50, description="Only published, or else first seen, since: 7d, 12h, or a date.", examples=["7d"]),
]
Rights = Annotated[
    list[str] | None,
    Query(
        max_length=20,
        description="Only documents about whose use publishers say so: train, input, search, tdm or images, = allowed, "
        "refused or unknown; all must hold.",
        examples=[["train=allowed"]],
    ),
]
InView = Annotated[str | None, Query(max_length=63, description="Only in this view.")]

Author = Annotated[
    str | None,
    Query(
        max_length=300, description="Only documents of this author, as the name is written there. Vacancies have none."
    ),
]

Host = Annotated[
    str | None,
    Query(max_length=260, description="Only documents of pages of this host.", examples=["news.example.org"]),
]
KindOfPage = Annotated[
    str | None,
    Query(
        max_length=40, description="Only documents of such pages: article, video, gallery, live, listing, stub, other."
    ),
]
Month = Annotated[
    str | None,
    Query(max_length=40, description="Only published, or else first seen, in this month (UTC).", examples=["2026-05"]),
]
Day = Annotated[
    str | None,
    Query(max_length=40, description="Only published, or else first seen, on this day (UTC).", examples=["2026-05-06"]),
]


def _archive_wish(
    source: Source = None,
    language: Language = None,
    since: Since = None,
    view: InView = None,
    rights: Rights = None,
    author: Author = None,
    host: Host = None,
    page_type: KindOfPage = None,
    month: Month = None,
    day: Day = None,
    duplicates: Annotated[bool, Query(description="Also those that say the same as an older document.")] = False,
) -> ArchiveWish:
    return ArchiveWish(
        source=source,
        language=language,
        since=since,
        duplicates=duplicates,
        view=view,
        rights=tuple(rights or ()),
        author=author,
        host=host,
        page_type=page_type,
        month=month,
        day=day,
    )


@dataclass(frozen=True, slots=True)
class JobFilters:
    """Which vacancies, in words of the vocabularies."""

    country: Annotated[str | None, Query(max_length=100, description="Its name or its two letters.")] = None
    level: Annotated[str | None, Query(max_length=100, description="intern, junior, mid, senior, …")] = None
    modality: Annotated[str | None, Query(max_length=100, description="onsite, field, remote, hybrid, …")] = None
    career: Annotated[str | None, Query(max_length=100, description="staff, consultancy, fellowship, …")] = None
    contract: Annotated[str | None, Query(max_length=100, description="full_time, part_time, fixed_term, …")] = None
    mission: Annotated[str | None, Query(max_length=100, description="Its subject, such as health.")] = None


@dataclass(frozen=True, slots=True)
class HitPage:
    limit: HitLimit = USUAL_HITS
    cursor: Cursor = None


Hits = Annotated[HitPage, Depends(HitPage)]
ArchiveFilters = Annotated[ArchiveWish, Depends(_archive_wish)]
VacancyFilters = Annotated[JobFilters, Depends(JobFilters)]


def job_wish(about: ArchiveWish, filters: JobFilters) -> JobWish:
    require_of_vacancies(about)
    return JobWish(
        source=about.source,
        language=about.language,
        since=about.since,
        duplicates=about.duplicates,
        view=about.view,
        rights=about.rights,
        month=about.month,
        day=about.day,
        country=filters.country,
        level=filters.level,
        modality=filters.modality,
        career=filters.career,
        contract=filters.contract,
        mission=filters.mission,
    )


class FacetValueShape(BaseModel):
    """A value as its filter takes it. `name` is for people: that of a source, whose value is its id."""

    value: str = Field(examples=["en"])
    name: str = Field(examples=["en"])
    count: int = Field(examples=[412])


class FacetCountsShape(BaseModel):
    """The ten values that most documents have, or the newest ten months or days."""

    facet: Facet
    values: list[FacetValueShape]
    others: int = Field(description="Documents with other values; one with several other authors once for each.")
    is_exact: bool = Field(
        description="False: OpenSearch counted so many different values that a count may be too low."
    )


class FacetsShape(BaseModel):
    """Of the documents that match, on all pages, how many have each value."""

    counted: int = Field(description="So many documents were counted.", examples=[1000])
    is_complete: bool = Field(description="False: only the newest matches were counted, and there may be others.")
    counts: list[FacetCountsShape]


class SearchAccount(BaseModel):
    """How an answer was found. `is_complete` false: only the newest of very many matches were ranked."""

    cursor: str | None
    has_more: bool
    is_complete: bool
    engine: str = Field(examples=["PostgreSQL"])
    took_ms: float
