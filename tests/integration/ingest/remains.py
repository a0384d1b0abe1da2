"""What is left of a place that was taken down: nothing may be."""

from tests.told import TOLD

from headwater.database.pool import Database

# Each finds what must not be; $1 is a domain that was taken down with all below it.
QUERIES = {
    "an entry that lives": """
        SELECT url FROM url_frontier WHERE status <> 'dead' AND $1 = ANY (domains_above(host))""",
    "a document": """
        SELECT url FROM documents WHERE deleted_at IS NULL AND $1 = ANY (domains_above(url_host(url)))""",
    "a document under one of its addresses": """
        SELECT url FROM documents WHERE deleted_at IS NULL
          AND $1 = ANY (domains_above(url_host(canonical_url)) || domains_above(url_host(claimed_url)))""",
    "a vacancy": """
        SELECT j.title FROM jobs j LEFT JOIN sources s ON s.id = j.source_id LEFT JOIN channels c ON c.id = j.channel_id
        WHERE j.status <> 'deleted'
          AND $1 = ANY (domains_above(url_host(j.apply_url)) || domains_above(url_host(j.page_url))
                        || domains_above(s.host) || domains_above(c.host))""",
    "a sighting": "SELECT url FROM job_sightings WHERE $1 = ANY (domains_above(url_host(url)))",
    "a body": "SELECT url FROM raw_bodies WHERE $1 = ANY (domains_above(url_host(url)))",
    "words of a channel": """
        SELECT i.title FROM channel_items i JOIN channels c ON c.id = i.channel_id
        LEFT JOIN url_frontier e ON e.bucket = i.bucket AND e.url_hash = i.url_hash
        WHERE i.signature <> '' AND $1 = ANY (domains_above(c.host) || domains_above(e.host))""",
    "a document that sinks were not told to delete": f"""
        SELECT d.url FROM documents d
        JOIN LATERAL (SELECT op FROM {TOLD} WHERE o.kind = 'document' AND o.bucket = d.bucket AND o.hash = d.url_hash
                      ORDER BY version DESC LIMIT 1) AS last ON true
        WHERE $1 = ANY (domains_above(url_host(d.url))) AND last.op <> 'delete'""",
    "a vacancy that sinks were not told to delete": f"""
        SELECT j.title FROM jobs j
        JOIN LATERAL (SELECT op FROM {TOLD} WHERE o.kind = 'job' AND o.bucket = j.bucket AND o.hash = j.canonical_hash
                      ORDER BY version DESC LIMIT 1) AS last ON true
        WHERE j.status = 'deleted' AND last.op <> 'delete'""",
    "a takedown that is not applied": "SELECT domain FROM takedowns WHERE swept_at IS NULL AND domain = $1",
}


async def remains_of(database: Database, domain: str) -> list[str]:
    found = {
        what: await database.fetch(query if "$1" in query else f"{query} AND $1::text IS NOT NULL", domain)
        for what, query in QUERIES.items()
    }
    return [f"{what}: {rows[0][0]}" for what, rows in found.items() if rows]


async def is_waiting(database: Database) -> bool:
    """Whether a takedown waits: for transactions that looked before, or for a host's row that one of them holds."""
    found: bool = await database.fetchval("""
        SELECT EXISTS (SELECT 1 FROM pg_stat_activity WHERE datname = current_database()
                       AND (wait_event = 'PgSleep' OR wait_event IN ('transactionid', 'tuple')))""")
    return found
