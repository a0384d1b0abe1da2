"""Questions to a search server over the indexes of the layout `search`: what is asked, in its own language. Pure.

A match counts by where its words stand, and for nothing else: not by how often they occur in an archive that changes
while a person turns pages, so a hit keeps its rank and no page repeats one.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from headwater.deliver.sinks.search_index import GAP, SHOWN_TEXT
from headwater.errors import UsageError
from headwater.record_kind import RecordKind
from headwater.search.asked import AllOf, AnyOf, AskedTree, AskedWords, Without, left_out_of, words_wanted
from headwater.search.facets import Facet
from headwater.search.question import Filters
from headwater.search.rules import ALL_RULES

# The fields of the four weights that PostgreSQL has for words, with the weights.
WEIGHTS: Mapping[RecordKind, Mapping[str, float]] = {
    RecordKind.DOCUMENT: {"title": 1.0, "summary": 0.4, "keywords.words": 0.2, "author": 0.2, "text": 0.1},
    RecordKind.JOB: {
        "title": 1.0,
        "org_name": 0.4,
        "description_snippet": 0.2,
        "mission_tags.words": 0.1,
        "functional_tags.words": 0.1,
    },
}
# More than a text that has the words apart, less than one that has them in its summary.
NEAR, NEAR_WORDS = 0.1, 8
MOST_NEAR = 8
# A server takes 1,024 clauses: a word is one for each field, and once more for languages with other words left out.
MOST_CLAUSES = 900
# Between records whose words stand in the same places, so that the newest is first: a year is less than a hundredth
# of the difference between a text and a summary.
OF_TIME, ALL_TIME = 0.1, 2.0**32
SEEN_AT = {RecordKind.DOCUMENT: "first_seen_at", RecordKind.JOB: "created_at"}
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# Where its values stand, if not in a field of its own name.
FIELD_OF_FACET = {Facet.SOURCE: "source_id", Facet.AUTHOR: "authors"}
BY_TIME = frozenset({Facet.MONTH, Facet.DAY})
# Each shard tells its most frequent values: of a field with no more than so many, all.
VALUES_OF_SHARD = 1_000
_MILLISECOND = timedelta(milliseconds=1)


@dataclass(frozen=True, slots=True)
class IndexQuestion:
    """What some indexes are asked: of those with the same words left out, the same."""

    indexes: tuple[str, ...]
    asked: AskedTree


@dataclass(frozen=True, slots=True)
class ViewFilter:
    """As much of a view as a server can tell; PostgreSQL tells the rest."""

    languages: tuple[str, ...] = ()
    min_quality: int | None = None
    rights: tuple[str, ...] = ()
    # Empty: nothing is in it. None: it asks for no words.
    questions: "tuple[IndexQuestion, ...] | None" = None


def questions_of(asked: AskedTree, left_out: Mapping[str, frozenset[str]]) -> list[IndexQuestion]:
    """`left_out`: by index, the words that its language leaves out. Of an index where nothing remains, nothing."""
    by_question: dict[AskedTree, list[str]] = defaultdict(list)
    for index, words in left_out.items():
        if rest := left_out_of(asked, words):
            by_question[rest].append(index)
    return [IndexQuestion(tuple(indexes), rest) for rest, indexes in by_question.items()]


def newest_matches(
    kind: RecordKind,
    questions: Sequence[IndexQuestion],
    filters: Filters,
    sources: Sequence[str] | None,
    view: ViewFilter | None,
    limit: int,
    patience: timedelta,
) -> dict[str, Any]:
    """The newest of the matches with what each counts; which of them are the best is for who asks."""
    return {
        "size": limit,
        "timeout": f"{patience // _MILLISECOND}ms",
        "track_total_hits": False,
        "track_scores": True,
        "_source": False,
        "docvalue_fields": ["bucket"],
        "sort": [{SEEN_AT[kind]: {"order": "desc", "unmapped_type": "date"}}],
        "query": _matching(kind, questions, filters, sources, view),
    }


def facet_counts(
    questions: Sequence[IndexQuestion],
    filters: Filters,
    sources: Sequence[str] | None,
    view: ViewFilter | None,
    facets: Sequence[Facet],
    most: int,
    patience: timedelta,
) -> dict[str, Any]:
    """Of all documents that match, how many have each value of some facets."""
    return {
        "size": 0,
        "timeout": f"{patience // _MILLISECOND}ms",
        "track_total_hits": True,
        "query": _matching(RecordKind.DOCUMENT, questions, filters, sources, view),
        "aggs": {str(facet): {"terms": _most_frequent(facet, most)} for facet in facets},
    }


def _most_frequent(facet: Facet, most: int) -> dict[str, Any]:
    field = FIELD_OF_FACET.get(facet, str(facet))
    about = {"field": field, "size": most, "shard_size": VALUES_OF_SHARD, "exclude": [""]}
    # The newest months and days, as all shards know them.
    return about | ({"order": {"_key": "desc"}} if facet in BY_TIME else {})


def _matching(
    kind: RecordKind,
    questions: Sequence[IndexQuestion],
    filters: Filters,
    sources: Sequence[str] | None,
    view: ViewFilter | None,
) -> dict[str, Any]:
    return {
        "bool": {"must": [any_index(kind, questions)], "filter": list(_filters(kind, filters, sources, view))},
    }


def shown_pieces(kind: RecordKind, questions: Sequence[IndexQuestion], ids: Sequence[str], mark: str) -> dict[str, Any]:
    """Pieces of the text around the words, of some hits; where no word stands in the text, its beginning."""
    shown = SHOWN_TEXT[kind]
    wanted = {one: None for question in questions for one in words_wanted(question.asked)}
    around = [_phrase(shown, words) for words in wanted] or [{"match_none": {}}]
    return {
        "size": len(ids),
        "track_total_hits": False,
        "_source": ["version"],
        "query": {"ids": {"values": list(ids)}},
        "highlight": {
            "type": "unified",
            "pre_tags": [mark],
            "post_tags": [mark],
            "highlight_query": {"bool": {"should": around}},
            "fields": {shown: {"number_of_fragments": 2, "fragment_size": 150, "no_match_size": 200}},
        },
    }


def any_index(kind: RecordKind, questions: Sequence[IndexQuestion]) -> dict[str, Any]:
    """Each index asked for its own words. Raises UsageError where that is more than a server takes."""
    asked = [(question.indexes, _score_of(kind, question.asked)) for question in questions]
    if sum(_clauses_in(one) for _, one in asked) > MOST_CLAUSES:
        raise UsageError("This search has too many words.", fix="Ask with fewer, or in one language.")
    if [len(indexes) for indexes, _ in asked] == [len(ALL_RULES)]:
        return asked[0][1]
    return _any_of([{"bool": {"must": [one], "filter": [_terms("_index", indexes)]}} for indexes, one in asked])


def rank_of(score: float, seen_at: datetime) -> float:
    """Of one record always the same."""
    return score + OF_TIME * (seen_at - EPOCH).total_seconds() / ALL_TIME


def _score_of(kind: RecordKind, asked: AskedTree) -> dict[str, Any]:
    match asked:
        case AskedWords():
            return _weighed(kind, asked)
        case Without(part):
            return {"bool": {"must_not": [_score_of(kind, part)]}}
        case AnyOf(parts):
            return _any_of([_score_of(kind, part) for part in parts])
        case AllOf(parts):
            wanted = [_score_of(kind, part) for part in parts if not isinstance(part, Without)]
            unwanted = [_score_of(kind, part.part) for part in parts if isinstance(part, Without)]
            return {"bool": {"must": wanted, "must_not": unwanted, "should": list(_near(kind, parts))}}


def _weighed(kind: RecordKind, words: AskedWords) -> dict[str, Any]:
    """By the best of the places where they stand."""
    places = [
        {"constant_score": {"filter": _phrase(field, words), "boost": weight}}
        for field, weight in WEIGHTS[kind].items()
    ]
    return {"dis_max": {"queries": places}}


def _near(kind: RecordKind, parts: Sequence[AskedTree]) -> Iterator[dict[str, Any]]:
    """Words that stand near one another in the text count for more."""
    said = [part.words[0] or "" for part in parts if isinstance(part, AskedWords) and len(part.words) == 1]
    if 2 <= len(said) <= MOST_NEAR:
        near = {"match_phrase": {SHOWN_TEXT[kind]: {"query": " ".join(said), "slop": NEAR_WORDS}}}
        yield {"constant_score": {"filter": near, "boost": NEAR}}


def _phrase(field: str, words: AskedWords) -> dict[str, Any]:
    return {"match_phrase": {field: " ".join(GAP if word is None else word for word in words.words)}}


def _any_of(queries: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    return {"bool": {"should": list(queries), "minimum_should_match": 1}}


def _terms(field: str, values: Sequence[str]) -> dict[str, Any]:
    return {"terms": {field: list(values)}}


def _filters(
    kind: RecordKind, filters: Filters, sources: Sequence[str] | None, view: ViewFilter | None
) -> Iterator[dict[str, Any]]:
    if filters.language is not None:
        yield _terms("language", [filters.language])
    if sources is not None:
        yield _terms("source_id", sources)
    if filters.author is not None and kind is RecordKind.DOCUMENT:
        yield _terms("authors", [filters.author])
    if filters.host is not None and kind is RecordKind.DOCUMENT:
        yield _terms("host", [filters.host])
    if filters.page_type is not None and kind is RecordKind.DOCUMENT:
        yield _terms("page_type", [filters.page_type])
    yield from _times(kind, filters)
    yield from _rights(kind, filters.rights)
    if view is not None:
        yield from _view(kind, view)


def _view(kind: RecordKind, view: ViewFilter) -> Iterator[dict[str, Any]]:
    if view.languages:
        yield _terms("language", view.languages)
    if kind is RecordKind.DOCUMENT:
        if view.min_quality:
            yield {"range": {"quality": {"gte": view.min_quality}}}
        yield from _rights(kind, view.rights)
    if view.questions is not None:
        yield any_index(kind, view.questions)


def _times(kind: RecordKind, filters: Filters) -> Iterator[dict[str, Any]]:
    """A server knows whole milliseconds of a time: where a bound is none, PostgreSQL looks once more."""
    bounds = {}
    if filters.since is not None:
        bounds["gte"] = _whole(filters.since).isoformat()
    if filters.until is not None:
        until = _whole(filters.until)
        bounds["lt" if until == filters.until else "lte"] = until.isoformat()
    if not bounds:
        return
    seen = {"range": {SEEN_AT[kind]: bounds}}
    if kind is RecordKind.JOB:
        yield seen
        return
    unpublished = {"bool": {"filter": [seen], "must_not": [{"exists": {"field": "published_at"}}]}}
    yield _any_of([{"range": {"published_at": bounds}}, unpublished])


def _whole(moment: datetime) -> datetime:
    return moment - timedelta(microseconds=moment.microsecond % 1_000)


def _rights(kind: RecordKind, marks: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Of a vacancy's use nothing is known, and its index has no field for it."""
    if kind is RecordKind.DOCUMENT:
        for mark in marks:
            use, _, right = mark.partition("=")
            yield _terms(f"rights.{use}", [right])


def _clauses_in(query: object) -> int:
    if isinstance(query, dict):
        return sum(name == "match_phrase" or _clauses_in(inner) for name, inner in query.items())
    return sum(map(_clauses_in, query)) if isinstance(query, list) else 0
