-- name: what_the_role_sees
-- Our own role as it is written in SQL, and whether the server shows it the transactions of others.
SELECT quote_ident(current_user) AS role, pg_has_role(current_user, 'pg_read_all_stats', 'usage') AS sees_sessions;

-- name: server_version
-- What the server calls itself, for people.
SELECT current_setting('server_version');

-- name: server_time
-- The only clock that decides anything.
SELECT clock_timestamp();

-- name: smallest_gaps
-- Per host the smallest time between two request starts against the delay that held for the later one, worst first.
SELECT g.host, count(*) AS requests, min(g.gap) AS smallest_gap,
       (array_agg(g.delay ORDER BY g.gap - g.delay))[1] AS delay
FROM (
    SELECT host, started_at - lag(started_at) OVER (PARTITION BY bucket, host ORDER BY started_at) AS gap,
           make_interval(secs => delay_ms / 1000.0) AS delay
    FROM fetch_log WHERE at > now() - $1::interval AND started_at IS NOT NULL
) AS g
GROUP BY g.host HAVING min(g.gap) IS NOT NULL
ORDER BY min(g.gap - g.delay) LIMIT $2::integer;

-- name: pages_requested
-- Every page that was requested in a stretch of time.
SELECT l.bucket, l.host, e.url, l.started_at
FROM fetch_log l JOIN url_frontier e ON e.bucket = l.bucket AND e.url_hash = l.url_hash
WHERE l.at > $1::timestamptz AND l.at <= $2::timestamptz AND l.kind = 'page' AND l.started_at IS NOT NULL;

-- name: robots_in_force
-- The rules of these hosts' origins, each with the moment until which they held; those that hold now have none.
SELECT r.host, r.scheme, r.port, r.body, r.until
FROM unnest($1::smallint[], $2::text[]) AS k (bucket, host) CROSS JOIN LATERAL (
    SELECT f.host, f.scheme, f.port, f.body, f.until FROM former_robots f WHERE f.bucket = k.bucket AND f.host = k.host
    UNION ALL
    SELECT n.host, n.scheme, n.port, n.body, NULL FROM robots n WHERE n.bucket = k.bucket AND n.host = k.host) AS r
ORDER BY r.until NULLS LAST;

-- name: busiest_addresses
-- Addresses with several names: requests, the most within one second, and within one minute of those that were made under
-- the address's own pace.
SELECT g.address, g.names, g.requests, g.most_in_a_second, coalesce(p.most_in_a_minute, 0) AS paced_in_a_minute
FROM (
    SELECT s.address, max(s.names) AS names, sum(s.requests)::bigint AS requests, max(s.requests)::bigint AS most_in_a_second
    FROM (SELECT h.address, date_trunc('second', l.started_at) AS second, count(*) AS requests,
                 (SELECT count(*) FROM hosts o WHERE o.address = h.address) AS names
          FROM fetch_log l JOIN hosts h ON h.bucket = l.bucket AND h.host = l.host
          WHERE l.at > now() - $1::interval AND l.started_at IS NOT NULL AND h.address IS NOT NULL GROUP BY 1, 2) AS s
    GROUP BY 1
) AS g
LEFT JOIN (
    SELECT m.address, max(m.requests)::bigint AS most_in_a_minute
    FROM (SELECT h.address, date_trunc('minute', l.started_at) AS minute, count(*) AS requests
          FROM fetch_log l JOIN hosts h ON h.bucket = l.bucket AND h.host = l.host
          WHERE l.at > now() - $1 AND l.started_at IS NOT NULL AND h.address_delay_ms > 0 AND l.delay_ms * 2 >= h.address_delay_ms
          GROUP BY 1, 2) AS m
    GROUP BY 1
) AS p ON p.address = g.address
WHERE g.names > 1
ORDER BY p.most_in_a_minute DESC NULLS LAST, g.most_in_a_second DESC LIMIT $2::integer;

-- name: waiting_hosts
-- Hosts with something waiting: how many are open now, how many not yet, and when the next one opens. Hosts that are asked
-- at this moment have a slot each.
SELECT count(*) FILTER (WHERE wake_at <= statement_timestamp()) AS open,
       count(*) FILTER (WHERE wake_at > statement_timestamp() AND wake_at < 'infinity') AS waiting,
       (SELECT count(DISTINCT (bucket, host)) FROM slots) AS busy,
       count(*) FILTER (WHERE line <= 10 AND wake_at < 'infinity') AS doubted,
       extract(epoch FROM min(wake_at) FILTER (WHERE wake_at > statement_timestamp() AND wake_at < 'infinity') - clock_timestamp())::float8
           AS next_in_seconds
FROM hosts WHERE line > 0;

-- name: count_suspects
-- Entries that wait to be tried alone, and channels whose last poll was lost; each counted up to a bound.
SELECT (SELECT count(*) FROM (SELECT 1 FROM url_frontier WHERE held = 'suspect' LIMIT $1::integer) AS e) AS pages,
       (SELECT count(*) FROM (SELECT 1 FROM channels WHERE lost_count > 0 LIMIT $1) AS c) AS channels;

-- name: list_hosts
-- Hosts in key order, with what is known of their pace.
SELECT h.bucket, h.host, greatest(h.delay_ms, h.penalty_ms) AS delay_ms, h.penalty_ms, h.in_flight, h.max_concurrency,
       h.wake_at <= statement_timestamp() AS is_open, h.is_doubted, h.last_fetch_at, s.requests, s.failed, s.rate_limited, s.last_status,
       (SELECT c.reason FROM host_closures c WHERE c.bucket = h.bucket AND c.host = h.host AND c.until > statement_timestamp()
        ORDER BY c.until DESC LIMIT 1) AS closed_by
FROM hosts h LEFT JOIN host_statistics s USING (bucket, host)
WHERE (h.bucket, h.host) > ($1::smallint, $2::text)
ORDER BY h.bucket, h.host LIMIT $3::integer;

-- name: list_hosts_in_state
-- The same of those in one state. At most `:most` hosts are looked at, so that a rare state answers quickly with "searched up
-- to here": its row says that it does not match.
WITH looked AS MATERIALIZED (
    SELECT h.bucket, h.host, h.delay_ms, h.penalty_ms, h.in_flight, h.max_concurrency, h.wake_at, h.closed_until, h.is_doubted,
           h.last_fetch_at
    FROM hosts h WHERE (h.bucket, h.host) > (:bucket::smallint, :host::text) ORDER BY h.bucket, h.host LIMIT :most::integer
), page AS (
    SELECT l.*, true AS matches FROM looked l
    WHERE CASE :state::text
        WHEN 'open' THEN l.wake_at <= statement_timestamp() AND l.closed_until <= statement_timestamp()
        WHEN 'waiting' THEN l.wake_at > statement_timestamp() AND l.wake_at < 'infinity'
        WHEN 'asked' THEN l.in_flight > 0
        WHEN 'closed' THEN l.closed_until > statement_timestamp()
        WHEN 'doubted' THEN l.is_doubted AND l.wake_at < 'infinity'
        WHEN 'slowed' THEN l.penalty_ms > 0
        WHEN 'idle' THEN l.wake_at = 'infinity' AND l.in_flight = 0
        WHEN 'policy' THEN EXISTS (
            SELECT 1 FROM host_policies p
            WHERE p.bucket = l.bucket AND p.host = l.host
              AND num_nonnulls(p.max_concurrency, p.min_request_interval_ms, p.burst, p.max_pages, p.max_kb_per_page, p.allow_js) > 0)
        WHEN 'crawl_delay' THEN EXISTS (
            SELECT 1 FROM host_policies p WHERE p.bucket = l.bucket AND p.host = l.host AND p.crawl_delay_ms > 0)
    END
    ORDER BY l.bucket, l.host LIMIT :limit::integer
), shown AS (
    SELECT * FROM page
    UNION ALL
    SELECT l.*, false FROM (SELECT * FROM looked ORDER BY bucket DESC, host DESC LIMIT 1) AS l
    WHERE (SELECT count(*) FROM looked) = :most
)
SELECT h.bucket, h.host, greatest(h.delay_ms, h.penalty_ms) AS delay_ms, h.penalty_ms, h.in_flight, h.max_concurrency,
       h.wake_at <= statement_timestamp() AS is_open, h.is_doubted, h.last_fetch_at, s.requests, s.failed, s.rate_limited, s.last_status,
       (SELECT c.reason FROM host_closures c WHERE c.bucket = h.bucket AND c.host = h.host AND c.until > statement_timestamp()
        ORDER BY c.until DESC LIMIT 1) AS closed_by, h.matches
FROM shown h LEFT JOIN host_statistics s ON s.bucket = h.bucket AND s.host = h.host
ORDER BY h.bucket, h.host, h.matches DESC;

-- name: source_names
-- Names of some sources, for people.
SELECT id, name FROM sources WHERE id = ANY ($1::uuid[]);

-- name: page_of_sources
-- A page by name, of all there are: also of the one for what people add, and of deleted ones.
SELECT id, name FROM sources WHERE (lower(name), id) > (lower($1::text), $2::uuid) ORDER BY lower(name), id LIMIT $3::integer;

-- name: delays
-- The delay of every host, for small worlds.
SELECT host, delay_ms / 1000.0::float8 AS delay FROM hosts;

-- name: list_sources
-- A page by name.
SELECT * FROM source_profiles p
WHERE (lower(p.name), p.id) > (lower(:name::text), :id::uuid)
  AND CASE coalesce(:status::text, 'all')
          WHEN 'all' THEN p.status <> 'deleted'
          WHEN 'failing' THEN p.status = 'active' AND p.id = ANY (ARRAY(
              SELECT c.source_id FROM channels c WHERE c.is_active AND c.consecutive_errors > 0))
          WHEN 'silent' THEN p.status = 'active' AND p.id = ANY (ARRAY(
              SELECT c.source_id FROM channels c WHERE c.is_active AND c.silent_since IS NOT NULL))
          WHEN 'overdue' THEN p.status = 'active' AND p.id = ANY (ARRAY(
              SELECT c.source_id FROM channels c WHERE c.is_active AND c.is_unpolled IN (false, true)
                AND c.next_poll_at < statement_timestamp() - :late::interval))
          WHEN 'idle' THEN p.status = 'active' AND p.id = ANY (ARRAY(
              SELECT c.source_id FROM channels c
              WHERE c.is_active AND c.kind = ANY (:news::text[])
                AND coalesce(c.last_new_at, c.created_at) < statement_timestamp() - :idle::interval
                AND NOT EXISTS (SELECT 1 FROM channels o WHERE o.source_id = c.source_id AND o.is_active AND o.kind = ANY (:news)
                                  AND coalesce(o.last_new_at, o.created_at) >= statement_timestamp() - :idle)))
          WHEN 'paused' THEN p.status = 'paused'
          WHEN 'blocked' THEN p.status = 'blocked'
          ELSE p.status = :status END
  AND (:kind::text IS NULL OR p.kind = :kind) AND (:tag::text IS NULL OR p.tags @> ARRAY[:tag])
  AND (:mode::text IS NULL OR p.ingestion_mode = :mode)
  AND (:beginning::text IS NULL OR lower(p.name) LIKE :beginning) AND (:ids::uuid[] IS NULL OR p.id = ANY (:ids))
ORDER BY lower(p.name), p.id LIMIT :limit::integer;

-- name: sources_in_order
-- A page in another order than by name, after the place where the page before ended; answers with each one's place. One branch
-- is read: the order's own, by its index; of those that their channels tell all are looked at, which are few, and sorted.
-- By polls and by errors those stand alone that have any.
WITH troubled AS MATERIALIZED (
    SELECT c.source_id FROM channels c WHERE :status::text = 'failing' AND c.is_active AND c.consecutive_errors > 0
    UNION ALL
    SELECT c.source_id FROM channels c WHERE :status = 'silent' AND c.is_active AND c.silent_since IS NOT NULL
    UNION ALL
    SELECT c.source_id FROM channels c WHERE :status = 'overdue' AND c.is_active AND c.is_unpolled IN (false, true)
       AND c.next_poll_at < statement_timestamp() - :late::interval
    UNION ALL
    SELECT c.source_id FROM channels c WHERE :status = 'idle' AND c.is_active AND c.kind = ANY (:news::text[])
                AND coalesce(c.last_new_at, c.created_at) < statement_timestamp() - :idle::interval
                AND NOT EXISTS (SELECT 1 FROM channels o WHERE o.source_id = c.source_id AND o.is_active AND o.kind = ANY (:news)
                                  AND coalesce(o.last_new_at, o.created_at) >= statement_timestamp() - :idle)
), matching AS NOT MATERIALIZED (
    SELECT s.id, s.created_at FROM sources s
    WHERE s.url_hash IS NOT NULL
      AND CASE WHEN :status IS NULL THEN s.status <> 'deleted'
               WHEN :is_troubled::boolean THEN s.status = 'active'
               ELSE s.status = :status END
      AND (:kind::text IS NULL OR s.kind = :kind) AND (:tag::text IS NULL OR s.tags @> ARRAY[:tag])
      AND (:mode::text IS NULL OR s.ingestion_mode = :mode) AND (:beginning::text IS NULL OR lower(s.name) LIKE :beginning)
), placed AS (
    (SELECT m.id, m.created_at AS at, 0 AS errors, m.id AS key FROM matching m
     WHERE :order::text = 'added' AND NOT :is_troubled AND (m.created_at, m.id) > (:at::timestamptz, :key::uuid)
     ORDER BY m.created_at, m.id LIMIT :limit::integer)
    UNION ALL
    (SELECT m.id, m.created_at, 0, m.id FROM matching m
     WHERE :order = '-added' AND NOT :is_troubled AND (m.created_at, m.id) < (:at, :key)
     ORDER BY m.created_at DESC, m.id DESC LIMIT :limit)
    UNION ALL
    (SELECT m.id, c.next_poll_at, 0, c.id FROM channels c JOIN matching m ON m.id = c.source_id
     WHERE :order = 'next' AND NOT :is_troubled AND c.is_active AND NOT c.is_unpolled AND c.next_poll_at >= :at
       AND (c.next_poll_at, c.id) > (:at, :key)
       AND NOT EXISTS (SELECT 1 FROM channels e WHERE e.source_id = c.source_id AND e.is_active
                         AND (e.next_poll_at, e.id) < (c.next_poll_at, c.id))
     ORDER BY c.next_poll_at, c.id LIMIT :limit)
    UNION ALL
    (SELECT m.id, c.next_poll_at, 0, c.id FROM channels c JOIN matching m ON m.id = c.source_id
     WHERE :order = 'next' AND NOT :is_troubled AND c.is_active AND c.is_unpolled AND c.next_poll_at >= :at
       AND (c.next_poll_at, c.id) > (:at, :key)
       AND NOT EXISTS (SELECT 1 FROM channels e WHERE e.source_id = c.source_id AND e.is_active
                         AND (e.next_poll_at, e.id) < (c.next_poll_at, c.id))
     ORDER BY c.next_poll_at, c.id LIMIT :limit)
    UNION ALL
    (SELECT m.id, NULL, c.consecutive_errors, c.id FROM channels c JOIN matching m ON m.id = c.source_id
     WHERE :order = '-errors' AND c.is_active AND c.consecutive_errors > 0
       AND (c.consecutive_errors, c.id) < (:errors::integer, :key)
       AND (NOT :is_troubled OR c.source_id IN (SELECT t.source_id FROM troubled t))
       AND NOT EXISTS (SELECT 1 FROM channels e WHERE e.source_id = c.source_id AND e.is_active AND e.consecutive_errors > 0
                         AND (e.consecutive_errors, e.id) > (c.consecutive_errors, c.id))
     ORDER BY c.consecutive_errors DESC, c.id DESC LIMIT :limit)
    UNION ALL
    (SELECT f.id, f.at, 0, f.key
     FROM (SELECT DISTINCT t.source_id FROM troubled t) AS u
     CROSS JOIN LATERAL (
         SELECT m.id, m.created_at AS at, m.id AS key FROM matching m WHERE :order <> 'next' AND m.id = u.source_id
         UNION ALL
         (SELECT m.id, c.next_poll_at, c.id FROM matching m JOIN channels c ON c.source_id = m.id AND c.is_active
          WHERE :order = 'next' AND m.id = u.source_id ORDER BY c.next_poll_at, c.id LIMIT 1) OFFSET 0) AS f
     WHERE :is_troubled AND :order <> '-errors'
       AND CASE WHEN :order = '-added' THEN (f.at, f.key) < (:at, :key) ELSE (f.at, f.key) > (:at, :key) END)
)
SELECT p.*, o.at, o.errors, o.key FROM placed o JOIN source_profiles p ON p.id = o.id
ORDER BY CASE WHEN :order <> '-added' THEN o.at END, CASE WHEN :order = '-added' THEN o.at END DESC, o.errors DESC,
         CASE WHEN :order IN ('added', 'next') THEN o.key END, o.key DESC
LIMIT :limit;

-- name: sources_not_polled
-- Active sources with a channel that was never polled.
SELECT DISTINCT source_id FROM channels WHERE is_active AND is_unpolled;

-- name: sorted_sources
-- A page in one of the orders that older programs ask for, by offset. One branch is read: the order's own, by its index.
SELECT p.* FROM unnest(ARRAY(
    (SELECT s.id FROM sources s WHERE :order::text = 'name asc' AND s.status <> 'deleted' AND s.url_hash IS NOT NULL
       AND (:status::text IS NULL OR s.status = :status) AND (:kind::text IS NULL OR s.kind = :kind)
       AND (:tag::text IS NULL OR s.tags @> ARRAY[:tag]) AND (NOT :feed_active::boolean OR (
           SELECT true FROM channels c WHERE c.source_id = s.id AND c.kind = 'feed' AND c.is_active LIMIT 1))
     ORDER BY lower(s.name), s.id LIMIT :limit::integer OFFSET :offset::integer)
    UNION ALL
    (SELECT s.id FROM sources s WHERE :order = 'name desc' AND s.status <> 'deleted' AND s.url_hash IS NOT NULL
       AND (:status::text IS NULL OR s.status = :status) AND (:kind::text IS NULL OR s.kind = :kind)
       AND (:tag::text IS NULL OR s.tags @> ARRAY[:tag]) AND (NOT :feed_active::boolean OR (
           SELECT true FROM channels c WHERE c.source_id = s.id AND c.kind = 'feed' AND c.is_active LIMIT 1))
     ORDER BY lower(s.name) DESC, s.id DESC LIMIT :limit::integer OFFSET :offset::integer)
    UNION ALL
    (SELECT s.id FROM sources s WHERE :order = 'url asc' AND s.status <> 'deleted' AND s.url_hash IS NOT NULL
       AND (:status::text IS NULL OR s.status = :status) AND (:kind::text IS NULL OR s.kind = :kind)
       AND (:tag::text IS NULL OR s.tags @> ARRAY[:tag]) AND (NOT :feed_active::boolean OR (
           SELECT true FROM channels c WHERE c.source_id = s.id AND c.kind = 'feed' AND c.is_active LIMIT 1))
     ORDER BY s.url, s.id LIMIT :limit::integer OFFSET :offset::integer)
    UNION ALL
    (SELECT s.id FROM sources s WHERE :order = 'url desc' AND s.status <> 'deleted' AND s.url_hash IS NOT NULL
       AND (:status::text IS NULL OR s.status = :status) AND (:kind::text IS NULL OR s.kind = :kind)
       AND (:tag::text IS NULL OR s.tags @> ARRAY[:tag]) AND (NOT :feed_active::boolean OR (
           SELECT true FROM channels c WHERE c.source_id = s.id AND c.kind = 'feed' AND c.is_active LIMIT 1))
     ORDER BY s.url DESC, s.id DESC LIMIT :limit::integer OFFSET :offset::integer)
    UNION ALL
    (SELECT s.id FROM sources s WHERE :order = 'enabled asc' AND s.status <> 'deleted' AND s.url_hash IS NOT NULL
       AND (:status::text IS NULL OR s.status = :status) AND (:kind::text IS NULL OR s.kind = :kind)
       AND (:tag::text IS NULL OR s.tags @> ARRAY[:tag]) AND (NOT :feed_active::boolean OR (
           SELECT true FROM channels c WHERE c.source_id = s.id AND c.kind = 'feed' AND c.is_active LIMIT 1))
     ORDER BY (s.status = 'active'), lower(s.name), s.id LIMIT :limit::integer OFFSET :offset::integer)
    UNION ALL
    (SELECT s.id FROM sources s WHERE :order = 'enabled desc' AND s.status <> 'deleted' AND s.url_hash IS NOT NULL
       AND (:status::text IS NULL OR s.status = :status) AND (:kind::text IS NULL OR s.kind = :kind)
       AND (:tag::text IS NULL OR s.tags @> ARRAY[:tag]) AND (NOT :feed_active::boolean OR (
           SELECT true FROM channels c WHERE c.source_id = s.id AND c.kind = 'feed' AND c.is_active LIMIT 1))
     ORDER BY (s.status = 'active') DESC, lower(s.name) DESC, s.id DESC LIMIT :limit::integer OFFSET :offset::integer)
    UNION ALL
    (SELECT s.id FROM sources s WHERE :order = 'created_at asc' AND s.status <> 'deleted' AND s.url_hash IS NOT NULL
       AND (:status::text IS NULL OR s.status = :status) AND (:kind::text IS NULL OR s.kind = :kind)
       AND (:tag::text IS NULL OR s.tags @> ARRAY[:tag]) AND (NOT :feed_active::boolean OR (
           SELECT true FROM channels c WHERE c.source_id = s.id AND c.kind = 'feed' AND c.is_active LIMIT 1))
     ORDER BY s.created_at, s.id LIMIT :limit::integer OFFSET :offset::integer)
    UNION ALL
    (SELECT s.id FROM sources s WHERE :order = 'created_at desc' AND s.status <> 'deleted' AND s.url_hash IS NOT NULL
       AND (:status::text IS NULL OR s.status = :status) AND (:kind::text IS NULL OR s.kind = :kind)
       AND (:tag::text IS NULL OR s.tags @> ARRAY[:tag]) AND (NOT :feed_active::boolean OR (
           SELECT true FROM channels c WHERE c.source_id = s.id AND c.kind = 'feed' AND c.is_active LIMIT 1))
     ORDER BY s.created_at DESC, s.id DESC LIMIT :limit::integer OFFSET :offset::integer))) WITH ORDINALITY AS k (id, place)
JOIN source_profiles p ON p.id = k.id ORDER BY k.place;

-- name: count_matching_sources
-- How many sources match, counted up to a cap.
SELECT count(*) FROM (
    SELECT 1 FROM sources s WHERE CASE WHEN :status::text IS NULL THEN s.status <> 'deleted' ELSE s.status = :status END
       AND s.url_hash IS NOT NULL AND (:kind::text IS NULL OR s.kind = :kind) AND (:tag::text IS NULL OR s.tags @> ARRAY[:tag])
       AND (:beginning::text IS NULL OR lower(s.name) LIKE :beginning) AND (NOT :feed_active::boolean OR (
           SELECT true FROM channels c WHERE c.source_id = s.id AND c.kind = 'feed' AND c.is_active LIMIT 1))
    LIMIT :cap::integer) AS matching;

-- name: count_sources_in_states
-- How many sources match in each state, each counted up to a cap.
SELECT
    (SELECT count(*) FROM (
        SELECT 1 FROM sources s WHERE s.status = 'active' AND s.url_hash IS NOT NULL
           AND (:kind::text IS NULL OR s.kind = :kind) AND (:tag::text IS NULL OR s.tags @> ARRAY[:tag])
           AND (:mode::text IS NULL OR s.ingestion_mode = :mode)
           AND (:beginning::text IS NULL OR lower(s.name) LIKE :beginning) LIMIT :cap::integer) AS matching) AS active,
    (SELECT count(*) FROM (
        SELECT 1 FROM (SELECT DISTINCT c.source_id FROM channels c WHERE c.is_active AND c.consecutive_errors > 0) AS ailing
        JOIN sources s ON s.id = ailing.source_id WHERE s.status = 'active' AND s.url_hash IS NOT NULL
           AND (:kind::text IS NULL OR s.kind = :kind) AND (:tag::text IS NULL OR s.tags @> ARRAY[:tag])
           AND (:mode::text IS NULL OR s.ingestion_mode = :mode)
           AND (:beginning::text IS NULL OR lower(s.name) LIKE :beginning) LIMIT :cap::integer) AS matching) AS failing,
    (SELECT count(*) FROM (
        SELECT 1 FROM (SELECT DISTINCT c.source_id FROM channels c WHERE c.is_active AND c.silent_since IS NOT NULL) AS ailing
        JOIN sources s ON s.id = ailing.source_id WHERE s.status = 'active' AND s.url_hash IS NOT NULL
           AND (:kind::text IS NULL OR s.kind = :kind) AND (:tag::text IS NULL OR s.tags @> ARRAY[:tag])
           AND (:mode::text IS NULL OR s.ingestion_mode = :mode)
           AND (:beginning::text IS NULL OR lower(s.name) LIKE :beginning) LIMIT :cap::integer) AS matching) AS silent,
    (SELECT count(*) FROM (
        SELECT 1 FROM (SELECT DISTINCT c.source_id FROM channels c
                       WHERE c.is_active AND c.is_unpolled IN (false, true)
                         AND c.next_poll_at < statement_timestamp() - :late::interval) AS ailing
        JOIN sources s ON s.id = ailing.source_id WHERE s.status = 'active' AND s.url_hash IS NOT NULL
           AND (:kind::text IS NULL OR s.kind = :kind) AND (:tag::text IS NULL OR s.tags @> ARRAY[:tag])
           AND (:mode::text IS NULL OR s.ingestion_mode = :mode)
           AND (:beginning::text IS NULL OR lower(s.name) LIKE :beginning) LIMIT :cap::integer) AS matching) AS overdue,
    (SELECT count(*) FROM (
        SELECT 1 FROM (SELECT DISTINCT c.source_id FROM channels c
              WHERE c.is_active AND c.kind = ANY (:news::text[])
                AND coalesce(c.last_new_at, c.created_at) < statement_timestamp() - :idle::interval
                AND NOT EXISTS (SELECT 1 FROM channels o WHERE o.source_id = c.source_id AND o.is_active AND o.kind = ANY (:news)
                                  AND coalesce(o.last_new_at, o.created_at) >= statement_timestamp() - :idle)) AS ailing
        JOIN sources s ON s.id = ailing.source_id WHERE s.status = 'active' AND s.url_hash IS NOT NULL
           AND (:kind::text IS NULL OR s.kind = :kind) AND (:tag::text IS NULL OR s.tags @> ARRAY[:tag])
           AND (:mode::text IS NULL OR s.ingestion_mode = :mode)
           AND (:beginning::text IS NULL OR lower(s.name) LIKE :beginning) LIMIT :cap::integer) AS matching) AS idle,
    (SELECT count(*) FROM (
        SELECT 1 FROM sources s WHERE s.status = 'paused' AND s.url_hash IS NOT NULL
           AND (:kind::text IS NULL OR s.kind = :kind) AND (:tag::text IS NULL OR s.tags @> ARRAY[:tag])
           AND (:mode::text IS NULL OR s.ingestion_mode = :mode)
           AND (:beginning::text IS NULL OR lower(s.name) LIKE :beginning) LIMIT :cap::integer) AS matching) AS paused,
    (SELECT count(*) FROM (
        SELECT 1 FROM sources s WHERE s.status = 'blocked' AND s.url_hash IS NOT NULL
           AND (:kind::text IS NULL OR s.kind = :kind) AND (:tag::text IS NULL OR s.tags @> ARRAY[:tag])
           AND (:mode::text IS NULL OR s.ingestion_mode = :mode)
           AND (:beginning::text IS NULL OR lower(s.name) LIKE :beginning) LIMIT :cap::integer) AS matching) AS blocked;

-- name: count_sources
-- Sources by status, equal to a recount at this moment: totals and deltas in one snapshot.
SELECT status, sum(count)::bigint AS sources
FROM (SELECT status, count FROM source_totals WHERE what = 'source'
      UNION ALL SELECT status, count FROM source_total_deltas WHERE what = 'source') AS counted
GROUP BY 1 HAVING sum(count) <> 0 ORDER BY 1;

-- name: list_runs
-- Newest first, of one source or of all; not older than a moment, and of one status among the newest `:looked`, where these are
-- given. Two branches, of which one does nothing: a plan made once for both would look through the runs of everybody.
SELECT r.at, r.id, r.source_id, s.name AS source, s.url AS source_url, r.channel_id, c.url AS channel_url,
       EXISTS (SELECT 1 FROM channels o WHERE o.source_id = r.source_id AND o.kind = r.kind AND o.id <> r.channel_id) AS is_one_of_several,
       r.kind, r.trigger, r.status, r.requests, r.found, r.inserted, r.updated, r.skipped, r.errors, r.duration_ms, r.http_status,
       r.error_class, r.message, r.next_poll_at, r.next_reason
FROM (
    SELECT * FROM (
        (SELECT * FROM runs WHERE source_id = :source_id::uuid
           AND at <= coalesce(:at::timestamptz, 'infinity') AND (:at IS NULL OR at < :at OR id < :id::uuid)
           AND at >= coalesce(:since::timestamptz, '-infinity') ORDER BY at DESC, id DESC LIMIT :looked::integer)
        UNION ALL
        (SELECT * FROM runs WHERE :source_id IS NULL
           AND at <= coalesce(:at, 'infinity') AND (:at IS NULL OR at < :at OR id < :id)
           AND at >= coalesce(:since, '-infinity') ORDER BY at DESC, id DESC LIMIT :looked)) AS looked
    WHERE :status::text IS NULL OR status = :status ORDER BY at DESC, id DESC LIMIT :limit::integer) r
JOIN sources s ON s.id = r.source_id LEFT JOIN channels c ON c.id = r.channel_id
ORDER BY r.at DESC, r.id DESC;

-- name: last_run_looked_at
-- The last of as many runs as list_runs looks at, if there are so many.
SELECT at, id FROM (
    (SELECT at, id FROM runs WHERE source_id = :source_id::uuid
       AND at <= coalesce(:at::timestamptz, 'infinity') AND (:at IS NULL OR at < :at OR id < :id::uuid)
       AND at >= coalesce(:since::timestamptz, '-infinity') ORDER BY at DESC, id DESC OFFSET :looked::integer - 1 LIMIT 1)
    UNION ALL
    (SELECT at, id FROM runs WHERE :source_id IS NULL
       AND at <= coalesce(:at, 'infinity') AND (:at IS NULL OR at < :at OR id < :id)
       AND at >= coalesce(:since, '-infinity') ORDER BY at DESC, id DESC OFFSET :looked - 1 LIMIT 1)) AS last;

-- name: list_events
-- The trail, newest first, before an id; of one source or of all; of a kind and so on among the newest `:looked`.
SELECT id, at, kind, level, actor, source_id, channel_id, message, details FROM (
    (SELECT * FROM events WHERE source_id = :source_id::uuid AND (:before::bigint IS NULL OR id < :before)
     ORDER BY id DESC LIMIT :looked::integer)
    UNION ALL
    (SELECT * FROM events WHERE :source_id IS NULL AND (:before IS NULL OR id < :before) ORDER BY id DESC LIMIT :looked)) AS looked
WHERE (:kind::text IS NULL OR kind = :kind) AND (:level::text IS NULL OR level = :level)
  AND (:actor::text IS NULL OR actor = :actor) AND (:since::timestamptz IS NULL OR at >= :since)
ORDER BY id DESC LIMIT :limit::integer;

-- name: list_lines
-- What processes warned of, newest first, before an id; of a level, an event, a role and a process.
SELECT id, at, process_id, role, host, pid, level, event, fields FROM process_lines
WHERE (:before::bigint IS NULL OR id < :before) AND (:level::text IS NULL OR level = :level)
  AND (:event::text IS NULL OR event = :event) AND (:role::text IS NULL OR role = :role)
  AND (:pid::integer IS NULL OR pid = :pid)
ORDER BY id DESC LIMIT :limit::integer;

-- name: last_event_looked_at
-- The last of as many events as list_events looks at, if there are so many.
SELECT id, at FROM (
    (SELECT id, at FROM events WHERE source_id = :source_id::uuid AND (:before::bigint IS NULL OR id < :before)
     ORDER BY id DESC OFFSET :looked::integer - 1 LIMIT 1)
    UNION ALL
    (SELECT id, at FROM events WHERE :source_id IS NULL AND (:before IS NULL OR id < :before)
     ORDER BY id DESC OFFSET :looked - 1 LIMIT 1)) AS last;

-- name: source_of_channel
-- Whose a channel is.
SELECT source_id FROM channels WHERE id = $1::uuid;

-- name: runs_lately
-- Which runs there are in a stretch of time before the newest one.
SELECT id, at FROM runs WHERE source_id = $1::uuid AND at > (SELECT max(at) FROM runs WHERE source_id = $1) - $2::interval
UNION ALL
SELECT id, at FROM runs WHERE $1 IS NULL AND at > (SELECT max(at) FROM runs) - $2;

-- name: runs_after
-- Oldest first, since a moment, without those that are known already.
SELECT r.at, r.id, r.source_id, s.name AS source, s.url AS source_url, r.channel_id, c.url AS channel_url,
       EXISTS (SELECT 1 FROM channels o WHERE o.source_id = r.source_id AND o.kind = r.kind AND o.id <> r.channel_id) AS is_one_of_several,
       r.kind, r.trigger, r.status, r.requests, r.found, r.inserted, r.updated, r.skipped, r.errors, r.duration_ms, r.http_status,
       r.error_class, r.message, r.next_poll_at, r.next_reason
FROM runs r JOIN sources s ON s.id = r.source_id LEFT JOIN channels c ON c.id = r.channel_id
WHERE r.at > $1::timestamptz AND ($2::uuid IS NULL OR r.source_id = $2)
  AND NOT EXISTS (SELECT 1 FROM unnest($3::uuid[]) AS k (id) WHERE k.id = r.id)
ORDER BY r.at LIMIT 1000;

-- name: schedule
-- What is polled next, with the hosts of which a takedown may speak, and whether another channel goes by the same name.
SELECT s.name AS source, s.url AS site, s.host AS site_host, c.id, c.host, c.source_id, c.kind, c.url, c.next_poll_at, c.next_reason,
       c.poll_interval, c.consecutive_errors, c.last_error, c.lease_until > statement_timestamp() AS is_running,
       EXISTS (SELECT 1 FROM channels o WHERE o.source_id = c.source_id AND o.id <> c.id AND o.is_enabled)
       OR EXISTS (SELECT 1 FROM sources n WHERE lower(n.name) = lower(s.name) AND n.id <> s.id AND n.status <> 'deleted') AS is_one_of_several
FROM (VALUES (false), (true)) AS line (is_unpolled)
CROSS JOIN LATERAL (SELECT * FROM channels d WHERE d.is_active AND d.is_unpolled = line.is_unpolled
                    ORDER BY d.next_poll_at LIMIT $1::integer) AS c
JOIN sources s ON s.id = c.source_id
ORDER BY c.next_poll_at LIMIT $1;

-- name: crowded_hosts
-- Hosts that cannot be polled as often as their channels deserve, the most lost polls first; of all, or of these.
SELECT host, channels, deserved_per_hour, possible_per_hour, crowding AS lengthened, judged_at FROM crowded_hosts
WHERE deserved_per_hour > possible_per_hour AND ($1::text[] IS NULL OR host = ANY ($1))
ORDER BY deserved_per_hour - possible_per_hour DESC, host LIMIT $2::integer;

-- name: schedule_after
-- The same in parts: what comes after a time and a channel. Invariant: what does not change meanwhile is told once.
SELECT s.name AS source, s.url AS site, s.host AS site_host, c.id, c.host, c.source_id, c.kind, c.url, c.next_poll_at, c.next_reason,
       c.poll_interval, c.consecutive_errors, c.last_error, c.lease_until > statement_timestamp() AS is_running,
       EXISTS (SELECT 1 FROM channels o WHERE o.source_id = c.source_id AND o.id <> c.id AND o.is_enabled)
       OR EXISTS (SELECT 1 FROM sources n WHERE lower(n.name) = lower(s.name) AND n.id <> s.id AND n.status <> 'deleted') AS is_one_of_several
FROM (VALUES (false), (true)) AS line (is_unpolled)
CROSS JOIN LATERAL (SELECT * FROM channels d WHERE d.is_active AND d.is_unpolled = line.is_unpolled
                      AND d.next_poll_at >= $2::timestamptz AND (d.next_poll_at, d.id) > ($2, $3::uuid)
                    ORDER BY d.next_poll_at, d.id LIMIT $1::integer) AS c
JOIN sources s ON s.id = c.source_id
ORDER BY c.next_poll_at, c.id LIMIT $1;

-- name: discovery_summary
-- Channels now, runs of the last day with what was new to their channels, and how long items took from publication to
-- discovery: of the newest, without those that a channel listed already when it was first looked at. Runs are read by the
-- minute up to the mark, which is $2, and one by one after it.
SELECT clock_timestamp() AS now,
       (SELECT coalesce(sum(count), 0)::bigint
        FROM (SELECT count FROM source_totals WHERE what = 'channel'
              UNION ALL SELECT count FROM source_total_deltas WHERE what = 'channel') AS counted) AS channels,
       (SELECT count(*) FROM channels WHERE lease_until > statement_timestamp()) AS polling,
       (SELECT count(*) FROM channels WHERE is_active AND is_unpolled IN (false, true) AND next_poll_at <= statement_timestamp()) AS due,
       r.runs, r.failed_runs, coalesce(r.found, 0) AS found,
       (SELECT percentile_disc(ARRAY[0.5, 0.95]) WITHIN GROUP (ORDER BY greatest(i.first_seen_at - i.published_at, interval '0'))
        FROM (SELECT channel_id, first_seen_at, published_at FROM channel_items
              WHERE first_seen_at > statement_timestamp() - interval '24 hours' ORDER BY first_seen_at DESC LIMIT $1::integer) AS i
        WHERE i.published_at > (SELECT c.created_at FROM channels c WHERE c.id = i.channel_id)) AS delays
FROM (SELECT sum(p.runs)::bigint AS runs, sum(p.failed)::bigint AS failed_runs, sum(p.found)::bigint AS found
      FROM (SELECT runs, failed, found FROM run_minutes WHERE minute > statement_timestamp() - interval '24 hours'
            UNION ALL
            SELECT count(*), count(*) FILTER (WHERE status = 'fail'), coalesce(sum(inserted), 0) FROM runs
            WHERE at > greatest($2::timestamptz, statement_timestamp() - interval '24 hours')) AS p) AS r;

-- name: push_summary
-- How many channels name a hub, are subscribed to, and are pushed by one that is trusted, each counted up to a bound; and the
-- last push that brought something new.
SELECT (SELECT count(*) FROM (SELECT 1 FROM subscriptions LIMIT $1::integer) AS s) AS named,
       (SELECT count(*) FROM (SELECT 1 FROM subscriptions WHERE state = 'active' AND lease_until > statement_timestamp()
                              LIMIT $1) AS s) AS subscribed,
       (SELECT count(*) FROM (SELECT 1 FROM subscriptions WHERE quiet_until IS NOT NULL LIMIT $1) AS s) AS trusted,
       (SELECT max(last_push_at) FROM subscriptions WHERE last_push_at IS NOT NULL) AS last_push_at;

-- name: delays_of_source
-- How long what a source published in the last days took to be discovered, in classes, a row a day.
SELECT counts FROM source_delays WHERE source_id = $1::uuid AND day > (now() AT TIME ZONE 'utc')::date - $2::integer;

-- name: sink_delays_of_source
-- How long the newest documents of a source took from their change to each sink, where it holds what they are now.
SELECT s.name AS sink, count(*) AS count,
       percentile_disc(ARRAY[0.5, 0.95]) WITHIN GROUP (ORDER BY greatest(g.at - d.changed_at, interval '0')) AS delays
FROM (SELECT bucket, url_hash, version, changed_at FROM documents
      WHERE source_id = $1::uuid AND deleted_at IS NULL ORDER BY first_seen_at DESC LIMIT $2::integer) AS d
CROSS JOIN sinks s
JOIN delivered g ON g.sink_id = s.id AND g.kind = 'document' AND g.bucket = d.bucket AND g.hash = d.url_hash AND g.version = d.version
WHERE d.changed_at > now() - $3::interval AND d.changed_at >= s.created_at
GROUP BY s.name ORDER BY s.name;

-- name: polls_avoided_lately
-- How many polls of the last 24 hours were left out, by what made them useless.
SELECT label, sum(count)::bigint AS count FROM rollup_hours
WHERE figure = 'polls_avoided' AND hour > now() - interval '24 hours' GROUP BY label;

-- name: sink_delays_lately
-- How long changes of the last 24 hours took to sinks, by sink and class.
SELECT label, sum(count)::bigint AS count FROM rollup_hours
WHERE figure = $1::text AND hour > now() - interval '24 hours' GROUP BY label;

-- name: wasteful_channels
-- Channels with the most polls that brought nothing new.
SELECT c.id, c.source_id, s.name AS source, c.kind, c.url, c.poll_interval AS interval, c.polls_lately AS polls,
       c.vain_polls_lately AS vain_polls, c.new_items_lately AS new_items, c.last_polled_at, c.last_new_at
FROM (SELECT * FROM channels WHERE is_active ORDER BY vain_polls_lately DESC LIMIT $1::integer) AS c
JOIN sources s ON s.id = c.source_id
WHERE c.vain_polls_lately > 0
ORDER BY c.vain_polls_lately DESC;

-- name: runs_folded_until
-- Runs up to then are counted by the minute. A question of its own: what it bounds is planned for the few that it leaves.
SELECT runs_folded_until FROM statistics_mark;

-- name: delays_to_discovery
-- Minutes from publication to discovery, of what was published since a moment.
SELECT count(*) AS items,
       percentile_disc(0.5) WITHIN GROUP (ORDER BY extract(epoch FROM first_seen_at - published_at) / 60)::float8 AS p50,
       percentile_disc(0.95) WITHIN GROUP (ORDER BY extract(epoch FROM first_seen_at - published_at) / 60)::float8 AS p95
FROM channel_items WHERE published_at > $1::timestamptz;

-- name: archive_in_figures
-- What is kept, for small worlds.
SELECT count(*) FILTER (WHERE deleted_at IS NULL) AS documents, count(DISTINCT language) AS languages,
       count(*) FILTER (WHERE duplicate_of IS NOT NULL) AS duplicates, (SELECT count(*) FROM jobs) AS vacancies
FROM documents;

-- name: a_common_word
-- A word of five letters or more that stands in many titles, for small worlds.
SELECT word FROM (SELECT regexp_split_to_table(lower(title), '[^[:alpha:]]+') AS word FROM documents
                  WHERE language = 'en' AND deleted_at IS NULL) AS words
WHERE length(word) > 5 GROUP BY word ORDER BY count(*) DESC, word LIMIT 1;

-- name: describe_documents
-- What a list of found documents says beside what the search knows.
SELECT d.bucket, d.url_hash AS hash, d.word_count, s.name AS source
FROM unnest($1::smallint[], $2::bytea[]) AS k (bucket, hash)
JOIN documents d ON d.bucket = k.bucket AND d.url_hash = k.hash
LEFT JOIN sources s ON s.id = d.source_id;

-- name: describe_jobs
-- What a list of found vacancies says beside what the search knows.
SELECT j.bucket, j.canonical_hash AS hash, j.id, j.org_name, j.org_type, j.location_raw, j.country, j.country_iso, j.city,
       j.level_norm, j.work_modality, j.career_type, j.contract_type, j.mission_tags, j.international_eligible, j.deadline,
       j.compensation_min_usd, j.compensation_max_usd, j.created_at, j.last_seen_at, s.name AS source
FROM unnest($1::smallint[], $2::bytea[]) AS k (bucket, hash)
JOIN jobs j ON j.bucket = k.bucket AND j.canonical_hash = k.hash
LEFT JOIN sources s ON s.id = j.source_id;

-- name: relatives_of_document
-- What a document copies, what it is like, and its own copies, the oldest of them only.
SELECT r.relation, r.url, r.url_hash AS hash
FROM documents d
CROSS JOIN LATERAL (
    (SELECT 'duplicate_of' AS relation, o.url, o.url_hash, coalesce(o.told_since, o.first_seen_at) AS since FROM documents o
     WHERE o.bucket = d.duplicate_bucket AND o.url_hash = d.duplicate_of)
    UNION ALL
    (SELECT 'near', n.url, n.url_hash, coalesce(n.told_since, n.first_seen_at) FROM documents n
     WHERE n.bucket = d.near_bucket AND n.url_hash = d.near_duplicate_of)
    UNION ALL
    (SELECT 'duplicate', c.url, c.url_hash, coalesce(c.told_since, c.first_seen_at) FROM documents c
     WHERE c.duplicate_bucket = d.bucket AND c.duplicate_of = d.url_hash
     ORDER BY coalesce(c.told_since, c.first_seen_at) LIMIT $3::integer)
) AS r
WHERE d.bucket = $1::smallint AND d.url_hash = $2::bytea
ORDER BY r.relation, r.since;

-- name: claim_of_document
-- The page that a document calls canonical, and what speaks against it.
SELECT d.claimed_url AS url, d.is_claim_believed AS is_believed, t.url_hash IS NOT NULL AS has_document, t.deleted_reason,
       t.claimed_url AS names
FROM documents d
LEFT JOIN documents t ON t.bucket = d.claimed_bucket AND t.url_hash = d.claimed_hash
WHERE d.bucket = $1::smallint AND d.url_hash = $2::bytea AND d.claimed_hash IS NOT NULL;

-- name: count_stored_pages
-- Pages of a source that can be read again without fetching.
SELECT count(*) FROM (SELECT DISTINCT bucket, url_hash FROM raw_bodies WHERE source_id = $1::uuid) AS pages;

-- name: why_page_ended
-- Why nothing is fetched from an address any more; nothing if it is.
SELECT reason FROM url_frontier WHERE bucket = $1::smallint AND url_hash = $2::bytea AND status = 'dead';

-- name: watch_alone
-- Whether this transaction is the only one that looks for decay.
SELECT pg_try_advisory_xact_lock(hashtextextended('headwater.watch_decay', 0));

-- name: watched_sources
-- Sources that yield documents, a batch by id, with the alarm that was raised or ended last.
SELECT s.id, s.name, e.kind AS alarm, e.details
FROM sources s
LEFT JOIN LATERAL (
    SELECT kind, details FROM events
    WHERE source_id = s.id AND kind IN ('extraction_decayed', 'extraction_recovered') ORDER BY id DESC LIMIT 1
) AS e ON true
WHERE s.id > $1::uuid AND s.status = 'active' AND s.kind <> 'jobs' AND s.url_hash IS NOT NULL
ORDER BY s.id LIMIT $2::integer;

-- name: extraction_of_sources
-- What was made of the pages read last, and of those before them, by source. A page counts once, with its last reading; it
-- yields a document unless it has none, or its last reading failed beside an older one.
SELECT p.source_id, p.is_recent, count(*) AS pages, count(d.word_count) AS documents,
       percentile_cont(ARRAY[0.5, 0.1]) WITHIN GROUP (ORDER BY d.word_count) AS words,
       percentile_cont(ARRAY[0.5, 0.1]) WITHIN GROUP (ORDER BY d.quality) AS quality,
       count(d.published_at) AS dated, count(*) FILTER (WHERE d.title <> '') AS titled
FROM (
    SELECT s.id AS source_id, r.bucket, r.url_hash, r.at,
           r.at > n.now - $5::interval AND row_number() OVER (PARTITION BY s.id ORDER BY r.at DESC) <= $3::integer AS is_recent
    FROM unnest($1::uuid[]) AS s (id)
    CROSS JOIN (SELECT now, date_trunc('day', now, 'UTC') AS today FROM coalesce($2::timestamptz, statement_timestamp()) AS now) AS n
    CROSS JOIN LATERAL (
        -- Day by day, as they are stored, and no further back than needed: a busy source fills its share in a day or two.
        SELECT d.bucket, d.url_hash, max(d.at) AS at
        FROM (SELECT b.bucket, b.url_hash, b.at
              FROM generate_series(0, $6::integer) AS ago
              CROSS JOIN LATERAL (
                  SELECT bucket, url_hash, max(at) AS at FROM raw_bodies
                  WHERE source_id = s.id AND at >= n.today - ago * interval '1 day'
                    AND at < n.today + (1 - ago) * interval '1 day' AND at <= n.now
                  GROUP BY 1, 2 ORDER BY 3 DESC LIMIT $3 + $4::integer
              ) AS b
              LIMIT $3 + $4) AS d
        GROUP BY 1, 2
    ) AS r
) AS p
LEFT JOIN LATERAL (
    -- The limit and the scalar question keep it at two look-ups a page: joined at large, both tables would be read whole.
    SELECT o.word_count, o.quality, o.published_at, o.title FROM documents o
    WHERE o.bucket = p.bucket AND o.url_hash = p.url_hash
      AND (o.crawled_at >= p.at
           OR (SELECT e.reason FROM url_frontier e WHERE e.bucket = p.bucket AND e.url_hash = p.url_hash)
              IS DISTINCT FROM 'extract_failed')
    LIMIT 1
) AS d ON true
GROUP BY 1, 2;

-- name: template_events
-- What happened to the templates of a host, newest first; its messages begin with its name.
SELECT at, kind, level, actor, message FROM events
WHERE source_id = $1::uuid AND kind LIKE 'template\_%'
  AND (starts_with(message, $2::text || ': ') OR starts_with(message, $2 || '/'))
ORDER BY id DESC LIMIT $3::integer;

-- name: hurried_documents
-- Documents of which only the densest part of the page was read, by source, since so long; most first.
SELECT coalesce(s.name, d.source_id::text) AS source, count(*) AS documents
FROM documents d LEFT JOIN sources s ON s.id = d.source_id
WHERE d.produced_by = 'trafilatura_cropped' AND d.deleted_at IS NULL AND d.changed_at > statement_timestamp() - $1::interval
GROUP BY 1 ORDER BY 2 DESC, 1;

-- name: find_vacancy
-- One vacancy by its canonical hash, with the source that tells it and the list that decides whether it is open.
SELECT j.*, s.name AS source_name, s.status AS source_status, s.updated_at AS source_changed_at, c.url AS list_url
FROM jobs j LEFT JOIN sources s ON s.id = j.source_id LEFT JOIN channels c ON c.id = j.channel_id
WHERE j.bucket = $1::smallint AND j.canonical_hash = $2::bytea;

-- name: end_of_page
-- Why an address came to its end, when, and where it leads; and its end at about a moment as the log has it, since an entry may
-- be asked for again and end later. Invariant: the log is read for that moment alone.
SELECT e.reason, e.updated_at, e.moved_to FROM url_frontier e
WHERE e.bucket = $1::smallint AND e.url_hash = $2::bytea AND e.status = 'dead'
UNION ALL
SELECT l.reason, l.at, NULL FROM fetch_log l
WHERE l.bucket = $1 AND l.url_hash = $2 AND l.verdict = 'dead'
  AND l.at BETWEEN $3::timestamptz - interval '1 minute' AND $3 + interval '1 minute';

-- name: vacancy_with_id
-- The hash of the vacancy with this id: its bucket and the beginning of its hash are in it.
SELECT canonical_hash FROM jobs WHERE bucket = $1::smallint AND id = $2::uuid;

-- name: sightings_of_vacancy
-- Lists and pages of other sources that name a vacancy, the latest first. What a removed source saw is no more to be seen.
SELECT g.source_id, s.name AS source_name, g.channel_id, g.url, g.first_seen_at, g.last_seen_at
FROM job_sightings g LEFT JOIN sources s ON s.id = g.source_id
WHERE g.bucket = $1::smallint AND g.canonical_hash = $2::bytea
  AND g.source_id <> (SELECT j.source_id FROM jobs j WHERE j.bucket = $1 AND j.canonical_hash = $2)
  AND s.status IS DISTINCT FROM 'deleted'
ORDER BY g.last_seen_at DESC, g.url;

-- name: sources_to_look_at
-- Sources of which something may be wrong; the rules judge them. Probable errors first (rank 0), then probable warnings: where
-- there are too many, the least is left out. Those that a person stopped are none. Every part is answered by an index of its own;
-- of a source that is proven nobody has to ask whether it has channels and whether something was kept, unless one is idle.
-- Scalar questions with a limit: joined at large, channels, documents and jobs would be read whole.
-- Crawls and switched-off channels, which are dear to look at, only where the others leave room. Of a source that came in
-- today, by an import of many, and was not polled yet, nothing can be said.
-- With the errors in a row of each class after which a channel rests ($6) only sources that may struggle: neither those that were
-- stopped or taken down, nor those whose channels will be tried again soon, nor those that only read worse.
WITH likely AS MATERIALIZED (
    SELECT source_id, CASE WHEN consecutive_errors > 1 OR (consecutive_errors > 0 AND last_ok_at IS NULL)
                             OR error_cause = ANY ($5::text[]) OR (last_item_count = 0 AND last_new_at IS NULL) THEN 0 ELSE 1 END AS rank
    FROM channels
    WHERE is_active AND (consecutive_errors > 0 OR silent_since IS NOT NULL OR last_error IS NOT NULL
                         OR (last_item_count = 0 AND last_ok_at IS NOT NULL AND kind IN ('feed', 'listing')))
      AND ($6::jsonb IS NULL OR error_cause = ANY ($5) OR greatest(class_errors, 1) >= ($6 ->> error_class)::integer
           OR (consecutive_errors = 0 AND last_item_count = 0 AND last_new_at IS NULL))
    UNION ALL
    SELECT id, 0 FROM sources WHERE $6 IS NULL AND status IN ('paused', 'blocked') AND status_reason ^@ ANY ($3::text[])
    UNION ALL
    SELECT source_id, 1 FROM events
    WHERE kind IN ('extraction_decayed', 'extraction_recovered', 'channel_overflowed')
      AND kind = 'channel_overflowed' AND at > now() - interval '24 hours'
    UNION ALL
    SELECT a.source_id, 1
    FROM (SELECT DISTINCT ON (source_id) source_id, kind FROM events
          WHERE kind IN ('extraction_decayed', 'extraction_recovered', 'channel_overflowed')
            AND kind <> 'channel_overflowed' ORDER BY source_id, id DESC) AS a
    WHERE $6 IS NULL AND a.kind = 'extraction_decayed'
    UNION ALL
    SELECT s.id, 1 FROM takedowns t JOIN sources s ON s.host = t.domain OR s.host = 'www.' || t.domain WHERE $6 IS NULL
    UNION ALL
    SELECT s.id, 0 FROM sources s
    WHERE s.status = 'active' AND s.url_hash IS NOT NULL AND NOT s.is_proven AND s.last_run_at IS NOT NULL
      AND (SELECT sum(k.entries) FROM counters k WHERE k.source_id = s.id AND k.status IN ('fetched', 'dead')) >= $1::integer
      AND (SELECT 1 FROM documents d WHERE d.source_id = s.id AND d.deleted_at IS NULL LIMIT 1) IS NULL
      AND (SELECT 1 FROM jobs j WHERE j.source_id = s.id LIMIT 1) IS NULL
), room AS MATERIALIZED (
    SELECT count(DISTINCT source_id) < $2::integer AS is_left FROM likely WHERE rank = 0
)
SELECT l.source_id FROM (
    SELECT source_id, rank FROM likely
    UNION ALL
    -- Crawls whose start failed or ended; where it was not fetched either, those that have dead pages alone.
    SELECT h.source_id, CASE h.status WHEN 'failed' THEN 1 ELSE 0 END
    FROM (SELECT c.source_id, (SELECT e.status FROM url_frontier e WHERE e.bucket = c.bucket AND e.url_hash = c.url_hash) AS status
          FROM channels c
          WHERE (SELECT is_left FROM room) AND c.is_active AND c.kind = 'crawl' OFFSET 0) AS h
    WHERE CASE WHEN h.status IN ('failed', 'dead') THEN true
               WHEN h.status = 'fetched' THEN false
               WHEN (SELECT 1 FROM counters k WHERE k.source_id = h.source_id AND k.status = 'fetched' AND k.entries > 0) IS NULL
               THEN (SELECT 1 FROM counters k WHERE k.source_id = h.source_id AND k.status = 'dead' AND k.entries > 0) IS NOT NULL END
    UNION ALL
    SELECT s.id, 0
    FROM (SELECT id FROM sources WHERE (SELECT is_left FROM room) AND status = 'active' AND url_hash IS NOT NULL AND NOT is_proven
            AND (last_run_at IS NOT NULL OR created_at < now() - interval '1 day')
          UNION SELECT source_id FROM channels WHERE (SELECT is_left FROM room) AND NOT is_enabled) AS u
    JOIN sources s ON s.id = u.id
    WHERE s.status = 'active' AND s.url_hash IS NOT NULL
      AND (SELECT 1 FROM channels c WHERE c.source_id = s.id AND c.is_active
             AND (c.kind = ANY ($4::text[]) OR (c.kind = 'search' AND c.last_polled_at IS NULL)) LIMIT 1) IS NULL
) AS l
GROUP BY 1 ORDER BY min(l.rank), 1 LIMIT $2;

-- name: read_sources
-- Sources by their ids.
SELECT * FROM source_profiles WHERE id = ANY ($1::uuid[]) AND status <> 'deleted' ORDER BY lower(name), id;

-- name: facts_of_sources
-- What the health of sources is judged by beside their rows and channels: counted pages, whether anything was kept of them,
-- the first page of a crawl, the last alarm of extraction, overflows of the last day.
WITH counted AS (
    SELECT c.source_id, jsonb_object_agg(c.status, c.entries) AS entries,
           coalesce(sum(c.entries) FILTER (WHERE c.status IN ('fetched', 'dead')), 0) AS ended
    FROM (SELECT a.source_id, a.status, sum(a.entries)::bigint AS entries
          FROM (SELECT source_id, status, entries FROM counters WHERE source_id = ANY ($1::uuid[])
                UNION ALL SELECT source_id, status, entries FROM counter_deltas WHERE source_id = ANY ($1)) AS a
          GROUP BY 1, 2) AS c
    GROUP BY 1
)
SELECT g.id AS source_id, k.has_kept, coalesce(c.entries, '{}'::jsonb) AS entries, w.why_ended,
       start.error AS start_error, start.since AS start_since, start.is_final AS start_is_final,
       a.kind AS alarm, a.message AS alarm_message, a.at AS alarm_at, coalesce(o.overflows, '[]'::jsonb) AS overflows
FROM unnest($1) AS g (id)
LEFT JOIN counted c ON c.source_id = g.id
CROSS JOIN LATERAL (
    SELECT (SELECT 1 FROM documents d WHERE d.source_id = g.id AND d.deleted_at IS NULL LIMIT 1) IS NOT NULL
           OR (SELECT 1 FROM jobs j WHERE j.source_id = g.id LIMIT 1) IS NOT NULL AS has_kept
) AS k
LEFT JOIN LATERAL (
    SELECT coalesce(p.reason, p.status) AS why_ended
    FROM (SELECT e.status, e.reason FROM discoveries d
          JOIN url_frontier e ON e.bucket = d.bucket AND e.url_hash = d.url_hash
          WHERE d.source_id = g.id AND NOT k.has_kept AND c.ended >= $2::integer LIMIT 200) AS p
    WHERE p.status IN ('fetched', 'dead') GROUP BY 1 ORDER BY count(*) DESC, 1 LIMIT 1
) AS w ON true
LEFT JOIN LATERAL (
    SELECT coalesce(e.reason, '') || coalesce(': ' || e.last_error, '') AS error, e.updated_at AS since,
           e.status = 'dead' AS is_final
    FROM channels h JOIN url_frontier e ON e.bucket = h.bucket AND e.url_hash = h.url_hash
    WHERE h.source_id = g.id AND h.is_active AND h.kind = 'crawl' AND e.status IN ('failed', 'dead')
      AND e.reason IS DISTINCT FROM 'redirect' LIMIT 1
) AS start ON true
LEFT JOIN LATERAL (
    SELECT e.kind, e.message, e.at FROM events e
    WHERE e.source_id = g.id AND e.kind IN ('extraction_decayed', 'extraction_recovered', 'channel_overflowed')
      AND e.kind <> 'channel_overflowed' ORDER BY e.id DESC LIMIT 1
) AS a ON true
LEFT JOIN LATERAL (
    SELECT jsonb_agg(jsonb_build_object('channel_id', f.channel_id, 'times', f.times, 'missed', f.missed, 'since', f.since,
                                        'covers', f.covers, 'shortest', f.shortest)) AS overflows
    FROM (SELECT e.channel_id, count(*) AS times, sum((e.details ->> 'missed')::integer) AS missed, min(e.at) AS since,
                 min((e.details ->> 'covers_seconds')::float8) AS covers,
                 (array_agg((e.details ->> 'shortest_seconds')::float8 ORDER BY e.id DESC))[1] AS shortest
          FROM events e
          WHERE e.source_id = g.id AND e.kind IN ('extraction_decayed', 'extraction_recovered', 'channel_overflowed')
            AND e.kind = 'channel_overflowed' AND e.channel_id IS NOT NULL AND e.at > statement_timestamp() - interval '24 hours'
          GROUP BY 1) AS f
) AS o ON true;

-- name: pages_of_crawl
-- How many pages a source has, and how many of those that were fetched lie so deep; both counted no further than needed.
SELECT (SELECT coalesce(sum(entries), 0)::bigint FROM (
            SELECT entries FROM counters WHERE source_id = $1::uuid
            UNION ALL SELECT entries FROM counter_deltas WHERE source_id = $1) AS counted) AS pages,
       (SELECT count(*) FROM (
            SELECT 1 FROM discoveries d JOIN url_frontier e USING (bucket, url_hash)
            WHERE d.source_id = $1 AND d.depth >= $2::integer AND e.status = 'fetched' LIMIT 1000) AS deep) AS deep;

-- name: troubled_hosts
-- Hosts where something waits and that are closed for other reasons than ours, or that refused us last and mostly.
SELECT h.host, c.reason, c.until, h.bad_in_a_row, r.failing_since, r.failure, NULL::smallint AS last_status, NULL::bigint AS requests,
       NULL::bigint AS failed, c.until - rest_after(h.bad_in_a_row) AS rests_since
FROM host_closures c
JOIN hosts h ON h.bucket = c.bucket AND h.host = c.host
LEFT JOIN LATERAL (SELECT failing_since, failure FROM robots r WHERE r.bucket = c.bucket AND r.host = c.host
                   AND r.failing_since IS NOT NULL ORDER BY r.failing_since LIMIT 1) AS r ON true
WHERE c.reason IN ('breaker', 'robots_unreachable', 'retry_after') AND h.wake_at < 'infinity'
  AND c.until > statement_timestamp() + CASE c.reason WHEN 'retry_after' THEN interval '10 minutes' ELSE interval '0' END
  AND ($1::text[] IS NULL OR c.host = ANY ($1))
UNION ALL
SELECT s.host, 'refused', NULL, 0, NULL, NULL, s.last_status, s.requests, s.failed, NULL
FROM host_statistics s
WHERE s.last_status IN (401, 402, 403, 407, 429, 451) AND s.last_seen_at > statement_timestamp() - interval '24 hours'
  AND s.requests >= 5 AND s.failed * 2 > s.requests AND ($1 IS NULL OR s.host = ANY ($1))
LIMIT $2::integer;

-- name: work_that_waits
-- Whether anything is stuck: channels and hosts that could be asked long since, pages that may end a worker, and the last run.
-- By the time of the transaction: a bound that changes within a statement is answered by no index.
SELECT clock_timestamp() AS now,
       due.next_poll_at AS poll_due, due.poll_interval,
       (SELECT count(*) FROM (SELECT 1 FROM channels WHERE is_active AND is_unpolled IN (false, true) AND next_poll_at < now() - $1::interval
                              AND (lease_until IS NULL OR lease_until <= now()) LIMIT 1000) AS due) AS overdue,
       (SELECT min(o.wake_at) FROM generate_series(1, 20) AS level
        CROSS JOIN LATERAL (SELECT wake_at FROM hosts WHERE line = level AND line > 0 ORDER BY wake_at LIMIT 1) AS o) AS host_open,
       EXISTS (SELECT 1 FROM slots WHERE expires_at > now()) AS is_fetching,
       (SELECT count(*) FROM (SELECT 1 FROM url_frontier WHERE held = 'suspect' LIMIT 1000) AS s) AS suspects,
       (SELECT count(*) FROM (SELECT 1 FROM url_frontier WHERE status = 'dead' AND reason = 'poison'
                              AND updated_at > now() - interval '7 days' LIMIT 1000) AS p) AS poisoned,
       (SELECT min(updated_at) FROM url_frontier WHERE status = 'dead' AND reason = 'poison'
                              AND updated_at > now() - interval '7 days') AS poisoned_since,
       (SELECT max(at) FROM runs) AS last_run,
       (SELECT folded_until + interval '1 minute' FROM statistics_mark) AS maintained_at
FROM (SELECT 1) AS always
LEFT JOIN (SELECT c.next_poll_at, c.poll_interval FROM (VALUES (false), (true)) AS line (is_unpolled)
           CROSS JOIN LATERAL (SELECT d.next_poll_at, d.poll_interval FROM channels d
                               WHERE d.is_active AND d.is_unpolled = line.is_unpolled
                                 AND (d.lease_until IS NULL OR d.lease_until <= now())
                               ORDER BY d.next_poll_at LIMIT 1) AS c
           ORDER BY c.next_poll_at LIMIT 1) AS due ON true;

-- name: oldest_due
-- Since when the host that waits longest for a request could have had it.
SELECT min(o.wake_at) FROM generate_series(1, 20) AS level
CROSS JOIN LATERAL (SELECT wake_at FROM hosts WHERE line = level AND line > 0 AND wake_at <= now() ORDER BY wake_at LIMIT 1) AS o;

-- name: processes_seen
-- Processes of roles that run or were seen in the last days, the latest first; alive are those that have written lately.
SELECT id, owner, role, does, host, pid, version, started_at, beat_at, counts, failing, drain_asked_at, drain_asked_by,
       is_draining, under_way,
       abs(extract(epoch FROM statement_timestamp() - beat_at)) < extract(epoch FROM $1::interval) AS is_alive
FROM role_processes ORDER BY beat_at DESC, id LIMIT $2::integer;

-- name: pollers_now
-- How many processes live and take on polls, and since when, by whom and why everything is paused, if it is.
SELECT (SELECT count(*) FROM role_processes
        WHERE 'poll' = ANY (does) AND drain_asked_at IS NULL
          AND abs(extract(epoch FROM statement_timestamp() - beat_at)) < extract(epoch FROM $1::interval)) AS count,
       p.since, p.set_by, p.reason
FROM (SELECT 1) AS always LEFT JOIN crawl_pause p ON true;

-- name: figures_lately
-- What processes counted in the last hour, those that have ended too, and the last sentence that came with it.
SELECT figure, sum(count)::bigint AS count, (array_agg(said ORDER BY since DESC) FILTER (WHERE said <> ''))[1] AS said
FROM role_figures WHERE since > statement_timestamp() - interval '1 hour' GROUP BY figure ORDER BY figure;

-- name: requests_lately
-- Requests of the last hour by their class, up to the mark of the fold.
SELECT class, sum(requests)::bigint AS requests FROM request_minutes
WHERE minute > statement_timestamp() - interval '1 hour' GROUP BY class ORDER BY class;

-- name: rows_in_default
-- Rows of days that nobody made, up to a number.
SELECT (SELECT count(*) FROM (SELECT 1 FROM fetch_log_default LIMIT $1::integer) AS l)
     + (SELECT count(*) FROM (SELECT 1 FROM runs_default LIMIT $1) AS r)
     + (SELECT count(*) FROM (SELECT 1 FROM raw_bodies_default LIMIT $1) AS b) AS rows;

-- name: sizes_of_tables
-- Each table of the schema with its indexes and long values, each day of a history table for itself, and of that the
-- indexes of words.
SELECT coalesce(parent.relname, c.relname) AS table_name,
       CASE WHEN parent.oid IS NOT NULL AND c.relname ~ '_[0-9]{8}$' THEN to_date(right(c.relname, 8), 'YYYYMMDD') END AS day,
       coalesce(pg_total_relation_size(c.oid), 0) AS bytes, coalesce(words.bytes, 0)::bigint AS search_bytes
FROM pg_class c
LEFT JOIN pg_inherits i ON i.inhrelid = c.oid
LEFT JOIN pg_class parent ON parent.oid = i.inhparent
LEFT JOIN LATERAL (
    SELECT sum(pg_relation_size(x.oid)) AS bytes FROM pg_index n JOIN pg_class x ON x.oid = n.indexrelid
    WHERE n.indrelid = c.oid AND x.relname IN ('documents_search', 'jobs_search')
) AS words ON true
WHERE c.relkind = 'r' AND c.relnamespace = current_schema()::regnamespace;

-- name: note_sizes
-- How large the parts of the database are; the first note of a day stays.
INSERT INTO sizes (day, part, noted_at, bytes)
SELECT (now() AT TIME ZONE 'utc')::date, p.part, now(), p.bytes FROM unnest($1::text[], $2::bigint[]) AS p (part, bytes)
ON CONFLICT (day, part) DO NOTHING;

-- name: forget_sizes
-- Notes that nothing is compared with any more.
DELETE FROM sizes WHERE day < (now() AT TIME ZONE 'utc')::date - $1::integer;

-- name: sizes_noted
-- Of each part the oldest note that is neither too fresh nor too old to be compared with.
SELECT DISTINCT ON (part) part, noted_at, bytes FROM sizes
WHERE noted_at <= now() - $1::interval AND noted_at > now() - $2::interval
ORDER BY part, noted_at;

-- name: place_of_data
-- Since when there is a schema of ours, where its data lies, and whether that can be a folder of this machine.
-- Invariant: nothing where this role may not know the folder.
SELECT now() AS now, (SELECT min(applied_at) FROM schema_migrations) AS since,
       (SELECT setting FROM pg_settings WHERE name = 'data_directory') AS data_directory,
       inet_server_addr() IS NULL OR inet_server_addr() = inet_client_addr() AS is_here;

-- name: kept_of_page
-- What the archive holds of an address: its document, living or not, and what that repeats.
SELECT d.url_hash IS NOT NULL AS has_document, d.deleted_at, d.deleted_reason, o.url AS original, n.url AS like_another
FROM (SELECT 1) AS always
LEFT JOIN documents d ON d.bucket = $1::smallint AND d.url_hash = $2::bytea
LEFT JOIN documents o ON o.bucket = d.duplicate_bucket AND o.url_hash = d.duplicate_of
LEFT JOIN documents n ON n.bucket = d.near_bucket AND n.url_hash = d.near_duplicate_of;

-- name: page_in_short
-- What became of an address, and whether a document of it stands.
SELECT e.status, e.reason, e.moved_to, d.url_hash IS NOT NULL AND d.deleted_at IS NULL AS has_document
FROM (SELECT 1) AS always
LEFT JOIN url_frontier e ON e.bucket = $1::smallint AND e.url_hash = $2::bytea
LEFT JOIN documents d ON d.bucket = $1 AND d.url_hash = $2;

-- name: way_it_was_found
-- How an address was found first: by which channel, or on which page.
SELECT d.origin, d.parent_url, d.first_seen_at, c.kind, c.url
FROM discoveries d LEFT JOIN channels c ON c.id = d.channel_id
WHERE d.bucket = $1::smallint AND d.url_hash = $2::bytea ORDER BY d.first_seen_at, d.source_id LIMIT 1;

-- name: followers_of_host
-- Sources that have their address or a channel at one of these spellings of a site, with what of them lists pages.
-- Hosts are found by their indexes, and then asked for their port.
SELECT p.*, ARRAY(SELECT DISTINCT c.kind FROM channels c WHERE c.source_id = p.id AND c.is_enabled) AS channel_kinds,
       (SELECT max(c.last_ok_at) FROM channels c WHERE c.source_id = p.id AND c.kind = 'sitemap' AND c.is_enabled) AS sitemap_read_at
FROM source_profiles p
WHERE p.status <> 'deleted'
  AND p.id IN (SELECT id FROM sources WHERE host = ANY ($1::text[]) AND substring(url FROM '^https?://([^/]*)') = ANY ($3::text[])
               UNION SELECT c.source_id FROM unnest($2::smallint[], $1) AS h (bucket, host)
                     JOIN channels c ON c.bucket = h.bucket AND c.host = h.host AND c.is_enabled
                      AND substring(c.url FROM '^https?://([^/]*)') = ANY ($3))
ORDER BY lower(p.name), p.id LIMIT 20;

-- name: channel_that_reads
-- The channel whose polls ask for an address themselves: its own one, or a further page of its list.
SELECT c.kind, c.url, s.id, s.name, CASE WHEN c.answers -> $3::text ? 'missing_since' THEN c.last_error END AS trouble
FROM channels c JOIN sources s ON s.id = c.source_id
WHERE c.bucket = $1::smallint AND c.host = $2::text AND c.is_enabled AND s.status <> 'deleted' AND (c.url = $3 OR c.answers ? $3)
ORDER BY c.next_poll_at LIMIT 1;

-- name: listed_at
-- Whether a channel lists an address, and whether it was refused then.
SELECT bool_or(signature = '') AS is_refused FROM channel_items WHERE bucket = $1::smallint AND url_hash = $2::bytea
HAVING count(*) > 0;

-- name: write_a_little
-- A megabyte in a table that ends with its transaction. Invariant: fails where the disk has no room for it.
CREATE TEMPORARY TABLE disk_probe ON COMMIT DROP AS
SELECT md5(number::text) FROM generate_series(1, 16000) AS number;

-- name: which_database
-- Invariant: two connections read the same text if and only if they lead to the same database of the same server.
SELECT pg_postmaster_start_time()::text || ' ' || oid FROM pg_database WHERE datname = current_database();

-- name: delays_of_log
-- Milliseconds from a document's change to its place in the log, for small worlds. Vacancies are told in the world's own time.
SELECT count(*) AS changes,
       percentile_cont(0.5) WITHIN GROUP (ORDER BY extract(epoch FROM at - changed_at))
           FILTER (WHERE kind = 'document') * 1000 AS p50,
       percentile_cont(0.95) WITHIN GROUP (ORDER BY extract(epoch FROM at - changed_at))
           FILTER (WHERE kind = 'document') * 1000 AS p95
FROM changes;

-- name: log_now
-- How far the log goes, since when the oldest change waits to come into it, and the time that the last one took.
SELECT statement_timestamp() AS now, c.position, c.oldest_position,
       (SELECT o.at FROM outbox o ORDER BY o.seq LIMIT 1) AS waiting_since,
       (SELECT h.at - h.changed_at FROM changes h WHERE h.position = c.position) AS log_delay
FROM change_counter c;

-- name: rolled_until
-- From where minutes are to be counted, and the hour up to which sources were.
SELECT rolled_until, sources_rolled_until, now() AS now FROM rollup_mark;

-- name: recount_requests
-- What the fetch log says of some minutes: requests by kind and class, their bytes, durations in classes, and what became of
-- entries by the way they were found. A request in the middle of a journey has no outcome of its own.
WITH asked AS MATERIALIZED (
    SELECT date_trunc('minute', l.at) AS minute, l.kind, l.verdict, l.duration_ms, l.body_bytes,
           CASE WHEN l.status IS NOT NULL THEN least(l.status / 100, 6)::text || 'xx' WHEN l.reason = 'robots_blocked' THEN 'robots_blocked'
                WHEN l.verdict = 'crashed' THEN 'crashed' WHEN l.started_at IS NULL THEN 'not_asked' ELSE 'no_answer' END AS class,
           CASE WHEN l.url_hash IS NOT NULL AND l.verdict <> 'went_on'
                THEN coalesce((SELECT e.origin FROM url_frontier e WHERE e.bucket = l.bucket AND e.url_hash = l.url_hash), 'removed')
           END AS origin
    FROM fetch_log l WHERE l.at >= $1::timestamptz AND l.at < $2::timestamptz
)
SELECT minute, 'requests' AS figure, kind || '.' || class AS label, count(*) AS count FROM asked GROUP BY minute, kind, class
UNION ALL
SELECT minute, 'bytes', kind, sum(body_bytes)::bigint FROM asked WHERE body_bytes > 0 GROUP BY minute, kind
UNION ALL
SELECT minute, 'fetches', verdict || '.' || origin, count(*) FROM asked WHERE origin IS NOT NULL GROUP BY minute, verdict, origin
UNION ALL
SELECT minute, 'fetch_duration', coalesce(($3::integer[])[width_bucket(duration_ms - 1, $3) + 1]::text, 'more'), count(*)
FROM asked WHERE duration_ms IS NOT NULL GROUP BY 1, 3
UNION ALL
SELECT minute, 'fetch_duration_ms', '', sum(duration_ms)::bigint FROM asked WHERE duration_ms > 0 GROUP BY minute;

-- name: recount_polls
-- What the log of runs says of some minutes: polls by kind of channel and result, items that were new, errors by class, and
-- polls that were left out because a channel's rhythm made them useless: those of each $3 until its next one.
WITH ran AS MATERIALIZED (
    SELECT date_trunc('minute', at) AS minute, kind, inserted, error_class,
           CASE WHEN status = 'fail' THEN 'failed' WHEN inserted > 0 THEN 'new' WHEN http_status = 304 THEN 'not_modified'
                ELSE 'nothing_new' END AS result,
           CASE WHEN policy IN ('adaptive', 'tiers')
                THEN floor(extract(epoch FROM next_poll_at - at) / extract(epoch FROM $3::interval)) - 1 END AS avoided,
           CASE WHEN starts_with(next_reason, 'pushed by hub') THEN 'push' ELSE 'rhythm' END AS avoided_by
    FROM runs WHERE at >= $1::timestamptz AND at < $2::timestamptz
)
SELECT minute, 'polls' AS figure, kind || '.' || result AS label, count(*) AS count FROM ran GROUP BY minute, kind, result
UNION ALL
SELECT minute, 'items', kind, sum(inserted)::bigint FROM ran WHERE inserted > 0 GROUP BY minute, kind
UNION ALL
SELECT minute, 'poll_errors', error_class, count(*) FROM ran WHERE error_class IS NOT NULL GROUP BY minute, error_class
UNION ALL
SELECT minute, 'polls_avoided', avoided_by, sum(avoided)::bigint FROM ran WHERE avoided > 0 GROUP BY minute, avoided_by;

-- name: recount_discoveries
-- How long the items that were found in some minutes took from publication to discovery, in classes; without those that a
-- channel listed already when it was first looked at.
WITH found AS MATERIALIZED (
    SELECT date_trunc('minute', i.first_seen_at) AS minute,
           greatest(0, extract(epoch FROM i.first_seen_at - i.published_at))::bigint * 1000 AS delay_ms
    FROM channel_items i
    WHERE i.first_seen_at >= $1::timestamptz AND i.first_seen_at < $2::timestamptz
      AND i.published_at > (SELECT c.created_at FROM channels c WHERE c.id = i.channel_id)
)
SELECT minute, 'discovery_delay' AS figure, coalesce(($3::bigint[])[width_bucket(delay_ms - 1, $3) + 1]::text, 'more') AS label,
       count(*) AS count
FROM found GROUP BY 1, 3
UNION ALL
SELECT minute, 'discovery_delay_ms', '', sum(delay_ms)::bigint FROM found WHERE delay_ms > 0 GROUP BY minute;

-- name: recount_archive
-- New documents and vacancies of some minutes.
SELECT date_trunc('minute', first_seen_at) AS minute, 'documents' AS figure, '' AS label, count(*) AS count FROM documents
WHERE deleted_at IS NULL AND first_seen_at >= $1::timestamptz AND first_seen_at < $2::timestamptz GROUP BY 1
UNION ALL
SELECT date_trunc('minute', created_at), 'jobs', '', count(*) FROM jobs
WHERE created_at >= $1 AND created_at < $2 GROUP BY 1;

-- name: write_rollups
-- Note what was counted of minutes, and add what is new in them to hours and totals.
-- Invariant: counted again, the same rows change nothing; rows that are gone meanwhile take nothing back, since totals only grow.
WITH grown AS MATERIALIZED (
    SELECT g.minute, g.figure, g.label, g.count, g.count - coalesce(m.count, 0) AS more
    FROM unnest($1::timestamptz[], $2::text[], $3::text[], $4::bigint[]) AS g (minute, figure, label, count)
    LEFT JOIN rollup_minutes m ON m.figure = g.figure AND m.minute = g.minute AND m.label = g.label
    WHERE g.count > coalesce(m.count, 0)
), minutes AS (
    INSERT INTO rollup_minutes AS m (figure, minute, label, count) SELECT figure, minute, label, count FROM grown
    ON CONFLICT (figure, minute, label) DO UPDATE SET count = excluded.count
), hours AS (
    INSERT INTO rollup_hours AS h (figure, hour, label, count)
    SELECT figure, date_trunc('hour', minute, 'UTC'), label, sum(more) FROM grown GROUP BY 1, 2, 3
    ON CONFLICT (figure, hour, label) DO UPDATE SET count = h.count + excluded.count
)
INSERT INTO rollup_totals AS t (figure, label, count) SELECT figure, label, sum(more) FROM grown GROUP BY 1, 2
ON CONFLICT (figure, label) DO UPDATE SET count = t.count + excluded.count;

-- name: roll_counted
-- Sums that others keep, of processes and of sinks: what they grew by since the last time is of this minute.
-- Invariant: the totals say how much was rolled already, and change with it.
WITH counted AS (
    SELECT split_part(figure, '.', 1) AS figure, substr(figure, strpos(figure || '.', '.') + 1) AS label, count FROM figure_totals
    UNION ALL SELECT 'delivered', id::text, sent FROM sinks
), grown AS MATERIALIZED (
    SELECT c.figure, c.label, c.count - coalesce(t.count, 0) AS more
    FROM counted c LEFT JOIN rollup_totals t ON t.figure = c.figure AND t.label = c.label
    WHERE c.count > coalesce(t.count, 0)
), minutes AS (
    INSERT INTO rollup_minutes AS m (figure, minute, label, count) SELECT figure, date_trunc('minute', now()), label, more FROM grown
    ON CONFLICT (figure, minute, label) DO UPDATE SET count = m.count + excluded.count
), hours AS (
    INSERT INTO rollup_hours AS h (figure, hour, label, count) SELECT figure, date_trunc('hour', now(), 'UTC'), label, more FROM grown
    ON CONFLICT (figure, hour, label) DO UPDATE SET count = h.count + excluded.count
)
INSERT INTO rollup_totals AS t (figure, label, count) SELECT figure, label, more FROM grown
ON CONFLICT (figure, label) DO UPDATE SET count = t.count + excluded.count;

-- name: note_levels
-- How much there is at this moment, for charts: entries by status. The last word of a minute, and of an hour, stands.
WITH levels AS MATERIALIZED (
    SELECT status AS label, sum(entries)::bigint AS count
    FROM (SELECT status, entries FROM counter_totals UNION ALL SELECT status, entries FROM counter_deltas) AS counted GROUP BY 1
), minutes AS (
    INSERT INTO rollup_minutes (figure, minute, label, count) SELECT 'frontier', date_trunc('minute', now()), label, count FROM levels
    ON CONFLICT (figure, minute, label) DO UPDATE SET count = excluded.count
)
INSERT INTO rollup_hours (figure, hour, label, count) SELECT 'frontier', date_trunc('hour', now(), 'UTC'), label, count FROM levels
ON CONFLICT (figure, hour, label) DO UPDATE SET count = excluded.count;

-- name: move_rollup_mark
-- Minutes up to then were counted, in the transaction that wrote them; and how large the database is.
UPDATE rollup_mark SET rolled_until = $1::timestamptz, database_bytes = pg_database_size(current_database());

-- name: forget_rollups
-- Minutes that are too old for charts by the minute, and hours that are too old for any.
WITH minutes AS (DELETE FROM rollup_minutes WHERE minute < now() - $1::interval)
DELETE FROM rollup_hours WHERE hour < now() - make_interval(days => $2::integer);

-- name: roll_source_hour
-- What came of every source in one hour: new items, polls and errors. Invariant: counted again, it is the same.
INSERT INTO source_days AS d (source_id, day, items, polls, errors)
SELECT source_id, ($1::timestamptz AT TIME ZONE 'utc')::date,
       array_fill(0, ARRAY[$2::integer - 1]) || sum(inserted)::integer || array_fill(0, ARRAY[24 - $2]),
       array_fill(0::smallint, ARRAY[$2 - 1]) || least(count(*), 32767)::smallint || array_fill(0::smallint, ARRAY[24 - $2]),
       array_fill(0::smallint, ARRAY[$2 - 1]) || least(count(*) FILTER (WHERE status = 'fail'), 32767)::smallint
           || array_fill(0::smallint, ARRAY[24 - $2])
FROM runs WHERE at >= $1 AND at < $1 + interval '1 hour'
GROUP BY 1 ORDER BY 1
ON CONFLICT (source_id, day) DO UPDATE
SET items[$2] = excluded.items[$2], polls[$2] = excluded.polls[$2], errors[$2] = excluded.errors[$2];

-- name: move_source_mark
-- Hours before this one were rolled, in the transaction that wrote the last of them.
UPDATE rollup_mark SET sources_rolled_until = $1::timestamptz;

-- name: forget_source_days
-- Days of sources that are too old; a batch.
DELETE FROM source_days WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM source_days WHERE day < (now() AT TIME ZONE 'utc')::date - $1::integer LIMIT $2::integer));

-- name: forget_source_delays
-- Delays of days that are too old; a batch.
DELETE FROM source_delays WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM source_delays WHERE day < (now() AT TIME ZONE 'utc')::date - $1::integer LIMIT $2::integer));

-- name: roll_alone
-- Whether this transaction is the only one that rolls figures up.
SELECT pg_try_advisory_xact_lock(hashtextextended('headwater.roll_up', 0));

-- name: rollup_totals
-- Sums since ever of all that was rolled up.
SELECT figure, label, count FROM rollup_totals;

-- name: figure_totals
-- Sums since ever of what processes counted about themselves.
SELECT figure, count FROM figure_totals;

-- name: rollup_state
-- When minutes were counted last, and how large the database was then.
SELECT rolled_until, database_bytes FROM rollup_mark;

-- name: health_marks
-- Since when parts are not well.
SELECT part, since FROM health_marks;

-- name: note_health
-- These parts are not well, the others are. Invariant: a mark stands until its part is well.
WITH mended AS (DELETE FROM health_marks WHERE part <> ALL ($1::text[]))
INSERT INTO health_marks (part) SELECT unnest($1) ON CONFLICT DO NOTHING;

-- name: series_by_minutes
-- A figure by label in steps of whole minutes: sums, or of a level the last word of each step.
SELECT label, date_bin($4::interval, minute, 'epoch') AS at,
       CASE WHEN $5::boolean THEN (array_agg(count ORDER BY minute DESC))[1] ELSE sum(count)::bigint END AS count
FROM rollup_minutes WHERE figure = $1::text AND minute >= $2::timestamptz AND minute < $3::timestamptz
GROUP BY 1, 2;

-- name: series_by_hours
-- The same in steps of whole hours.
SELECT label, date_bin($4::interval, hour, 'epoch') AS at,
       CASE WHEN $5::boolean THEN (array_agg(count ORDER BY hour DESC))[1] ELSE sum(count)::bigint END AS count
FROM rollup_hours WHERE figure = $1::text AND hour >= $2::timestamptz AND hour < $3::timestamptz
GROUP BY 1, 2;

-- name: days_of_sources
-- What came of sources in the hours of some days.
SELECT source_id, day, items, polls, errors FROM source_days WHERE source_id = ANY ($1::uuid[]) AND day >= $2::date;

-- name: runs_since_rolled
-- What came of sources in the hours that were not rolled up yet, since a moment.
SELECT r.source_id, date_trunc('hour', r.at, 'UTC') AS hour, sum(r.inserted)::bigint AS items, count(*) AS polls,
       count(*) FILTER (WHERE r.status = 'fail') AS errors
FROM runs r
WHERE r.source_id = ANY ($1::uuid[]) AND r.at >= $2::timestamptz
GROUP BY 1, 2;

-- name: newest_and_overdue
-- When the newest document was first seen, and how many channels are later than a span, counted up to a bound.
SELECT statement_timestamp() AS now,
       (SELECT d.first_seen_at FROM documents d WHERE d.deleted_at IS NULL ORDER BY d.first_seen_at DESC LIMIT 1) AS newest_document_at,
       (SELECT count(*) FROM (SELECT 1 FROM channels c WHERE c.is_active AND c.is_unpolled IN (false, true)
                                AND c.next_poll_at < statement_timestamp() - $1::interval LIMIT $2::integer) AS o) AS overdue;

-- name: errors_by_host
-- Requests that failed, by host and class, of the latest $1 of the last hour: the $2 hosts with most of them.
WITH latest AS MATERIALIZED (
    SELECT l.host, l.status, l.reason, l.verdict FROM fetch_log l
    WHERE l.at > statement_timestamp() - interval '1 hour' ORDER BY l.at DESC LIMIT $1::integer
), classed AS (
    SELECT host, CASE WHEN status = 429 THEN '429' WHEN status >= 500 THEN '5xx' WHEN status >= 400 THEN '4xx'
                      WHEN reason LIKE 'dns%' THEN 'dns' WHEN reason LIKE '%timeout' THEN 'timeout' WHEN reason LIKE 'robots%' THEN 'robots'
                      WHEN reason LIKE 'extract%' THEN 'extract' ELSE 'other' END AS class
    FROM latest WHERE verdict IN ('retry_later', 'dead', 'crashed', 'host_says_wait')
), worst AS (
    SELECT host, count(*) AS errors FROM classed GROUP BY host ORDER BY errors DESC, host LIMIT $2::integer
)
SELECT c.host, c.class, count(*) AS count FROM classed c JOIN worst w USING (host)
GROUP BY c.host, c.class, w.errors ORDER BY w.errors DESC, c.host, count DESC;

-- name: upcoming_polls
-- How many channels are due in each of the next minutes; those that are late count to the first. Of so many the first.
SELECT greatest(0, floor(extract(epoch FROM next_poll_at - statement_timestamp()) / 60))::integer AS minute, count(*) AS channels
FROM (SELECT c.next_poll_at FROM channels c WHERE c.is_active AND c.is_unpolled IN (false, true)
        AND c.next_poll_at < statement_timestamp() + $1::integer * interval '1 minute' LIMIT $2::integer) AS d
GROUP BY 1;

-- name: requests_near
-- Requests that began within a span, of a host or of all of them, the nearest to a moment first: for site owners who ask whether
-- they were ours. Those of a named page are told apart, and whether a channel stands at its address.
SELECT l.host, l.started_at, l.kind, l.status, host(l.sent_from) AS sent_from, l.url_hash = :url_hash::bytea AS is_page,
       EXISTS (SELECT FROM channels c WHERE c.bucket = :bucket::smallint AND c.host = :host::text AND c.url_hash = :url_hash) AS is_poll_there
FROM fetch_log l
WHERE l.at >= :earliest::timestamptz AND l.at <= :latest::timestamptz + :written_within::interval
  AND l.started_at BETWEEN :earliest AND :latest AND (:host IS NULL OR l.bucket = :bucket AND l.host = :host)
ORDER BY (l.sent_from = :address::text::inet) DESC NULLS LAST, (l.url_hash = :url_hash) DESC NULLS LAST,
         greatest(l.started_at - :at::timestamptz, :at - l.started_at) LIMIT :most::integer;

-- name: recent_addresses
-- The addresses that the last requests left from.
SELECT DISTINCT host(r.sent_from) AS sent_from FROM (SELECT sent_from FROM fetch_log WHERE started_at IS NOT NULL ORDER BY at DESC LIMIT $1::integer) AS r;

-- name: span_of_fetch_log
-- Since when the fetch log tells anything.
SELECT (SELECT min(at) FROM fetch_log) AS since, clock_timestamp() AS now;

-- name: look_up_listed
-- The document of each address, in the order given: its own, or one that calls the address canonical and is believed; else what
-- became of the address.
SELECT d.url, d.title, d.text, w.deleted_reason, e.status, e.reason, e.moved_to
FROM unnest($1::smallint[], $2::bytea[]) WITH ORDINALITY AS k (bucket, url_hash, place)
LEFT JOIN LATERAL (
    SELECT o.url, o.title, o.text FROM documents o
    WHERE o.bucket = k.bucket AND o.url_hash = k.url_hash AND o.deleted_at IS NULL
    UNION ALL
    (SELECT c.url, c.title, c.text FROM documents c
     WHERE c.claimed_bucket = k.bucket AND c.claimed_hash = k.url_hash AND c.is_claim_believed AND c.deleted_at IS NULL
     ORDER BY c.url_hash LIMIT 1)
    LIMIT 1
) AS d ON true
LEFT JOIN documents w ON w.bucket = k.bucket AND w.url_hash = k.url_hash AND w.deleted_at IS NOT NULL
LEFT JOIN url_frontier e ON e.bucket = k.bucket AND e.url_hash = k.url_hash
ORDER BY k.place;

-- name: walk_documents
-- A stretch of one bucket's documents by key, and which of them a comparison wants: a walk of bounded steps, whatever is wanted.
SELECT url_hash, url, title, CASE WHEN is_claim_believed THEN claimed_hash END AS believed_hash,
       deleted_at IS NULL AND ($4::timestamptz IS NULL OR coalesce(published_at, first_seen_at) >= $4) AS is_wanted
FROM documents WHERE bucket = $1::smallint AND url_hash > $2::bytea ORDER BY url_hash LIMIT $3::integer;
