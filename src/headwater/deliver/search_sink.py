"""The sink whose server answers searches: which one it is, and what keeps it from that."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass

from headwater.database.pool import Database
from headwater.database.queries import load_queries
from headwater.deliver.kinds import kind_named
from headwater.deliver.options import valid_options
from headwater.deliver.sink import SinkContext
from headwater.deliver.sinks.elasticsearch import KIND, ElasticsearchOptions
from headwater.deliver.sinks.layouts import SearchIndexes
from headwater.errors import SettingError

queries = load_queries("headwater.deliver")

OpenContexts = Callable[[], AbstractAsyncContextManager[Callable[[str], SinkContext]]]
MAKE_ONE = "Make one: headwater sinks add search --type elasticsearch url=http://localhost:9200 layout=search"


@dataclass(frozen=True, slots=True)
class SearchSink:
    """A sink that holds everything in the layout `search`."""

    name: str
    options: ElasticsearchOptions
    layout: SearchIndexes


async def search_sink(database: Database, name: str) -> SearchSink:
    """Of the settings' name, or the only one there is. Raises SettingError where none could answer."""
    rows = await database.fetch(queries.sinks_of_search, name)
    if not rows:
        what = f"the sink '{name}', which `search.sink` names, does not exist" if name else "no sink has that layout"
        raise SettingError(f"OpenSearch is to answer searches from a sink of the layout search: {what}.", fix=MAKE_ONE)
    if len(rows) > 1:
        names = ", ".join(row["name"] for row in rows)
        raise SettingError(
            f"Several sinks could answer searches: {names}.", fix="Name one of them in the setting search.sink."
        )
    (row,) = rows
    options = valid_options(kind_named(row["type"]), row["options"]) if row["type"] == KIND.name else None
    if not isinstance(options, ElasticsearchOptions) or options.layout != SearchIndexes.name:
        raise SettingError(
            f"The sink '{row['name']}' has no indexes to search: its type or its layout is another.",
            fix=f"Name a sink of the layout search in search.sink. {MAKE_ONE}",
        )
    if row["view_id"] is not None:
        raise SettingError(
            f"The sink '{row['name']}' holds the documents of a view only; a search asks for all of them.",
            fix=f"Name a sink without a view in search.sink. {MAKE_ONE}",
        )
    return SearchSink(row["name"], options, SearchIndexes(options.index_prefix, options.shards, options.replicas))
