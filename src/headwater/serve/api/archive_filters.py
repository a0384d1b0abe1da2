"""Filters over the archive, as requests say them, and answers of searches."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Query
from pydantic import BaseModel, Field

from headwater.actions.searching import ArchiveWish, JobWish
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
        max_length=100, description="Only documents of this author, as the name is written there. Vacancies have none."
    ),
]


def _archive_wish(
    source: Source = None,
    language: Language = None,
    since: Since = None,
    view: InView = None,
    rights: Rights = None,
    author: Author = None,
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
    return JobWish(
        source=about.source,
        language=about.language,
        since=about.since,
        duplicates=about.duplicates,
        view=about.view,
        rights=about.rights,
        country=filters.country,
        level=filters.level,
        modality=filters.modality,
        career=filters.career,
        contract=filters.contract,
        mission=filters.mission,
    )


class SearchAccount(BaseModel):
    """How an answer was found. `is_complete` false: only the newest of very many matches were ranked."""

    cursor: str | None
    has_more: bool
    is_complete: bool
    engine: str = Field(examples=["PostgreSQL"])
    took_ms: float
