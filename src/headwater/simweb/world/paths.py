"""Article addresses in the styles of real sites. Each holds its day, so looking up is cheap."""

import re
from collections.abc import Callable, Mapping
from datetime import date

# Ordinals near 740,000 would make article ids longer than those of most sites.
ORDINAL_OF_ZERO = 700_000
PLACES_PER_DAY = 1000
DATED = re.compile(r"/(\d{4})/(\d{2})/(\d{2})/[^/]+/?")
NUMBERED = re.compile(r"(?:-|id=)(\d{6,9})(?:\.html)?$")


def number_of(day: date, place: int) -> int:
    return (day.toordinal() - ORDINAL_OF_ZERO) * PLACES_PER_DAY + place


def day_of(number: int) -> date:
    return date.fromordinal(number // PLACES_PER_DAY + ORDINAL_OF_ZERO)


PATHS: Mapping[str, Callable[[date, int, str, str], str]] = {
    "dated": lambda day, place, slug, _: f"/{day:%Y/%m/%d}/{slug}-{place}/",
    "section": lambda day, place, slug, section: f"/{section}/{slug}-{number_of(day, place)}",
    "story": lambda day, place, slug, _: f"/news/{slug}-{number_of(day, place)}.html",
    "query": lambda day, place, _slug, _section: f"/article.php?id={number_of(day, place)}",
}


def day_at(address: str) -> date | None:
    """The day whose articles this address could belong to, if it is an article's at all."""
    try:
        if dated := DATED.fullmatch(address):
            year, month, day = map(int, dated.groups())
            return date(year, month, day)
        if numbered := NUMBERED.search(address):
            return day_of(int(numbered[1]))
    except ValueError:  # a thirteenth month, a year beyond 9999
        return None
    return None
