"""The terms of a job: its pay, its level and its length."""

import re
from typing import Any

from headwater.extraction.jobs.pay import pay_in, pay_in_prose
from headwater.extraction.jobs.stated import Stated
from headwater.extraction.jobs.vacancy import Pay
from headwater.extraction.jobs.words import LEVELS, ROLES

# A job's title ends where it begins to say of what, for whom or where.
_HEAD_OF_TITLE = re.compile(r"\s(?:of|for|to|in|at)\s|[,(–—/:]|\s-\s")
_HOURS = re.compile(r"\b\d{1,2}(?:[.,]\d)?\s?(?:hours|hrs|h)\s?(?:/|per|a|each)\s?week\b", re.IGNORECASE)
_UNITS = "month|year|mois|an|année|mes|mese|año|monate?|jahre?"
_LENGTH = r"(\d{1,2})[\s-]?(month|year)s?\b"
_STATED_LENGTH = re.compile(rf"\b(\d{{1,2}})[\s-]?({_UNITS})s?\b|^\s*(\d{{1,2}})\s*$", re.IGNORECASE)
_CONTRACT_OF = re.compile(rf"\b(?:contract|appointment|assignment|duration)\b[^.\n]{{0,30}}?\b{_LENGTH}", re.IGNORECASE)
_LONG_CONTRACT = re.compile(rf"\b{_LENGTH}\s(?:contract|appointment|assignment|consultancy|fixed)\b", re.IGNORECASE)
_YEARS = frozenset({"year", "an", "année", "año", "jahr", "jahre"})
_SURE, _READ_IN_TEXT = 1.0, 0.6


def level_of_title(title: str) -> str | None:
    """A word for the level itself, else what the person is called: the last such word before `of`, `for` or a comma."""
    if said := LEVELS.found_in(title):
        return said[0]
    head = _HEAD_OF_TITLE.split(title)[0]
    roles = ROLES.found_in(head)[-1:] or ROLES.found_in(title)
    return roles[0] if roles else None


def duration_months(stated: str | None, description: str) -> int | None:
    if stated:
        found = _STATED_LENGTH.search(stated)
        return _months(found) if found else None
    found = _CONTRACT_OF.search(description) or _LONG_CONTRACT.search(description)
    return _months(found) if found else None


def weekly_hours(description: str) -> str | None:
    found = _HOURS.search(description)
    return found[0] if found else None


def pay_offered(stated: Stated, description: str, country: str | None) -> Pay | None:
    """Pay from a field of its own, from two for its ends, or from the description."""
    ends = " - ".join(filter(None, (stated.text("salary_min"), stated.text("salary_max"))))
    said = stated.text("salary") or ends
    if not said:
        return pay_in_prose(description, country)
    named = f"{said} {stated.text('salary_currency') or ''} {stated.text('salary_period') or ''}"
    pay = pay_in(named, country)
    if pay is None:
        stated.unknown["salary"] = said
    return pay


def compensation(pay: Pay | None, *, is_structured: bool) -> dict[str, Any]:
    """The table's columns. Amounts stand there only in dollars: rates of exchange are nobody's vocabulary."""
    if pay is None:
        return {}
    in_usd = pay.currency == "USD"
    return {
        "compensation_visible": True,
        "compensation_type": pay.period or None,
        "compensation_min_usd": pay.low if in_usd else None,
        "compensation_max_usd": pay.high if in_usd else None,
        "compensation_currency": pay.currency or None,
        "compensation_confidence": _SURE if is_structured else _READ_IN_TEXT,
    }


def _months(found: re.Match[str]) -> int:
    number, unit, *bare = found.groups()
    return int(number) * (12 if unit.lower() in _YEARS else 1) if number else int(bare[0])
