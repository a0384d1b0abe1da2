"""The alarm on a real database: figures from what was read, one event when it begins, one when it ends."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from itertools import count
from uuid import UUID

import pytest
from tests.integration.archive.bodies import keep_body
from tests.integration.archive.shelf import page
from tests.integration.ingest.press import Press

from headwater.archive.documents import keep_document
from headwater.archive.raw import RawBody
from headwater.database.pool import Database
from headwater.frontier.entry import EntryOrigin
from headwater.frontier.submit import FoundUrl, Submitter, submit
from headwater.ingest.decay import DECAYED, RECOVERED, watch_decay
from headwater.sources.store import create_source, events_of

DAY = timedelta(days=1)
NOW = datetime.now(UTC).replace(hour=12, minute=0, second=0, microsecond=0)


class Journal:
    """A source whose pages are read at the times a test says."""

    def __init__(self, database: Database, source: UUID) -> None:
        self.database = database
        self.source = source
        self._numbers = count()

    async def reads(self, pages: int, at: datetime, *, words: int = 200, dated: bool = True, good: bool = True) -> None:
        async with self.database.transaction() as connection:
            for n in range(pages):
                url = f"https://h.example/{next(self._numbers)}"
                text = " ".join(f"{url[-4:]}w{word}" for word in range(words))
                new = page(url, text, source_id=self.source, quality=80, published_at=at if dated else None)
                new = replace(new, content_hash=sha256(url.encode()).digest())
                moment = at + timedelta(seconds=n)
                await keep_body(connection, RawBody(new.key, self.source, url, 200, {}, b""), moment)
                if good:
                    await keep_document(connection, new, moment)

    async def alarms(self) -> list[str]:
        found = await events_of(self.database, self.source)
        return [one.event.kind for one in reversed(found) if one.event.kind in (DECAYED, RECOVERED)]


@pytest.fixture
async def journal(database: Database) -> Journal:
    await database.execute("select ensure_days('raw_bodies', $1, 60)", (NOW - 40 * DAY).date())
    async with database.transaction() as connection:
        source = await create_source(connection, "Harbour News", "https://h.example/")
    return Journal(database, source)


@pytest.mark.long
async def test_a_decay_is_told_once_and_its_end_once(journal: Journal) -> None:
    await journal.reads(120, NOW - 10 * DAY)
    assert await watch_decay(journal.database, NOW) == []
    await journal.reads(30, NOW - DAY, good=False)
    [told] = await watch_decay(journal.database, NOW)
    assert told.message == (
        "Harbour News is read worse than before: 0 % of its last 30 pages yield a document, before 100 %"
    )
    assert (told.source_id, told.level) == (journal.source, "warn")
    assert await watch_decay(journal.database, NOW) == []
    await journal.reads(10, NOW, good=True)
    assert await watch_decay(journal.database, NOW + DAY) == []
    await journal.reads(60, NOW + DAY, good=True)
    [back] = await watch_decay(journal.database, NOW + 2 * DAY)
    assert back.message == ("Harbour News is read well again: 100 % of the last 50 pages yield a document, as before")
    assert await watch_decay(journal.database, NOW + 2 * DAY) == []
    assert await journal.alarms() == [DECAYED, RECOVERED]


@pytest.mark.long
async def test_a_decay_that_lasts_does_not_become_the_measure(journal: Journal) -> None:
    await journal.reads(120, NOW - 10 * DAY)
    await journal.reads(50, NOW - 2 * DAY, good=False)
    await watch_decay(journal.database, NOW)
    await journal.reads(400, NOW - DAY, good=False)
    assert await watch_decay(journal.database, NOW) == []
    assert await journal.alarms() == [DECAYED]


@pytest.mark.long
async def test_it_can_decay_again(journal: Journal) -> None:
    await journal.reads(120, NOW - 10 * DAY)
    for day, good in enumerate((False, True, False)):
        await journal.reads(60, NOW + day * DAY, good=good)
        await watch_decay(journal.database, NOW + (day + 1) * DAY)
    assert await journal.alarms() == [DECAYED, RECOVERED, DECAYED]


@pytest.mark.long
@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"words": 60}, "the median text has 60 words, before 200"),
        ({"dated": False}, "0 % of its documents have a date, before 100 %"),
    ],
)
async def test_shorter_texts_and_missing_dates_are_told(journal: Journal, change: dict[str, int], told: str) -> None:
    await journal.reads(120, NOW - 10 * DAY)
    await journal.reads(50, NOW - DAY, **change)  # type: ignore[arg-type]
    [event] = await watch_decay(journal.database, NOW)
    assert event.message.endswith(told)
    assert event.details["before"]["documents"] == 120
    assert event.details["after"]["documents"] == 50


async def test_a_new_source_a_paused_one_and_one_of_vacancies_never_alarm(journal: Journal) -> None:
    await journal.reads(40, NOW - DAY, good=False)
    assert await watch_decay(journal.database, NOW) == []
    await journal.reads(120, NOW - 10 * DAY)
    for change in ("status = 'paused'", "kind = 'jobs', status = 'active'"):
        await journal.database.execute(f"update sources set {change}")
        assert await watch_decay(journal.database, NOW) == []
    await journal.database.execute("update sources set kind = 'news'")
    assert len(await watch_decay(journal.database, NOW)) == 1


@pytest.mark.long
async def test_a_known_page_whose_reading_fails_now_is_none_that_yields(journal: Journal) -> None:
    await journal.reads(120, NOW - 10 * DAY)
    urls = [f"https://h.example/{n}" for n in range(30)]
    async with journal.database.transaction() as connection:
        await submit(connection, Submitter(journal.source, EntryOrigin.FEED), [FoundUrl(url) for url in urls])
        for url in urls:
            raw = RawBody(page(url).key, journal.source, url, 200, {}, b"")
            await keep_body(connection, raw, NOW - DAY)
    assert await watch_decay(journal.database, NOW) == []
    await journal.database.execute("update url_frontier set status = 'dead', reason = 'extract_failed'")
    assert len(await watch_decay(journal.database, NOW)) == 1
    # Read again by better rules: what they made of it is newer than the failure.
    await journal.database.execute(f"/* by hand */ update documents set crawled_at = '{NOW.isoformat()}'")
    assert [one.kind for one in await watch_decay(journal.database, NOW)] == [RECOVERED]


async def test_a_page_read_often_counts_once(journal: Journal) -> None:
    await journal.reads(120, NOW - 10 * DAY)
    live = RawBody(page("https://h.example/live").key, journal.source, "https://h.example/live", 200, {}, b"")
    async with journal.database.transaction() as connection:
        for n in range(40):
            await keep_body(connection, live, NOW - DAY + timedelta(minutes=n))
    assert await watch_decay(journal.database, NOW) == []


@pytest.mark.long
async def test_watchers_at_once_tell_it_once(journal: Journal) -> None:
    await journal.reads(120, NOW - 10 * DAY)
    await journal.reads(50, NOW - DAY, good=False)
    rounds = await asyncio.gather(*(watch_decay(journal.database, NOW) for _ in range(4)))
    assert sum(len(told) for told in rounds) == 1
    assert await journal.alarms() == [DECAYED]


@pytest.mark.long
async def test_every_source_is_looked_at_however_many_there_are(database: Database, journal: Journal) -> None:
    await database.execute("""
        insert into sources (name, url, url_hash)
        select 's' || n, 'https://s' || n || '.example/', sha256(n::text::bytea) from generate_series(1, 250) as n""")
    await database.execute("update sources set id = 'ffffffff-ffff-ffff-ffff-ffffffffffff' where name = 'Harbour News'")
    journal.source = UUID("ffffffff-ffff-ffff-ffff-ffffffffffff")
    await journal.reads(120, NOW - 10 * DAY)
    await journal.reads(50, NOW - DAY, good=False)
    assert [one.source_id for one in await watch_decay(database, NOW)] == [journal.source]


@pytest.mark.long
async def test_a_redesign_of_a_simulated_publisher_is_noticed_and_a_replay_mends_it(press: Press) -> None:
    now = datetime.now(UTC)
    await press.database.execute("select ensure_days('raw_bodies', $1, 30)", (now - 20 * DAY).date())
    items = press.items(55)
    for item in items[:35]:
        await press.keep(item.url, press.html(item.url), at=now - 10 * DAY)
    for item in items[35:]:
        hidden = press.html(item.url).replace(b"<article>", b"<nav class=story>").replace(b"</article>", b"</nav>")
        await press.keep(item.url, hidden, at=now - DAY)
    [told] = await watch_decay(press.database)
    assert "% of its last 20 pages yield a document, before 100 %" in told.message
    selectors = {"article": {"body": "nav.story > p"}}
    await press.database.execute("update sources set selectors = $1::jsonb", selectors)
    _ = [one async for one in press.replay.over(press.source)]
    [back] = await watch_decay(press.database)
    assert back.kind == RECOVERED
