"""Rows 147, 148 and 150 of the hostile inputs: pages that speak for others, and copies that were there first.

Pages are claimed, read by real children, judged and kept as a journey does it; only the way over the web is left out.
"""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import timedelta

import pytest
from multidict import CIMultiDict
from tests.integration.archive.shelf import broken, key_of
from tests.integration.frontier.stage import AT_ONCE, DELAY, Stage, add_source
from tests.integration.ingest.press import reading_pool

from headwater.archive.reads import Document, read_document
from headwater.chance import random_from
from headwater.clock import SystemClock
from headwater.database.pool import Database
from headwater.extraction.pool.extraction_pool import ExtractionPool
from headwater.frontier.verdicts import RetryPolicy, settlement_of
from headwater.ingest.judge import judge_answer
from headwater.ingest.page_context import Context
from headwater.ingest.page_reader import ChildReader, PageReader
from headwater.ingest.page_store import PageStore
from headwater.learning.template_cache import TemplateCache
from headwater.net.body import Complete
from headwater.net.transport import Response
from headwater.urls.canonical import canonicalise

ALICE, MALLORY = "https://users.example/~alice/post", "https://users.example/~mallory/x"
TRUE = " ".join(f"The harbour opened its gate number {n} to ships of every kind." for n in range(30))
EDITED = f"{TRUE} Later on that day the mayor thanked all pilots for their patience."
FORGED = " ".join(f"Buy the wonderful pills number {n} at our shop, they are cheap." for n in range(30))

ONLY_THIS = """
    UPDATE url_frontier
    SET status = CASE WHEN url = $1 THEN 'pending' ELSE 'fetched' END, next_fetch_at = $2::timestamptz"""
OPEN = (
    "UPDATE hosts SET next_slot_at = $1::timestamptz",
    "SELECT refresh_hosts(array_agg(bucket), array_agg(host), $1::timestamptz) FROM hosts",
)
TWO_HOURS_LATER = (
    "UPDATE url_frontier SET discovered_at = discovered_at - interval '2 hours'",
    "UPDATE documents SET told_since = told_since - interval '2 hours'",
)


@dataclass(frozen=True)
class Reporter:
    stage: Stage
    pool: ExtractionPool

    async def visit(self, url: str, text: str, head: str = "") -> None:
        """Fetch a page once more, with this text."""
        await self.stage.submit(url)
        await self.stage.database.execute(ONLY_THIS, canonicalise(url).url, self.stage.now)
        for statement in OPEN:
            await self.stage.database.execute(statement, self.stage.now)
        lease = await self.stage.claim_one()
        assert lease.url == canonicalise(url).url
        answer = page_of(url, f"<title>A story</title>{head}<article><p>{text}</p></article>", self.stage)
        verdict = judge_answer(answer, lease)
        page_reader = PageReader(
            Context(self.stage.database, SystemClock(), TemplateCache(SystemClock(), random_from(1))),
            ChildReader(self.pool, "Headwater"),
        )
        verdict, effects = await page_reader.read(lease, verdict, answer)  # type: ignore[arg-type]
        settlement = settlement_of(lease, verdict, AT_ONCE, RetryPolicy(), random_from(1))
        assert await PageStore(self.stage.database, DELAY).keep(lease, verdict, settlement, effects)
        for statement in TWO_HOURS_LATER:
            await self.stage.database.execute(statement)

    async def document(self, url: str) -> Document:
        found = await read_document(self.stage.database, key_of(url))
        assert found is not None
        return found


def page_of(url: str, html: str, stage: Stage) -> Response:
    said = {"Content-Type": "text/html; charset=utf-8"}
    return Response(
        url=canonicalise(url),
        status=200,
        headers=CIMultiDict(said),
        raw_headers=[(name.encode(), value.encode()) for name, value in said.items()],
        content=Complete(html.encode()),
        duration=timedelta(),
        is_reused=False,
        address="192.0.2.1",
        at=stage.now,
    )


def canonical(url: str) -> str:
    return f'<link rel="canonical" href="{url}">'


@pytest.fixture
async def reporter(database: Database) -> AsyncIterator[Reporter]:
    async with reading_pool() as pool:
        yield Reporter(Stage(database, await add_source(database)), pool)
    assert await broken(database) == []


PLACES = [
    (MALLORY, ALICE),
    ("https://m.users.example/a", "https://users.example/a"),
    ("https://m.github.io/a", "https://github.io/a"),
    ("https://www.co.uk/a", "https://amp.co.uk/a"),
]


@pytest.mark.parametrize(("mallory", "alice"), PLACES)
async def test_row_147_no_page_writes_the_document_of_another_one(reporter: Reporter, mallory: str, alice: str) -> None:
    await reporter.visit(alice, TRUE)
    await reporter.visit(mallory, FORGED, canonical(alice))
    await reporter.visit(alice, TRUE)
    true, forged = await reporter.document(alice), await reporter.document(mallory)
    assert (true.version, true.text.split()[1], true.canonical_url) == (1, "harbour", alice)
    assert (forged.text.split()[1], forged.canonical_url) == ("the", mallory)


async def test_row_147_a_page_that_was_forged_before_it_was_read_is_its_own(reporter: Reporter) -> None:
    await reporter.visit(MALLORY, FORGED, canonical(ALICE))
    assert await read_document(reporter.stage.database, key_of(ALICE)) is None
    await reporter.visit(ALICE, TRUE)
    assert (await reporter.document(ALICE)).text.startswith("The harbour")


@pytest.mark.parametrize("text", [TRUE, FORGED], ids=["a copy", "another text"])
async def test_row_148_noindex_withdraws_only_the_page_that_says_it(reporter: Reporter, text: str) -> None:
    await reporter.visit(ALICE, TRUE)
    await reporter.visit(MALLORY, text, canonical(ALICE))
    await reporter.visit(MALLORY, text, canonical(ALICE) + '<meta name="robots" content="noindex">')
    assert (await reporter.document(ALICE)).deleted_at is None
    assert (await reporter.document(MALLORY)).deleted_reason == "noindex"


async def test_row_150_a_copy_published_before_the_original_is_fetched_again_stays_a_copy(reporter: Reporter) -> None:
    copy = "https://copies.example/1"
    await reporter.visit(ALICE, TRUE)
    await reporter.visit(copy, EDITED)
    await reporter.visit(ALICE, EDITED)
    assert (await reporter.document(ALICE)).duplicate_of is None
    assert (await reporter.document(copy)).duplicate_of == key_of(ALICE)


async def test_row_150_an_old_page_filled_with_a_copy_does_not_take_the_originals_place(reporter: Reporter) -> None:
    aged = "https://copies.example/placeholder"
    await reporter.visit(aged, FORGED)
    await reporter.visit(ALICE, TRUE)
    await reporter.visit(aged, TRUE)
    assert (await reporter.document(ALICE)).duplicate_of is None
    assert (await reporter.document(aged)).duplicate_of == key_of(ALICE)
