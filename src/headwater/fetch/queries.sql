-- name: look_before_request
-- Everything that may speak against a request, in one round trip. The body of robots.txt comes only if it is news.
SELECT r.access, CASE WHEN r.body_hash IS DISTINCT FROM $6::bytea THEN r.body END AS body, r.body_hash, r.fetched_at,
       r.expires_at, r.failing_since, r.failure, r.http_status, r.etag, r.last_modified, p.max_kb_per_page, p.allow_js, p.serves_jobs,
       clock_timestamp() AS now, m.rules AS tdm_rules, m.expires_at AS tdm_expires_at,
       (SELECT coalesce(jsonb_agg(jsonb_build_array(t.domain_or_url, t.domain, t.key_prefix)), '[]'::jsonb)
        FROM takedowns t WHERE t.domain = ANY ($5::text[])) AS takedowns
FROM (SELECT 1) AS always
LEFT JOIN robots r ON r.bucket = $1::smallint AND r.host = $2::text AND r.scheme = $3::text AND r.port = $4::integer
LEFT JOIN host_policies p ON p.bucket = $1 AND p.host = $2
LEFT JOIN tdmrep m ON m.bucket = $1 AND m.host = $2 AND m.scheme = $3 AND m.port = $4;

-- name: store_robots
-- The answer of an origin for its robots.txt, or that it could not be had; while unreachable the last good body stays.
INSERT INTO robots AS r (bucket, host, scheme, port, access, body, body_hash, http_status, failure, failing_since, fetched_at,
                         expires_at, etag, last_modified, crawl_delay_ms, sitemaps, disallow)
VALUES (:bucket::smallint, :host::text, :scheme::text, :port::integer, :access::text, :body::bytea, :body_hash::bytea,
        :http_status::smallint, :failure::text, CASE WHEN :access = 'unreachable' THEN clock_timestamp() END, clock_timestamp(),
        clock_timestamp() + :term::interval,
        :etag::text, :last_modified::text, :crawl_delay_ms::integer, :sitemaps::text[], :disallow::jsonb)
ON CONFLICT (bucket, host, scheme, port) DO UPDATE
SET access = excluded.access,
    body = CASE WHEN excluded.access = 'unreachable' THEN r.body ELSE excluded.body END,
    body_hash = CASE WHEN excluded.access = 'unreachable' THEN r.body_hash ELSE excluded.body_hash END,
    http_status = excluded.http_status, failure = excluded.failure,
    failing_since = CASE WHEN excluded.access = 'unreachable' THEN coalesce(r.failing_since, excluded.failing_since) END,
    fetched_at = excluded.fetched_at, expires_at = excluded.expires_at,
    etag = CASE WHEN excluded.access = 'unreachable' THEN r.etag ELSE excluded.etag END,
    last_modified = CASE WHEN excluded.access = 'unreachable' THEN r.last_modified ELSE excluded.last_modified END,
    crawl_delay_ms = CASE WHEN excluded.access = 'unreachable' THEN r.crawl_delay_ms ELSE excluded.crawl_delay_ms END,
    sitemaps = CASE WHEN excluded.access = 'unreachable' THEN r.sitemaps ELSE excluded.sitemaps END,
    disallow = CASE WHEN excluded.access = 'unreachable' THEN r.disallow ELSE excluded.disallow END;

-- name: keep_former_robots
-- The rules that other ones are about to replace; that a file cannot be had now replaces nothing.
INSERT INTO former_robots (bucket, host, scheme, port, body, until)
SELECT r.bucket, r.host, r.scheme, r.port, r.body, clock_timestamp() FROM robots r
WHERE r.bucket = $1::smallint AND r.host = $2::text AND r.scheme = $3::text AND r.port = $4::integer
  AND r.body_hash IS DISTINCT FROM $5::bytea;

-- name: forget_former_robots
-- Those of times that the fetch log does not reach back to.
DELETE FROM former_robots WHERE until < now() - make_interval(days => $1::integer);

-- name: freshen_robots
-- Not changed since: the copy holds for another while.
UPDATE robots
SET access = CASE WHEN body IS NULL THEN 'allow_all' ELSE 'rules' END, http_status = 304, failure = NULL, failing_since = NULL,
    fetched_at = clock_timestamp(), expires_at = clock_timestamp() + $5::interval
WHERE bucket = $1::smallint AND host = $2::text AND scheme = $3::text AND port = $4::integer;

-- name: store_tdmrep
-- The rules of an origin's tdmrep.json, an empty list where it has none, for another while.
INSERT INTO tdmrep (bucket, host, scheme, port, rules, fetched_at, expires_at)
VALUES ($1::smallint, $2::text, $3::text, $4::integer, $5::jsonb, clock_timestamp(), clock_timestamp() + $6::interval)
ON CONFLICT (bucket, host, scheme, port) DO UPDATE
SET rules = excluded.rules, fetched_at = excluded.fetched_at, expires_at = excluded.expires_at;

-- name: read_tdmrep_of_host
-- Every tdmrep.json a host has, by origin.
SELECT rules AS tdm_rules, expires_at AS tdm_expires_at, clock_timestamp() AS now
FROM tdmrep WHERE bucket = $1::smallint AND host = $2::text ORDER BY scheme DESC, port;

-- name: read_robots_of_host
-- Every robots.txt a host has, by origin.
SELECT host, scheme, port, access, body, http_status, failure, failing_since, fetched_at, expires_at, crawl_delay_ms, sitemaps,
       disallow
FROM robots WHERE bucket = $1::smallint AND host = $2::text ORDER BY scheme DESC, port;

-- name: expire_robots
-- Ask for the robots.txt of a host anew, all of it, before anything else is asked there. Answers with the origins.
UPDATE robots SET expires_at = clock_timestamp(), etag = NULL, last_modified = NULL
WHERE bucket = $1::smallint AND host = $2::text
RETURNING host, scheme, port;

-- name: expired_robots
-- Origins whose robots.txt should be read again although nobody has asked: something waits there, or a source is blocked by it.
-- None while everything is paused.
SELECT r.host, r.scheme, r.port FROM robots r
JOIN hosts h ON h.bucket = r.bucket AND h.host = r.host
WHERE r.expires_at <= statement_timestamp() AND h.closed_until <= statement_timestamp() AND NOT EXISTS (SELECT FROM crawl_pause)
  AND (h.wake_at < 'infinity' OR EXISTS (
      SELECT 1 FROM channels c JOIN sources s ON s.id = c.source_id
      WHERE c.bucket = r.bucket AND c.host = r.host AND c.is_enabled AND s.status = 'blocked'))
ORDER BY r.expires_at LIMIT $1::integer;

-- name: is_known_host
-- Whether other processes may be asking a host.
SELECT EXISTS (SELECT 1 FROM hosts WHERE bucket = $1::smallint AND host = $2::text);
