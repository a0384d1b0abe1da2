"""Documents that an earlier system wrote under other ids into indexes of raw_content: found, and retired.

Beside ours they are the same page twice, and a classifier reads both. `find_foreign` changes nothing: what it finds is
shown first, and only then given to `retire_foreign`.
"""

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import orjson

from headwater.database.pool import Database
from headwater.database.queries import load_queries
from headwater.deliver.http import in_path
from headwater.deliver.sink import Fence
from headwater.deliver.sinks.bulk import NOT_FOUND, item_answers
from headwater.deliver.sinks.elasticsearch import OUR_ID, ElasticsearchSink
from headwater.deliver.sinks.raw_content import SUFFIX
from headwater.errors import UsageError
from headwater.urls.canonical import web_addresses

queries = load_queries("headwater.deliver.sinks")

PAGE = 500
KEEP_OPEN = "1m"


@dataclass(frozen=True, slots=True)
class ForeignDocument:
    """Of another writer. `replaced_by` is the id of ours for the same page; None: this sink has none, and it stays."""

    id: str
    place: str
    url: str
    replaced_by: str | None
    # As it was found: one that its writer changes meanwhile is left alone.
    seq_no: int
    primary_term: int


@dataclass(frozen=True, slots=True)
class Retirement:
    retired: int = 0
    # Changed since they were found, or refused.
    left: int = 0


async def find_foreign(sink: ElasticsearchSink, database: Database, sink_id: UUID) -> AsyncIterator[ForeignDocument]:
    """Index by index. Documents under an id of ours are never foreign, whoever wrote them last."""
    if sink.layout.name != "raw_content":
        raise UsageError("Only a sink of the layout raw_content has indexes that others write to.")
    for index in await _indexes(sink):
        async for page in _pages(sink, index):
            for document in await _foreign_in(page, database, sink_id):
                yield document


async def retire_foreign(sink: ElasticsearchSink, found: Iterable[ForeignDocument], fence: Fence) -> Retirement:
    """Deletes those that a document of ours replaces."""
    replaced = [one for one in found if one.replaced_by]
    total = Retirement()
    for start in range(0, len(replaced), PAGE):
        some = await _delete(sink, replaced[start : start + PAGE], fence)
        total = Retirement(total.retired + some.retired, total.left + some.left)
    return total


async def _indexes(sink: ElasticsearchSink) -> list[str]:
    path = f"/*{SUFFIX}/_settings/index.uuid?allow_no_indices=true"
    return sorted(sink.read(await sink.ask("GET", path)))


async def _pages(sink: ElasticsearchSink, index: str) -> AsyncIterator[Sequence[Mapping[str, Any]]]:
    """By a scroll: their documents need not have a field to go on from."""
    await sink.ask("POST", f"/{in_path(index)}/_refresh")
    body = {
        "size": PAGE,
        "sort": ["_doc"],
        "_source": ["url", "canonical_url"],
        "seq_no_primary_term": True,
        "query": {"match_all": {}},
    }
    path = f"/{in_path(index)}/_search?scroll={KEEP_OPEN}"
    answer = sink.read(await sink.ask("POST", path, orjson.dumps(body)))
    try:
        while hits := answer["hits"]["hits"]:
            yield hits
            going_on = {"scroll": KEEP_OPEN, "scroll_id": answer["_scroll_id"]}
            answer = sink.read(await sink.ask("POST", "/_search/scroll", orjson.dumps(going_on)))
    finally:
        await sink.ask("DELETE", "/_search/scroll", orjson.dumps({"scroll_id": [answer["_scroll_id"]]}))


async def _foreign_in(hits: Sequence[Mapping[str, Any]], database: Database, sink_id: UUID) -> list[ForeignDocument]:
    pages = {hit["_id"]: _ids_of_page(hit.get("_source", {})) for hit in hits}
    asked = {one for ids in pages.values() for one in ids} | {one for one in pages if OUR_ID.fullmatch(one)}
    rows = await database.fetch(
        *queries.delivered_documents(sink_id=sink_id, hashes=[bytes.fromhex(one) for one in sorted(asked)])
    )
    held = {row["id"]: row["is_in_sink"] for row in rows}
    foreign = [hit for hit in hits if hit["_id"] not in held and hit["_id"] not in pages[hit["_id"]]]
    return [
        ForeignDocument(
            hit["_id"],
            hit["_index"],
            str(hit.get("_source", {}).get("url", "")),
            next((one for one in pages[hit["_id"]] if held.get(one)), None),
            hit["_seq_no"],
            hit["_primary_term"],
        )
        for hit in foreign
    ]


def _ids_of_page(source: Mapping[str, Any]) -> list[str]:
    """Under which a document of ours stands for the same page."""
    named = [value for name in ("url", "canonical_url") if isinstance(value := source.get(name), str)]
    return [url.url_hash.hex() for url in web_addresses(*named)]


async def _delete(sink: ElasticsearchSink, some: Sequence[ForeignDocument], fence: Fence) -> Retirement:
    lines = [
        orjson.dumps(
            {
                "delete": {
                    "_index": one.place,
                    "_id": one.id,
                    "if_seq_no": one.seq_no,
                    "if_primary_term": one.primary_term,
                }
            }
        )
        for one in some
    ]
    body = b"\n".join(lines) + b"\n"
    answer = await sink.ask("POST", "/_bulk", body, fence=fence, content_type="application/x-ndjson")
    statuses = [item.status for item in item_answers(sink.read(answer))]
    gone = sum(200 <= status < 300 or status == NOT_FOUND for status in statuses)
    return Retirement(gone, len(some) - gone)
