"""The time zone of a country, where it has only one; guessing between several would be worse than not knowing."""

from collections import Counter
from functools import cache
from importlib import resources


def zone_of_country(country: str | None) -> str | None:
    return _zones().get((country or "").upper())


@cache
def _zones() -> dict[str, str]:
    """From the table of zones that comes with the package of time zones."""
    table = resources.files("tzdata.zoneinfo").joinpath("zone.tab").read_text(encoding="utf-8")
    rows = [line.split("\t") for line in table.splitlines() if line and not line.startswith("#")]
    zones = Counter(row[0] for row in rows)
    return {row[0]: row[2] for row in rows if zones[row[0]] == 1}
