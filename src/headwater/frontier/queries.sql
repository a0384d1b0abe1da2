-- name: submit_urls
-- Queue, raise or wake; answers by position in the batch.
-- Invariant: every accepted URL is one row, and its host knows of it before the transaction ends.
SELECT place, outcome FROM submit_urls($1::uuid, $2::uuid, $3::submission[], $4::integer, $5::timestamptz, $6::integer);

-- name: read_source_for_submit
-- The urgency of a source's URLs, whether it may submit at all, and the time by which URLs are judged.
SELECT id, kind, priority, status, now() AS now FROM sources WHERE id = $1::uuid FOR KEY SHARE;

-- name: claim_entries
-- Lease due entries of open hosts; the last row says when to come back.
SELECT token, bucket, url_hash, host, url, source_id, origin, depth, priority, retry_count, fetch_count, hops, resume_url,
       etag, last_modified, content_hash, is_alone, wait, marks, domain, found_by, is_doubted
FROM claim_entries(:owner::text, :most::integer, :lease::interval, :bucket::smallint, :marks::timestamptz[], :now::timestamptz,
                   :doubted::integer, :doubted_first::integer, :full_domains::text[], :full_sources::uuid[]);

-- name: claim_suspect
-- Lease one entry whose worker died, to a worker that holds nothing else.
SELECT token, bucket, url_hash, host, url, source_id, origin, depth, priority, retry_count, fetch_count, hops, resume_url,
       etag, last_modified, content_hash, is_alone, wait, marks, domain, found_by, is_doubted
FROM claim_suspect($1::text, $2::interval, $3::timestamptz);

-- name: has_suspects
-- Whether an entry waits to be tried alone.
SELECT EXISTS (SELECT 1 FROM url_frontier WHERE held = 'suspect' AND next_fetch_at <= statement_timestamp());

-- name: settle_requests
-- End requests; answers with the tokens that still held. A stale token changes nothing.
SELECT settle_requests($1::settlement[], $2::timestamptz);

-- name: extend_leases
-- Keep leases that still hold; answers with their tokens, also of those that another session has locked.
SELECT extend_leases($1::smallint[], $2::uuid[], $3::interval, $4::timestamptz);

-- name: release_all_but
-- Give back the leases of an owner that it does not know of, as after a claim whose answer was lost.
SELECT release_all_but($1::text, $2::uuid[], $3::timestamptz);

-- name: rescue_expired
-- Take back leases that ran out; only what a dead owner had begun is held against its entry.
SELECT rescued, suspected, poisoned FROM rescue_expired($1::integer, $2::timestamptz, $3::interval);

-- name: fall_asleep
-- Say that this worker sleeps, so that a submitter bothers to wake it.
INSERT INTO sleepers (owner, until) VALUES ($1::text, clock_timestamp() + $2::interval)
ON CONFLICT (owner) DO UPDATE SET until = excluded.until;

-- name: wake_sleepers
-- One NOTIFY, and only if a worker sleeps.
SELECT pg_notify('headwater_work', '') WHERE EXISTS
    (SELECT 1 FROM sleepers WHERE waits_for = 'work' AND until > statement_timestamp());

-- name: promote_hosts
-- Hosts for which something better has fallen due while they waited; a batch.
SELECT bucket, host FROM hosts
WHERE promote_at < 'infinity' AND promote_at <= coalesce($1::timestamptz, statement_timestamp())
ORDER BY promote_at LIMIT $2::integer;

-- name: lock_hosts
-- In one order everywhere.
SELECT lock_hosts($1::smallint[], $2::text[]);

-- name: hold_hosts
-- Make and lock all hosts of a transaction that will lock some more than once.
SELECT hold_hosts($1::smallint[], $2::text[], $3::integer, $4::text[]);

-- name: refresh_hosts
-- Write the derived columns of locked hosts.
SELECT refresh_hosts($1::smallint[], $2::text[], coalesce($3::timestamptz, clock_timestamp()));

-- name: due_revisits
-- Fetched entries whose revisit is due; a batch.
SELECT bucket, url_hash, host FROM url_frontier
WHERE status = 'fetched' AND revisit_at IS NOT NULL AND revisit_at <= coalesce($1::timestamptz, statement_timestamp())
ORDER BY revisit_at LIMIT $2::integer;

-- name: prepare_revisits
-- Pages that their source's clock calls for wait behind all new ones; those of a removed source are not called for any more.
-- Invariant: their hosts are locked; entries in the order in which everybody locks them.
WITH due AS MATERIALIZED (
    SELECT e.bucket, e.url_hash FROM unnest($1::smallint[], $2::bytea[]) AS g (bucket, url_hash)
    JOIN url_frontier e ON e.bucket = g.bucket AND e.url_hash = g.url_hash
    WHERE e.status = 'fetched' ORDER BY e.bucket, e.url_hash FOR NO KEY UPDATE OF e
)
UPDATE url_frontier e
SET priority = CASE WHEN s.revisit_every <> '{}' THEN $3::smallint ELSE e.priority END,
    revisit_at = CASE WHEN s.status <> 'deleted' THEN e.revisit_at END
FROM due d, sources s
WHERE e.bucket = d.bucket AND e.url_hash = d.url_hash AND s.id = e.source_id
RETURNING e.bucket, e.url_hash, s.status = 'deleted' AS is_left;

-- name: change_entries
-- Hold, let go, kill or revive many entries at once; whatever is being fetched is left alone.
SELECT change_entries(:buckets::smallint[], :url_hashes::bytea[], :before::text[], :status::text, :reason::text, :held::text,
                      :now::timestamptz, :error::text);

-- name: put_first
-- A waiting entry goes to the front of its host's queue: the best priority, and due before all others of it.
UPDATE url_frontier e
SET priority = 10, updated_at = clock_timestamp(), next_fetch_at = least(clock_timestamp(), (
    SELECT min(w.next_fetch_at) - interval '1 millisecond' FROM url_frontier w
    WHERE w.bucket = e.bucket AND w.host = e.host AND w.priority = 10 AND w.status IN ('pending', 'failed') AND w.held IS NULL))
WHERE e.bucket = $1::smallint AND e.url_hash = $2::bytea AND e.status = 'pending' AND e.held IS NULL;

-- name: entries_of_source
-- A page of the entries a source found, in key order: the way to all of them without scanning the table. `is_left`: another
-- active source may have one now that was set aside before, or that a removed source has read.
SELECT e.bucket, e.url_hash, e.host, e.status, e.held, e.source_id,
       e.source_id = d.source_id AND (e.held = 'paused' OR e.status = 'fetched' AND r.status = 'deleted') AND EXISTS (
           SELECT 1 FROM discoveries o JOIN sources s ON s.id = o.source_id AND s.status = 'active'
           WHERE o.bucket = d.bucket AND o.url_hash = d.url_hash AND o.source_id <> d.source_id
             AND (e.status <> 'fetched' OR o.rank > 0 OR e.owner_rank = 0)) AS is_left
FROM discoveries d
JOIN url_frontier e ON e.bucket = d.bucket AND e.url_hash = d.url_hash
JOIN sources r ON r.id = d.source_id
WHERE d.source_id = $1::uuid AND (d.bucket, d.url_hash) > ($2::smallint, $3::bytea)
ORDER BY d.bucket, d.url_hash LIMIT $4::integer;

-- name: hand_over_entries
-- Waiting entries of a source that may not be fetched go to another active source that found them too, best
-- to one that may speak for them. What a removed source has read goes with them and is read again, since its successor may read it
-- otherwise; of pages it could speak for only to one that may, too, as when a person submits them.
-- Invariant: the counters move with them, in this statement.
WITH successors AS MATERIALIZED (
    SELECT e.bucket, e.url_hash, e.status, successor.source_id, successor.rank, e.status = 'fetched' AS is_read
    FROM unnest($2::smallint[], $3::bytea[]) AS g (bucket, url_hash)
    JOIN url_frontier e ON e.bucket = g.bucket AND e.url_hash = g.url_hash
    JOIN sources r ON r.id = e.source_id
    CROSS JOIN LATERAL (
        SELECT d.source_id, d.rank FROM discoveries d JOIN sources s ON s.id = d.source_id AND s.status = 'active'
        WHERE d.bucket = e.bucket AND d.url_hash = e.url_hash AND d.source_id <> $1::uuid
        ORDER BY d.rank DESC, d.first_seen_at LIMIT 1
    ) AS successor
    WHERE e.source_id = $1::uuid
      AND (e.status IN ('pending', 'failed') OR e.status = 'fetched' AND r.status = 'deleted' AND (successor.rank > 0 OR e.owner_rank = 0))
), moved AS (
    UPDATE url_frontier e
    SET source_id = h.source_id, owner_rank = h.rank, held = nullif(e.held, 'paused'),
        status = CASE WHEN h.is_read THEN 'pending' ELSE e.status END,
        next_fetch_at = CASE WHEN h.is_read THEN clock_timestamp() ELSE e.next_fetch_at END,
        revisit_at = CASE WHEN NOT h.is_read THEN e.revisit_at END, etag = CASE WHEN NOT h.is_read THEN e.etag END,
        last_modified = CASE WHEN NOT h.is_read THEN e.last_modified END,
        content_hash = CASE WHEN NOT h.is_read THEN e.content_hash END
    FROM successors h
    WHERE e.bucket = h.bucket AND e.url_hash = h.url_hash AND e.source_id = $1::uuid AND e.status = h.status
    RETURNING e.source_id, e.status, h.status AS from_status
)
INSERT INTO counter_deltas (source_id, status, entries)
SELECT c.source_id, c.status, sum(c.entries)
FROM (SELECT source_id, status, 1 AS entries FROM moved UNION ALL SELECT $1::uuid, from_status, -1 FROM moved) AS c
GROUP BY 1, 2;

-- name: held_entries_of_source
-- Entries set aside while the source was paused; a batch.
SELECT bucket, url_hash FROM url_frontier WHERE held = 'paused' AND source_id = $1::uuid
ORDER BY bucket, url_hash LIMIT $2::integer;

-- name: sources_with_held_entries
-- Active sources that still have entries set aside.
SELECT s.id FROM sources s
WHERE s.status = 'active' AND EXISTS (SELECT 1 FROM url_frontier e WHERE e.held = 'paused' AND e.source_id = s.id);

-- name: entries_of_host
-- A page of a host's entries in key order, with their URLs, for rules that must be asked URL by URL.
SELECT bucket, url_hash, url, status, reason FROM url_frontier
WHERE bucket = $1::smallint AND host = $2::text AND url_hash > $3::bytea AND status = ANY ($4::text[])
ORDER BY url_hash LIMIT $5::integer;

-- name: entries_of_hosts
-- A page of the entries of hosts that share a bucket, in key order, whatever became of them.
SELECT bucket, url_hash, url FROM url_frontier
WHERE bucket = $1::smallint AND host = ANY ($2::text[]) AND url_hash > $3::bytea ORDER BY url_hash LIMIT $4::integer;

-- name: count_waiting
-- How many entries of hosts that share a bucket wait to be fetched; so many at the most.
SELECT count(*) FROM (
    SELECT FROM url_frontier
    WHERE bucket = $1::smallint AND host = ANY ($2::text[]) AND status IN ('pending', 'failed') AND held IS NULL
    LIMIT $3::integer
) AS waiting;

-- name: count_living
-- How many of these entries are not dead.
SELECT count(*) FROM unnest($1::smallint[], $2::bytea[]) AS g (bucket, url_hash)
JOIN url_frontier e ON e.bucket = g.bucket AND e.url_hash = g.url_hash
WHERE e.status <> 'dead';

-- name: robots_blocked_of_host
-- Entries that robots.txt once forbade, to be asked again when its rules change.
SELECT bucket, url_hash, url, status, reason FROM url_frontier
WHERE bucket = $1::smallint AND host = $2::text AND status = 'dead' AND reason = 'robots_blocked' AND url_hash > $3::bytea
ORDER BY url_hash LIMIT $4::integer;

-- name: delete_entries
-- Remove entries that are in one of some statuses, and who found them; answers with how many.
WITH gone AS (
    DELETE FROM url_frontier e USING unnest($1::smallint[], $2::bytea[]) AS k (bucket, url_hash)
    WHERE e.bucket = k.bucket AND e.url_hash = k.url_hash AND e.status = ANY ($3::text[])
    RETURNING e.bucket, e.url_hash, e.source_id, e.status
), forgotten AS (
    DELETE FROM discoveries d USING gone g WHERE d.bucket = g.bucket AND d.url_hash = g.url_hash
), counted AS (
    INSERT INTO counter_deltas (source_id, status, entries) SELECT source_id, status, -count(*) FROM gone GROUP BY 1, 2
)
SELECT count(*) FROM gone;

-- name: failures_by_class
-- What went wrong with those that failed or are dead: a count for each reason up to `$1`, and the last message of one of
-- them. The reasons are few: each is found by one step through the index, however many have it.
WITH RECURSIVE classes AS (
    (SELECT status, reason FROM url_frontier WHERE status IN ('failed', 'dead') AND reason IS NOT NULL
     ORDER BY status, reason LIMIT 1)
    UNION ALL
    SELECT n.status, n.reason FROM classes c CROSS JOIN LATERAL (
        SELECT e.status, e.reason FROM url_frontier e
        WHERE e.status IN ('failed', 'dead') AND e.reason IS NOT NULL AND (e.status, e.reason) > (c.status, c.reason)
        ORDER BY e.status, e.reason LIMIT 1) AS n
)
SELECT c.status, c.reason, n.entries, l.last_error, l.url
FROM (SELECT * FROM classes LIMIT $2::integer) AS c
CROSS JOIN LATERAL (
    SELECT count(*) AS entries FROM (
        SELECT FROM url_frontier e WHERE e.status IN ('failed', 'dead') AND e.reason IS NOT NULL
          AND e.status = c.status AND e.reason = c.reason LIMIT $1::integer) AS counted
) AS n
CROSS JOIN LATERAL (
    SELECT e.last_error, e.url FROM url_frontier e WHERE e.status IN ('failed', 'dead') AND e.reason IS NOT NULL
      AND e.status = c.status AND e.reason = c.reason ORDER BY e.bucket, e.url_hash LIMIT 1
) AS l
ORDER BY n.entries DESC, c.status, c.reason;

-- name: fold_counters
-- Add the deltas to the counters and to the totals. One statement: a reader sees them before or after, never twice.
WITH folded AS (
    DELETE FROM counter_deltas RETURNING source_id, status, entries
), totals AS (
    INSERT INTO counter_totals AS t (status, entries) SELECT status, sum(entries) FROM folded GROUP BY 1 ORDER BY 1
    ON CONFLICT (status) DO UPDATE SET entries = t.entries + excluded.entries
)
INSERT INTO counters AS c (source_id, status, entries)
SELECT source_id, status, sum(entries) FROM folded GROUP BY 1, 2 ORDER BY 1, 2
ON CONFLICT (source_id, status) DO UPDATE SET entries = c.entries + excluded.entries;

-- name: count_statuses
-- Entries by status, equal to a recount at this moment: totals, deltas and live leases in one snapshot.
SELECT status, sum(entries)::bigint AS entries
FROM (
    SELECT status, entries FROM counter_totals
    UNION ALL SELECT status, entries FROM counter_deltas
    UNION ALL SELECT from_status, -1 FROM slots WHERE url_hash IS NOT NULL
    UNION ALL SELECT 'fetching', 1 FROM slots WHERE url_hash IS NOT NULL
) AS counted
GROUP BY 1;

-- name: count_entries_of
-- As count_statuses, of some sources.
SELECT source_id, status, sum(entries)::bigint AS entries
FROM (
    SELECT source_id, status, entries FROM counters WHERE source_id = ANY ($1::uuid[])
    UNION ALL SELECT source_id, status, entries FROM counter_deltas WHERE source_id = ANY ($1)
    UNION ALL SELECT source_id, from_status, -1 FROM slots WHERE url_hash IS NOT NULL AND source_id = ANY ($1)
    UNION ALL SELECT source_id, 'fetching', 1 FROM slots WHERE url_hash IS NOT NULL AND source_id = ANY ($1)
) AS counted
GROUP BY 1, 2 HAVING sum(entries) <> 0;

-- name: count_entries
-- Entries by source and status, as count_statuses: for audits.
SELECT source_id, status, sum(entries)::bigint AS entries
FROM (
    SELECT source_id, status, entries FROM counters
    UNION ALL SELECT source_id, status, entries FROM counter_deltas
    UNION ALL SELECT source_id, from_status, -1 FROM slots WHERE url_hash IS NOT NULL
    UNION ALL SELECT source_id, 'fetching', 1 FROM slots WHERE url_hash IS NOT NULL
) AS counted
GROUP BY 1, 2 HAVING sum(entries) <> 0
ORDER BY 1, 2;

-- name: recount_statuses
-- As count_statuses, from the entries themselves: slow, for people who doubt the counters.
SELECT status, count(*) AS entries FROM url_frontier GROUP BY 1;

-- name: recount_entries
-- The same from the entries themselves: slow, for audits.
SELECT source_id, status, count(*) AS entries FROM url_frontier GROUP BY 1, 2 ORDER BY 1, 2;

-- name: compare_counts
-- By status: what the counters say, what a recount gives, and for how many sources the two differ. One statement sees one
-- moment: slow, for audits.
WITH counted AS (
    SELECT source_id, status, sum(entries)::bigint AS entries
    FROM (
        SELECT source_id, status, entries FROM counters
        UNION ALL SELECT source_id, status, entries FROM counter_deltas
        UNION ALL SELECT source_id, from_status, -1 FROM slots WHERE url_hash IS NOT NULL
        UNION ALL SELECT source_id, 'fetching', 1 FROM slots WHERE url_hash IS NOT NULL
    ) AS parts
    GROUP BY 1, 2
), recounted AS (
    SELECT source_id, status, count(*) AS entries FROM url_frontier GROUP BY 1, 2
)
SELECT status, sum(coalesce(c.entries, 0))::bigint AS counted, sum(coalesce(r.entries, 0))::bigint AS recounted,
       count(*) FILTER (WHERE coalesce(c.entries, 0) <> coalesce(r.entries, 0)) AS differing
FROM counted c FULL JOIN recounted r USING (source_id, status)
GROUP BY 1;

-- name: list_entries
-- A page in key order. At most `:most` rows are looked at, so a rare filter answers quickly with "searched up to here".
WITH looked AS MATERIALIZED (
    SELECT bucket, url_hash, host, url, source_id, origin, parent_url, depth, priority, status, held, next_fetch_at,
           retry_count, fetch_count, reason, last_error, last_status, etag, last_modified, content_hash, last_fetched_at,
           discovered_at, created_at, updated_at
    FROM url_frontier
    WHERE (bucket, url_hash) > (:after_bucket::smallint, :after_hash::bytea) AND (:bucket::smallint IS NULL OR bucket = :bucket)
    ORDER BY bucket, url_hash LIMIT :most::integer
)
SELECT * FROM (
    SELECT l.*, true AS matches FROM looked l
    WHERE (:status::text IS NULL OR l.status = :status) AND (:host::text IS NULL OR l.host = :host)
      AND (:origin::text IS NULL OR l.origin = :origin)
      AND (:reason::text IS NULL OR l.reason = :reason) AND (:url_prefix::text IS NULL OR starts_with(l.url, :url_prefix))
    ORDER BY l.bucket, l.url_hash LIMIT :limit::integer OFFSET :offset::integer
) AS page
UNION ALL
SELECT l.*, false FROM (SELECT * FROM looked ORDER BY bucket DESC, url_hash DESC LIMIT 1) AS l
WHERE (SELECT count(*) FROM looked) = :most;

-- name: list_failures
-- The same of those that failed or died for one reason, which have an index of their own.
WITH looked AS MATERIALIZED (
    SELECT bucket, url_hash, host, url, source_id, origin, parent_url, depth, priority, status, held, next_fetch_at,
           retry_count, fetch_count, reason, last_error, last_status, etag, last_modified, content_hash, last_fetched_at,
           discovered_at, created_at, updated_at
    FROM url_frontier
    WHERE status IN ('failed', 'dead') AND reason IS NOT NULL AND status = :status::text AND reason = :reason::text
      AND (bucket, url_hash) > (:after_bucket::smallint, :after_hash::bytea) AND (:bucket::smallint IS NULL OR bucket = :bucket)
    ORDER BY bucket, url_hash LIMIT :most::integer
)
SELECT * FROM (
    SELECT l.*, true AS matches FROM looked l
    WHERE (:host::text IS NULL OR l.host = :host) AND (:origin::text IS NULL OR l.origin = :origin)
      AND (:url_prefix::text IS NULL OR starts_with(l.url, :url_prefix))
    ORDER BY l.bucket, l.url_hash LIMIT :limit::integer OFFSET :offset::integer
) AS page
UNION ALL
SELECT l.*, false FROM (SELECT * FROM looked ORDER BY bucket DESC, url_hash DESC LIMIT 1) AS l
WHERE (SELECT count(*) FROM looked) = :most;

-- name: list_entries_of_source
-- The same for one source, by what it found.
WITH looked AS MATERIALIZED (
    SELECT e.bucket, e.url_hash, e.host, e.url, d.source_id, e.origin, e.parent_url, d.depth, e.priority, e.status, e.held,
           e.next_fetch_at, e.retry_count, e.fetch_count, e.reason, e.last_error, e.last_status, e.etag, e.last_modified,
           e.content_hash, e.last_fetched_at, e.discovered_at, e.created_at, e.updated_at
    FROM discoveries d JOIN url_frontier e ON e.bucket = d.bucket AND e.url_hash = d.url_hash
    WHERE d.source_id = :source_id::uuid AND (d.bucket, d.url_hash) > (:after_bucket::smallint, :after_hash::bytea)
      AND (:bucket::smallint IS NULL OR d.bucket = :bucket)
    ORDER BY d.bucket, d.url_hash LIMIT :most::integer
)
SELECT * FROM (
    SELECT l.*, true AS matches FROM looked l
    WHERE (:status::text IS NULL OR l.status = :status) AND (:host::text IS NULL OR l.host = :host)
      AND (:origin::text IS NULL OR l.origin = :origin)
      AND (:reason::text IS NULL OR l.reason = :reason) AND (:url_prefix::text IS NULL OR starts_with(l.url, :url_prefix))
    ORDER BY l.bucket, l.url_hash LIMIT :limit::integer OFFSET :offset::integer
) AS page
UNION ALL
SELECT l.*, false FROM (SELECT * FROM looked ORDER BY bucket DESC, url_hash DESC LIMIT 1) AS l
WHERE (SELECT count(*) FROM looked) = :most;

-- name: count_matching
-- How many entries a filter finds among the first `:most`, and among how many that was.
WITH looked AS MATERIALIZED (
    SELECT status, host, origin, reason, url FROM url_frontier WHERE :bucket::smallint IS NULL OR bucket = :bucket
    ORDER BY bucket, url_hash LIMIT :most::integer
)
SELECT count(*) AS looked,
       count(*) FILTER (WHERE (:status::text IS NULL OR l.status = :status) AND (:host::text IS NULL OR l.host = :host)
      AND (:origin::text IS NULL OR l.origin = :origin)
      AND (:reason::text IS NULL OR l.reason = :reason) AND (:url_prefix::text IS NULL OR starts_with(l.url, :url_prefix))) AS found
FROM looked l;

-- name: count_failures
-- The same of those that failed or died for one reason, which have an index of their own.
WITH looked AS MATERIALIZED (
    SELECT host, origin, url FROM url_frontier
    WHERE status IN ('failed', 'dead') AND reason IS NOT NULL AND status = :status::text AND reason = :reason::text
      AND (:bucket::smallint IS NULL OR bucket = :bucket)
    ORDER BY bucket, url_hash LIMIT :most::integer
)
SELECT count(*) AS looked,
       count(*) FILTER (WHERE (:host::text IS NULL OR l.host = :host) AND (:origin::text IS NULL OR l.origin = :origin)
      AND (:url_prefix::text IS NULL OR starts_with(l.url, :url_prefix))) AS found
FROM looked l;

-- name: count_matching_of_source
-- The same for one source, by what it found.
WITH looked AS MATERIALIZED (
    SELECT e.status, e.host, e.origin, e.reason, e.url
    FROM discoveries d JOIN url_frontier e ON e.bucket = d.bucket AND e.url_hash = d.url_hash
    WHERE d.source_id = :source_id::uuid AND (:bucket::smallint IS NULL OR d.bucket = :bucket)
    ORDER BY d.bucket, d.url_hash LIMIT :most::integer
)
SELECT count(*) AS looked,
       count(*) FILTER (WHERE (:status::text IS NULL OR l.status = :status) AND (:host::text IS NULL OR l.host = :host)
      AND (:origin::text IS NULL OR l.origin = :origin)
      AND (:reason::text IS NULL OR l.reason = :reason) AND (:url_prefix::text IS NULL OR starts_with(l.url, :url_prefix))) AS found
FROM looked l;

-- name: waiting_in_order
-- Waiting entries of one host behind a place, by urgency or by time: every level of urgency has its own order in the index.
SELECT w.* FROM generate_series(1, 10) AS level
CROSS JOIN LATERAL (
    SELECT bucket, url_hash, host, url, source_id, origin, parent_url, depth, priority, status, held, next_fetch_at,
           retry_count, fetch_count, reason, last_error, last_status, etag, last_modified, content_hash, last_fetched_at,
           discovered_at, created_at, updated_at
    FROM url_frontier
    WHERE bucket = :bucket::smallint AND host = :host::text AND priority = level AND status IN ('pending', 'failed')
      AND held IS NULL AND (:level::integer IS NULL OR level <= :level)
      AND (next_fetch_at, url_hash)
        > (CASE WHEN coalesce(:level, level) = level THEN :at::timestamptz ELSE '-infinity' END, :url_hash::bytea)
    ORDER BY next_fetch_at, url_hash LIMIT :most::integer
) AS w
ORDER BY CASE WHEN :by_priority::boolean THEN -w.priority END, w.next_fetch_at, w.url_hash LIMIT :most;

-- name: entries_from
-- Entries of a bucket whose hashes lie between two: those that an id may mean.
SELECT bucket, url_hash, host, url, source_id, origin, parent_url, depth, priority, status, held, next_fetch_at,
       retry_count, fetch_count, reason, last_error, last_status, etag, last_modified, content_hash, last_fetched_at,
       discovered_at, created_at, updated_at
FROM url_frontier WHERE bucket = $1::smallint AND url_hash BETWEEN $2::bytea AND $3::bytea LIMIT 100;

-- name: owned_by_followed
-- Those of some entries whose sources are active.
SELECT e.bucket, e.url_hash, e.host, e.url
FROM unnest($1::smallint[], $2::bytea[]) AS k (bucket, url_hash)
JOIN url_frontier e ON e.bucket = k.bucket AND e.url_hash = k.url_hash
JOIN sources s ON s.id = e.source_id AND s.status = 'active';

-- name: find_entry
-- Everything known of one entry, with its host, its source and its live lease.
SELECT e.bucket, e.url_hash, e.host, e.url, e.source_id, e.origin, e.parent_url, e.depth, e.priority, e.status, e.held,
       e.next_fetch_at, e.retry_count, e.crash_count, e.fetch_count, e.reason, e.last_error, e.last_status, e.moved_to,
       e.last_fetched_at, e.discovered_at, e.revisit_at,
       greatest(h.next_slot_at, 'epoch') AS next_slot_at, greatest(h.yield_until, 'epoch') AS yield_until, h.in_flight,
       h.max_concurrency, h.delay_ms, h.penalty_ms, h.is_doubted,
       s.name AS source_name, s.status AS source_status, s.status_reason, s.priority AS source_priority,
       t.owner AS lease_owner, t.expires_at AS lease_expires_at,
       coalesce($3::timestamptz, clock_timestamp()) AS now
FROM url_frontier e
JOIN hosts h ON h.bucket = e.bucket AND h.host = e.host
JOIN sources s ON s.id = e.source_id
LEFT JOIN slots t ON t.bucket = e.bucket AND t.token = e.token
WHERE e.bucket = $1::smallint AND e.url_hash = $2::bytea;

-- name: closures_of_host
-- Why a host is closed, latest first.
SELECT reason, until FROM host_closures WHERE bucket = $1::smallint AND host = $2::text ORDER BY until DESC;

-- name: better_waiting_on_host
-- How many due entries of the host come before this one; looked at up to a bound.
SELECT count(*) FROM (
    SELECT 1 FROM url_frontier e
    WHERE e.bucket = $1::smallint AND e.host = $2::text AND e.status IN ('pending', 'failed') AND e.held IS NULL
      AND e.next_fetch_at <= coalesce($6::timestamptz, statement_timestamp())
      AND (e.priority > $3::smallint OR e.priority = $3 AND e.next_fetch_at < $4::timestamptz)
    LIMIT $5::integer
) AS better;

-- name: history_of_entry
-- The requests for an entry, newest first.
SELECT at, kind, owner, started_at, duration_ms, status, body_bytes, verdict, reason FROM fetch_log
WHERE bucket = $1::smallint AND url_hash = $2::bytea ORDER BY at DESC LIMIT $3::integer;

-- name: still_owned
-- Which of these waiting entries still belong to the source and are not set aside yet.
SELECT e.bucket, e.url_hash FROM unnest($2::smallint[], $3::bytea[]) AS g (bucket, url_hash)
JOIN url_frontier e ON e.bucket = g.bucket AND e.url_hash = g.url_hash
WHERE e.source_id = $1::uuid AND e.status IN ('pending', 'failed') AND e.held IS DISTINCT FROM 'paused';

-- name: try_to_be_alone
-- Whether this transaction is the only one at a piece of maintenance; freed with the transaction.
SELECT pg_try_advisory_xact_lock(hashtextextended('headwater.' || $1::text, 0));

-- name: recently_stopped_sources
-- Sources that stopped being active a while ago, to hold what was submitted to them in that moment.
SELECT id FROM sources WHERE status <> 'active' AND updated_at > now() - interval '10 minutes';

-- name: statistics_to_fold
-- From where to where the logs of requests and of runs are to be folded: only past rows whose writers have surely ended.
SELECT folded_until, runs_folded_until, now() - interval '1 minute' AS until FROM statistics_mark;

-- name: fold_statistics
-- Add to the hosts' statistics what the fetch log holds since the last fold. The bounds are given: only days between them
-- are looked at. A page that is not there (404, 410) is no failure of its host; what was never asked for is no request.
-- Invariant: the mark moves in this transaction, in which nobody else folds.
WITH fresh AS (
    SELECT l.bucket, l.host, count(*) AS requests, count(*) FILTER (WHERE l.status BETWEEN 200 AND 399) AS succeeded,
           count(*) FILTER (WHERE l.status >= 400 AND l.status NOT IN (404, 410) OR l.status IS NULL) AS failed,
           count(*) FILTER (WHERE l.status IN (429, 503)) AS rate_limited,
           coalesce(sum(l.body_bytes), 0) AS body_bytes, coalesce(sum(l.duration_ms), 0) AS busy_ms,
           (array_agg(l.status ORDER BY l.at DESC))[1] AS last_status, max(l.at) AS last_seen_at
    FROM fetch_log l
    WHERE l.at > $1::timestamptz AND l.at <= $2::timestamptz AND l.started_at IS NOT NULL
    GROUP BY 1, 2
), folded AS (
    INSERT INTO host_statistics AS s
        (bucket, host, requests, succeeded, failed, rate_limited, body_bytes, busy_ms, last_status, last_seen_at)
    SELECT bucket, host, requests, succeeded, failed, rate_limited, body_bytes, busy_ms, last_status, last_seen_at FROM fresh
    ORDER BY bucket, host
    ON CONFLICT (bucket, host) DO UPDATE
    SET requests = s.requests + excluded.requests, succeeded = s.succeeded + excluded.succeeded,
        failed = s.failed + excluded.failed, rate_limited = s.rate_limited + excluded.rate_limited,
        body_bytes = s.body_bytes + excluded.body_bytes, busy_ms = s.busy_ms + excluded.busy_ms,
        last_status = excluded.last_status, last_seen_at = excluded.last_seen_at
)
UPDATE statistics_mark SET folded_until = $2;

-- name: fold_runs
-- Add to the minutes what the log of runs holds since the last fold, and forget those of days ago.
-- Invariant: as fold_statistics.
WITH forgotten AS (
    DELETE FROM run_minutes WHERE minute < $2::timestamptz - interval '2 days'
), folded AS (
    INSERT INTO run_minutes AS m (minute, runs, failed, found)
    SELECT date_trunc('minute', at), count(*), count(*) FILTER (WHERE status = 'fail'), coalesce(sum(inserted), 0)
    FROM runs WHERE at > $1::timestamptz AND at <= $2
    GROUP BY 1 ORDER BY 1
    ON CONFLICT (minute) DO UPDATE
    SET runs = m.runs + excluded.runs, failed = m.failed + excluded.failed, found = m.found + excluded.found
)
UPDATE statistics_mark SET runs_folded_until = $2;

-- name: fold_requests
-- Add to the minutes and to the totals what the fetch log holds since the last fold, and forget minutes of days ago. What
-- was not asked for at all has no status and no start.
-- Invariant: as fold_statistics, between the same bounds.
WITH forgotten AS (
    DELETE FROM request_minutes WHERE minute < $2::timestamptz - interval '3 days'
), fresh AS MATERIALIZED (
    SELECT date_trunc('minute', at) AS minute, kind,
           CASE WHEN status IS NOT NULL THEN least(status / 100, 6)::text || 'xx' WHEN reason = 'robots_blocked' THEN 'robots_blocked'
                WHEN verdict = 'crashed' THEN 'crashed' WHEN started_at IS NULL THEN 'not_asked' ELSE 'no_answer' END AS class,
           count(*) AS requests, coalesce(sum(body_bytes), 0)::bigint AS body_bytes, coalesce(sum(duration_ms), 0)::bigint AS busy_ms
    FROM fetch_log WHERE at > $1::timestamptz AND at <= $2
    GROUP BY 1, 2, 3
), added AS (
    INSERT INTO request_totals AS t (kind, class, requests, body_bytes, busy_ms)
    SELECT kind, class, sum(requests), sum(body_bytes), sum(busy_ms) FROM fresh GROUP BY 1, 2
    ON CONFLICT (kind, class) DO UPDATE
    SET requests = t.requests + excluded.requests, body_bytes = t.body_bytes + excluded.body_bytes,
        busy_ms = t.busy_ms + excluded.busy_ms
)
INSERT INTO request_minutes AS m (minute, kind, class, requests, body_bytes, busy_ms) SELECT * FROM fresh
ON CONFLICT (minute, kind, class) DO UPDATE
SET requests = m.requests + excluded.requests, body_bytes = m.body_bytes + excluded.body_bytes,
    busy_ms = m.busy_ms + excluded.busy_ms;

-- name: oldest_snapshot
-- The session that keeps vacuum from its work: the age of the oldest snapshot, and whose it is. An open transaction that has
-- an id does so without one, too.
SELECT extract(epoch FROM clock_timestamp() - xact_start)::float8 AS age_seconds, pid, application_name, state
FROM pg_stat_activity
WHERE (backend_xmin IS NOT NULL OR backend_xid IS NOT NULL) AND xact_start IS NOT NULL AND pid <> pg_backend_pid()
  AND datname = current_database()
ORDER BY greatest(age(backend_xmin), age(backend_xid)) DESC LIMIT 1;

-- name: forget_sleepers
-- Workers that are long awake or dead.
DELETE FROM sleepers WHERE until < statement_timestamp() - interval '1 minute';

-- name: hosts_without_domain
-- Hosts that were made without their registrable domain; a batch.
SELECT bucket, host FROM hosts WHERE domain IS NULL ORDER BY bucket, host LIMIT $1::integer;

-- name: name_domains
-- Note the registrable domains of hosts this transaction has locked.
UPDATE hosts h SET domain = g.domain FROM unnest($1::smallint[], $2::text[], $3::text[]) AS g (bucket, host, domain)
WHERE h.bucket = g.bucket AND h.host = g.host;

-- name: pass_on_clock_mark
-- The time, if it went on as it should since the last look; nothing where the clock may have been set.
-- Invariant: it is read when the mark is held, since a wait for it would be in the time.
WITH held AS MATERIALIZED (
    SELECT seen_at FROM clock_mark FOR UPDATE
), seen AS MATERIALIZED (
    SELECT seen_at, clock_timestamp() AS now FROM held
)
UPDATE clock_mark SET seen_at = s.now FROM seen s
WHERE s.now >= s.seen_at AND s.now - s.seen_at < $1::interval RETURNING s.now;

-- name: hold_clock_mark
-- The newest time that was seen; nobody else follows the clock meanwhile.
SELECT seen_at FROM clock_mark FOR UPDATE;

-- name: read_clock
-- The time: in a statement of its own, since a wait for a lock would be in it.
SELECT clock_timestamp();

-- name: note_clock
-- The time that was seen.
UPDATE clock_mark SET seen_at = $1::timestamptz;

-- name: follow_clock_back
-- A bucket after the clock was set back. Invariant: no slot is brought nearer than its host's spacing.
SELECT follow_clock_back($1::smallint, $2::interval, $3::interval);

-- name: follow_clock_back_in_channels
-- All channels after the clock was set back.
SELECT follow_clock_back_in_channels($1::interval, $2::interval);

-- name: follow_clock_ahead
-- A bucket after the clock was set forward: what is under way keeps the time it had left.
SELECT follow_clock_ahead($1::smallint, $2::interval, $3::timestamptz, $4::interval);

-- name: forget_new_hosts
-- How many new hosts sources brought days ago.
DELETE FROM new_hosts WHERE hour < now() - interval '2 days';

-- name: read_host_rules
-- The exceptions of all hosts that have some: few, and set by people.
SELECT host, keep_slash, keep_params, strip_params, changed_at, rekeyed_at FROM host_rules ORDER BY bucket, host;

-- name: hold_host_rules
-- Make a row for a host's exceptions.
INSERT INTO host_rules (bucket, host) VALUES ($1::smallint, $2::text) ON CONFLICT DO NOTHING;

-- name: rules_of_host
-- A host's exceptions, for a transaction that changes them.
SELECT keep_slash, keep_params, strip_params FROM host_rules WHERE bucket = $1::smallint AND host = $2::text FOR UPDATE;

-- name: set_host_rules
-- A change begins the walk through the host's entries anew.
UPDATE host_rules
SET keep_slash = $3::boolean, keep_params = $4::text[], strip_params = $5::text[], changed_at = clock_timestamp(),
    pass_from = NULL, position = '', has_missed = false, rekeyed_at = NULL
WHERE bucket = $1::smallint AND host = $2::text;

-- name: sources_at_host
-- Sources whose address lies at a host.
SELECT id, url, url_hash FROM sources WHERE host = $2::text AND url_hash IS NOT NULL AND $1::smallint IS NOT NULL;

-- name: channels_at_host
-- Channels that lie at a host.
SELECT id, url, url_hash FROM channels WHERE bucket = $1::smallint AND host = $2::text;

-- name: rekey_source
-- Unless another source has that address.
UPDATE sources SET url_hash = $2::bytea
WHERE id = $1::uuid AND NOT EXISTS (SELECT 1 FROM sources o WHERE o.url_hash = $2 AND o.status <> 'deleted')
  AND NOT EXISTS (SELECT 1 FROM sources o WHERE o.url_hash = $2 AND o.status = 'deleted');

-- name: rekey_channel
-- Unless another channel has that address: of its kind and source, or a feed of any.
UPDATE channels c SET url_hash = $2::bytea
WHERE c.id = $1::uuid
  AND NOT EXISTS (SELECT 1 FROM channels o WHERE o.source_id = c.source_id AND o.kind = c.kind AND o.url_hash = $2)
  AND NOT EXISTS (SELECT 1 FROM channels o WHERE o.url_hash = $2 AND o.kind = 'feed' AND o.is_enabled);

-- name: rules_to_apply
-- Hosts whose entries are to be keyed anew: one walk at once, and one more when every process knows of the change.
SELECT bucket, host, keep_slash, keep_params, strip_params, changed_at FROM host_rules
WHERE rekeyed_at IS NULL AND (pass_from IS NOT NULL OR position = '' OR changed_at <= statement_timestamp() - $1::interval)
ORDER BY changed_at;

-- name: take_up_rekeying
-- Where the walk through a host's entries stands, or the beginning of one; nothing where the rules have changed again.
UPDATE host_rules
SET pass_from = coalesce(pass_from, clock_timestamp()), position = CASE WHEN pass_from IS NULL THEN '' ELSE position END,
    has_missed = pass_from IS NOT NULL AND has_missed
WHERE bucket = $1::smallint AND host = $2::text AND changed_at = $3::timestamptz AND rekeyed_at IS NULL
RETURNING pass_from, position;

-- name: note_rekeying
-- How far a walk has come; null: it is over. If it began when every process knew of the change, and met everything, all is
-- done: then what the host's channels list is asked for in full once more, since an answer "not modified" would not show
-- what is another page now; a poll under way loses its lease, or it would store its validators after that.
-- Invariant: only the walk that was taken up is noted, not one that another process began meanwhile.
WITH noted AS (
    UPDATE host_rules
    SET has_missed = has_missed OR $5::boolean, position = coalesce($4::bytea, 'x'),
        pass_from = CASE WHEN $4 IS NOT NULL THEN pass_from END,
        rekeyed_at = CASE WHEN $4 IS NULL AND NOT has_missed AND NOT $5 AND pass_from >= changed_at + $6::interval
                          THEN clock_timestamp() END
    WHERE bucket = $1::smallint AND host = $2::text AND pass_from = $3::timestamptz RETURNING rekeyed_at
)
UPDATE channels
SET etag = NULL, last_modified = NULL, answers = '{"": {"wants_all": true}}', progress = NULL, token = NULL, leased_by = NULL,
    lease_until = NULL
WHERE bucket = $1 AND host = $2 AND is_enabled AND (SELECT rekeyed_at IS NOT NULL FROM noted);

-- name: rekey_entry
-- One entry, with all that is kept by its key: moved, merged, busy or gone.
-- Invariant: its host is locked before.
SELECT rekey_entry($1::smallint, $2::bytea, $3::bytea, clock_timestamp());

-- name: known_to_source
-- Which of these addresses a source has found before.
SELECT d.url_hash FROM unnest($2::smallint[], $3::bytea[]) AS u (bucket, url_hash)
JOIN discoveries d ON d.source_id = $1::uuid AND d.bucket = u.bucket AND d.url_hash = u.url_hash;

-- name: count_entries_of_source
-- How many entries a source owns, by its counters.
SELECT coalesce(sum(entries), 0)::bigint FROM (
    SELECT entries FROM counters WHERE source_id = $1::uuid
    UNION ALL SELECT entries FROM counter_deltas WHERE source_id = $1) AS counted;

-- name: read_pause
-- Since when everything is paused, by whom and why; no row where it is not.
SELECT since, set_by, reason FROM crawl_pause;

-- name: set_pause
-- Pause everything, unless somebody has.
INSERT INTO crawl_pause (set_by, reason) VALUES ($1::text, $2::text) ON CONFLICT (only_row) DO NOTHING RETURNING true;

-- name: lift_pause
-- Let everything go on.
DELETE FROM crawl_pause RETURNING true;
