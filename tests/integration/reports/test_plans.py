"""The look for problems reads by index: nothing it does grows with all channels, pages, documents and runs."""

from datetime import timedelta

import pytest

from headwater.database.pool import Database
from headwater.database.queries import load_queries
from headwater.sources.causes import StopReason
from headwater.sources.health import FEWEST_PAGES, LASTING, STOPPED_BY_ITSELF
from headwater.sources.kinds import NEWS
from headwater.sources.store import prove_sources

queries = load_queries("headwater.reports")
LOOKED_FOR = (STOPPED_BY_ITSELF, NEWS, sorted(LASTING), None)

LOAD = """
    INSERT INTO sources (name, url, url_hash)
    SELECT 's' || n, 'https://h' || n || '.example/', sha256(int8send(n)) FROM generate_series(1, 20000::bigint) AS n;
    INSERT INTO channels (source_id, kind, url, url_hash, bucket, host, is_active, next_poll_at, last_ok_at,
                          last_new_at, last_item_count)
    SELECT id, 'feed', url || 'feed.xml', sha256(url_hash), 1, 'h.example', true, now() + interval '1 hour',
           now(), now(), 20 FROM sources;
    UPDATE channels SET consecutive_errors = 3, last_error = 'HTTP 500'
    WHERE id IN (SELECT id FROM channels ORDER BY id LIMIT 20);
    INSERT INTO hosts (bucket, host, delay_ms, wake_at, priority)
    SELECT n % 256, 'h' || n || '.example', 1000, now(), 5 FROM generate_series(1, 20000) AS n;
    INSERT INTO url_frontier (bucket, url_hash, host, url, source_id, origin, priority)
    SELECT n % 256, sha256(int8send(n)), 'h' || n || '.example', 'https://h' || n || '.example/p',
           (SELECT id FROM sources LIMIT 1), 'feed', 5 FROM generate_series(1, 20000::bigint) AS n;
    INSERT INTO runs (at, id, source_id, channel_id, kind, trigger, status, duration_ms)
    SELECT now() - n * interval '1 second', gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 'feed', 'schedule',
           'ok', 5 FROM generate_series(1, 20000) AS n;
    INSERT INTO events (kind, actor, source_id, message) SELECT 'channel_moved', 'headwater', id, 'm' FROM sources;
    ANALYZE sources, channels, hosts, url_frontier, runs, events"""
LARGE = frozenset({"channels", "url_frontier", "events", "hosts"})


async def scanned(database: Database, query: str, *values: object) -> set[str]:
    """The large tables that its plan reads whole."""
    rows = await database.fetch(f"EXPLAIN {query}", *values)
    scans = [row[0].split(" on ")[1].split()[0] for row in rows if "Seq Scan on " in row[0]]
    return set(scans) & LARGE


@pytest.mark.long
async def test_no_large_table_is_read_whole(database: Database) -> None:
    for statement in LOAD.split(";"):
        await database.execute(statement)
    ids = [row[0] for row in await database.fetch("SELECT id FROM sources LIMIT 50")]
    assert await scanned(database, queries.sources_to_look_at, FEWEST_PAGES, 5_000, *LOOKED_FOR) == set()
    assert await scanned(database, queries.facts_of_sources, ids, FEWEST_PAGES) == set()
    assert await scanned(database, queries.troubled_hosts, None, 1_000) == set()
    assert await scanned(database, queries.work_that_waits, timedelta(minutes=15)) == set()
    assert len(await database.fetch(queries.sources_to_look_at, FEWEST_PAGES, 5_000, *LOOKED_FOR)) == 20


@pytest.mark.long
async def test_the_last_run_is_found_by_index(database: Database) -> None:
    for statement in LOAD.split(";"):
        await database.execute(statement)
    rows = await database.fetch("EXPLAIN ANALYZE SELECT max(at) FROM runs")
    read = [row[0] for row in rows if "Seq Scan" in row[0] and "never executed" not in row[0]]
    assert read == []


async def test_old_overflows_and_sources_that_a_person_stopped_hide_no_failing_one(database: Database) -> None:
    await database.execute(
        """INSERT INTO sources (name, url, url_hash, status, status_reason)
           SELECT 's' || n, 'https://h' || n || '.example/', sha256(int8send(n)),
                  CASE WHEN n <= 300 THEN 'paused' WHEN n <= 600 THEN 'blocked' ELSE 'active' END,
                  CASE WHEN n <= 600 THEN 'its owner asked for it' END
           FROM generate_series(1, 1300::bigint) AS n"""
    )
    await database.execute(
        """INSERT INTO channels (source_id, kind, url, url_hash, bucket, host, is_active, next_poll_at, last_ok_at,
                                 last_new_at, last_item_count, consecutive_errors)
           SELECT id, 'feed', url || 'feed.xml', sha256(url_hash), 1, 'h.example', true, now(), now(), now(), 20,
                  CASE WHEN substr(name, 2)::integer > 1200 THEN 3 ELSE 0 END
           FROM sources"""
    )
    await database.execute(
        """INSERT INTO events (at, kind, actor, source_id, message)
           SELECT now() - interval '60 days', 'channel_overflowed', 'headwater', id, 'm' FROM sources
           WHERE substr(name, 2)::integer BETWEEN 601 AND 1200"""
    )
    failing = {row[0] for row in await database.fetch("SELECT source_id FROM channels WHERE consecutive_errors > 0")}
    found = await database.fetch(queries.sources_to_look_at, FEWEST_PAGES, 100, *LOOKED_FOR)
    assert {row[0] for row in found} == failing
    everything = await database.fetch(queries.sources_to_look_at, FEWEST_PAGES, 5_000, *LOOKED_FOR)
    assert {row[0] for row in everything} == failing


async def test_sources_that_stopped_by_themselves_are_looked_at(database: Database) -> None:
    await database.execute(
        """INSERT INTO sources (name, url, url_hash, status, status_reason)
           SELECT 's' || n, 'https://h' || n || '.example/', sha256(int8send(n)), 'blocked', reason
           FROM unnest($1::text[]) WITH ORDINALITY AS r (reason, n)""",
        [
            StopReason.AUTO_PAUSED,
            StopReason.ROBOTS_DISALLOW,
            f"{StopReason.UNREADABLE_ROW}: no name",
            "its owner asked for it",
            None,
        ],
    )
    found = await database.fetch(queries.sources_to_look_at, FEWEST_PAGES, 100, *LOOKED_FOR)
    names = await database.fetch(
        "SELECT name FROM sources WHERE id = ANY ($1) ORDER BY name", [row[0] for row in found]
    )
    assert [row[0] for row in names] == ["s1", "s2", "s3"]


KEPT = """
    INSERT INTO documents (bucket, url_hash, source_id, url, canonical_url, title, text, summary, author, language,
                           section, keywords, images, word_count, page_type, quality_parts, content_hash, produced_by,
                           metadata, version, crawled_at, first_seen_at, changed_at, search)
    SELECT 1, url_hash, id, url, url, '', '', '', '', 'en', '', '{}', '{}', 1, '', '{}', url_hash, '', '{}', 1, now(),
           now(), now(), '' FROM sources WHERE name <> 's7'"""


async def test_a_proven_source_is_looked_at_again_when_its_last_channel_is_switched_off(database: Database) -> None:
    await database.execute(
        """INSERT INTO sources (name, url, url_hash)
           SELECT 's' || n, 'https://h' || n || '.example/', sha256(int8send(n))
           FROM generate_series(1, 9::bigint) AS n"""
    )
    await database.execute(
        """INSERT INTO channels (source_id, kind, url, url_hash, bucket, host, is_active, next_poll_at, last_ok_at,
                                 last_new_at, last_item_count)
           SELECT id, 'feed', url, url_hash, 1, 'h.example', true, now(), now(), now(), 20 FROM sources
           WHERE name <> 's9'"""
    )
    await database.execute(KEPT)
    await database.execute("UPDATE sources SET created_at = now() - interval '2 days'")
    # Neither the one that kept nothing nor the one without a channel.
    assert await prove_sources(database) == 7
    assert await prove_sources(database) == 0
    unproven = [row[0] for row in await database.fetch("SELECT name FROM sources WHERE NOT is_proven ORDER BY name")]
    assert unproven == ["s7", "s9"]
    look = queries.sources_to_look_at, FEWEST_PAGES, 100, *LOOKED_FOR
    names = "SELECT name FROM sources WHERE id = ANY ($1) ORDER BY name"
    found = [row[0] for row in await database.fetch(*look)]
    assert [row[0] for row in await database.fetch(names, found)] == ["s9"]
    await database.execute(
        """UPDATE channels SET is_enabled = false, is_active = false
           WHERE source_id = (SELECT id FROM sources WHERE name = 's3')"""
    )
    found = [row[0] for row in await database.fetch(*look)]
    assert [row[0] for row in await database.fetch(names, found)] == ["s3", "s9"]


async def test_sources_that_were_just_imported_are_not_looked_at(database: Database) -> None:
    await database.execute(
        """INSERT INTO sources (name, url, url_hash)
           SELECT 's' || n, 'https://h' || n || '.example/', sha256(int8send(n))
           FROM generate_series(1, 20::bigint) AS n"""
    )
    await database.execute(
        """INSERT INTO channels (source_id, kind, url, url_hash, bucket, host, is_active, next_poll_at)
           SELECT id, 'search', url, url_hash, 1, 'h.example', true, now() FROM sources"""
    )
    look = queries.sources_to_look_at, FEWEST_PAGES, 100, *LOOKED_FOR
    assert await database.fetch(*look) == []
    # Their channels are still being looked for.
    await database.execute("UPDATE sources SET created_at = now() - interval '2 days'")
    assert await database.fetch(*look) == []
    # In vain for one of them.
    await database.execute("UPDATE sources SET last_run_at = now() WHERE name = 's7'")
    await database.execute(
        "UPDATE channels SET last_polled_at = now() WHERE source_id = (SELECT id FROM sources WHERE name = 's7')"
    )
    assert len(await database.fetch(*look)) == 1


async def test_crawls_are_looked_at_where_surer_failures_leave_room(database: Database) -> None:
    await database.execute(
        """INSERT INTO sources (name, url, url_hash, is_proven)
           SELECT 's' || n, 'https://h' || n || '.example/', sha256(int8send(n)), true
           FROM generate_series(1, 20::bigint) AS n"""
    )
    await database.execute(
        """INSERT INTO channels (source_id, kind, url, url_hash, bucket, host, is_active, next_poll_at,
                                 consecutive_errors)
           SELECT id, CASE name WHEN 's1' THEN 'crawl' ELSE 'feed' END, url, url_hash, 1, 'h.example', true, now(),
                  CASE name WHEN 's1' THEN 0 ELSE 3 END FROM sources"""
    )
    await database.execute(
        """INSERT INTO url_frontier (bucket, url_hash, host, url, source_id, origin, priority, status, reason)
           SELECT 1, url_hash, 'h.example', url, id, 'spider', 5, 'dead', 'not_found' FROM sources WHERE name = 's1'"""
    )
    crawl = await database.fetchval("SELECT id FROM sources WHERE name = 's1'")

    async def looked_at(most: int) -> set[object]:
        found = await database.fetch(queries.sources_to_look_at, FEWEST_PAGES, most, *LOOKED_FOR)
        return {row[0] for row in found}

    assert crawl not in await looked_at(10)
    assert crawl in await looked_at(20)
