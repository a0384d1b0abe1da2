"""Documents with values to be counted, and what was counted in short."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

from tests.integration.archive.shelf import SOURCE, Shelf

from headwater.database.pool import Database
from headwater.search.facets import Facet, Facets
from headwater.urls.canonical import canonicalise

EVERY = tuple(Facet)
OTHER, REMOVED = uuid4(), uuid4()


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


CHRISTMAS = at("2025-12-24")
# By address.
PAGES: dict[str, dict[str, Any]] = {
    "https://a.example/1": {"text": "budget one", "published_at": at("2026-05-06"), "authors": ("Ann Smith", "Bo Ek")},
    "https://a.example/2": {
        "text": "budget two",
        "published_at": at("2026-05-31T23:59:59.999999"),
        "page_type": "live",
    },
    "https://a.example:8080/3": {"text": "budget three", "published_at": at("2026-06-01"), "authors": ("Ann Smith",)},
    "https://b.example/4": {"text": "budget vier", "language": "de", "source_id": OTHER, "published_at": CHRISTMAS},
    "https://b.example/5": {"text": "budget five", "source_id": REMOVED, "language": "", "published_at": CHRISTMAS},
    "https://c.example/6": {"text": "nothing of it", "published_at": at("2026-05-06")},
}


async def add_source(database: Database, source_id: UUID, name: str, **columns: Any) -> None:
    site = canonicalise(f"https://{source_id}.example/")
    given = {"id": source_id, "name": name, "url": site.url, "url_hash": site.url_hash, **columns}
    values = ", ".join(f"${number}" for number in range(1, len(given) + 1))
    await database.execute(f"INSERT INTO sources ({', '.join(given)}) VALUES ({values})", *given.values())


async def keep_pages(shelf: Shelf) -> None:
    await add_source(shelf.database, SOURCE, "The Gazette")
    await add_source(shelf.database, OTHER, "Die Zeitung", tags=["german"])
    await add_source(shelf.database, REMOVED, "Gone", status="deleted")
    for url, fields in PAGES.items():
        await shelf.keep(url, **{"page_type": "article", **fields})


def told(facets: Facets) -> dict[str, dict[str, int]]:
    """By facet, how many by the name of each value; `…` are the others."""
    return {
        str(one.facet): {
            **{value.name: value.count for value in one.values},
            **({"…": one.others} if one.others else {}),
        }
        for one in facets.counts
    }
