"""The end of a journey: what it leaves stands as a whole, or not at all."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

import pytest
from tests.integration.archive.shelf import LONG, OTHER, SOURCE, Shelf, broken, everything, key_of, page
from tests.integration.frontier.stage import AT_ONCE, DELAY, Stage, add_source

from headwater.archive.documents import outlinks_of
from headwater.archive.job import Teller
from headwater.archive.jobs import JobCounts, keep_jobs
from headwater.archive.raw import RawBody, newest_body
from headwater.archive.reads import read_document
from headwater.chance import random_from
from headwater.database.pool import Database
from headwater.frontier.entry import DeadReason, Lease
from headwater.frontier.verdicts import Dead, Fetched, Moved, RetryPolicy, Verdict, settlement_of
from headwater.ingest.page_context import PageContext
from headwater.ingest.page_store import NOTHING, PageEffects, PageStore
from headwater.ingest.taking_down import take_down_everywhere
from headwater.politeness.takedown import parse_takedown
from headwater.sources.source import Profile, SourceKind
from headwater.urls.domains import Voice
from headwater.vacancy import NewJob

# A page, the address it calls canonical, and another one.
AMP, STORY, OTHER_STORY = "https://a.example/amp/1", "https://a.example/1", "https://b.example/2"
GONE = Dead(DeadReason.GONE)
LIST = uuid4()


@dataclass(frozen=True)
class Desk:
    stage: Stage
    shelf: Shelf

    async def lease(self, url: str) -> Lease:
        """As of a page that was fetched before."""
        await self.stage.submit(url)
        return replace(await self.stage.claim_one(), fetch_count=1)

    async def keep(self, lease: Lease, verdict: Verdict, effects: PageEffects = NOTHING) -> bool:
        settlement = settlement_of(lease, verdict, AT_ONCE, RetryPolicy(), random_from(1))
        return await PageStore(self.stage.database, DELAY).keep(lease, verdict, settlement, effects)

    async def deleted_at(self, url: str) -> datetime | None:
        found = await read_document(self.stage.database, key_of(url))
        assert found is not None
        return found.deleted_at


@pytest.fixture
async def desk(database: Database) -> AsyncIterator[Desk]:
    """Whatever a test does, what is always true of the archive is true at its end."""
    yield Desk(Stage(database, await add_source(database)), Shelf(database))
    assert await broken(database) == []


def effects_of(url: str, **fields: Any) -> PageEffects:
    document = page(url, **fields)
    raw = RawBody(key_of(url), document.source_id, url, 200, {"Content-Type": "text/html"}, b"<p>")
    return PageEffects(document, outlinks=("https://x.example/", "https://y.example/"), raw=raw)


async def test_a_page_leaves_its_document_its_body_and_where_it_points(desk: Desk) -> None:
    assert await desk.keep(await desk.lease(STORY), Fetched(), effects_of(STORY))
    assert await desk.shelf.told() == [(STORY, 1, "upsert")]
    assert await outlinks_of(desk.stage.database, key_of(STORY)) == ["https://x.example/", "https://y.example/"]
    kept = await newest_body(desk.stage.database, key_of(STORY))
    assert kept is not None
    assert (kept.raw.body, kept.raw.headers) == (b"<p>", {"content-type": "text/html"})
    assert (await desk.stage.entry(STORY))["status"] == "fetched"


async def test_a_lost_lease_leaves_nothing_at_all(desk: Desk) -> None:
    lease = await desk.lease(STORY)
    assert await desk.keep(lease, Fetched())
    before = await everything(desk.stage.database)
    assert not await desk.keep(lease, Fetched(), effects_of(STORY))
    assert not await desk.keep(lease, Moved(OTHER_STORY, 1))
    assert await everything(desk.stage.database) == before
    assert await desk.stage.database.fetchval("SELECT count(*) FROM url_frontier") == 1


ITEM = """
insert into channel_items (channel_id, bucket, url_hash, signature, title, first_seen_at, last_seen_at)
values ($1, $2, $3, 'x', 'Words of a feed', now(), now())
"""


@pytest.mark.parametrize("is_taken_down", [False, True])
async def test_words_of_a_channel_go_with_a_redirect_unless_its_target_is_taken_down(
    desk: Desk, is_taken_down: bool
) -> None:
    database = desk.stage.database
    lease = await desk.lease(STORY)
    channel = await database.fetchval(
        "insert into channels (source_id, kind, url, url_hash, bucket, host, is_active) "
        "values ($1, 'feed', 'https://a.example/feed', $2, 1, 'a.example', true) returning id",
        desk.stage.source,
        key_of("https://a.example/feed")[1],
    )
    await database.execute(ITEM, channel, *key_of(STORY))
    if is_taken_down:
        await take_down_everywhere(database, parse_takedown("b.example"), "asked for")
    assert await desk.keep(replace(lease, fetch_count=0), Moved(OTHER_STORY, 1))
    counted = "select count(*) from channel_items where url_hash = $1"
    passed_on = await database.fetchval(counted, key_of(OTHER_STORY)[1])
    assert passed_on == (0 if is_taken_down else 1)


async def test_a_redirect_of_a_source_that_was_blocked_meanwhile_ends_as_moved(desk: Desk) -> None:
    lease = await desk.lease(STORY)
    await desk.stage.database.execute("update sources set status = 'blocked'")
    assert await desk.keep(lease, Moved(OTHER_STORY, 1))
    assert (await desk.stage.entry(STORY))["status"] == "dead"


async def test_a_copy_points_somewhere_too(desk: Desk) -> None:
    desk.shelf.wait(-7200)
    await desk.shelf.keep(OTHER_STORY)
    assert await desk.keep(await desk.lease(STORY), Fetched(), effects_of(STORY))
    assert await desk.shelf.told() == [(OTHER_STORY, 1, "upsert")]
    assert len(await outlinks_of(desk.stage.database, key_of(STORY))) == 2


async def test_a_page_that_is_gone_takes_its_document_with_it(desk: Desk) -> None:
    await desk.shelf.keep(STORY)
    await desk.keep(await desk.lease(STORY), GONE)
    assert await desk.deleted_at(STORY)


async def test_a_page_that_is_gone_at_its_first_fetch_takes_what_a_channel_said_of_it(desk: Desk) -> None:
    await desk.shelf.keep(STORY)
    await desk.keep(replace(await desk.lease(STORY), fetch_count=0), GONE)
    assert await desk.deleted_at(STORY)


@pytest.mark.parametrize(
    ("verdict", "effects"), [(GONE, NOTHING), (Fetched(), PageEffects(withdraws="noindex"))], ids=["gone", "noindex"]
)
@pytest.mark.parametrize("text", [LONG, OTHER], ids=["the same text", "another text"])
async def test_a_page_withdraws_itself_and_never_the_one_it_calls_canonical(
    desk: Desk, verdict: Verdict, effects: PageEffects, text: str
) -> None:
    await desk.shelf.keep(STORY, LONG)
    await desk.shelf.keep(AMP, text, claims=STORY)
    await desk.keep(await desk.lease(AMP), verdict, effects)
    assert await desk.deleted_at(AMP)
    assert await desk.deleted_at(STORY) is None


async def test_a_page_that_another_one_calls_canonical_is_asked_for(desk: Desk) -> None:
    assert await desk.keep(await desk.lease(AMP), Fetched(), claiming(AMP, STORY))
    entry = await desk.stage.entry(STORY)
    assert (entry["status"], entry["parent_url"], entry["depth"]) == ("pending", AMP, 1)


@pytest.mark.parametrize(
    "named",
    ["https://elsewhere.example/1", "https://a.example/static/logo", "https://a.example/1?action=delete"],
    ids=["out of scope", "no article", "has effects"],
)
async def test_a_page_that_no_link_would_lead_to_is_not_asked_for(desk: Desk, named: str) -> None:
    assert await desk.keep(await desk.lease(AMP), Fetched(), claiming(AMP, named))
    assert await desk.stage.database.fetchval("SELECT count(*) FROM url_frontier") == 1
    assert await desk.shelf.told() == [(AMP, 1, "upsert")]


async def test_pages_that_name_one_another_for_ever_are_asked_for_once(desk: Desk) -> None:
    lease = replace(await desk.lease(AMP), depth=1)
    assert await desk.keep(lease, Fetched(), claiming(AMP, STORY))
    assert await desk.stage.database.fetchval("SELECT count(*) FROM url_frontier") == 1


async def test_a_page_whose_source_was_deleted_meanwhile_is_kept(desk: Desk) -> None:
    lease = await desk.lease(AMP)
    await desk.stage.database.execute("UPDATE sources SET status = 'deleted'")
    assert await desk.keep(lease, Fetched(), claiming(AMP, STORY))
    assert await desk.shelf.told() == [(AMP, 1, "upsert")]


def claiming(url: str, named: str) -> PageEffects:
    return replace(effects_of(url, claims=named), known=PageContext(Profile("https://a.example/")))


@pytest.mark.parametrize(
    ("takedown", "gone"),
    [
        ("a.example", [STORY]),
        ("https://a.example/1", [STORY]),
        ("https://a.example/x", []),
        ("example", [STORY, OTHER_STORY]),
    ],
)
async def test_a_takedown_withdraws_what_was_kept(desk: Desk, takedown: str, gone: list[str]) -> None:
    for url, text in ((STORY, LONG), (OTHER_STORY, OTHER)):
        assert await desk.keep(await desk.lease(url), Fetched(), effects_of(url, text=text))
    done = await take_down_everywhere(desk.stage.database, parse_takedown(takedown))
    assert (done.entries, done.documents) == (len(gone), len(gone))
    withdrawn = [url for url in (STORY, OTHER_STORY) if await desk.deleted_at(url)]
    assert withdrawn == gone


def crawled(desk: Desk, url: str, *links: str, **fields: Any) -> PageEffects:
    """A page of a crawl: what it links to is followed."""
    profile = Profile("https://a.example/", kind=SourceKind.DOCS, max_depth=-1)
    document = page(url, source_id=desk.stage.source, **fields)
    return PageEffects(document, links=links, known=PageContext(source=profile))


async def test_the_links_of_a_page_that_repeats_another_one_are_not_followed(desk: Desk) -> None:
    """Input 118: the same text under any number of addresses ends where it is first repeated."""
    first, again, near = ("https://a.example/one", "https://b.example/again", "https://c.example/near")
    leases = [await desk.lease(url) for url in (first, again, near)]
    pages = [
        crawled(desk, first, "https://a.example/from-one", simhash=4711),
        crawled(desk, again, "https://a.example/from-again", simhash=None),
        crawled(desk, near, "https://a.example/from-near", text=OTHER, simhash=4711 ^ 1),
    ]
    for lease, effects in zip(leases, pages, strict=True):
        assert await desk.keep(lease, Fetched(), effects)
    queued = {row["url"] for row in await desk.stage.database.fetch("select url from url_frontier")}
    assert "https://a.example/from-one" in queued
    assert not {"https://a.example/from-again", "https://a.example/from-near"} & queued


async def test_a_page_that_is_read_again_does_not_repeat_itself(desk: Desk) -> None:
    url = "https://a.example/section/one"
    await desk.shelf.keep(url, source_id=desk.stage.source)
    await desk.keep(await desk.lease(url), Fetched(), crawled(desk, url, "https://a.example/late"))
    queued = {row["url"] for row in await desk.stage.database.fetch("select url from url_frontier")}
    assert "https://a.example/late" in queued


async def test_a_page_that_is_gone_takes_its_vacancy_with_it(desk: Desk) -> None:
    database = desk.stage.database
    await tell(desk, vacancy(STORY), vacancy(OTHER_STORY))
    assert await desk.keep(await desk.lease(STORY), GONE)
    rows = await database.fetch("SELECT apply_url, status, version FROM jobs ORDER BY apply_url")
    assert [tuple(row) for row in rows] == [(STORY, "expired", 2), (OTHER_STORY, "active", 1)]
    told = await database.fetch("SELECT version, op FROM outbox WHERE kind = 'job' AND op = 'delete'")
    assert [tuple(row) for row in told] == [(2, "delete")]


async def test_a_vacancy_goes_with_the_page_its_words_were_read_on(desk: Desk) -> None:
    await tell(desk, replace(vacancy(OTHER_STORY), page_url=STORY, is_detailed=True), channel=None)
    await tell(desk, replace(vacancy("https://c.example/3"), page_url=STORY))
    assert await desk.keep(await desk.lease(STORY), Dead(DeadReason.NOT_FOUND))
    rows = await desk.stage.database.fetch("SELECT apply_url, status FROM jobs ORDER BY apply_url")
    assert [tuple(row) for row in rows] == [(OTHER_STORY, "expired"), ("https://c.example/3", "active")]


async def test_a_list_that_still_names_a_vacancy_whose_page_is_gone_does_not_bring_it_back(desk: Desk) -> None:
    await tell(desk, vacancy(STORY))
    assert await desk.keep(await desk.lease(STORY), GONE)
    assert await tell(desk, vacancy(STORY)) == JobCounts(1, 0, 0, 1)
    assert await desk.stage.database.fetchval("SELECT status FROM jobs") == "expired"
    # Its page is read again, and there.
    await desk.stage.database.execute("UPDATE url_frontier SET status = 'fetched', reason = NULL")
    assert await tell(desk, vacancy(STORY)) == JobCounts(1, 0, 1, 0)


@pytest.mark.parametrize("reason", [DeadReason.ROBOTS_BLOCKED, DeadReason.FORBIDDEN, DeadReason.UNREACHABLE])
async def test_a_page_that_is_only_refused_leaves_its_vacancy_open(desk: Desk, reason: DeadReason) -> None:
    await tell(desk, vacancy(STORY))
    assert await desk.keep(await desk.lease(STORY), Dead(reason))
    assert await desk.stage.database.fetchval("SELECT status FROM jobs") == "active"


def vacancy(url: str) -> NewJob:
    return NewJob(canonical_hash=key_of(url).url_hash, title="Nurse", org_name="Org", apply_url=url)


async def tell(desk: Desk, *jobs: NewJob, channel: UUID | None = LIST) -> JobCounts:
    async with desk.stage.database.transaction() as connection:
        teller = Teller(SOURCE, "https://a.example/jobs", Voice("a.example"), channel)
        return await keep_jobs(connection, teller, jobs, desk.shelf.now)
