"""Sizes of a real database: every table has its part, and growth is told from what was noted."""

from pathlib import Path

from headwater.database.pool import Database
from headwater.reports.forecast import Part
from headwater.reports.sizes import PARTS, forecast_of, note_sizes, relations_of
from headwater.settings.groups import KeepSettings

TABLES = """
select c.relname as name from pg_class c
where c.relkind in ('r', 'p') and not c.relispartition and c.relnamespace = current_schema()::regnamespace
"""
OPERATIONS = Path(__file__).parents[3] / "docs" / "operations.md"


async def tables_of(database: Database) -> set[str]:
    return {row["name"] for row in await database.fetch(TABLES)}


async def part_named(database: Database, name: str, keep: KeepSettings | None = None) -> Part:
    forecast = await forecast_of(database, keep or KeepSettings(), None)
    return next(part for part in forecast.parts if part.name == name)


async def test_every_table_belongs_to_one_part(database: Database) -> None:
    named = [table for tables in PARTS.values() for table in tables]
    assert len(named) == len(set(named))
    assert set(named) == await tables_of(database), "give a new table its part in headwater/reports/sizes.py"


async def test_the_manual_says_of_every_table_how_long_it_is_kept(database: Database) -> None:
    section = OPERATIONS.read_text().partition("## What grows, and how long it is kept")[2].partition("\n## ")[0]
    rows = [line.split("|") for line in section.splitlines() if line.startswith("| `")]
    told = [name.strip(" `") for row in rows for name in row[1].split(",")]
    assert sorted(told) == sorted(await tables_of(database)), "give a new table its row in docs/operations.md"
    assert all(cell.strip() for row in rows for cell in row[1:-1]), "a cell is empty"


async def test_the_parts_together_are_all_that_our_tables_take(database: Database) -> None:
    together = await database.fetchval(
        "select sum(pg_total_relation_size(oid))::bigint from pg_class"
        " where relkind = 'r' and relnamespace = current_schema()::regnamespace"
    )
    assert (await forecast_of(database, KeepSettings(), None)).bytes == together
    assert sum(one.search_bytes for one in await relations_of(database)) > 0


async def test_tables_of_others_are_not_ours(database: Database) -> None:
    before = (await forecast_of(database, KeepSettings(), None)).bytes
    await database.execute("create table another_system as select repeat('x', 100000) from generate_series(1, 100)")
    assert (await forecast_of(database, KeepSettings(), None)).bytes == before


async def test_a_fresh_database_cannot_tell_how_it_grows(database: Database) -> None:
    await note_sizes(database)
    forecast = await forecast_of(database, KeepSettings(), None)
    assert forecast.is_early
    assert forecast.days_of_room is None


async def test_growth_is_what_came_since_the_note_of_a_week_ago(database: Database) -> None:
    await note_sizes(database)
    # Ten notes: those of more than eight days are too old, the one of today too fresh.
    await database.execute(
        "insert into sizes select day - n, part, noted_at - n * interval '1 day', greatest(0, bytes - n * 1000)"
        " from sizes, generate_series(1, 10) as n"
    )
    part = await part_named(database, "documents")
    assert part.per_day is not None
    assert round(part.per_day) == 1000
    assert round(part.bytes_in(30) - part.bytes) == 30_000


async def test_a_part_that_shrank_does_not_grow(database: Database) -> None:
    await note_sizes(database)
    await database.execute("update sizes set noted_at = noted_at - interval '2 days', bytes = bytes + 1000000")
    assert (await part_named(database, "documents")).per_day == 0


async def test_days_of_history_are_forecast_by_the_days_that_are_there(database: Database) -> None:
    await database.execute("update schema_migrations set applied_at = now() - interval '3 days'")
    await database.execute("select ensure_days('raw_bodies', (now() at time zone 'utc')::date - 3, 3)")
    yesterday = await database.fetchval("select now() - interval '1 day'")
    await database.execute(
        "insert into raw_bodies (at, bucket, url_hash, source_id, url, status, headers, body, body_bytes, coding)"
        " select $1, 1, sha256(n::text::bytea), gen_random_uuid(), 'u', 200, '{}', decode(repeat('00', 100000), 'hex'),"
        " 100000, 'zstd' from generate_series(1, 30) as n",
        yesterday,
    )
    part = await part_named(database, "raw pages", KeepSettings(raw_days=10))
    assert part.per_day is not None
    assert 1_000_000 < part.per_day < 1_500_000
    assert part.keep_days == 10
    # In a year there are eleven days of it and those made ahead, and no more.
    ahead = sum(day.bytes for day in part.days if day.days_ago < 0)
    assert part.bytes_in(365) == part.bytes_in(100) == 11 * part.per_day + ahead


async def test_only_the_first_note_of_a_day_stays_and_old_ones_go(database: Database) -> None:
    await note_sizes(database)
    await database.execute("insert into sizes select day - 100, part, noted_at, bytes from sizes")
    first = await database.fetch("select noted_at from sizes where day = (now() at time zone 'utc')::date")
    await note_sizes(database)
    assert await database.fetch("select noted_at from sizes") == first


async def test_the_disk_is_that_of_the_data(database: Database, tmp_path: Path) -> None:
    assert (await forecast_of(database, KeepSettings(), tmp_path)).free_bytes
    assert (await forecast_of(database, KeepSettings(), tmp_path / "nowhere")).free_bytes is None
