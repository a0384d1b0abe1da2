"""Which country a text means, in seven languages. A text that names two countries, or an unclear one, has none."""

import gettext
import re
from collections.abc import Iterator
from functools import cache
from itertools import islice

import pycountry

from headwater.extraction.jobs.places import (
    ALIASES,
    CITIES,
    NOT_COUNTRIES,
    NOT_TOWNS,
    PLAIN_NAMES,
    SHARED_NAMES,
    US_STATES,
    WAYS_OF_WORKING,
)
from headwater.extraction.jobs.vocabulary import Vocabulary, words_of

LANGUAGES = ("de", "fr", "es", "pt", "ru", "ar")
LONGEST_PLACE_WORDS = 8
LONGEST_COUNTRY_WORDS = 6

# The last thing said, or all that is said: elsewhere two capitals may be anything.
_CODE = re.compile(r"(?:^|[,(/–-])\s*([A-Z]{2,3})\s*\)?\s*$")
_HOW = Vocabulary({"how": WAYS_OF_WORKING})
_TOWN_ENDS = re.compile(r"[,(]|\s[–—-]\s")
_NO_TOWN = Vocabulary({"none": (*NOT_TOWNS, *WAYS_OF_WORKING, *SHARED_NAMES, *filter(None, US_STATES.values()))})
_TITLE_PARTS = re.compile(r"\s[–—-]\s|[|(]|\s@\s")
_SPOKEN = re.compile(r"[^\W_]+(?:['’.-][^\W_]+)*")
_SEGMENTS = re.compile(r"\.\s|\.$|[\n|•;]|\s[–—-]\s")


def country_in(text: str) -> str | None:
    """The ISO code of the one country a place is in."""
    named, towns = set(_countries().found_in(text)), set(_cities().found_in(text))
    shared, sure = named & SHARED_NAMES.keys(), named - SHARED_NAMES.keys()
    if _states().found_in(text):
        sure.add("US")
    meant = sure | {_settled(*SHARED_NAMES[name], sure | towns) for name in shared} | _coded(text, sure | towns)
    return _only(meant or towns)


def country_called(name: str) -> str | None:
    """The ISO code for a field that holds a country and nothing else: its name or one of its codes."""
    code = name.strip().upper()
    if code in _codes():
        return _codes()[code]
    known = _countries().exactly(name)
    return (SHARED_NAMES[known][1] or None) if known in SHARED_NAMES else known or None


def name_of(iso: str) -> str:
    """The name that a reader would use."""
    if iso in PLAIN_NAMES:
        return PLAIN_NAMES[iso]
    country = pycountry.countries.get(alpha_2=iso)
    return "" if country is None else str(getattr(country, "common_name", country.name))


def place_in(text: str) -> str:
    """The first part of a text that is nothing but a place: few words, the last of them a country."""
    parts = (part.strip(" \t\r,-–—") for part in _SEGMENTS.split(text))
    return next((part for part in parts if _is_place(part)), "")


def place_at_end(title: str) -> str:
    """The place that a title names behind a dash, a bar or in brackets: `Nurse – Juba, South Sudan`."""
    parts = [part.strip(" )") for part in _TITLE_PARTS.split(title)][1:]
    return next((part for part in reversed(parts) if part and _is_place(part)), "")


def leading_place(text: str) -> str:
    """The place a text begins with, up to the country it ends in; nothing where none does among its first words."""
    ends = [found.end() for found in islice(_SPOKEN.finditer(text), LONGEST_PLACE_WORDS + 2)]
    places = (text[:end].strip(" ,") for end in reversed(ends))
    return next(
        (f"{place})" if place.count("(") > place.count(")") else place for place in places if _ends_in_country(place)),
        "",
    )


def city_in(place: str) -> str | None:
    """The town of a place with one country; `Remote, Kenya` and `Kenya` have none."""
    first, *rest = _TOWN_ENDS.split(place, maxsplit=1)
    town = first.strip()
    if rest and _HOW.exactly(town):
        return city_in(rest[0].strip(" )"))
    if _cities().exactly(town):
        return town
    is_town = rest and ";" not in place and country_in(place) and not _NO_TOWN.found_in(town)
    return town if is_town and not _countries().found_in(town) else None


def _ends_in_country(text: str) -> bool:
    """Its last words are a country's name; a code counts behind a comma or in brackets only."""
    words = words_of(text)
    names = (" ".join(words[-count:]) for count in range(1, min(len(words), LONGEST_COUNTRY_WORDS) + 1))
    if any(_countries().exactly(name) for name in names):
        return True
    code = _CODE.search(text)
    return code is not None and code[1] in _codes() and code.start() > 0


def _is_place(text: str) -> bool:
    words = [word for word in words_of(text) if word.isalnum()]
    if not 0 < len(words) <= LONGEST_PLACE_WORDS:
        return False
    return bool(country_called(text) or country_called(text.rpartition(",")[2]))


def _settled(options: tuple[str, ...], default: str, evidence: set[str]) -> str:
    meant = evidence.intersection(options)
    return meant.pop() if len(meant) == 1 else default


def _coded(text: str, evidence: set[str]) -> set[str]:
    """A code at the end is a country's or a state's; where it could be both, a town or a name must decide."""
    found = _CODE.search(text)
    code = found[1] if found else ""
    options = {iso for iso in (_codes().get(code), "US" if code in US_STATES else None) if iso}
    return options if len(options) < 2 else {_settled(tuple(options), "", evidence)}


def _only(options: set[str]) -> str | None:
    # An unclear name leaves "" behind, which is as much as a second country.
    return next(iter(options)) or None if len(options) == 1 else None


@cache
def _countries() -> Vocabulary:
    terms: dict[str, list[str]] = {"": [*NOT_COUNTRIES, *filter(None, US_STATES.values())]}
    for iso, name in _named():
        terms.setdefault(iso, []).append(name)
    for shared in SHARED_NAMES:
        terms[shared] = [shared]
    return Vocabulary(terms)


@cache
def _cities() -> Vocabulary:
    return Vocabulary(CITIES)


@cache
def _states() -> Vocabulary:
    return Vocabulary({"US": filter(None, US_STATES.values())})


@cache
def _codes() -> dict[str, str]:
    codes = {"UK": "GB", "XK": "XK", "XKX": "XK"}
    for country in pycountry.countries:
        codes |= {country.alpha_2: country.alpha_2, country.alpha_3: country.alpha_2}
    return codes


def _named() -> Iterator[tuple[str, str]]:
    """Foreign names first, so that an English one has the last word."""
    for language in LANGUAGES:
        spoken = gettext.translation("iso3166-1", pycountry.LOCALES_DIR, languages=[language], fallback=True)
        for country in pycountry.countries:
            yield from ((country.alpha_2, name) for name in _spellings(spoken.gettext(country.name)))
    for country in pycountry.countries:
        names = (getattr(country, kind, "") for kind in ("official_name", "name", "common_name"))
        yield from ((country.alpha_2, spelling) for name in names if name for spelling in _spellings(name))
    for aliases in (ALIASES, {iso: (name,) for iso, name in PLAIN_NAMES.items()}):
        yield from ((iso, name) for iso, names in aliases.items() for name in names)


def _spellings(name: str) -> Iterator[str]:
    """`Moldova, Republic of` is also the Republic of Moldova; a remark in brackets may be left out."""
    yield name
    plain = re.sub(r"\s*\(.*?\)", "", name)
    yield plain
    head, comma, tail = plain.partition(", ")
    if comma:
        yield f"{tail} {head}"
