"""Row 137: pages as heavy as a fetch lets in, through the real worker and readers with their usual limits."""

import pytest
from tests.faults.world import Articles, article, workbench
from tests.integration.frontier.surgery import until

from headwater.database.pool import Database
from headwater.simweb.message import Page

# What a page may have at most, and a little less.
ROOM = 10 * 1024 * 1024 - 10_000
HEAVY = {
    "one line": b"<p>" + b"x" * ROOM,
    "words on one line": b"<p>" + b"words of a line " * (ROOM // 16),
    "a million nested divs": b"<div>" * 1_000_000 + b"end",
    "a million attributes": b"<p " + b" ".join(b"a%d" % number for number in range(1_000_000)) + b">end",
    "a picture in an attribute": b'<img src="data:image/png;base64,' + b"A" * (ROOM - 100) + b'"><p>end',
    "a million cells": b"<table><tr>" + b"<td>1" * 1_000_000,
}


@pytest.mark.long
async def test_a_page_of_any_weight_is_read_or_given_up_and_the_others_are_read(
    database: Database, database_url: str
) -> None:
    pages = {f"/{number}": Page(article("heavy") + body) for number, body in enumerate(HEAVY.values())}
    healthy = [f"http://b.test/page{number}" for number in range(3)]
    async with workbench(database, {"a.test": Articles(pages=pages), "b.test": Articles()}) as bench:

        async def all_were_tried() -> bool:
            left = "select count(*) from url_frontier where status in ('pending', 'fetching')"
            return not await database.fetchval(left)

        async with bench.worker(database_url, extract__timeout="10s") as worker:
            await bench.queue(*(f"http://a.test{path}" for path in pages), *healthy)
            await until(all_were_tried)
        rows = await bench.rows("url, status, reason, last_error")
        assert {url: status for url, status, *_ in rows if url in healthy} == dict.fromkeys(healthy, "fetched")
        given_up = {(reason, error) for _, status, reason, error in rows if status != "fetched"}
        assert all("extract_failed" in f"{reason} {error}" for reason, error in given_up), given_up
        assert worker.log.events("task_died") == []
        stored = await database.fetch("select length(text) as letters from documents")
        assert all(row["letters"] <= 1_000_000 for row in stored)
        assert await database.fetchval("select count(*) from slots") == 0
