"""Who answers searches: PostgreSQL, where the archive is, or a search server that a sink fills from it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from headwater.database.pool import Database
from headwater.search.facets import Facet, Facets, facets_of_search
from headwater.search.question import Filters
from headwater.search.search import SearchPage, search


class SearchEngine(Protocol):
    @property
    def database(self) -> Database:
        """Where the archive is, whoever answers."""

    async def search(self, query: str, filters: Filters, *, limit: int, cursor: str | None = None) -> SearchPage: ...

    async def facets(self, query: str, filters: Filters, wanted: Sequence[Facet]) -> Facets:
        """Of all pages of that answer."""

    async def require_ready(self) -> None:
        """Raises SettingError where settings name nobody who could answer."""


@dataclass(frozen=True, slots=True)
class PostgreSQLEngine:
    database: Database

    async def search(self, query: str, filters: Filters, *, limit: int, cursor: str | None = None) -> SearchPage:
        return await search(self.database, query, filters, limit=limit, cursor=cursor)

    async def facets(self, query: str, filters: Filters, wanted: Sequence[Facet]) -> Facets:
        return await facets_of_search(self.database, query, filters, wanted)

    async def require_ready(self) -> None:
        """Whoever has the archive can search it."""
