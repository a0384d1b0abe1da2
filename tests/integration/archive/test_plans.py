"""In a large archive every call finds its rows by key."""

from uuid import UUID

import pytest
from tests.integration.archive.bodies import keep_body
from tests.integration.archive.shelf import LONG, OTHER, SOURCE, Shelf, key_of

from headwater.archive.job import Teller
from headwater.archive.jobs import count_named_and_unnamed, expire_jobs, expire_unnamed, keep_jobs
from headwater.archive.raw import RawBody, newest_bodies_of, newest_body
from headwater.archive.reads import find_document, read_version, versions_in_short, versions_of
from headwater.database.pool import Database
from headwater.urls.domains import NO_VOICE
from headwater.vacancy import NewJob

# Copies of one row under other keys, texts and likenesses.
MANY_DOCUMENTS = """
    INSERT INTO documents (bucket, url_hash, source_id, url, canonical_url, title, text, summary, author, language,
                           section, keywords, images, word_count, page_type, quality_parts, content_hash, simhash,
                           produced_by, metadata, version, crawled_at, first_seen_at, changed_at, search)
    SELECT n % 256, sha256(int8send(n)), d.source_id, d.url, d.canonical_url, d.title, d.text, '', '', d.language, '',
           '{}', '{}', d.word_count, '', '{}', sha256(int8send(-n)), hashint8extended(n, 0), '', '{}', 1, d.crawled_at,
           d.first_seen_at - n * interval '1 second', d.changed_at, d.search
    FROM (SELECT * FROM documents WHERE deleted_at IS NULL LIMIT 1) AS d
    CROSS JOIN generate_series(1::bigint, 20000) AS n"""
MANY_VERSIONS = """
    INSERT INTO document_versions (bucket, url_hash, version, title, text, summary, author, word_count, content_hash,
                                   produced_by, crawled_at, changed_at, replaced_at)
    SELECT bucket, url_hash, 1, title, 'old', '', '', 1, content_hash, '', crawled_at, changed_at, changed_at
    FROM documents"""
MANY_JOBS = """
    INSERT INTO jobs (bucket, canonical_hash, source_id, title, org_name, apply_url, language, location_raw,
                      mission_tags, functional_tags, international_eligible, application_window, description_snippet,
                      benefits, policy_flags, donor_context, crisis_type, humanitarian_cluster, compensation_visible,
                      data_provenance, raw_metadata, is_detailed, fetched_at, last_seen_at, created_at, updated_at,
                      search_tsv)
    SELECT n % 256, sha256(int8send(n)), $1::uuid, 'Job', '', '', '', '', '{}', '{}', false, '{}', '', '{}', '{}', '{}',
           '{}', '{}', false, '', '{}', false, now(), now(), now(), now(), ''
    FROM generate_series(1::bigint, 20000) AS n"""
MANY_BODIES = """
    INSERT INTO raw_bodies (at, bucket, url_hash, source_id, url, status, headers, body, body_bytes)
    SELECT now(), n % 256, sha256(int8send(n)), gen_random_uuid(), '', 200, '{}', '', 0
    FROM generate_series(1::bigint, 20000) AS n"""
READS = """
    SELECT relname, seq_scan, seq_tup_read + coalesce(idx_tup_fetch, 0) AS rows FROM pg_stat_user_tables
    WHERE relname IN ('documents', 'document_versions', 'jobs') OR relname ~ '^raw_bodies_' AND n_live_tup > 1000"""


async def reads(database: Database) -> dict[str, tuple[int, int]]:
    """Sequential scans and rows read, so far."""
    async with database.transaction() as connection:
        await connection.execute("SELECT pg_stat_force_next_flush()")
    return {row["relname"]: (row["seq_scan"], row["rows"]) for row in await database.fetch(READS)}


@pytest.mark.long
async def test_no_call_scans_a_table(shelf: Shelf) -> None:
    await shelf.keep("https://first.example/")
    for statement in (MANY_DOCUMENTS, MANY_VERSIONS, MANY_BODIES):
        await shelf.database.execute(statement)
    await shelf.database.execute(MANY_JOBS, SOURCE)
    await shelf.database.execute("ANALYZE documents, document_versions, jobs, raw_bodies")
    before = await reads(shelf.database)
    # More often than PostgreSQL tries out plans made for their arguments: the general plan must be good too.
    for turn in range(8):
        await work(shelf, turn)
    spent = {
        name: (now[0] - before[name][0], now[1] - before[name][1])
        for name, now in (await reads(shelf.database)).items()
    }
    assert {name: cost for name, cost in spent.items() if cost[0] or cost[1] > 8 * 100} == {}
    await shelf.database.execute("DELETE FROM documents; DELETE FROM document_versions; DELETE FROM outbox")


@pytest.mark.long
async def test_plans_made_for_an_empty_archive_are_good_for_a_full_one(shelf: Shelf) -> None:
    for turn in range(8):
        await keep_some(shelf, turn)
    await shelf.database.execute(MANY_DOCUMENTS)
    before = (await reads(shelf.database))["documents"]
    for turn in range(8, 16):
        await keep_some(shelf, turn)
    now = (await reads(shelf.database))["documents"]
    assert now[0] == before[0]
    assert now[1] - before[1] < 8 * 150
    await shelf.database.execute("DELETE FROM documents; DELETE FROM document_versions; DELETE FROM outbox")


async def keep_some(shelf: Shelf, turn: int) -> None:
    one, copy = f"https://a{turn}.example/", f"https://b{turn}.example/"
    await shelf.keep(f"{one}amp", f"{LONG} {turn}", claims=one)
    await shelf.keep(one, f"{LONG} {turn}", simhash=turn << 40)
    await shelf.keep(copy, f"{LONG} {turn}", simhash=turn << 40, source_id=UUID(int=turn))
    await shelf.keep(one, f"{OTHER} {turn}", simhash=turn << 41)
    await shelf.tombstone(copy)
    await shelf.database.execute("SELECT withdraw_page($1, $2, 'gone', now())", *key_of(copy))


async def work(shelf: Shelf, turn: int) -> None:
    one = f"https://a{turn}.example/"
    await keep_some(shelf, turn)
    await versions_of(shelf.database, key_of(one))
    await find_document(shelf.database, key_of(one).url_hash)
    await versions_in_short(shelf.database, key_of(one), 100, 5)
    await read_version(shelf.database, key_of(one), 1)
    source = UUID(int=turn)
    async with shelf.database.transaction() as connection:
        job = NewJob(canonical_hash=key_of(one).url_hash, title="Nurse", org_name="", apply_url=one, city=str(turn))
        await keep_jobs(connection, Teller(source, one, NO_VOICE), [job], shelf.now)
        await keep_jobs(connection, Teller(source, one, NO_VOICE, channel_id=source), [job], shelf.now)
        await count_named_and_unnamed(connection, source, shelf.now, shelf.now)
        await expire_unnamed(connection, source, shelf.now, shelf.now)
        await expire_jobs(connection, shelf.now)
        await keep_body(connection, RawBody(key_of(one), source, one, 200, {}, b"body"), shelf.now)
    assert await newest_body(shelf.database, key_of(one))
    assert [kept async for kept in newest_bodies_of(shelf.database, source)]
