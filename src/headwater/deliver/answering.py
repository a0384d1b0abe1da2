"""Who answers a search now: as settings say, and as the columns stand that PostgreSQL would search."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from headwater.chance import Random
from headwater.database.pool import Database
from headwater.errors import DependencyDown, SettingError
from headwater.log import Logger
from headwater.search.column import search_column
from headwater.search.engine import PostgreSQLEngine, SearchEngine
from headwater.search.facets import Facet, Facets
from headwater.search.question import Filters
from headwater.search.search import SearchPage
from headwater.settings import Settings
from headwater.settings.groups import SearchSettings

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractAsyncContextManager

    from headwater.deliver.search_sink import OpenContexts
    from headwater.deliver.sink import SinkContext


def engine_for(database: Database, settings: Settings, random: Random, log: Logger) -> "InstalledEngine":
    def contexts() -> "AbstractAsyncContextManager[Callable[[str], SinkContext]]":
        from headwater.deliver.contexts import SEARCH_SECONDS, open_contexts

        return open_contexts(settings, random, log, SEARCH_SECONDS)

    return InstalledEngine(database, settings.search, contexts)


@dataclass(frozen=True, slots=True)
class InstalledEngine:
    """Chosen for each search: a switch of the columns is obeyed by processes that run, from their next one on."""

    database: Database
    settings: SearchSettings
    contexts: "OpenContexts"

    async def search(self, query: str, filters: Filters, *, limit: int, cursor: str | None = None) -> SearchPage:
        return await (await self._answering()).search(query, filters, limit=limit, cursor=cursor)

    async def facets(self, query: str, filters: Filters, wanted: Sequence[Facet]) -> Facets:
        return await (await self._answering()).facets(query, filters, wanted)

    async def _answering(self) -> SearchEngine:
        try:
            return await self.chosen()
        except SettingError as missing:
            # Whoever searches need not be who writes the settings.
            raise DependencyDown(f"Nobody can answer searches. {missing.what}", fix=missing.fix) from missing

    async def require_ready(self) -> None:
        await self.chosen()

    async def chosen(self) -> SearchEngine:
        if self.settings.engine == "postgresql" and (await search_column(self.database)).is_kept:
            return PostgreSQLEngine(self.database)
        # Whoever only lists, or is answered by PostgreSQL, needs no client of the web.
        from headwater.deliver.search_engine import OpenSearchEngine
        from headwater.deliver.search_sink import search_sink

        return OpenSearchEngine(self.database, await search_sink(self.database, self.settings.sink), self.contexts)
