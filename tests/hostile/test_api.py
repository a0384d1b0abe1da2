"""Row 93 of the hostile inputs, for every JSON answer; and expressions and cursors made to hurt."""

import json
import time
from datetime import UTC, datetime

import orjson
import pytest

from headwater.discover.api.pages import PageState
from headwater.discover.api.read import ApiPage, read_api
from headwater.discover.api.recipe import recipe_from
from headwater.discover.items import Unreadable

NOW = datetime(2024, 6, 1, tzinfo=UTC)
BASE = "https://h/api"
SECONDS = 30.0


def read(body: bytes, mapping: dict[str, object] | None = None) -> ApiPage | Unreadable:
    return read_api(body, recipe_from(mapping, BASE), BASE, NOW)


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b"[" * 10_000 + b"]" * 10_000, "not valid JSON"),
        (b'{"a":' * 10_000 + b"1" + b"}" * 10_000, "not valid JSON"),
        (b"[" * 1_000 + b"]" * 1_000, "nested too deeply"),
        (b'{"jobs": [1' + b"0" * 400 + b"]}", "not valid JSON"),
        (b'{"jobs": [1e400]}', "not valid JSON"),
        (b'{"jobs": [1], "jobs": [2]}', "names a key twice"),
        (b'[{"url": "/a", "url": "/b"}]', "names a key twice"),
        (b"[NaN]", "not valid JSON"),
        (b"[Infinity]", "not valid JSON"),
        (b'["\\ud800"]', "not valid JSON"),
        (b'["\xff"]', "not valid JSON"),
        (b'{"jobs": [', "not valid JSON"),
        (b"", "empty"),
        (b"  \n", "empty"),
        (b"<html>", "not JSON"),
        (b"null", "neither"),
        (b"true", "neither"),
        (b'"jobs"', "neither"),
    ],
)
def test_json_that_is_none_is_a_sentence(body: bytes, why: str) -> None:
    began = time.process_time()
    found = read(body)
    assert time.process_time() - began < SECONDS
    assert isinstance(found, Unreadable)
    assert why in found.why
    assert found.why.endswith(".")
    assert len(found.why) < 250


@pytest.mark.long
def test_a_million_items_are_cut_and_noted() -> None:
    body = b"[" + b",".join([b'{"url":"/1"}'] * 1_000_000) + b"]"
    began = time.process_time()
    found = read(body)
    assert time.process_time() - began < SECONDS
    assert isinstance(found, ApiPage)
    assert len(found.reading.items) == 10_000
    assert found.reading.notes == ("Only the first 10,000 of 1,000,000 items were read.",)


def test_a_byte_order_mark_is_no_offence() -> None:
    assert isinstance(read(b'\xef\xbb\xbf[{"url": "/1"}]'), ApiPage)


def test_what_postgresql_cannot_store_is_taken_out() -> None:
    body = json.dumps([{"url": "/1", "title": "a\x00b", "x": {"k\x00": ["\x00v"]}}]).encode()
    found = read(body, {"v": 1, "map": {"x": "x"}})
    assert isinstance(found, ApiPage)
    (item,) = found.reading.items
    assert (item.title, item.fields) == ("ab", {"x": {"k": ["v"]}})


def test_a_field_is_json_again_however_deep_it_was() -> None:
    body = b'[{"url": "/1", "x": ' + b"[" * 900 + b"]" * 900 + b"}]"
    found = read(body, {"v": 1, "map": {"x": "x"}})
    assert isinstance(found, ApiPage)
    assert len(orjson.dumps(found.reading.items[0].fields)) < 100


@pytest.mark.parametrize(
    "url", ["javascript:0", "file:///etc/passwd", "http://u:p@h/", "x" * 9_000, 7.5, {}, [[]], True]
)
def test_a_forged_url_is_no_item(url: object) -> None:
    found = read(json.dumps([{"url": url}]).encode())
    assert isinstance(found, ApiPage)
    assert [item.url for item in found.reading.items] == (["https://h/7.5"] if url == 7.5 else [])


def test_a_server_that_never_ends_its_pages_is_left_at_the_cap() -> None:
    recipe = recipe_from({"v": 1, "pagination": {"type": "cursor", "cursor_path": "next", "max_pages": 50}}, BASE)
    state: PageState | None = PageState()
    asked = 0
    while state:
        asked += 1
        page = read_api(
            json.dumps({"jobs": [{"url": f"/{asked}"}], "next": f"c{asked}"}).encode(), recipe, BASE, NOW, state
        )
        assert isinstance(page, ApiPage)
        state = page.next
    assert asked == 50
