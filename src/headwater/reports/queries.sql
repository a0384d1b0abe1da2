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
WHERE g.gap IS NOT NULL
GROUP BY g.host
ORDER BY min(g.gap - g.delay) LIMIT $2::integer;

-- name: waiting_hosts
-- Hosts with something waiting: how many are open now, how many not yet, and when the next one opens.
SELECT count(*) FILTER (WHERE wake_at <= clock_timestamp()) AS open,
       count(*) FILTER (WHERE wake_at > clock_timestamp() AND wake_at < 'infinity') AS waiting,
       count(*) FILTER (WHERE in_flight > 0) AS busy,
       extract(epoch FROM min(wake_at) FILTER (WHERE wake_at > clock_timestamp() AND wake_at < 'infinity') - clock_timestamp())::float8
           AS next_in_seconds
FROM hosts;

-- name: list_hosts
-- Hosts in key order, with what is known of their pace.
SELECT h.bucket, h.host, greatest(h.delay_ms, h.penalty_ms) AS delay_ms, h.penalty_ms, h.in_flight, h.max_concurrency,
       h.wake_at <= clock_timestamp() AS is_open, h.last_fetch_at, s.requests, s.failed, s.rate_limited, s.last_status,
       (SELECT c.reason FROM host_closures c WHERE c.bucket = h.bucket AND c.host = h.host AND c.until > clock_timestamp()
        ORDER BY c.until DESC LIMIT 1) AS closed_by
FROM hosts h LEFT JOIN host_statistics s USING (bucket, host)
WHERE (h.bucket, h.host) > ($1::smallint, $2::text)
ORDER BY h.bucket, h.host LIMIT $3::integer;

-- name: source_names
-- Names of sources, for people.
SELECT id, name, status FROM sources ORDER BY name;

-- name: delays
-- The delay of every host, for small worlds.
SELECT host, delay_ms / 1000.0::float8 AS delay FROM hosts;

-- name: list_sources
-- A page by name.
SELECT * FROM source_profiles p
WHERE (lower(p.name), p.id) > ($1::text, $2::uuid)
  AND CASE coalesce($3::text, 'all')
          WHEN 'all' THEN p.status <> 'deleted'
          WHEN 'failing' THEN p.status = 'active' AND EXISTS (
              SELECT 1 FROM channels c WHERE c.source_id = p.id AND c.is_active AND c.consecutive_errors > 0)
          WHEN 'silent' THEN p.status = 'active' AND EXISTS (
              SELECT 1 FROM channels c WHERE c.source_id = p.id AND c.is_active AND c.silent_since IS NOT NULL)
          ELSE p.status = $3 END
  AND ($4::text IS NULL OR p.kind = $4) AND ($5::text IS NULL OR $5 = ANY (p.tags))
  AND ($6::text IS NULL OR lower(p.name) LIKE $6)
ORDER BY lower(p.name), p.id LIMIT $7::integer;

-- name: count_sources
-- Sources by status.
SELECT status, count(*) AS sources FROM source_profiles GROUP BY 1;

-- name: list_runs
-- Newest first, of one source or of all.
SELECT r.at, r.id, r.source_id, s.name AS source, r.kind, r.trigger, r.status, r.requests, r.found, r.inserted, r.updated, r.skipped,
       r.errors, r.duration_ms, r.http_status, r.error_class, r.message, r.next_poll_at, r.next_reason
FROM runs r JOIN sources s ON s.id = r.source_id
WHERE ($1::uuid IS NULL OR r.source_id = $1) AND ($2::timestamptz IS NULL OR r.at < $2)
ORDER BY r.at DESC LIMIT $3::integer;

-- name: runs_after
-- Oldest first, since a moment.
SELECT r.at, r.id, r.source_id, s.name AS source, r.kind, r.trigger, r.status, r.requests, r.found, r.inserted, r.updated, r.skipped,
       r.errors, r.duration_ms, r.http_status, r.error_class, r.message, r.next_poll_at, r.next_reason
FROM runs r JOIN sources s ON s.id = r.source_id
WHERE r.at > $1::timestamptz AND ($2::uuid IS NULL OR r.source_id = $2) ORDER BY r.at LIMIT 1000;

-- name: schedule
-- What is polled next.
SELECT s.name AS source, c.source_id, c.kind, c.url, c.next_poll_at, c.next_reason, c.poll_interval, c.consecutive_errors,
       c.last_error, c.lease_until > clock_timestamp() AS is_running
FROM channels c JOIN sources s ON s.id = c.source_id
WHERE c.is_active ORDER BY c.next_poll_at LIMIT $1::integer;

-- name: discovery_summary
-- Channels now, runs of the last day, and how long items took from publication to discovery: of those that a channel did not
-- list already when it was first looked at.
SELECT clock_timestamp() AS now,
       (SELECT count(*) FROM channels WHERE is_active) AS channels,
       (SELECT count(*) FROM channels WHERE token IS NOT NULL AND lease_until > clock_timestamp()) AS polling,
       (SELECT count(*) FROM channels WHERE is_active AND next_poll_at <= clock_timestamp()) AS due,
       r.runs, r.failed_runs, coalesce(r.found, 0) AS found,
       (SELECT percentile_disc(ARRAY[0.5, 0.95]) WITHIN GROUP (ORDER BY greatest(i.first_seen_at - i.published_at, interval '0'))
        FROM channel_items i JOIN channels c ON c.id = i.channel_id
        WHERE i.first_seen_at > clock_timestamp() - interval '24 hours' AND i.published_at > c.created_at) AS delays
FROM (SELECT count(*) AS runs, count(*) FILTER (WHERE status = 'fail') AS failed_runs, sum(inserted) AS found
      FROM runs WHERE at > clock_timestamp() - interval '24 hours') AS r;

-- name: delays_to_discovery
-- Minutes from publication to discovery, of what was published since a moment.
SELECT count(*) AS items,
       percentile_disc(0.5) WITHIN GROUP (ORDER BY extract(epoch FROM first_seen_at - published_at) / 60)::float8 AS p50,
       percentile_disc(0.95) WITHIN GROUP (ORDER BY extract(epoch FROM first_seen_at - published_at) / 60)::float8 AS p95
FROM channel_items WHERE published_at > $1::timestamptz;
