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
