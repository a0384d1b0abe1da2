"""JobPosting in JSON-LD: in graphs, lists and lists of items, with references, and as broken as pages have it."""

import json
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any

from selectolax.lexbor import LexborHTMLParser

from headwater.extract.jobs.countries import country_called, name_of
from headwater.extract.jobs.identity import absolute
from headwater.extract.jobs.pay import PERIODS
from headwater.extract.jobs.text import plain_text
from headwater.extract.jobs.vacancy import LONGEST_FACT, FoundBy, Pay, RawVacancy

LONGEST_BLOCK = 2_000_000
MOST_NODES = 20_000

Node = Mapping[str, Any]


def postings_in(tree: LexborHTMLParser, base_url: str) -> tuple[RawVacancy, ...]:
    nodes = list(_nodes_of([_loaded(script.text()) for script in tree.css('script[type="application/ld+json"]')]))
    by_id = {node["@id"]: node for node in nodes if isinstance(node.get("@id"), str) and len(node) > 1}
    return tuple(_vacancy(node, by_id, base_url) for node in nodes if _is_posting(node))


def _loaded(text: str) -> Any:
    if len(text) > LONGEST_BLOCK:
        return None
    try:
        # Not strict: line breaks inside texts are the commonest fault of all.
        return json.loads(text.strip().removesuffix(";"), strict=False)
    except (ValueError, RecursionError):
        return None


def _nodes_of(blocks: list[Any]) -> Iterator[Node]:
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


def _is_posting(node: Node) -> bool:
    return any(isinstance(kind, str) and kind.rpartition("/")[2] == "JobPosting" for kind in _each(node.get("@type")))


def _vacancy(node: Node, by_id: Mapping[str, Node], base_url: str) -> RawVacancy:
    url = _text(node.get("url"))
    facts = {
        "org_name": _text(_followed(node.get("hiringOrganization"), by_id)),
        "location": "; ".join(filter(None, (_place(_followed(p, by_id)) for p in _each(node.get("jobLocation"))))),
        "country": _one_country(node, by_id),
        "deadline": _text(node.get("validThrough")),
        "posted": _text(node.get("datePosted")),
        "employment_type": _text(node.get("employmentType")),
        "work_modality": _text(node.get("jobLocationType")),
        "mission_tags": _text(node.get("industry")),
        "functional_tags": _text(node.get("occupationalCategory")),
        "benefits": _text(node.get("jobBenefits")),
        "work_hours": _text(node.get("workHours")),
    }
    return RawVacancy(
        title=_text(node.get("title") or node.get("name")),
        url=(absolute(url, base_url) if url else "") or base_url,
        found_by=FoundBy.JSON_LD,
        description=_text(node.get("description")),
        facts={name: said[:LONGEST_FACT] for name, said in facts.items() if said},
        pay=_pay(node.get("baseSalary")),
    )


def _each(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) else [value]


def _followed(value: Any, by_id: Mapping[str, Node]) -> Any:
    """One step only, so that references in a circle lead nowhere."""
    if isinstance(value, Mapping) and set(value) == {"@id"} and isinstance(value["@id"], str):
        return by_id.get(value["@id"], value)
    return value


def _text(value: Any) -> str:
    match value:
        case str():
            return plain_text(value)
        case bool() | None:
            return ""
        case int() | float():
            return str(value)
        case list():
            return ", ".join(filter(None, map(_name, value[:20])))
    return _name(value)


def _name(value: Any) -> str:
    if isinstance(value, Mapping):
        value = next((value[key] for key in ("name", "value", "@value") if isinstance(value.get(key), str)), "")
    return plain_text(value) if isinstance(value, str) else ""


def _place(place: Any) -> str:
    address = place.get("address", place) if isinstance(place, Mapping) else place
    if not isinstance(address, Mapping):
        return _text(address)
    parts = [_text(address.get(key)) for key in ("addressLocality", "addressRegion")]
    return ", ".join(filter(None, (*parts, _country(address)))) or _name(place)


def _country(address: Node) -> str:
    """Written out: location texts are for people, and a code may also be a state's."""
    said = _text(address.get("addressCountry"))
    iso = country_called(said)
    return name_of(iso) if iso and said.isupper() else said


def _one_country(node: Node, by_id: Mapping[str, Node]) -> str:
    places = [_followed(place, by_id) for place in _each(node.get("jobLocation"))]
    addresses = [place.get("address") for place in places if isinstance(place, Mapping)]
    countries = {_country(address) for address in addresses if isinstance(address, Mapping)}
    return countries.pop() if len(countries) == 1 else ""


def _pay(salary: Any) -> Pay | None:
    if not isinstance(salary, Mapping):
        return None
    value = salary.get("value")
    amounts: Node = value if isinstance(value, Mapping) else {"value": value, "unitText": salary.get("unitText")}
    single = _number(amounts.get("value"))
    low, high = _number(amounts.get("minValue")) or single, _number(amounts.get("maxValue")) or single
    if low is None and high is None:
        return None
    currency = _text(salary.get("currency")).upper()
    return Pay(low, high, currency[:3], next(iter(PERIODS.found_in(_text(amounts.get("unitText")))), ""))


def _number(value: Any) -> Decimal | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = Decimal(str(value).replace(",", ""))
    except InvalidOperation:
        return None
    return number if number.is_finite() and number > 0 else None
