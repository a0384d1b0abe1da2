"""Lists of sources by their health: judged for each page anew, bounded, and complete from page to page."""

from random import Random

import pytest

from headwater.database.pool import Database
from headwater.reports import paging
from headwater.reports.discovery import DiscoveryOverview, DiscoveryStatus, SourceFilter, list_sources
from headwater.reports.paging import JUDGED, page_of_sources
from headwater.sources.health_word import HealthStatus

ACTIVE = SourceFilter(DiscoveryStatus.ACTIVE)
ADD = """
    INSERT INTO sources (name, url, url_hash, is_proven)
    SELECT 's' || lpad(n::text, 4, '0'), 'https://h' || n || '.example/', sha256(int8send(n)), true
    FROM generate_series(1, $1::bigint) AS n"""
FOLLOW = """
    INSERT INTO channels (source_id, kind, url, url_hash, bucket, host, is_active, next_poll_at, last_polled_at,
                          last_ok_at, last_new_at, last_item_count)
    SELECT id, 'feed', url || 'feed.xml', sha256(url_hash), 1, 'h.example', true, now(), now(), now(), now(), 20
    FROM sources"""
# All that can be wrong with a channel, beside one that is well.
STATES = (
    "last_item_count = 20",
    "last_polled_at = null, last_ok_at = null",
    "consecutive_errors = 1, class_errors = 1, error_class = 'network'",
    "consecutive_errors = 2, class_errors = 2, error_class = 'gone'",
    "consecutive_errors = 9, class_errors = 9, error_class = 'network'",
    "consecutive_errors = 12, class_errors = 10, error_class = 'network'",
    "consecutive_errors = 40, class_errors = 40, error_class = 'rate_limited'",
    "consecutive_errors = 1, class_errors = 0, error_cause = 'dead_domain'",
    "consecutive_errors = 3, class_errors = 3",
    "last_item_count = 0",
    "last_item_count = 0, last_new_at = null",
    "last_error = 'damaged'",
    "silent_since = now()",
    "doubted_since = now(), last_error = 'few'",
    "is_enabled = false, is_active = false",
)


async def everybody(database: Database) -> list[DiscoveryOverview]:
    return await list_sources(database, ACTIVE, 10_000)


async def walked(database: Database, word: HealthStatus, limit: int) -> list[str]:
    names: list[str] = []
    cursor = None
    while True:
        page = await page_of_sources(database, ACTIVE, word, limit, cursor)
        assert len(page.items) <= limit
        names += [one.source.name for one in page.items]
        if page.cursor is None:
            return names
        cursor = page.cursor


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.long)])
async def test_pages_of_each_health_lead_to_every_source_that_is_in_it(database: Database, seed: int) -> None:
    random = Random(seed)
    await database.execute(ADD, 150)
    await database.execute(FOLLOW)
    # Some have two channels: one that works keeps a source from struggling.
    await database.execute(
        FOLLOW.replace("'feed.xml'", "'map.xml'").replace("'feed'", "'sitemap'")
        + " WHERE get_byte(url_hash, 0) % 3 = 0"
    )
    for (channel,) in await database.fetch("SELECT id FROM channels ORDER BY id"):
        await database.execute(f"UPDATE channels SET {random.choice(STATES)} WHERE id = $1", channel)
    found = await everybody(database)
    assert {one.health.word for one in found} >= set(paging.COMPUTED)
    for word in paging.COMPUTED:
        wanted = [one.source.name for one in found if one.health.word is word]
        for limit in (1, 7, 50, 200):
            assert await walked(database, word, limit) == wanted, (word, limit)


async def test_sources_that_will_be_tried_again_soon_are_not_judged_for_those_that_struggle(database: Database) -> None:
    await database.execute(ADD, 2 * JUDGED)
    await database.execute(FOLLOW)
    await database.execute("UPDATE channels SET consecutive_errors = 1, class_errors = 1, error_class = 'network'")
    last = f"s{2 * JUDGED:04}"
    await database.execute(
        """UPDATE channels SET consecutive_errors = 2, class_errors = 2, error_class = 'gone'
           WHERE source_id = (SELECT id FROM sources WHERE name = $1)""",
        last,
    )
    page = await page_of_sources(database, ACTIVE, HealthStatus.STRUGGLING, 50, None)
    assert ([one.source.name for one in page.items], page.cursor) == ([last], None)


async def test_a_page_judges_so_many_sources_and_leads_on(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    await database.execute(ADD, 2 * JUDGED + 10)
    await database.execute(FOLLOW)
    await database.execute("UPDATE channels SET consecutive_errors = 2, class_errors = 2, error_class = 'gone'")
    await database.execute(
        """UPDATE channels SET consecutive_errors = 0, error_class = NULL
           WHERE source_id = (SELECT id FROM sources ORDER BY name DESC LIMIT 1)"""
    )
    judged = 0

    async def counted(*asked: object) -> list[DiscoveryOverview]:
        nonlocal judged
        found = await list_sources(*asked)  # type: ignore[arg-type]
        judged += len(found)
        return found

    monkeypatch.setattr(paging, "list_sources", counted)
    first = await page_of_sources(database, ACTIVE, HealthStatus.OK, 50, None)
    assert (len(first.items), judged) == (0, JUDGED)
    assert first.cursor
    assert len(await walked(database, HealthStatus.OK, 50)) == 1
