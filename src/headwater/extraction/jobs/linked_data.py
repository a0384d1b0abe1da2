"""JobPosting in JSON-LD: in graphs, lists and lists of items, with references, and as broken as pages have it."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from functools import cache
from itertools import islice
from typing import Any

from selectolax.lexbor import LexborHTMLParser

from headwater.extraction.jobs.countries import country_called, name_of
from headwater.extraction.jobs.identity import absolute
from headwater.extraction.jobs.pay import PERIODS
from headwater.extraction.jobs.text import plain_text
from headwater.extraction.jobs.vacancy import LONGEST_FACT, FoundBy, Pay, RawVacancy

LONGEST_BLOCK = 2_000_000
MOST_NODES = 20_000
MOST_VALUES = 50
# Of the text behind a fact, which is cut much shorter once its markup is gone.
LONGEST_WRITTEN_FACT = 10 * LONGEST_FACT

VacancyNode = Mapping[str, Any]


def postings_in(tree: LexborHTMLParser, base_url: str, most: int) -> tuple[RawVacancy, ...]:
    nodes = list(_nodes_of([_loaded(script.text()) for script in tree.css('script[type="application/ld+json"]')]))
    by_id = {node["@id"]: node for node in nodes if isinstance(node.get("@id"), str) and len(node) > 1}
    # Hundreds of postings may refer to one place: each text is freed of its markup once.
    reader = _PostingReader(by_id, base_url, cache(plain_text))
    return tuple(reader.vacancy(node) for node in islice(filter(_is_posting, nodes), most))


def _loaded(text: str) -> Any:
    if len(text) > LONGEST_BLOCK:
        return None
    try:
        # Not strict: line breaks inside texts are the commonest fault of all.
        return json.loads(text.strip().removesuffix(";"), strict=False)
    except (ValueError, RecursionError):
        return None


def _nodes_of(blocks: list[Any]) -> Iterator[VacancyNode]:
    """Every object, in the order of the text and without recursion."""
    waiting = blocks[::-1]
    for _ in range(MOST_NODES):
        if not waiting:
            return
        one = waiting.pop()
        if isinstance(one, Mapping):
            yield one
            one = list(one.values())
        if isinstance(one, list):
            waiting += [inner for inner in reversed(one) if isinstance(inner, Mapping | list)]


def _is_posting(node: VacancyNode) -> bool:
    return any(isinstance(kind, str) and kind.rpartition("/")[2] == "JobPosting" for kind in _each(node.get("@type")))


class _PostingReader:
    """The postings of one page. `plain` gives a text without its markup."""

    def __init__(self, by_id: Mapping[str, VacancyNode], base_url: str, plain: Callable[[str], str]) -> None:
        self._by_id = by_id
        self._base_url = base_url
        self._plain = plain

    def vacancy(self, node: VacancyNode) -> RawVacancy:
        url = self._text(node.get("url"))
        places = [self._followed(place) for place in _each(node.get("jobLocation"))[:MOST_VALUES]]
        facts = {
            "org_name": self._text(self._followed(node.get("hiringOrganization"))),
            "location": "; ".join(dict.fromkeys(filter(None, map(self._place, places)))),
            "country": self._one_country(places),
            "deadline": self._text(node.get("validThrough")),
            "posted": self._text(node.get("datePosted")),
            "employment_type": self._text(node.get("employmentType")),
            "work_modality": self._text(node.get("jobLocationType")),
            "mission_tags": self._text(node.get("industry")),
            "functional_tags": self._text(node.get("occupationalCategory")),
            "benefits": self._text(node.get("jobBenefits")),
            "work_hours": self._text(node.get("workHours")),
        }
        return RawVacancy(
            title=self._text(node.get("title") or node.get("name")),
            url=(absolute(url, self._base_url) if url else "") or self._base_url,
            found_by=FoundBy.JSON_LD,
            description=self._text(node.get("description"), LONGEST_BLOCK),
            facts={name: said[:LONGEST_FACT] for name, said in facts.items() if said},
            pay=self._pay(node.get("baseSalary")),
            languages=(self._language(node.get("inLanguage")),),
        )

    def _followed(self, value: Any) -> Any:
        """One step only, so that references in a circle lead nowhere."""
        if isinstance(value, Mapping) and set(value) == {"@id"} and isinstance(value["@id"], str):
            return self._by_id.get(value["@id"], value)
        return value

    def _text(self, value: Any, longest: int = LONGEST_WRITTEN_FACT) -> str:
        match value:
            case str():
                return self._plain(value[:longest])
            case bool() | None:
                return ""
            case int() | float():
                return str(value)
            case list():
                return ", ".join(filter(None, (self._name(one, longest) for one in value[:20])))
        return self._name(value, longest)

    def _name(self, value: Any, longest: int = LONGEST_WRITTEN_FACT) -> str:
        if isinstance(value, Mapping):
            value = next((value[key] for key in ("name", "value", "@value") if isinstance(value.get(key), str)), "")
        return self._plain(value[:longest]) if isinstance(value, str) else ""

    def _language(self, value: Any) -> str:
        """A tag, or an object that names it; of several it is none."""
        tag = (value.get("alternateName") or value.get("name")) if isinstance(value, Mapping) else value
        return tag if isinstance(tag, str) else ""

    def _place(self, place: Any) -> str:
        address = place.get("address", place) if isinstance(place, Mapping) else place
        if not isinstance(address, Mapping):
            return self._text(address)
        parts = [self._text(address.get(key)) for key in ("addressLocality", "addressRegion")]
        return ", ".join(filter(None, (*parts, self._country(address)))) or self._name(place)

    def _country(self, address: VacancyNode) -> str:
        """Written out: location texts are for people, and a code may also be a state's."""
        said = self._text(address.get("addressCountry"))
        iso = country_called(said)
        return name_of(iso) if iso and said.isupper() else said

    def _one_country(self, places: Sequence[Any]) -> str:
        addresses = [place.get("address") for place in places if isinstance(place, Mapping)]
        countries = {self._country(address) for address in addresses if isinstance(address, Mapping)}
        return countries.pop() if len(countries) == 1 else ""

    def _pay(self, salary: Any) -> Pay | None:
        if not isinstance(salary, Mapping):
            return None
        value = salary.get("value")
        amounts: VacancyNode = (
            value if isinstance(value, Mapping) else {"value": value, "unitText": salary.get("unitText")}
        )
        single = _number(amounts.get("value"))
        low, high = _number(amounts.get("minValue")) or single, _number(amounts.get("maxValue")) or single
        if low is None and high is None:
            return None
        currency = self._text(salary.get("currency")).upper()
        return Pay(low, high, currency[:3], next(iter(PERIODS.found_in(self._text(amounts.get("unitText")))), ""))


def _each(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) else [value]


def _number(value: Any) -> Decimal | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = Decimal(str(value).replace(",", ""))
    except InvalidOperation:
        return None
    return number if number.is_finite() and number > 0 else None
