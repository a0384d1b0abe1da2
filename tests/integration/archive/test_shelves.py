"""Raw bodies, outlinks, the outbox, and lists."""

import gzip
from collections.abc import Callable
from datetime import timedelta
from uuid import uuid4

import brotli
import pytest
import zstandard
from tests.integration.archive.bodies import keep_body
from tests.integration.archive.shelf import SOURCE, Shelf, everything, key_of

from headwater.archive.documents import MOST_OUTLINKS, keep_outlinks, outlinks_of
from headwater.archive.raw import BODIES_AT_ONCE, RawBody, newest_bodies_of, newest_body
from headwater.archive.reads import find_document
from headwater.database.days import keep_days
from headwater.errors import QueryFailed
from headwater.net.body import Packed

A, B, C = "https://a.example/1", "https://b.example/2", "https://c.example/3"
URLS = [f"https://h{n % 7}.example/{n}" for n in range(25)]


async def keep_raw(shelf: Shelf, url: str, body: bytes, packed: Packed | None = None) -> None:
    async with shelf.database.transaction() as connection:
        raw = RawBody(key_of(url), SOURCE, url, 200, {"Content-Type": "text/html"}, body, packed)
        await keep_body(connection, raw, shelf.now)


async def test_a_body_comes_back_byte_for_byte_and_small(shelf: Shelf) -> None:
    body = b"<p>\0\xff again and again</p>" * 10_000
    await keep_raw(shelf, A, body)
    kept = await newest_body(shelf.database, key_of(A))
    assert kept is not None
    assert (kept.raw.body, kept.raw.status, kept.raw.headers) == (body, 200, {"content-type": "text/html"})
    assert kept.at == shelf.now
    assert await shelf.database.fetchval("SELECT length(body) FROM raw_bodies") < len(body) / 50


@pytest.mark.parametrize(
    ("coding", "pack"), [("gzip", gzip.compress), ("br", brotli.compress), ("zstd", zstandard.compress)]
)
async def test_what_came_packed_is_kept_as_it_came(shelf: Shelf, coding: str, pack: Callable[[bytes], bytes]) -> None:
    body = b"<p>again and again</p>" * 10_000
    came = pack(body)
    await keep_raw(shelf, A, body, Packed(coding, came))
    row = await shelf.database.fetchrow("SELECT coding, body, body_bytes FROM raw_bodies")
    assert row is not None
    assert tuple(row) == (coding, came, len(body))
    kept = await newest_body(shelf.database, key_of(A))
    assert kept is not None
    assert kept.raw.body == body


async def test_what_came_packed_badly_is_packed_anew(shelf: Shelf) -> None:
    body = b"<p>again and again</p>" * 10_000
    await keep_raw(shelf, A, body, Packed("gzip", gzip.compress(body, 0)))
    assert await shelf.database.fetchval("SELECT coding FROM raw_bodies") == "zstd"
    kept = await newest_body(shelf.database, key_of(A))
    assert kept is not None
    assert kept.raw.body == body


async def test_a_damaged_body_is_said_to_be_one(shelf: Shelf) -> None:
    await keep_raw(shelf, A, b"<p>again and again</p>" * 10_000)
    await shelf.database.execute("UPDATE raw_bodies SET body = substr(body, 1, 40)")
    with pytest.raises(QueryFailed, match="cannot be unpacked"):
        await newest_body(shelf.database, key_of(A))


async def test_an_empty_body_is_a_body(shelf: Shelf) -> None:
    await keep_raw(shelf, A, b"")
    kept = await newest_body(shelf.database, key_of(A))
    assert kept is not None
    assert kept.raw.body == b""


async def test_the_newest_body_of_every_page_of_a_source_is_found_for_reading_again(shelf: Shelf) -> None:
    urls = [f"https://h{n}.example/" for n in range(BODIES_AT_ONCE + 5)]
    for url in urls:
        await keep_raw(shelf, url, b"old")
    shelf.wait(90_000)
    await keep_raw(shelf, urls[3], b"new")
    found = [one async for one in newest_bodies_of(shelf.database, SOURCE)]
    assert sorted(one.raw.url for one in found) == sorted(urls)
    assert [one.raw.url for one in found if one.raw.body == b"new"] == [urls[3]]
    assert [one async for one in newest_bodies_of(shelf.database, uuid4())] == []


async def test_bodies_are_dropped_by_the_day(shelf: Shelf) -> None:
    await shelf.database.execute("SELECT ensure_days('raw_bodies', (now() at time zone 'utc')::date - 40, 1)")
    shelf.clock.move(timedelta(days=-40))
    await keep_raw(shelf, A, b"old")
    shelf.clock.move(timedelta(days=40))
    await keep_raw(shelf, B, b"young")
    assert len(await keep_days(shelf.database, "raw_bodies", 30)) == 1
    assert await newest_body(shelf.database, key_of(A)) is None
    assert await newest_body(shelf.database, key_of(B)) is not None


async def test_what_is_compressed_already_is_not_compressed_again(shelf: Shelf) -> None:
    days = """
        SELECT count(*), bool_and(a.attstorage = 'e') FROM pg_inherits i JOIN pg_attribute a ON a.attrelid = i.inhrelid
        WHERE i.inhparent = 'raw_bodies'::regclass AND a.attname = 'body'
    """
    row = await shelf.database.fetchrow(days)
    assert row is not None
    assert row["count"] > 10
    assert row["bool_and"]


async def test_outlinks_are_distinct_capped_and_replaced(shelf: Shelf) -> None:
    many = [f"https://x.example/{n}" for n in range(MOST_OUTLINKS + 10)]
    async with shelf.database.transaction() as connection:
        await keep_outlinks(connection, key_of(A), [many[1], many[0], many[1]])
    assert await outlinks_of(shelf.database, key_of(A)) == [many[1], many[0]]
    before = await everything(shelf.database)
    async with shelf.database.transaction() as connection:
        await keep_outlinks(connection, key_of(A), [many[1], many[0]])
    assert await everything(shelf.database) == before
    async with shelf.database.transaction() as connection:
        await keep_outlinks(connection, key_of(A), many)
    assert await outlinks_of(shelf.database, key_of(A)) == many[:MOST_OUTLINKS]
    assert await outlinks_of(shelf.database, key_of(B)) == []
    async with shelf.database.transaction() as connection:
        await keep_outlinks(connection, key_of(A), [])
    assert await outlinks_of(shelf.database, key_of(A)) == []


async def test_a_document_is_found_by_its_id_alone(shelf: Shelf) -> None:
    await shelf.keep(A)
    found = await find_document(shelf.database, key_of(A).url_hash)
    assert found is not None
    assert found.key == key_of(A)
    assert await find_document(shelf.database, b"\0" * 32) is None
