"""Requests to _bulk and the answers of single items."""

from typing import Any

import orjson
import pytest
from tests.search_records import document, vacancy

from headwater.deliver.payload import in_parts
from headwater.deliver.records import DOCUMENT_FIELDS, JOB_FIELDS
from headwater.deliver.sink import VERSIONS_PER_BATCH, Accepted, RecordRefused, Removal, Upsert
from headwater.deliver.sinks.bulk import ItemAnswer, item_answers, operation, outcome_of
from headwater.deliver.sinks.elasticsearch import KIND, ElasticsearchOptions
from headwater.deliver.sinks.record_index import mapping_of
from headwater.record_kind import RecordKind

RECORD = document(text="line\nline\u2028line")
UPSERT = Upsert(RECORD, 5, "x_raw_content")
REMOVAL = Removal(RECORD.key, 6, 2, "x_raw_content")

VERSION = 1_790_000_000_000_000 * VERSIONS_PER_BATCH


def conflict(there: int) -> ItemAnswer:
    reason = f"[{RECORD.id}]: version conflict, current version [{there}] is higher or equal to the one provided"
    return ItemAnswer(409, {"type": "version_conflict_engine_exception", "reason": reason})


def test_an_upsert_is_two_lines_under_the_number_of_its_batch() -> None:
    lines = operation(0, UPSERT, dict(RECORD.fields), 5 * 1_024).lines
    assert lines.count(b"\n") == 2
    about, told = map(orjson.loads, lines.splitlines())
    assert about == {
        "index": {"_index": "x_raw_content", "_id": RECORD.id, "version": 5 * 1_024, "version_type": "external"}
    }
    assert told["text"] == "line\nline\u2028line"


def test_a_removal_is_one_line_with_its_version() -> None:
    lines = operation(0, REMOVAL, None, 6 * 1_024).lines
    assert orjson.loads(lines)["delete"]["version"] == 6 * 1_024


def test_a_batch_is_cut_by_its_bytes_and_a_large_record_goes_alone() -> None:
    small, large = operation(0, REMOVAL, None, 1).lines, operation(1, UPSERT, {"text": "x" * 1_000}, 1).lines
    size = len(small)
    assert [len(one) for one in in_parts([small] * 5, len, 2 * size)] == [2, 2, 1]
    assert [len(one) for one in in_parts([small, large, small], len, 2 * size)] == [1, 1, 1]
    assert not list(in_parts([], len, 10))


@pytest.mark.parametrize(
    ("delivery", "status", "error", "is_accepted"),
    [
        (UPSERT, 201, None, True),
        (UPSERT, 200, None, True),
        (UPSERT, 409, "version_conflict_engine_exception", True),
        (REMOVAL, 409, "version_conflict_engine_exception", True),
        (UPSERT, 409, "illegal_state_exception", False),
        (REMOVAL, 404, None, True),
        (REMOVAL, 404, "index_not_found_exception", True),
        (UPSERT, 404, "index_not_found_exception", False),
        (UPSERT, 429, "es_rejected_execution_exception", False),
        (UPSERT, 503, "unavailable_shards_exception", False),
        (UPSERT, 400, "strict_dynamic_mapping_exception", False),
        (REMOVAL, 403, "cluster_block_exception", False),
    ],
)
def test_an_item_is_judged_by_its_own_status(
    delivery: Upsert | Removal, status: int, error: str | None, is_accepted: bool
) -> None:
    item = ItemAnswer(status, {"type": error, "reason": "so it is"} if error else None)
    outcome = outcome_of(delivery, item, VERSION)
    assert isinstance(outcome, Accepted) is is_accepted
    if isinstance(outcome, RecordRefused):
        assert outcome.why == f"{status}: {error}: so it is"
        assert not outcome.is_final


@pytest.mark.parametrize("there", [VERSION - 5, VERSION])
def test_a_version_up_to_ours_is_there_because_we_sent_it(there: int) -> None:
    assert outcome_of(UPSERT, conflict(there), VERSION) == Accepted()


def test_a_later_version_is_passed_by_the_next_try() -> None:
    outcome = outcome_of(UPSERT, conflict(VERSION + 5 * VERSIONS_PER_BATCH + 3), VERSION)
    assert isinstance(outcome, RecordRefused)
    assert outcome.later_batch * VERSIONS_PER_BATCH > VERSION + 5 * VERSIONS_PER_BATCH + 3
    assert not outcome.is_final


def test_a_version_that_no_clock_of_ours_can_pass_is_parked_with_advice() -> None:
    outcome = outcome_of(UPSERT, conflict(2**63 - 1), VERSION)
    assert isinstance(outcome, RecordRefused)
    assert outcome.is_final
    assert "delete it there" in outcome.why


@pytest.mark.parametrize("answer", [{}, {"items": 3}, {"items": [{}]}, {"items": [{"index": {}}]}, {"items": ["x"]}])
def test_an_answer_of_another_server_is_called_that(answer: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="each record"):
        item_answers(answer)


def test_the_servers_own_words_include_the_cause() -> None:
    error = {"type": "mapper", "reason": "failed", "caused_by": {"type": "x", "reason": "not a date"}}
    outcome = outcome_of(UPSERT, ItemAnswer(400, error), VERSION)
    assert outcome == RecordRefused("400: mapper: failed, because not a date")


def test_items_are_read_whatever_their_operation() -> None:
    answer: dict[str, Any] = {"items": [{"index": {"status": 201}}, {"delete": {"status": 404}}]}
    assert [one.status for one in item_answers(answer)] == [201, 404]


def test_every_field_of_a_record_is_mapped() -> None:
    for kind, names, record in (
        (RecordKind.DOCUMENT, DOCUMENT_FIELDS, document()),
        (RecordKind.JOB, JOB_FIELDS, vacancy()),
    ):
        mapped = set(mapping_of(kind)["properties"])
        assert mapped >= set(names)
        assert mapped >= set(record.fields)


def test_html_is_wanted_in_raw_content_unless_said_otherwise() -> None:
    def wants(**options: Any) -> bool:
        return KIND.wants_html(ElasticsearchOptions(url="http://search.test", **options))

    assert wants()
    assert not wants(raw_html=False)
    assert not wants(layout="documents")
    assert wants(layout="documents", raw_html=True)


def test_vacancies_are_for_the_layout_documents_only() -> None:
    assert KIND.takes(ElasticsearchOptions(url="http://search.test")) == {RecordKind.DOCUMENT}
    assert KIND.takes(ElasticsearchOptions(url="http://search.test", layout="documents")) == set(RecordKind)


@pytest.mark.parametrize(
    "options",
    [
        {"username": "me"},
        {"password": "env:PASSWORD"},
        {"username": "me", "password": "env:PASSWORD", "api_key": "env:KEY"},
        {"api_key": "the key itself"},
        {"index_prefix": "Upper"},
        {"index_prefix": "a*"},
        {"layout": "other"},
    ],
)
def test_options_that_cannot_be_meant_are_refused(options: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="ElasticsearchOptions"):
        ElasticsearchOptions.model_validate({"url": "http://search.test", **options})
