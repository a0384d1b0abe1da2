"""What the database holds to be taken down is what our own code holds to be."""

from itertools import product

import pytest

from headwater.database.pool import Database
from headwater.ingest.taking_down import record
from headwater.politeness.takedown import parse_takedown, takedowns_for
from headwater.urls.canonical import canonicalise

TAKEN = (
    "example.org",
    "https://example.org/members/",
    "https://www.example.org/a?b=1",
    "http://example.org:8080/x",
    "my_host.example.org",
    "[2001:db8::1]",
    "https://192.0.2.7/a",
    "bücher.example",
    "b.example.org",
)
URLS = (
    "https://example.org/",
    "http://EXAMPLE.org./members",
    "https://example.org/membership",
    "https://example.org/members/1?q=2",
    "https://example.org/members?q=2",
    "https://sub.example.org/members/1",
    "https://badexample.org/members",
    "https://www.example.org/a?b=1",
    "https://www.example.org/a?b=12",
    "https://www.example.org/a/c?b=1",
    "http://example.org:8080/x/y",
    "http://example.org/x/y",
    "https://my_host.example.org/",
    "https://myxhost.example.org/",
    "http://[2001:db8::1]:81/x",
    "http://192.0.2.7/a/b",
    "http://2.7/a/b",
    "https://xn--bcher-kva.example/%7Ex",
    "https://example.com/https://example.org/members",
)


@pytest.mark.parametrize("taken", TAKEN)
async def test_both_answer_the_same(database: Database, taken: str) -> None:
    await record(database, parse_takedown(taken), "")
    urls = [canonicalise(url) for url in URLS]
    async with database.transaction() as connection:
        known = await takedowns_for(connection, {url.host for url in urls})
        for url in urls:
            told = await connection.fetchval("SELECT is_taken_down($1::text[])", [url.key])
            assert told == known.covers(url), url.key
            assert await connection.fetchval("SELECT url_host($1::text)", url.url) == url.host
        for first, second in product(urls, repeat=2):
            either = known.covers(first) or known.covers(second)
            assert await connection.fetchval("SELECT is_taken_down($1::text[])", [first.key, second.key]) == either


async def test_nothing_is_taken_down_where_nothing_is(database: Database) -> None:
    assert await database.fetchval("SELECT is_taken_down($1::text[])", ["https://example.org/"]) is False
