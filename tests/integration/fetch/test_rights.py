"""What a publisher says about use, from the wire into the archive: real journeys over a site of every convention."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

import pytest
from tests.integration.archive.shelf import key_of
from tests.integration.fetch.conftest import Path, SmallSite, opened_path

from headwater.archive.reads import Document, read_document
from headwater.clock import SystemClock
from headwater.frontier.claim import Claimer
from headwater.frontier.verdicts import RetryLater, Unchanged
from headwater.ingest.journey import Finished, Journey
from headwater.reports.pages import story_of
from headwater.run.extraction_pools import page_pool
from headwater.run.fetching import start_reading_pages
from headwater.simweb.message import Page, Request
from headwater.simweb.world.specials.claims import FEED, HOST, ROBOTS, STORIES, claiming
from headwater.sources.kinds import ChannelKind
from headwater.sources.store import NewChannel, add_channel, edit_source
from headwater.supervisor import Supervisor
from headwater.urls.canonical import canonicalise

HOME = f"http://{HOST}"
TDM = "/.well-known/tdmrep.json"
# Path -> the answers that differ from those that its licence alone leaves unknown.
ANSWERS = {
    "/silent": {},
    "/signal/story": {"search": "allowed", "input": "refused", "train": "refused"},
    "/usage/story": {"train": "refused", "search": "allowed"},
    "/usage/open/story": {"train": "allowed"},
    "/tdm/story": {"tdm": "refused", "train": "refused"},
    "/free/story": {"tdm": "allowed"},
    "/header/usage": {"train": "refused", "input": "allowed"},
    "/header/tdm": {"tdm": "refused", "train": "refused"},
    "/header/licence": {},
    "/header/noai": {"train": "refused", "images": "refused"},
    "/page/tdm": {"tdm": "refused", "train": "refused"},
    "/page/noai": {"train": "refused", "images": "refused"},
    "/page/licence": {},
    "/rsl/story": {"train": "refused", "search": "allowed"},
}


@dataclass
class Claims(SmallSite):
    """The site of every convention, with pages of a test in place of its own."""

    def __init__(self) -> None:
        super().__init__({})

    def page(self, request: Request, now: datetime) -> Page | None:
        return super().page(request, now) or claiming(request)


@dataclass(frozen=True)
class Desk:
    path: Path
    site: Claims
    journey: Journey

    async def fetch(self, target: str) -> Finished:
        await self.path.queue(f"{HOME}{target}")
        await self.path.database.execute(
            "update url_frontier set next_fetch_at = now(), status = 'pending' where url = $1", f"{HOME}{target}"
        )
        await self.path.reopen()
        claimed = await Claimer(self.path.database, SystemClock(), "w", timedelta(seconds=60)).claim(1)
        await self.journey.page_reader.expect(claimed.leases)
        return await self.journey.travel(claimed.leases[0])

    async def document(self, target: str) -> Document | None:
        return await read_document(self.path.database, key_of(f"{HOME}{target}"))

    async def kept(self, target: str) -> Document:
        found = await self.document(target)
        assert found is not None
        return found

    async def remembered(self, target: str) -> tuple[object, ...]:
        """Of its page, which decides whether it is read anew."""
        row = await self.path.database.fetchrow(
            "select etag, last_modified, content_hash from url_frontier where url = $1", f"{HOME}{target}"
        )
        assert row is not None
        return tuple(row)

    async def outbox(self) -> int:
        count: int = await self.path.database.fetchval("select count(*) from outbox")
        return count


@asynccontextmanager
async def opened(database_url: str) -> AsyncIterator[Desk]:
    site = Claims()
    async with opened_path(database_url, {HOST: site}) as path:
        async with path.database.transaction() as connection:
            # Its own channels speak for it.
            await add_channel(connection, path.source, NewChannel(ChannelKind.FEED, canonicalise(f"{HOME}/rights.xml")))
            await edit_source(connection, path.source, {"speaks_for": (HOST,)}, "test")
        token = path.web.identity.product_token
        async with page_pool(path.services) as pool, Supervisor(SystemClock(), path.services.log) as tasks:
            page_reader = start_reading_pages(tasks, path.services, token, pool)
            yield Desk(path, site, replace(path.journey(), page_reader=page_reader))


@pytest.fixture
async def desk(database_url: str) -> AsyncIterator[Desk]:
    async with opened(database_url) as desk:
        yield desk


def said(document: Document) -> dict[str, str]:
    return {use: answer for use, answer in document.rights.items() if isinstance(answer, str) and answer != "unknown"}


def places(document: Document) -> list[str]:
    return [one["place"] for one in document.rights["statements"]]


async def tell_in_feed(desk: Desk) -> None:
    """As a poll keeps an entry of the feed."""
    from headwater.discover.feeds.read import read_feed
    from headwater.discover.items import Reading

    reading = read_feed(FEED.encode(), "application/rss+xml", f"{HOME}/rights.xml", datetime(2026, 5, 4, tzinfo=UTC))
    assert isinstance(reading, Reading)
    (item,) = reading.items
    address = canonicalise(item.url)
    await desk.path.database.execute(
        "insert into channel_items (channel_id, url_hash, bucket, signature, title, content, language, fields)"
        " select id, $1, $2, 'x', 'Terms', '', 'en', $3 from channels",
        address.url_hash,
        address.bucket,
        item.fields,
    )


@pytest.mark.long
async def test_every_convention_reaches_the_archive_with_its_place(desk: Desk) -> None:
    await tell_in_feed(desk)
    assert {*ANSWERS, "/unsearched"} == {*STORIES}
    for target, expected in ANSWERS.items():
        await desk.fetch(target)
        document = await desk.kept(target)
        assert said(document) == expected, target
        # The licence of robots.txt stands with all of them.
        assert f"{HOME}/licence.xml" in document.rights["licences"]
    assert places(await desk.kept("/header/noai")) == ["robots.txt", "header", "header"]
    assert places(await desk.kept("/tdm/story")) == ["robots.txt", "/.well-known/tdmrep.json"]
    assert places(await desk.kept("/page/tdm")) == ["robots.txt", "page"]
    assert places(await desk.kept("/rsl/story")) == ["robots.txt", "feed"]


async def test_a_signal_is_kept_with_its_words_and_tdmrep_is_asked_for_once_a_day(desk: Desk) -> None:
    await desk.fetch("/signal/story")
    await desk.fetch("/header/usage")
    document = await desk.kept("/signal/story")
    assert said(document) == ANSWERS["/signal/story"]
    assert "Content-Signal: /signal/ search=yes, ai-input=no, ai-train=no" in [
        one["said"] for one in document.rights["statements"]
    ]
    usage = (await desk.kept("/header/usage")).rights["statements"]
    assert "train-ai=n, ai-input=y, some-new-use=n" in [one["said"] for one in usage], "an unknown key is kept"
    asked = [one.target for one in desk.path.visits()]
    assert asked == ["/robots.txt", TDM, "/signal/story", "/header/usage"]
    await desk.path.database.execute("update tdmrep set expires_at = now()")
    await desk.fetch("/silent")
    assert [one.target for one in desk.path.visits()][4:] == [TDM, "/silent"]


async def test_the_absence_of_tdmrep_is_remembered(desk: Desk) -> None:
    desk.site.pages[TDM] = Page(b"no", status=404)
    await desk.fetch("/tdm/story")
    await desk.fetch("/silent")
    assert [one.target for one in desk.path.visits()].count(TDM) == 1
    assert said(await desk.kept("/tdm/story")) == {}


@pytest.mark.parametrize(
    "answer", [Page(b"[" * 10_000_000), Page(b"<html>"), Page(b"[1]", status=500), Page(b"", status=204)]
)
async def test_a_tdmrep_that_is_none_stops_no_page(desk: Desk, answer: Page) -> None:
    desk.site.pages[TDM] = answer
    await desk.fetch("/tdm/story")
    assert said(await desk.kept("/tdm/story")) == {}


async def test_a_tdmrep_that_cannot_be_had_now_still_holds(desk: Desk) -> None:
    await desk.fetch("/tdm/story")
    desk.site.pages[TDM] = Page(b"", status=503)
    await desk.path.database.execute("update tdmrep set expires_at = now()")
    await desk.fetch("/free/story")
    assert said(await desk.kept("/free/story")) == ANSWERS["/free/story"]


async def test_robots_txt_may_keep_us_from_tdmrep(desk: Desk) -> None:
    desk.site.pages["/robots.txt"] = Page(f"{ROBOTS}\nUser-agent: *\nDisallow: /.well-known/\n".encode(), "text/plain")
    await desk.fetch("/tdm/story")
    assert TDM not in [one.target for one in desk.path.visits()]
    assert await desk.document("/tdm/story") is not None


async def test_a_source_may_skip_tdmrep(desk: Desk) -> None:
    async with desk.path.database.transaction() as connection:
        await edit_source(connection, desk.path.source, {"skips_tdmrep": True}, "test")
    await desk.fetch("/tdm/story")
    assert TDM not in [one.target for one in desk.path.visits()]


async def test_a_page_that_no_search_may_find_becomes_no_document_and_says_why(desk: Desk) -> None:
    await desk.fetch("/unsearched")
    assert await desk.document("/unsearched") is None
    story = await story_of(desk.path.database, canonicalise(f"{HOME}/unsearched"))
    assert "search=n" in story.document


async def test_a_word_of_robots_txt_never_gates_a_fetch(desk: Desk) -> None:
    desk.site.pages["/robots.txt"] = Page(b"User-agent: *\nContent-Signal: search=no, ai-train=no\n", "text/plain")
    finished = await desk.fetch("/silent")
    assert finished.visit.status == 200
    assert await desk.document("/silent") is None


async def test_a_changed_word_on_an_unchanged_page_is_a_version_that_sinks_are_told_of(desk: Desk) -> None:
    await desk.fetch("/silent")
    before, told = await desk.kept("/silent"), await desk.outbox()
    again = await desk.fetch("/silent")
    assert isinstance(again.verdict, Unchanged)
    assert ((await desk.kept("/silent")).version, await desk.outbox()) == (before.version, told)
    desk.site.pages["/robots.txt"] = Page(b"User-agent: *\nContent-Signal: ai-train=no\n", "text/plain")
    await desk.path.database.execute("update robots set expires_at = now()")
    assert isinstance((await desk.fetch("/silent")).verdict, Unchanged)
    after = await desk.kept("/silent")
    assert said(after) == {"train": "refused"}
    assert (after.version, await desk.outbox()) == (before.version + 1, told + 1)
    desk.site.pages["/robots.txt"] = Page(b"User-agent: *\nContent-Signal: search=no\n", "text/plain")
    await desk.path.database.execute("update robots set expires_at = now()")
    await desk.fetch("/silent")
    assert (await desk.kept("/silent")).deleted_reason == "search_refused"
    assert await desk.remembered("/silent") == (None, None, None)
    desk.site.pages["/robots.txt"] = Page(b"User-agent: *\nContent-Signal: ai-train=no\n", "text/plain")
    await desk.path.database.execute("update robots set expires_at = now()")
    await desk.fetch("/silent")
    back = await desk.kept("/silent")
    assert (back.deleted_reason, said(back)) == (None, {"train": "refused"}), "though the page is as it was"
    assert (await desk.remembered("/silent"))[2] is not None


async def test_a_page_that_no_search_might_find_becomes_a_document_when_it_may(desk: Desk) -> None:
    desk.site.pages["/robots.txt"] = Page(b"User-agent: *\nContent-Signal: search=no\n", "text/plain")
    await desk.fetch("/silent")
    desk.site.pages["/robots.txt"] = Page(b"User-agent: *\n", "text/plain")
    await desk.path.database.execute("update robots set expires_at = now()")
    await desk.fetch("/silent")
    assert (await desk.kept("/silent")).deleted_reason is None


async def test_an_answer_of_not_modified_may_withdraw_a_document_and_the_next_bring_it_back(desk: Desk) -> None:
    await desk.fetch("/silent")
    desk.site.pages["/robots.txt"] = Page(b"User-agent: *\nContent-Signal: search=no\n", "text/plain")
    desk.site.pages["/silent"] = Page(b"", status=304)
    await desk.path.database.execute("update robots set expires_at = now()")
    await desk.fetch("/silent")
    assert (await desk.kept("/silent")).deleted_reason == "search_refused"
    assert await desk.remembered("/silent") == (None, None, None)


async def test_a_price_is_an_answer_that_is_shown_and_not_paid(desk: Desk) -> None:
    finished = await desk.fetch("/paid")
    assert isinstance(finished.verdict, RetryLater)
    row = await desk.path.database.fetchrow(
        "select status, reason, last_error, next_fetch_at - now() as wait from url_frontier where url like '%/paid'"
    )
    assert row is not None
    assert (row["status"], row["reason"]) == ("failed", "payment_required")
    assert row["last_error"] == f"HTTP 402; crawler-price USD 0.02, licence {HOME}/licence.xml"
    assert row["wait"] > timedelta(hours=23)


async def test_a_challenge_is_a_refusal_whatever_its_status(desk: Desk) -> None:
    finished = await desk.fetch("/challenged")
    assert isinstance(finished.verdict, RetryLater)
    assert (finished.verdict.reason, finished.verdict.detail) == ("forbidden", "a challenge page, HTTP 202")
