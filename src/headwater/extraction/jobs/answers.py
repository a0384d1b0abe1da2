"""The work of an extraction child on a page of vacancies, and its answer as JSON there and back."""

from collections.abc import Mapping
from dataclasses import asdict
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from headwater.extraction.jobs.normalise import Employer, Harvest, harvest_of
from headwater.extraction.jobs.pages import vacancies_in, vacancies_of_page
from headwater.extraction.jobs.pay import in_full
from headwater.extraction.jobs.vacancy import Skipped, SkipReason
from headwater.vacancy import TOLD, NewJob

_AMOUNTS = ("compensation_min_usd", "compensation_max_usd")


def harvest_page(task: Mapping[str, Any]) -> dict[str, Any]:
    """`task` has `html`, `url` and `now`; perhaps a `parser_hint`, selectors of `fields`, the `employer` with the names
    of its fields, and the title under which a list named the page as that of one vacancy, `listed_as`."""
    page, hint = (task["html"], task["url"]), task.get("parser_hint", "")
    listed_as = task.get("listed_as", "")
    found = (
        vacancies_of_page(*page, listed_as, hint) if listed_as else vacancies_in(*page, hint, task.get("fields", {}))
    )
    employer = Employer(**task.get("employer", {}))
    # A page that says that its vacancy is over ends the one that a list still names.
    return as_json(harvest_of(found, employer, datetime.fromisoformat(task["now"]), keeps_over=True))


def as_json(harvest: Harvest) -> dict[str, Any]:
    vacancies = [_said(vacancy) for vacancy in harvest.vacancies]
    return {"vacancies": vacancies, "skipped": [asdict(skipped) for skipped in harvest.skipped]}


def harvest_from(answer: Mapping[str, Any]) -> Harvest:
    skipped = (Skipped(SkipReason(one["reason"]), one["title"], one["url"]) for one in answer["skipped"])
    return Harvest(tuple(map(_heard, answer["vacancies"])), tuple(skipped))


def _said(vacancy: NewJob) -> dict[str, Any]:
    # JSON has neither days nor exact amounts nor bytes.
    return {name: _plain(value) for name, value in vacancy.told.items()}


def _plain(value: Any) -> Any:
    match value:
        case Decimal():
            return in_full(value)
        case date():
            return str(value)
        case bytes():
            return value.hex()
    return value


def _heard(said: Mapping[str, Any]) -> NewJob:
    values: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in said.items()}
    values["deadline"] = date.fromisoformat(said["deadline"]) if said["deadline"] else None
    values |= {name: Decimal(said[name]) for name in _AMOUNTS if said[name] is not None}
    values["canonical_hash"] = bytes.fromhex(said["canonical_hash"])
    # Only these: a child may have been taken over.
    return NewJob(**{name: value for name, value in values.items() if name in TOLD})
