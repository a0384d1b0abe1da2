"""Questions to a search server, as they are written."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from headwater.deliver.sinks.search_index import GAP
from headwater.deliver.sinks.search_query import (
    MOST_CLAUSES,
    IndexQuestion,
    ViewFilter,
    any_index,
    facet_counts,
    newest_matches,
    questions_of,
    rank_of,
    shown_pieces,
)
from headwater.errors import UsageError
from headwater.record_kind import RecordKind
from headwater.search.asked import AllOf, AnyOf, AskedTree, AskedWords, Without
from headwater.search.facets import Facet
from headwater.search.question import Filters
from headwater.search.rules import ALL_RULES

ENGLISH, GERMAN = "documents_english", "documents_german"
NOON = datetime(2026, 5, 6, 12, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
DOCUMENT, JOB = RecordKind.DOCUMENT, RecordKind.JOB
CAT = AskedWords(("cat",))


def asked_of(asked: AskedTree, *indexes: str) -> list[IndexQuestion]:
    return [IndexQuestion(indexes or (ENGLISH,), asked)]


def body(filters: Filters, sources: list[str] | None = None, view: ViewFilter | None = None) -> dict[str, Any]:
    return newest_matches(filters.kind, asked_of(CAT), filters, sources, view, 1_000, timedelta(seconds=3))


def filters_in(body: dict[str, Any]) -> list[Any]:
    found: list[Any] = body["query"]["bool"]["filter"]
    return found


def test_indexes_with_the_same_words_left_out_are_asked_the_same() -> None:
    nothing = frozenset[str]()
    asked = AllOf((AskedWords(("the",)), CAT))
    found = questions_of(asked, {ENGLISH: frozenset({"the"}), GERMAN: nothing, "documents_french": nothing})
    assert found == [IndexQuestion((ENGLISH,), CAT), IndexQuestion((GERMAN, "documents_french"), asked)]
    assert questions_of(AskedWords(("the",)), {ENGLISH: frozenset({"the"})}) == []


def test_a_question_names_its_indexes_unless_it_is_for_all() -> None:
    assert "_index" in json.dumps(any_index(DOCUMENT, asked_of(CAT)))
    assert "_index" not in json.dumps(any_index(DOCUMENT, asked_of(CAT, *ALL_RULES)))


def test_a_word_left_out_within_a_phrase_keeps_its_place() -> None:
    phrase = AskedWords(("budget", None, "town"))
    assert f"budget {GAP} town" in json.dumps(any_index(DOCUMENT, asked_of(phrase)))


def test_the_newest_are_asked_for_within_a_time_and_a_number() -> None:
    asked = body(Filters())
    assert (asked["size"], asked["timeout"], asked["track_total_hits"]) == (1_000, "3000ms", False)
    assert list(asked["sort"][0]) == ["first_seen_at"]
    assert list(body(Filters(JOB))["sort"][0]) == ["created_at"]


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        (Filters(), []),
        (Filters(language="en"), [{"terms": {"language": ["en"]}}]),
        (Filters(language=""), [{"terms": {"language": [""]}}]),
        (Filters(author="Bo Ek"), [{"terms": {"authors": ["Bo Ek"]}}]),
        (Filters(JOB, author="Bo Ek"), []),
        (Filters(rights=("train=refused",)), [{"terms": {"rights.train": ["refused"]}}]),
        (Filters(JOB, rights=("train=refused",)), []),
        (Filters(host="a.example"), [{"terms": {"host": ["a.example"]}}]),
        (Filters(page_type="live"), [{"terms": {"page_type": ["live"]}}]),
        (Filters(JOB, host="a.example", page_type="live"), []),
        (Filters(JOB, until=NOON), [{"range": {"created_at": {"lt": "2026-05-06T12:00:00+00:00"}}}]),
        (
            Filters(JOB, since=NOON + MICROSECOND, until=NOON + MICROSECOND),
            [{"range": {"created_at": {"gte": "2026-05-06T12:00:00+00:00", "lte": "2026-05-06T12:00:00+00:00"}}}],
        ),
    ],
)
def test_filters_are_asked_of_the_server(filters: Filters, expected: list[Any]) -> None:
    assert filters_in(body(filters)) == expected


def test_a_document_without_a_day_of_its_own_counts_by_when_it_was_seen() -> None:
    (times,) = filters_in(body(Filters(since=NOON)))
    published, unpublished = times["bool"]["should"]
    assert published == {"range": {"published_at": {"gte": "2026-05-06T12:00:00+00:00"}}}
    assert unpublished["bool"]["must_not"] == [{"exists": {"field": "published_at"}}]


def test_a_view_narrows_by_what_an_index_knows() -> None:
    view = ViewFilter(("en",), 50, ("tdm=allowed",), tuple(asked_of(CAT)))
    found = json.dumps(filters_in(body(Filters(), ["7"], view)))
    for piece in ('"source_id": ["7"]', '"quality": {"gte": 50}', '"rights.tdm"', '"cat"'):
        assert piece in found


def test_more_clauses_than_a_server_takes_are_refused() -> None:
    few = AnyOf(tuple(AskedWords((f"w{n}",)) for n in range(MOST_CLAUSES // 5)))
    any_index(DOCUMENT, asked_of(few))
    with pytest.raises(UsageError, match="too many words"):
        any_index(DOCUMENT, [*asked_of(few), *asked_of(CAT, GERMAN)])


def test_pieces_are_of_the_words_that_are_wanted() -> None:
    asked = AllOf((CAT, Without(AskedWords(("dog",)))))
    shown = shown_pieces(DOCUMENT, asked_of(asked), ["ab"], "|")
    assert shown["query"] == {"ids": {"values": ["ab"]}}
    assert "cat" in json.dumps(shown["highlight"])
    assert "dog" not in json.dumps(shown["highlight"])
    assert list(shown["highlight"]["fields"]) == ["text"]
    assert list(shown_pieces(JOB, asked_of(CAT), ["ab"], "|")["highlight"]["fields"]) == ["description_snippet"]


def test_of_equals_the_newest_is_first_and_no_age_makes_up_for_a_better_place() -> None:
    assert rank_of(0.1, NOON) < rank_of(0.1, NOON + timedelta(milliseconds=1))
    assert rank_of(0.4, NOON - timedelta(days=20 * 365)) > rank_of(0.1, NOON)


def test_values_are_counted_over_all_matches_and_times_told_the_newest_first() -> None:
    wanted = (Facet.SOURCE, Facet.MONTH)
    asked = facet_counts(asked_of(CAT), Filters(host="a.example"), None, None, wanted, 10, timedelta(seconds=3))
    assert (asked["size"], asked["track_total_hits"]) == (0, True)
    assert asked["query"] == body(Filters(host="a.example"))["query"]
    sources, months = (asked["aggs"][one]["terms"] for one in ("source", "month"))
    assert (sources["field"], sources["size"], sources["exclude"]) == ("source_id", 10, [""])
    assert "order" not in sources
    assert (months["field"], months["order"]) == ("month", {"_key": "desc"})
