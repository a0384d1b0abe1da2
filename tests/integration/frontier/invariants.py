"""What must hold of the frontier at every moment, asked of the database itself and not of the code that keeps it."""

from datetime import datetime

from headwater.database.pool import Database
from headwater.database.queries import load_queries
from headwater.frontier.entry import EntryStatus
from headwater.frontier.states import LAWFUL

queries = load_queries("headwater.frontier")

# A query answers with what is wrong.
CHECKS = {
    "in_flight is the number of slots": """
        SELECT h.host, h.in_flight, count(s.token) FROM hosts h LEFT JOIN slots s USING (bucket, host)
        GROUP BY h.bucket, h.host HAVING h.in_flight <> count(s.token)""",
    "a lease is one slot and one entry being fetched": """
        SELECT e.url, s.token FROM url_frontier e
        FULL JOIN (SELECT * FROM slots WHERE url_hash IS NOT NULL) s
          ON s.bucket = e.bucket AND s.url_hash = e.url_hash AND s.token = e.token
        WHERE (e.status = 'fetching' OR e.url_hash IS NULL) AND (s.token IS NULL OR e.url_hash IS NULL)""",
    "a host is not fuller than it may be": "SELECT host FROM hosts WHERE in_flight > max_concurrency",
    "dead has a reason": "SELECT url FROM url_frontier WHERE status = 'dead' AND coalesce(reason, '') = ''",
    "every entry has its host and its finder": """
        SELECT e.url FROM url_frontier e LEFT JOIN hosts h USING (bucket, host)
        WHERE h.host IS NULL OR NOT EXISTS (
            SELECT 1 FROM discoveries d WHERE d.bucket = e.bucket AND d.url_hash = e.url_hash)""",
}
TOO_LATE = """
    SELECT h.host, h.wake_at, opens.at FROM hosts h
    JOIN LATERAL (
        SELECT greatest(h.closed_until, h.yield_until, min(e.next_fetch_at),
                        h.next_slot_at - (h.burst - 1) * spacing_of(h.delay_ms, h.penalty_ms)) AS at
        FROM url_frontier e
        WHERE e.bucket = h.bucket AND e.host = h.host AND e.status IN ('pending', 'failed') AND e.held IS NULL
        HAVING count(*) > 0
    ) AS opens ON true
    WHERE h.in_flight < capacity_of(h.max_concurrency, h.bad_in_a_row)
      AND opens.at < 'infinity' AND h.wake_at > greatest(opens.at, $1)"""
TOO_LOW = """
    SELECT h.host, h.priority, e.priority, e.next_fetch_at FROM hosts h JOIN url_frontier e USING (bucket, host)
    WHERE e.status IN ('pending', 'failed') AND e.held IS NULL AND h.wake_at < 'infinity'
      AND e.priority > h.priority AND e.next_fetch_at < h.promote_at"""


async def broken_invariants(database: Database, now: datetime) -> list[str]:
    """Nothing, if all is well. Exact only while nobody else writes."""
    broken = [f"{claim}: {rows}" for claim, sql in CHECKS.items() if (rows := await database.fetch(sql))]
    if rows := await database.fetch(TOO_LATE, now):
        broken.append(f"no host with something to do sleeps too long: {rows}")
    if rows := await database.fetch(TOO_LOW):
        broken.append(f"no host is ranked below what it has to do: {rows}")
    if (counted := await counts(database)) != (found := await recount(database)):
        broken.append(f"counters equal a recount: {counted} {found}")
    return broken


async def counts(database: Database) -> dict[tuple[str, str], int]:
    rows = await database.fetch(queries.count_entries)
    return {(str(row["source_id"]), row["status"]): row["entries"] for row in rows}


async def recount(database: Database) -> dict[tuple[str, str], int]:
    rows = await database.fetch(queries.recount_entries)
    return {(str(row["source_id"]), row["status"]): row["entries"] for row in rows}


async def record_status_changes(database: Database) -> None:
    """From now on every change of a status leaves a row."""
    await database.execute("""
        CREATE TABLE status_changes (before text, after text);
        CREATE FUNCTION note_status() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            INSERT INTO status_changes VALUES (CASE TG_OP WHEN 'UPDATE' THEN OLD.status END, NEW.status);
            RETURN NULL;
        END $$;
        CREATE TRIGGER note_status AFTER INSERT OR UPDATE ON url_frontier FOR EACH ROW EXECUTE FUNCTION note_status();
    """)


async def status_changes(database: Database) -> set[tuple[EntryStatus | None, EntryStatus]]:
    rows = await database.fetch("SELECT DISTINCT before, after FROM status_changes WHERE before IS DISTINCT FROM after")
    return {(EntryStatus(row["before"]) if row["before"] else None, EntryStatus(row["after"])) for row in rows}


async def unlawful_changes(database: Database) -> set[tuple[EntryStatus | None, EntryStatus]]:
    return {change for change in await status_changes(database) if not is_lawful(*change)}


def is_lawful(before: EntryStatus | None, after: EntryStatus) -> bool:
    return before == after or any((change.before, change.after) == (before, after) for change in LAWFUL)
