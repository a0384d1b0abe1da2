"""Searches answered by the server that a sink fills. The archive has the last word on what is shown."""

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, NamedTuple
from uuid import UUID

import orjson

from headwater.database.pool import Database
from headwater.deliver.search_sink import OpenContexts, SearchSink
from headwater.deliver.sink import SinkDown
from headwater.deliver.sinks.elasticsearch import ElasticsearchSink
from headwater.deliver.sinks.search_query import (
    EPOCH,
    IndexQuestion,
    ViewFilter,
    facet_counts,
    newest_matches,
    questions_of,
    rank_of,
    shown_pieces,
)
from headwater.errors import DependencyDown, UsageError
from headwater.record_kind import RecordKind
from headwater.search.asked import asked_in, every_word
from headwater.search.facets import (
    MOST_VALUES,
    Facet,
    FacetCounts,
    Facets,
    FacetValue,
    facets_of_found,
    named,
    no_facets,
    require_documents,
)
from headwater.search.question import Filters, Place, place_at, with_slashes_parted, words_of
from headwater.search.rules import ALL_RULES, rules_of
from headwater.search.search import (
    DEFAULT_BOUNDS,
    FEW_SOURCES,
    MATCHED,
    Bounds,
    Hit,
    SearchPage,
    cursor_after,
    queries,
    require_page,
    sources_asked,
    values_of,
)
from headwater.search.views import View, view_with_id

OPENSEARCH = "OpenSearch"
BETWEEN_PIECES = " … "
MOST_DUPLICATES = 20
# So many of the best are looked up at once: some have gone since, or are not in the view.
LOOKED_UP_AT_ONCE = 100
EVERYWHERE = "ignore_unavailable=true&allow_no_indices=true"
ASK_POSTGRESQL = "PostgreSQL answers after: headwater db search-engine postgresql"


class Match(NamedTuple):
    """A record that the server found, before the archive was asked."""

    rank: float
    bucket: int
    hash: bytes

    @property
    def order(self) -> tuple[float, int, bytes]:
        return -self.rank, self.bucket, self.hash


@dataclass(frozen=True, slots=True)
class _SearchToAsk:
    """All that is asked of the server, and of the archive about what it found."""

    kind: RecordKind
    questions: Sequence[IndexQuestion]
    filters: Filters
    sources: Sequence[UUID] | None
    view: ViewFilter | None
    # Whether the server knows all that a document has to be, so that it can count them.
    is_told_whole: bool


@dataclass(frozen=True, slots=True)
class OpenSearchEngine:
    database: Database
    sink: SearchSink
    contexts: OpenContexts
    bounds: Bounds = DEFAULT_BOUNDS

    async def search(self, query: str, filters: Filters, *, limit: int, cursor: str | None = None) -> SearchPage:
        """As PostgreSQL does it: the best of the newest matches."""
        require_page(limit)
        after = place_at(cursor) if cursor else None
        question = await self._question(query, filters)
        if question is None:
            return SearchPage([], None, is_complete=True, engine=OPENSEARCH)
        async with self._server() as server:
            matches, is_complete = await self._matches(server, question)
            found = await self._found(question, _behind(matches, after), limit + 1)
            hits = [hit for hit, _ in found[:limit]]
            shown = await self._shown(server, question, found[:limit])
        hits = [replace(hit, pieces=shown.get(hit.hash, hit.pieces)) for hit in hits]
        following = cursor_after(hits[-1]) if len(found) > limit else None
        return SearchPage(hits, following, is_complete, OPENSEARCH)

    async def facets(self, query: str, filters: Filters, wanted: Sequence[Facet]) -> Facets:
        """Of all that the server holds; where it cannot tell a filter, of the newest matches, by the archive."""
        require_documents(filters)
        question = await self._question(query, filters)
        if question is None:
            return replace(no_facets(wanted), engine=OPENSEARCH)
        async with self._server() as server:
            if question.is_told_whole:
                return await named(self.database, await self._counted(server, question, wanted))
            matches, is_complete = await self._matches(server, question)
        keys = [(one.bucket, one.hash) for one in matches]
        found = await facets_of_found(self.database, filters, wanted, keys, is_complete=is_complete)
        return replace(found, engine=OPENSEARCH)

    async def _counted(self, server: "_SearchServer", question: _SearchToAsk, wanted: Sequence[Facet]) -> Facets:
        sources = None if question.sources is None else [str(one) for one in question.sources]
        patience = timedelta(seconds=self.bounds.patience_seconds)
        asked = question.questions, question.filters, sources, question.view
        body = facet_counts(*asked, wanted, MOST_VALUES, patience)
        answer = await server.answer(self.sink.layout.index_of(question.kind, "*"), body)
        return _facets_in(answer, wanted)

    async def require_ready(self) -> None:
        """Its sink was found."""

    async def _question(self, query: str, filters: Filters) -> _SearchToAsk | None:
        """None: nothing can match."""
        questions = await self._questions(query, filters.kind, filters.language)
        if not questions:
            return None
        sources = await sources_asked(self.database, filters)
        if filters.view_id is None:
            return _SearchToAsk(filters.kind, questions, filters, sources, None, not filters.duplicates)
        view = await view_with_id(self.database, filters.view_id)
        about = ViewFilter(view.languages, view.min_quality, view.rights)
        if filters.view_question is not None:
            within = await self._questions(view.query, filters.kind, None)
            about = replace(about, questions=tuple(within))
            if not within:
                return None
        is_told_whole = not filters.duplicates and _is_told(view, filters, sources)
        return _SearchToAsk(filters.kind, questions, filters, sources, about, is_told_whole)

    async def _questions(self, query: str, kind: RecordKind, language: str | None) -> list[IndexQuestion]:
        words = words_of(query)
        typed = with_slashes_parted(words) if kind is RecordKind.JOB else words
        asked = asked_in(await self.database.fetchval(queries.question_as_typed, typed))
        if asked is None:
            return []
        rules = ALL_RULES if language is None else (rules_of(language),)
        rows = await self.database.fetch(queries.words_left_out, list(rules), list(every_word(asked)))
        left_out = {row["config"]: frozenset(row["words"]) for row in rows}
        nothing = frozenset[str]()
        layout = self.sink.layout
        return questions_of(asked, {layout.index_of(kind, one): left_out.get(one, nothing) for one in rules})

    async def _matches(self, server: "_SearchServer", question: _SearchToAsk) -> tuple[list[Match], bool]:
        """And whether these are all."""
        filters, kind = question.filters, question.kind
        is_within = filters.view_id is not None or bool(filters.rights)
        most = self.bounds.most_looked_at if is_within else self.bounds.most_ranked
        # A duplicate is found by its original, which may be of another source, day or author.
        asked = Filters(kind, language=filters.language) if filters.duplicates else filters
        few = question.sources is not None and len(question.sources) <= FEW_SOURCES and not filters.duplicates
        sources = [str(one) for one in question.sources or ()] if few else None
        patience = timedelta(seconds=self.bounds.patience_seconds)
        view = None if filters.duplicates else question.view
        body = newest_matches(kind, question.questions, asked, sources, view, most, patience)
        found = await server.ask(self.sink.layout.index_of(kind, "*"), body)
        matches = [_match(hit) for hit in found]
        if filters.duplicates and kind is RecordKind.DOCUMENT:
            matches += await self._duplicates(found, matches)
        return sorted(matches, key=lambda one: one.order), len(found) < most

    async def _duplicates(self, found: Sequence[Mapping[str, Any]], matches: Sequence[Match]) -> list[Match]:
        """No sink holds them; their words are those of what they repeat."""
        scores = {one.hash: hit["_score"] for one, hit in zip(matches, found, strict=True)}
        keys = [one.bucket for one in matches], [one.hash for one in matches]
        rows = await self.database.fetch(queries.duplicates_of_found, *keys, MOST_DUPLICATES)
        return [
            Match(rank_of(scores[row["original"]], row["first_seen_at"]), row["bucket"], row["hash"]) for row in rows
        ]

    async def _found(self, question: _SearchToAsk, matches: Sequence[Match], most: int) -> list[tuple[Hit, Any]]:
        """The first of them that the archive still has and that pass all filters, each with its row."""
        kind = question.kind
        statement = queries.jobs_found if kind is RecordKind.JOB else queries.documents_found
        values = values_of(question.filters, question.sources)
        del values["view_question"]
        found: list[tuple[Hit, Any]] = []
        for start in range(0, len(matches), LOOKED_UP_AT_ONCE):
            part = matches[start : start + LOOKED_UP_AT_ONCE]
            keys = {"buckets": [one.bucket for one in part], "hashes": [one.hash for one in part]}
            rows = {row["hash"]: row for row in await self.database.fetch(*statement(**values, **keys))}
            found += [(_hit(kind, one, rows[one.hash]), rows[one.hash]) for one in part if one.hash in rows]
            if len(found) >= most:
                break
        return found[:most]

    async def _shown(
        self, server: "_SearchServer", question: _SearchToAsk, found: Sequence[tuple[Hit, Any]]
    ) -> dict[bytes, tuple[str, ...]]:
        """Pieces of the texts, marked; not of one that changed since it was sent: it may have taken words back."""
        versions = {hit.hash.hex(): row["version"] for hit, row in found}
        if not versions:
            return {}
        body = shown_pieces(question.kind, question.questions, list(versions), MATCHED)
        hits = await server.ask(self.sink.layout.index_of(question.kind, "*"), body)
        return {
            bytes.fromhex(hit["_id"]): _pieces(hit["highlight"])
            for hit in hits
            if hit.get("highlight") and hit["_source"].get("version") == versions.get(hit["_id"])
        }

    @asynccontextmanager
    async def _server(self) -> AsyncIterator["_SearchServer"]:
        async with self.contexts() as context:
            sink = ElasticsearchSink(self.sink.options, context(self.sink.name))
            try:
                yield _SearchServer(sink)
            except SinkDown as down:
                raise DependencyDown(
                    f"OpenSearch is to answer searches, from the sink '{self.sink.name}', and cannot: {down.what}",
                    fix=" ".join(filter(None, (down.fix, ASK_POSTGRESQL))),
                ) from down
            finally:
                await sink.close()


@dataclass(frozen=True, slots=True)
class _SearchServer:
    sink: ElasticsearchSink

    async def ask(self, indexes: str, body: Mapping[str, Any]) -> list[Mapping[str, Any]]:
        found = await self.answer(indexes, body)
        try:
            hits: list[Mapping[str, Any]] = found["hits"]["hits"]
        except (LookupError, TypeError) as error:
            raise _other_answer() from error
        return hits

    async def answer(self, indexes: str, body: Mapping[str, Any]) -> Mapping[str, Any]:
        answer = await self.sink.ask("POST", f"/{indexes}/_search?{EVERYWHERE}", orjson.dumps(body))
        found = self.sink.read(answer)
        shards = found.get("_shards", {})
        if found.get("timed_out"):
            raise UsageError(
                "This search takes too long.",
                fix="Use rarer words, or narrow it to a source, a language or some days.",
            )
        if shards.get("failed"):
            raise SinkDown(
                f"{shards['failed']} of its {shards.get('total')} shards did not answer.",
                fix="See to the health of its cluster.",
            )
        return found


def _other_answer() -> SinkDown:
    return SinkDown("Its answer is none of OpenSearch.", fix="See who answers at that address.")


def _is_told(view: View, filters: Filters, sources: Sequence[UUID] | None) -> bool:
    """A view's kinds, countries and very many sources are for the archive to tell."""
    names_sources = bool(view.source_ids or view.tags)
    are_sources_told = not names_sources or (filters.source_id is None and sources is not None)
    return are_sources_told and not view.countries and (not view.kinds or filters.kind in view.kinds)


def _facets_in(answer: Mapping[str, Any], wanted: Sequence[Facet]) -> Facets:
    try:
        # Where no index is there yet, nothing was counted.
        found = answer.get("aggregations") or {}
        counts = tuple(_counts_in(one, found[one]) if one in found else FacetCounts(one) for one in wanted)
        return Facets(counts, answer["hits"]["total"]["value"], is_complete=True, engine=OPENSEARCH)
    except (LookupError, TypeError) as error:
        raise _other_answer() from error


def _counts_in(facet: Facet, found: Mapping[str, Any]) -> FacetCounts:
    values = tuple(FacetValue(one["key"], one["doc_count"], one["key"]) for one in found["buckets"])
    return FacetCounts(facet, values, found["sum_other_doc_count"], found["doc_count_error_upper_bound"] == 0)


def _match(hit: Mapping[str, Any]) -> Match:
    seen_at = EPOCH + timedelta(milliseconds=hit["sort"][0])
    return Match(rank_of(hit["_score"], seen_at), hit["fields"]["bucket"][0], bytes.fromhex(hit["_id"]))


def _behind(matches: Sequence[Match], place: Place | None) -> Sequence[Match]:
    if place is None:
        return matches
    last = Match(*place).order
    return [one for one in matches if one.order > last]


def _hit(kind: RecordKind, match: Match, row: Any) -> Hit:
    told = {name: row[name] for name in Hit.__slots__ if name not in ("kind", "pieces", "rank")}
    return Hit(kind=kind, pieces=(row["beginning"] or "",), rank=match.rank, **told)


def _pieces(highlight: Mapping[str, Iterable[str]]) -> tuple[str, ...]:
    return tuple(BETWEEN_PIECES.join(next(iter(highlight.values()))).split(MATCHED))
