from datetime import UTC, datetime, timedelta

import pytest

from headwater.ingest.page_reader import HEAD_BYTES, charset_of
from headwater.net.body import Complete
from headwater.net.transport import Response
from headwater.urls.canonical import canonicalise

LONG = b"<p>plain</p>" * HEAD_BYTES


def answer(body: bytes, content_type: str = "text/html") -> Response:
    url = canonicalise("https://news.example/story")
    headers = {"Content-Type": content_type}
    return Response(url, 200, headers, [], Complete(body), timedelta(), False, None, datetime(2026, 3, 2, tzinfo=UTC))


@pytest.mark.parametrize(
    ("body", "content_type", "charset"),
    [
        (LONG, "text/html; charset=koi8-r", "koi8-r"),
        (b"<meta charset=windows-1251>" + LONG, "text/html", "windows-1251"),
        (b"\xef\xbb\xbf" + LONG, "text/html; charset=koi8-r", "utf-8"),
    ],
    ids=["header", "document", "mark"],
)
def test_what_is_said_at_the_beginning_is_believed(body: bytes, content_type: str, charset: str) -> None:
    assert charset_of(answer(body, content_type)) == charset


def test_where_nothing_is_said_the_whole_body_tells() -> None:
    assert charset_of(answer(LONG + "Ünïcödé".encode())) == "utf-8"
    assert charset_of(answer(LONG + b"caf\xe9")) == "windows-1252"


def test_a_letter_cut_in_two_is_no_sign_of_another_charset() -> None:
    assert charset_of(answer(b"x" * (HEAD_BYTES - 1) + "é".encode() + LONG)) == "utf-8"
