"""Vacancies in items of feeds and APIs: they have titles and links, the rest is in fields or in prose."""

from collections.abc import Iterator, Mapping
from typing import Any, Protocol

from headwater.extraction.jobs.countries import place_at_end, place_in
from headwater.extraction.jobs.labels import TOLD_IN_PROSE, deadline_in_prose, fact_named
from headwater.extraction.jobs.listing_items import labelled_facts_in
from headwater.extraction.jobs.text import plain_text
from headwater.extraction.jobs.vacancy import LONGEST_FACT, FoundBy, RawVacancy

ListedRecord = Mapping[str, Any]


class ListedVacancy(Protocol):
    """One item as a channel's reader gives it."""

    @property
    def url(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def author(self) -> str: ...
    @property
    def summary(self) -> str: ...
    @property
    def content(self) -> str: ...
    @property
    def language(self) -> str: ...
    @property
    def fields(self) -> Mapping[str, Any]: ...


def vacancy_listed(item: ListedVacancy, found_by: FoundBy = FoundBy.FEED) -> RawVacancy:
    facts = _facts_of(item.fields)
    stated = facts.pop("description", "")
    summary = plain_text(item.summary)
    described = plain_text(item.content) or stated or summary
    _add_labelled(facts, item.summary, item.content)
    _add_from_prose(facts, summary, described)
    if "location" not in facts and (place := place_at_end(plain_text(item.title))):
        facts["location"] = place
    if item.author:
        facts.setdefault("author", plain_text(item.author))
    return RawVacancy(plain_text(item.title), item.url, found_by, described, facts, languages=(item.language,))


def _facts_of(fields: ListedRecord) -> dict[str, str]:
    facts: dict[str, str] = {}
    for key, value in fields.items():
        fact, said = fact_named(str(key)), _said(value)
        if fact and said:
            facts.setdefault(fact, said if fact == "description" else said[:LONGEST_FACT])
    return facts


def _said(value: Any) -> str:
    match value:
        case str():
            return plain_text(value)
        case bool():
            return "yes" if value else "no"
        case int() | float():
            return str(value)
        case Mapping():
            named = value.get("name")
            return _said(named) if isinstance(named, str) else ", ".join(_plain_values(value.values()))
        case list():
            return ", ".join(_plain_values(_said(one) if isinstance(one, Mapping) else one for one in value[:20]))
    return ""


def _plain_values(values: Any) -> Iterator[str]:
    return (plain_text(value) for value in values if isinstance(value, str) and value)


def _add_labelled(facts: dict[str, str], *texts: str) -> None:
    for text in texts:
        said = labelled_facts_in(text)
        facts.update({name: said[name] for name in TOLD_IN_PROSE if name in said and name not in facts})


def _add_from_prose(facts: dict[str, str], summary: str, described: str) -> None:
    if "location" not in facts and (place := place_in(summary)):
        facts["location"] = place
    if "deadline" not in facts and (deadline := deadline_in_prose(summary) or deadline_in_prose(described)):
        facts["deadline"] = deadline
