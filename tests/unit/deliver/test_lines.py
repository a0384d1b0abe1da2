"""Changes and records as lines of JSON, and as rows of tables."""

import json

import pytest
from tests.unit.deliver.samples import HOSTILE, document, job, key, removal, upsert

from headwater.deliver.columns import COLUMNS, row_of
from headwater.deliver.lines import line_of, record_line
from headwater.record_kind import RecordKind


def test_a_change_says_where_it_stands_and_what_the_record_is() -> None:
    told = json.loads(line_of(upsert(41, document(3))))
    assert {name: told[name] for name in ("position", "op", "kind", "version")} == {
        "position": 41,
        "op": "upsert",
        "kind": "document",
        "version": 1,
    }
    assert told["id"] == told["record"]["id"] == key(3).id
    assert told["record"]["published_at"] == "2026-11-18T14:02:09Z"


def test_a_removal_says_nothing_but_what_to_remove() -> None:
    told = json.loads(line_of(removal(9, key(3))))
    assert told == {"position": 9, "op": "remove", "kind": "document", "id": key(3).id, "version": 2}


@pytest.mark.parametrize("title", HOSTILE)
def test_whatever_a_title_holds_a_record_is_one_line(title: str) -> None:
    line = record_line(document(title=title))
    assert line.count(b"\n") == 1
    assert isinstance(json.loads(line)["title"], str)


@pytest.mark.parametrize("record", [document(), job()], ids=["document", "job"])
def test_rows_have_every_field_that_a_record_has(record: object) -> None:
    assert isinstance(record, type(document()))
    assert set(record.fields) - {"kind"} == set(row_of(record)) == set(COLUMNS[record.key.kind])


def test_columns_begin_with_what_identifies_a_record() -> None:
    for kind in RecordKind:
        assert list(COLUMNS[kind])[:4] == ["id", "version", "source_id", "source_name"]
