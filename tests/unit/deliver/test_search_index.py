"""What a search server is told beside a record."""

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from tests.search_records import document, vacancy

from headwater.deliver.sinks.search_index import document_of, mapping_of
from headwater.record_kind import RecordKind

EAST = timezone(timedelta(hours=9))


@pytest.mark.parametrize(
    ("fields", "host", "day"),
    [
        ({"published_at": datetime(2026, 5, 31, 23, 59, 59, 999_999, tzinfo=UTC)}, "daily.test", "2026-05-31"),
        ({"published_at": datetime(2026, 6, 1, 8, tzinfo=EAST)}, "daily.test", "2026-05-31"),
        ({"published_at": datetime(2, 1, 1, tzinfo=UTC)}, "daily.test", "0002-01-01"),
        ({"published_at": None, "first_seen_at": datetime(2026, 6, 1, tzinfo=UTC)}, "daily.test", "2026-06-01"),
        ({"url": "https://a.example:8080/x"}, "a.example", "2026-05-06"),
        ({"url": "http://[::1]:80/?a:b"}, "[::1]", "2026-05-06"),
    ],
)
def test_a_document_brings_the_values_it_is_counted_by(fields: dict[str, Any], host: str, day: str) -> None:
    told = document_of(document(**fields))
    assert (told["host"], told["month"], told["day"]) == (host, day[:7], day)


def test_every_value_has_a_field_and_vacancies_have_none() -> None:
    documents, vacancies = (mapping_of(kind)["properties"] for kind in (RecordKind.DOCUMENT, RecordKind.JOB))
    for name in ("host", "month", "day"):
        assert documents[name] == {"type": "keyword"}
        assert name not in vacancies
        assert name not in document_of(vacancy())
