import gzip
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from headwater.simweb.dressing import Answer, Wardrobe, dress
from headwater.simweb.message import Page, Request
from headwater.simweb.negotiation import best_coding, wanted_range

MOMENT = datetime(2026, 3, 1, 12, 0, 0, 500_000, tzinfo=UTC)
BODY = b"<!doctype html><p>" + b"many words " * 100
PAGE = Page(BODY, last_modified=MOMENT, cache_control="max-age=60")
ETAG = dress(PAGE, "identity").etag


def ask(page: Page = PAGE, /, method: str = "GET", **headers: str) -> Answer:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Wardrobe().answer(page, Request(method, "a.test", "/", "", named))


def test_equal_bodies_have_equal_strong_tags_and_others_do_not() -> None:
    assert ETAG.startswith('"')
    assert dress(replace(PAGE), "identity").etag == ETAG
    assert dress(replace(PAGE, body=BODY + b"!"), "identity").etag != ETAG
    assert dress(PAGE, "gzip").etag != ETAG


@pytest.mark.parametrize(
    "headers",
    [
        {"if_none_match": ETAG},
        {"if_none_match": f'"other", W/{ETAG}'},
        {"if_none_match": "*"},
        {"if_modified_since": "Sun, 01 Mar 2026 12:00:00 GMT"},
        {"if_none_match": ETAG, "if_modified_since": "Sun, 01 Mar 2020 12:00:00 GMT"},
    ],
)
def test_an_unchanged_page_is_a_304_with_validators_and_without_body(headers: dict[str, str]) -> None:
    answer = ask(PAGE, **headers)
    assert (answer.status, answer.body) == (304, b"")
    assert dict(answer.headers)["ETag"] == ETAG
    assert {"Last-Modified", "Cache-Control", "Vary"} <= dict(answer.headers).keys()
    assert not {"Content-Length", "Content-Type"} & dict(answer.headers).keys()


@pytest.mark.parametrize(
    "headers",
    [
        {"if_none_match": '"other"'},
        {"if_none_match": '"other"', "if_modified_since": "Sun, 01 Mar 2026 12:00:00 GMT"},
        {"if_modified_since": "Sun, 01 Mar 2026 11:59:59 GMT"},
        {"if_modified_since": "whenever"},
    ],
)
def test_a_changed_page_is_sent_whole(headers: dict[str, str]) -> None:
    assert ask(PAGE, **headers).status == 200


def test_only_a_200_carries_validators() -> None:
    missing = replace(PAGE, status=404, last_modified=None)
    assert ask(missing, if_none_match="*").status == 404
    assert "ETag" not in dict(ask(missing).headers)


def test_a_site_may_bring_its_own_tag() -> None:
    own = replace(PAGE, headers=(("ETag", 'W/"v7"'),))
    assert ask(own, if_none_match='"v7"').status == 304


@pytest.mark.parametrize(
    ("wish", "coding"),
    [
        ("", "identity"),
        ("gzip", "gzip"),
        ("gzip, deflate, br, zstd", "zstd"),
        ("br;q=0.9, gzip;q=1.0, zstd;q=0", "gzip"),
        ("*", "zstd"),
        ("gzip;q=0, *;q=0.1", "zstd"),
        ("identity, gzip;q=0.5", "identity"),
        ("gzip;q=oops", "identity"),
        ("compress", "identity"),
    ],
)
def test_the_coding_follows_the_q_values(wish: str, coding: str) -> None:
    assert best_coding(wish) == coding


def test_gzip_is_the_same_every_time_and_says_so_in_its_headers() -> None:
    answer = ask(accept_encoding="gzip")
    headers = dict(answer.headers)
    assert (headers["Content-Encoding"], headers["Vary"]) == ("gzip", "Accept-Encoding")
    assert gzip.decompress(answer.body) == BODY
    assert answer.body == ask(accept_encoding="gzip").body
    assert headers["Content-Length"] == str(len(answer.body))


@pytest.mark.parametrize(
    "page",
    [
        replace(PAGE, body=b"short"),
        replace(PAGE, content_type="image/png"),
        replace(PAGE, headers=(("Content-Encoding", "x"),)),
    ],
)
def test_small_binary_and_already_coded_bodies_are_left_alone(page: Page) -> None:
    assert ask(page, accept_encoding="gzip").body == page.body


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("bytes=0-9", range(10)),
        ("bytes=90-", range(90, 100)),
        ("bytes=-5", range(95, 100)),
        ("bytes=-500", range(100)),
        ("bytes=50-500", range(50, 100)),
        ("bytes=100-", range(100, 100)),
        ("bytes=9-1", None),
        ("bytes=0-1,5-6", None),
        ("bytes=-", None),
        ("lines=1-2", None),
    ],
)
def test_a_range_is_understood_or_ignored(header: str, expected: range | None) -> None:
    wanted = wanted_range(header, 100)
    assert (wanted is None) == (expected is None)
    assert list(wanted or ()) == list(expected or ())


def test_a_part_a_wrong_part_and_a_part_of_something_older() -> None:
    part = ask(range="bytes=2-5", accept_encoding="gzip")
    assert (part.status, part.body) == (206, BODY[2:6])
    assert dict(part.headers)["Content-Range"] == f"bytes 2-5/{len(BODY)}"
    outside = ask(range="bytes=999999-")
    assert (outside.status, dict(outside.headers)["Content-Range"]) == (416, f"bytes */{len(BODY)}")
    assert ask(range="bytes=2-5", if_range=ETAG).status == 206
    assert ask(range="bytes=2-5", if_range='"older"').status == 200


def test_head_has_the_headers_of_get_and_no_body() -> None:
    assert ask(method="HEAD").headers == ask().headers
    assert ask(method="HEAD").body == b""


def test_kept_answers_stay_within_their_bound() -> None:
    wardrobe = Wardrobe(most_bytes=50_000)
    for number in range(100):
        page = replace(PAGE, body=b"%d " % number * 1000)
        wardrobe.answer(page, Request("GET", "a.test", "/", "", {}))
        assert wardrobe._bytes <= 50_000
