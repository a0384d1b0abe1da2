"""The time zone of a country, where it has only one; guessing between several would be worse than not knowing."""

from functools import cache
from pathlib import Path
from zoneinfo import TZPATH


def zone_of_country(country: str | None) -> str | None:
    return _zones().get((country or "").upper())


@cache
def _zones() -> dict[str, str]:
    """From the system's own table of zones; without it no country's zone is known."""
    for folder in TZPATH:
        table = Path(folder) / "zone.tab"
        if table.is_file():
            return _single_zones(table.read_text(encoding="utf-8"))
    return {}


def _single_zones(table: str) -> dict[str, str]:
    rows = [line.split("\t") for line in table.splitlines() if line and not line.startswith("#")]
    codes = [row[0] for row in rows]
    return {row[0]: row[2] for row in rows if codes.count(row[0]) == 1}
