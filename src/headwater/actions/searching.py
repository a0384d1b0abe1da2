"""The archive searched and listed as people ask: by words, sources they name, times they say, and views."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID

from headwater.errors import UsageError
from headwater.record_kind import RecordKind
from headwater.reports.archive import SearchAnswer, find_documents, find_jobs
from headwater.rights.record import marks_wanted
from headwater.search.facets import Facet
from headwater.search.question import Filters
from headwater.search.search import OF_DOCUMENTS
from headwater.search.views import view_named, within
from headwater.services import Services
from headwater.settings.durations import parse_duration
from headwater.sources.finding import find_source

LAST_YEAR = 9999
_MONTH, _DAY = re.compile(r"\d{4}-\d{2}", re.ASCII), re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
# What people may ask of vacancies: the column it stands in, the name of its vocabulary, and its words for people.
# Vocabularies are loaded for questions about vacancies alone.
WORDS = {
    "level": ("level_norm", "STATED_LEVELS", "intern, junior, mid, senior, lead or executive"),
    "modality": ("work_modality", "MODALITIES", "onsite, field, remote, hybrid, home_based or flexible"),
    "career": ("career_type", "CAREERS", "staff, consultancy, fellowship or internship"),
    "contract": (
        "contract_type",
        "CONTRACTS",
        "full_time, part_time, fixed_term, short_term, project_based, freelance or volunteer",
    ),
    "mission": ("mission_tags", "MISSIONS", "health, education, climate, wash, gender, governance, …"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchiveWish:
    """Filters as they are said: a source by its id, address, host or name; `since` as 7d, 12h or a date; `month` and
    `day` as 2026-05 and 2026-05-06, those of UTC. Each facet is a filter of its name.
    """

    source: str | None = None
    language: str | None = None
    since: str | None = None
    duplicates: bool = False
    view: str | None = None
    rights: tuple[str, ...] = ()
    author: str | None = None
    host: str | None = None
    page_type: str | None = None
    month: str | None = None
    day: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class JobWish(ArchiveWish):
    """The same of vacancies, with words of their vocabularies."""

    country: str | None = None
    level: str | None = None
    modality: str | None = None
    career: str | None = None
    contract: str | None = None
    mission: str | None = None

    def __post_init__(self) -> None:
        # A word that no vocabulary knows is said before anything is read.
        _ = self.columns

    @property
    def columns(self) -> dict[str, str]:
        """Values by column: `sr` is senior, Kenya is KE. Raises UsageError for a word that no vocabulary knows."""
        said = {option: getattr(self, option) for option in WORDS}
        wanted = {WORDS[option][0]: _known(option, word) for option, word in said.items() if word is not None}
        return wanted | ({"country_iso": _country(self.country)} if self.country else {})


async def documents_wished(
    services: Services, asked: str, wish: ArchiveWish, limit: int, cursor: str | None, facets: Sequence[Facet] = ()
) -> SearchAnswer:
    """Without words: the newest."""
    filters = await filters_for(services, RecordKind.DOCUMENT, wish)
    return await find_documents(services.search, services.clock, asked, filters, limit, cursor, facets)


async def jobs_wished(services: Services, asked: str, wish: JobWish, limit: int, cursor: str | None) -> SearchAnswer:
    """Without words: the newest."""
    filters = await filters_for(services, RecordKind.JOB, wish)
    return await find_jobs(services.search, services.clock, asked, filters, limit, wish.columns, cursor)


def require_of_vacancies(wish: ArchiveWish, facets: Sequence[Facet] = ()) -> None:
    """A filter that was silently left out would find everything."""
    given = [name for name in OF_DOCUMENTS if getattr(wish, name) is not None] + (["facets"] if facets else [])
    if given:
        raise UsageError(f"Vacancies have no {' and no '.join(given)}.", fix="Leave it out, or search for documents.")


async def filters_for(services: Services, kind: RecordKind, wish: ArchiveWish) -> Filters:
    database = services.database
    stretches = [stretch_of_month(wish.month), stretch_of_day(wish.day)]
    since = [moment_of(wish.since, services.clock.now()), *(one[0] for one in stretches if one)]
    filters = Filters(
        kind,
        source_id=await source_id_of(services, wish.source),
        language=wish.language and wish.language.lower(),
        since=max((one for one in since if one), default=None),
        until=min((one[1] for one in stretches if one), default=None),
        duplicates=wish.duplicates,
        rights=marks_wanted(wish.rights),
        author=wish.author,
        host=wish.host and wish.host.lower(),
        page_type=page_type_called(wish.page_type),
    )
    return await within(database, filters, await view_named(database, wish.view)) if wish.view else filters


async def source_id_of(services: Services, source: str | None) -> UUID | None:
    return (await find_source(services.database, source)).id if source else None


def moment_of(text: str | None, now: datetime) -> datetime | None:
    """`7d` before now, or a date as people and programs write it."""
    if text is None:
        return None
    try:
        return now - parse_duration(text)
    except (ValueError, OverflowError):
        try:
            moment = datetime.fromisoformat(text)
        except ValueError:
            raise UsageError(f"{text!r} is no time.", fix="Write it as 7d, 12h or 2026-05-01.") from None
    if not 1 < moment.year < LAST_YEAR:
        raise UsageError(f"{text!r} lies outside of all times.", fix="Write it as 7d, 12h or 2026-05-01.")
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def stretch_of_month(text: str | None) -> tuple[datetime, datetime] | None:
    """From its beginning until the next."""
    if text is None:
        return None
    first = _beginning(f"{text}-01" if _MONTH.fullmatch(text) else "", text, "month", "2026-05")
    return first, (first + timedelta(days=31)).replace(day=1)


def stretch_of_day(text: str | None) -> tuple[datetime, datetime] | None:
    if text is None:
        return None
    first = _beginning(text if _DAY.fullmatch(text) else "", text, "day", "2026-05-06")
    return first, first + timedelta(days=1)


def _beginning(day: str, text: str, noun: str, example: str) -> datetime:
    try:
        first = datetime.fromisoformat(day).replace(tzinfo=UTC)
    except ValueError:
        first = None
    if first is None or not 1 < first.year < LAST_YEAR:
        raise UsageError(f"{text[:40]!r} is no {noun}.", fix=f"Write it as {example}.")
    return first


def page_type_called(said: str | None) -> str | None:
    if said is None:
        return None
    from headwater.extraction.page_type import PageType

    if said in [*PageType]:
        return said
    raise UsageError(f"There is no kind of page {said[:40]!r}.", fix=f"One of: {', '.join(PageType)}.")


def _known(option: str, said: str) -> str:
    from headwater.extraction.jobs import words

    _, name, choices = WORDS[option]
    vocabulary = getattr(words, name)
    meaning: str = vocabulary.exactly(said)
    if not meaning:
        raise UsageError(f"There is no {option} {said!r}.", fix=f"One of: {choices}.")
    return meaning


def _country(said: str) -> str:
    from headwater.extraction.jobs.countries import country_called

    code = country_called(said)
    if code is None:
        raise UsageError(f"There is no country {said!r}.", fix="Write its name or its two letters, such as KE.")
    return code
