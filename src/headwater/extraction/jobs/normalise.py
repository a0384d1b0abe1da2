"""From what was found to what is stored: one vocabulary, unknown values kept, nothing guessed."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from headwater.extraction.jobs import words
from headwater.extraction.jobs.countries import city_in, country_called, country_in, name_of
from headwater.extraction.jobs.dates import first_day_in, is_month_first, is_over
from headwater.extraction.jobs.identity import canonical_hash, url_key
from headwater.extraction.jobs.pay import in_full
from headwater.extraction.jobs.stated import Stated
from headwater.extraction.jobs.terms import compensation, duration_months, level_of_title, pay_offered, weekly_hours
from headwater.extraction.jobs.text import shorten, squeeze
from headwater.extraction.jobs.vacancy import SNIPPET_CHARACTERS, Pay, RawVacancy, Skipped, SkipReason
from headwater.extraction.language import language_of_notice
from headwater.vacancy import NewJob

MOST_MISSIONS = 3
LONGEST_TITLE = 300
# Taken as they are: no vocabulary of ours has them.
AS_STATED = (
    *("region_code", "project_modality", "procurement_vehicle", "deployment_timeframe", "duty_station_hardship"),
    *("contract_urgency",),
)


@dataclass(frozen=True, slots=True)
class Employer:
    """Facts of the source itself, for those that a page leaves out."""

    org_name: str = ""
    org_type: str = ""
    listing_url: str = ""


@dataclass(frozen=True, slots=True)
class Harvest:
    vacancies: tuple[NewJob, ...]
    skipped: tuple[Skipped, ...]


NOTHING = Harvest((), ())


def harvest_of(found: Iterable[RawVacancy], employer: Employer, now: datetime, *, keeps_over: bool = False) -> Harvest:
    """All of one answer: every vacancy once, and why each of the others is none. `keeps_over`: also past ones."""
    raws = list(found)
    month_first = is_month_first(raw.deadline for raw in raws)
    kept: dict[bytes, NewJob] = {}
    skipped: list[Skipped] = []
    for raw in raws:
        outcome = normalise(raw, employer, None if keeps_over else now, month_first=month_first)
        if isinstance(outcome, Skipped):
            skipped.append(outcome)
        elif outcome.canonical_hash in kept:
            skipped.append(Skipped(SkipReason.DUPLICATE, outcome.title, outcome.apply_url))
        else:
            kept[outcome.canonical_hash] = outcome
    return Harvest(tuple(kept.values()), tuple(skipped))


def normalise(
    raw: RawVacancy, employer: Employer, now: datetime | None, *, month_first: bool = False
) -> NewJob | Skipped:
    """Without a moment nothing is over."""
    title = shorten(squeeze(raw.title), LONGEST_TITLE)
    deadline = first_day_in(raw.deadline, month_first=month_first)
    if reason := _reason_to_skip(title, raw.url, deadline, now):
        return Skipped(reason, title, raw.url)
    return _vacancy(raw, employer, title, deadline)


def _reason_to_skip(title: str, url: str, deadline: date | None, now: datetime | None) -> SkipReason | None:
    if not any(character.isalpha() for character in title):
        return SkipReason.NO_TITLE
    if not url_key(url):
        return SkipReason.NO_URL
    return SkipReason.EXPIRED if deadline and now and is_over(deadline, now) else None


def _vacancy(raw: RawVacancy, employer: Employer, title: str, deadline: date | None) -> NewJob:
    stated = Stated(raw.facts)
    if raw.deadline and deadline is None:
        stated.unknown["deadline"] = raw.deadline
    org = raw.org_name or employer.org_name or stated.text("author") or ""
    location = raw.location_raw or _assembled_location(stated)
    iso = _country(stated, location)
    modality = _modality(stated, title, location, raw.description)
    pay = raw.pay or pay_offered(stated, raw.description, iso)
    return NewJob(
        title=title,
        org_name=org,
        apply_url=raw.url,
        canonical_hash=canonical_hash(raw.url, title, org, location, employer.listing_url),
        language=language_of_notice(f"{title}. {raw.description}", *raw.languages),
        location_raw=location,
        country=name_of(iso) if iso else None,
        country_iso=iso,
        city=stated.text("city") or city_in(location),
        level_norm=_level(stated, title),
        mission_tags=_missions(stated, title, raw.description),
        functional_tags=stated.many("functional_tags", words.FUNCTIONS, words.FUNCTIONS, title),
        international_eligible=_is_international(stated, title, modality),
        deadline=deadline,
        application_window=_window(stated, deadline),
        # A list may have nothing but the name beside the title.
        description_snippet=shorten(raw.description, SNIPPET_CHARACTERS) if raw.description != org else "",
        work_modality=modality,
        work_hours=stated.text("work_hours") or weekly_hours(raw.description),
        data_provenance=raw.found_by.value,
        **_contract(stated, title, raw.description),
        **_context(stated, employer, raw.description, pay),
        **compensation(pay, is_structured=raw.pay is not None),
        # Last: by now everything unknown has been met.
        raw_metadata=_metadata(raw, stated, pay) | {"assumed": _assumed(stated, employer)},
    )


def _assumed(stated: Stated, employer: Employer) -> list[str]:
    """Fields that are set without a word of the vacancy's: a list or a page that does say it knows better."""
    is_said = {
        "org_name": stated.text("org_name"),
        "org_type": stated.text("org_type") or not employer.org_type,
        "level_norm": words.STATED_LEVELS.found_in(stated.text("level_norm") or ""),
    }
    return [name for name, said in is_said.items() if not said]


def _assembled_location(stated: Stated) -> str:
    return ", ".join(filter(None, (stated.text("city"), stated.text("country"))))


def _country(stated: Stated, location: str) -> str | None:
    named = stated.text("country")
    iso = (country_called(named) if named else None) or country_in(location)
    if location and iso is None:
        stated.unknown["country"] = named or location
    return iso


def _modality(stated: Stated, title: str, location: str, description: str) -> str | None:
    """None: not said, or in words that nobody knows."""
    in_place, in_title = words.MODALITIES_IN_PLACE.found_in(location), words.MODALITIES_IN_TITLE.found_in(title)
    told = stated.many("work_modality", words.MODALITIES, words.MODALITIES)
    if not stated.text("work_modality"):
        told = in_place or in_title or words.MODALITIES_IN_PROSE.found_in(description)
    # Home-based is remote as well, and says more.
    if "home_based" in told or ("remote" in told[:1] and "home_based" in in_place + in_title):
        return "home_based"
    return next(iter(told), None)


def _level(stated: Stated, title: str) -> str | None:
    said = stated.one("level_norm", words.STATED_LEVELS, words.STATED_LEVELS)
    return said or level_of_title(title)


def _missions(stated: Stated, title: str, description: str) -> tuple[str, ...]:
    tags = stated.many("mission_tags", words.MISSIONS, words.MISSIONS)
    tags += words.MISSIONS.found_in(title)
    return tuple(dict.fromkeys(tags or words.MISSIONS.found_in(description)))[:MOST_MISSIONS]


def _is_international(stated: Stated, title: str, modality: str | None) -> bool:
    said = words.to_bool(stated.text("international_eligible") or "")
    return (modality == "remote" or bool(words.INTERNATIONAL.found_in(title))) if said is None else said


def _window(stated: Stated, deadline: date | None) -> dict[str, str]:
    opens = first_day_in(stated.text("posted") or "")
    days = {"opens": opens, "closes": deadline}
    return {name: day.isoformat() for name, day in days.items() if day}


def _contract(stated: Stated, title: str, description: str) -> dict[str, Any]:
    """A field for the contract may hold the career as well, or instead, and how long it lasts."""
    named, employment, lasting = (
        stated.text(fact) or "" for fact in ("contract_type", "employment_type", "contract_duration")
    )
    for fact, said in (("contract_type", named), ("employment_type", employment)):
        if said and not (words.CONTRACTS.found_in(said) or words.STATED_CAREERS.found_in(said)):
            stated.unknown[fact] = said
    careers = stated.many("career_type", words.STATED_CAREERS, words.CAREERS, title)
    if not stated.text("career_type"):
        careers += words.STATED_CAREERS.found_in(f"{employment}; {named}")
    is_contract_unknown = "contract_type" in stated.unknown
    kinds = () if is_contract_unknown else words.CONTRACTS.found_in(f"{named}; {employment}; {title}; {lasting}")
    return {
        "contract_type": next(iter(kinds), None),
        "career_type": next(iter(careers), None),
        "contract_duration_months": duration_months(lasting, description) or duration_months(named, ""),
    }


def _context(stated: Stated, employer: Employer, description: str, pay: Pay | None) -> dict[str, Any]:
    org_type = stated.one("org_type", words.ORG_TYPES, words.ORG_TYPES, employer.org_type.replace("_", " "))
    flags = stated.many("policy_flags", words.FLAGS, words.FLAGS, description)
    return {
        "org_type": org_type,
        "benefits": stated.many("benefits", words.BENEFITS, words.BENEFITS, description),
        "policy_flags": (*(("pay_transparent",) if pay else ()), *flags),
        "donor_context": stated.many("donor_context", words.DONORS, words.DONORS, description),
        "crisis_type": stated.many("crisis_type", words.CRISES, words.CRISES, description),
        "response_phase": stated.one("response_phase", words.STATED_PHASES, words.PHASES, description),
        "humanitarian_cluster": stated.many("humanitarian_cluster", words.STATED_CLUSTERS, words.CLUSTERS, description),
        "surge_required": words.to_bool(stated.text("surge_required") or ""),
    } | {name: stated.text(name) for name in AS_STATED}


def _metadata(raw: RawVacancy, stated: Stated, pay: Pay | None) -> dict[str, Any]:
    metadata: dict[str, Any] = {"facts": dict(raw.facts), "unknown": stated.unknown}
    if pay:
        amounts = {"min": pay.low, "max": pay.high}
        said = {name: in_full(amount) for name, amount in amounts.items() if amount is not None}
        metadata["compensation"] = said | {"currency": pay.currency, "period": pay.period}
    return metadata
