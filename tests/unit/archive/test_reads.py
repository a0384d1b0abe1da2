from datetime import UTC, datetime

import pytest

from headwater.archive.document import DocumentKey
from headwater.archive.raw import LONGEST_HEADER, headers_to_keep
from headwater.archive.reads import cursor_after, place_of
from headwater.errors import UsageError

AT = datetime(2026, 6, 15, 6, 7, 8, 123456, tzinfo=UTC)


def test_a_cursor_names_a_place_to_the_microsecond() -> None:
    assert place_of(cursor_after(AT, DocumentKey(255, b"\xff" * 32))) == (AT, DocumentKey(255, b"\xff" * 32))


@pytest.mark.parametrize("cursor", ["x", "00", "7f" * 41, "00" * 40, "' or 1=1"])
def test_a_cursor_of_somebody_elses_making_is_refused(cursor: str) -> None:
    with pytest.raises(UsageError, match="cursor"):
        place_of(cursor)


def test_only_headers_that_matter_later_are_kept() -> None:
    said = {"Content-Type": "text/html", "Set-Cookie": "secret", "ETag": "e" * 5_000, "Link": "a\0"}
    kept = headers_to_keep(said)
    assert kept == {"content-type": "text/html", "etag": "e" * LONGEST_HEADER, "link": "a\ufffd"}
