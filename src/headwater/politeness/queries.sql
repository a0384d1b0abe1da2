-- name: weigh_crowds
-- Of hosts where channels had to wait for each other: how many polls an hour their channels deserve, each by its own interval,
-- how many of them those that were polled before, and how many its delay leaves room for; those first that were judged
-- longest ago. One that was never polled deserves an hourly poll until more is known.
-- Invariant: nothing is held meanwhile, for claims write these rows.
SELECT batch.bucket, batch.host, c.channels, c.deserved, c.known,
       3600 / extract(epoch FROM poll_turn(greatest(h.delay_ms, h.penalty_ms), h.wake_at <= now()))::float AS possible
FROM (SELECT bucket, host FROM crowded_hosts ORDER BY judged_at NULLS FIRST LIMIT $1::integer) AS batch
LEFT JOIN hosts h ON h.bucket = batch.bucket AND h.host = batch.host
CROSS JOIN LATERAL (
    SELECT count(*) AS channels, coalesce(sum(w.polls), 0)::float AS deserved,
           coalesce(sum(w.polls) FILTER (WHERE NOT w.is_unpolled), 0)::float AS known
    FROM (SELECT is_unpolled, 3600 / extract(epoch FROM greatest(coalesce(poll_interval, interval '1 hour'), interval '1 minute')) AS polls
          FROM channels WHERE bucket = batch.bucket AND host = batch.host AND is_active) AS w
) AS c;

-- name: judge_crowds
-- Note what was weighed. A row that a claim holds is judged the next time.
UPDATE crowded_hosts k
SET channels = w.channels, deserved_per_hour = w.deserved, possible_per_hour = w.possible, crowding = w.crowding, judged_at = now()
FROM (SELECT o.bucket, o.host, g.channels, g.deserved, g.possible, g.crowding
      FROM unnest($1::smallint[], $2::text[], $3::integer[], $4::float[], $5::float[], $6::float[])
           AS g (bucket, host, channels, deserved, possible, crowding)
      JOIN crowded_hosts o ON o.bucket = g.bucket AND o.host = g.host
      ORDER BY o.bucket, o.host FOR UPDATE OF o SKIP LOCKED) AS w
WHERE k.bucket = w.bucket AND k.host = w.host;

-- name: forget_crowds
-- Hosts where nothing has waited in a queue for so long, though intervals are not lengthened there.
DELETE FROM crowded_hosts WHERE seen_at < now() - $1::interval AND (judged_at IS NULL OR crowding <= 1);

-- name: reserve_slot
-- The right to start one request that is no entry's, or when to ask again.
-- Invariant: the host's row is locked while it is judged, so two processes are never inside one host's delay.
SELECT token, wait, is_alone, not_before, why
FROM reserve_slot(:bucket::smallint, :host::text, :kind::text, :owner::text, :lease::interval, :reach::interval,
                  :default_delay_ms::integer, :slack::interval, :now::timestamptz, :domain::text);

-- name: takedowns_over
-- Takedowns of any of these domains, for a transaction that stores what they do not cover.
-- Invariant: a later takedown waits until this transaction has ended, and then looks for what it stored.
SELECT domain_or_url, domain, key_prefix FROM takedowns_over($1::text[]);

-- name: add_takedown
-- Idempotent: the first reason stays.
INSERT INTO takedowns (domain_or_url, domain, key_prefix, reason) VALUES ($1::text, $2::text, $3::text, $4::text)
ON CONFLICT (domain_or_url) DO NOTHING;

-- name: remove_takedown
-- Answers with its domain and prefix, or nothing if there was none.
DELETE FROM takedowns WHERE domain_or_url = $1::text RETURNING domain, key_prefix;

-- name: want_refused_again
-- Channels that listed what was refused are asked in full once more, all their pages: what has not changed since would not
-- show it. Nobody remembers what a sitemap listed, so that those in the domain and those of sources there are asked as well.
-- A poll under way judged by what held before: it loses its lease, and the channel is due as it was.
UPDATE channels
SET etag = NULL, last_modified = NULL, answers = '{"": {"wants_all": true}}', progress = NULL, token = NULL, leased_by = NULL,
    lease_until = NULL
WHERE id IN (SELECT channel_id FROM channel_items WHERE signature = '')
   OR kind = 'sitemap' AND is_enabled
      AND (host = $1::text OR right(host, length($1) + 1) = '.' || $1
           OR source_id IN (SELECT id FROM sources WHERE host = $1 OR right(host, length($1) + 1) = '.' || $1));

-- name: list_takedowns
-- A page by name.
SELECT domain_or_url, domain, key_prefix, reason, created_at, swept_at FROM takedowns
WHERE domain_or_url > $1::text ORDER BY domain_or_url LIMIT $2::integer;

-- name: takedowns_of_domains
-- Takedowns of any of these domains, for people and to spare requests: what is stored may not depend on it.
SELECT domain_or_url, domain, key_prefix, reason, created_at, swept_at FROM takedowns WHERE domain = ANY ($1::text[])
ORDER BY domain_or_url;

-- name: unswept_takedowns
-- Takedowns whose adding process has not applied them in all this time.
SELECT domain_or_url, domain, key_prefix FROM takedowns
WHERE swept_at IS NULL AND created_at <= statement_timestamp() - $1::interval ORDER BY created_at;

-- name: is_recorded
-- Whether it is still taken down.
SELECT EXISTS (SELECT 1 FROM takedowns WHERE domain_or_url = $1::text);

-- name: mark_swept
-- Nothing of it is left.
UPDATE takedowns SET swept_at = clock_timestamp() WHERE domain_or_url = $1::text AND swept_at IS NULL;

-- name: outlive_watchers
-- Wait for the transactions that looked at the takedowns before this moment.
SELECT outlive_watchers($1::interval);

-- name: hosts_within_domain
-- A domain and what lies below it. Rare, and over hosts, not entries.
SELECT bucket, host FROM hosts WHERE host = $1::text OR right(host, length($1) + 1) = '.' || $1 ORDER BY bucket, host;

-- name: close_host
-- Close a host for one reason until a time, or open it again with null.
SELECT close_host($1::smallint, $2::text, $3::text, $4::timestamptz, $5::timestamptz);

-- name: set_policy
-- Set what a person names for a host; null leaves what was set before. Robots and sources keep their say.
INSERT INTO host_policies AS p (bucket, host, max_concurrency, min_request_interval_ms, burst, max_pages, max_kb_per_page, allow_js)
VALUES (:bucket::smallint, :host::text, :max_concurrency::smallint, :min_request_interval_ms::integer, :burst::smallint,
        :max_pages::integer, :max_kb_per_page::integer, :allow_js::boolean)
ON CONFLICT (bucket, host) DO UPDATE
SET max_concurrency = coalesce(excluded.max_concurrency, p.max_concurrency),
    min_request_interval_ms = coalesce(excluded.min_request_interval_ms, p.min_request_interval_ms),
    burst = coalesce(excluded.burst, p.burst), max_pages = coalesce(excluded.max_pages, p.max_pages),
    max_kb_per_page = coalesce(excluded.max_kb_per_page, p.max_kb_per_page),
    allow_js = coalesce(excluded.allow_js, p.allow_js), updated_at = now();

-- name: lock_policy
-- What a person set for a host, to be changed in this transaction; also where nobody set anything yet.
INSERT INTO host_policies AS p (bucket, host) VALUES ($1::smallint, $2::text)
ON CONFLICT (bucket, host) DO UPDATE SET host = p.host
RETURNING max_concurrency, min_request_interval_ms, burst, max_pages, max_kb_per_page, allow_js;

-- name: clear_policy
-- Take back all that a person set for a host. Robots and sources keep their say.
UPDATE host_policies
SET max_concurrency = NULL, min_request_interval_ms = NULL, burst = NULL, max_pages = NULL, max_kb_per_page = NULL,
    allow_js = NULL, updated_at = now()
WHERE bucket = $1::smallint AND host = $2::text;

-- name: set_crawl_delay
-- The delay that robots.txt asks for.
INSERT INTO host_policies AS p (bucket, host, crawl_delay_ms) VALUES ($1::smallint, $2::text, $3::integer)
ON CONFLICT (bucket, host) DO UPDATE SET crawl_delay_ms = excluded.crawl_delay_ms, updated_at = now();

-- name: set_source_delay
-- The delay that a source of the host asks for.
INSERT INTO host_policies AS p (bucket, host, source_delay_ms) VALUES ($1::smallint, $2::text, $3::integer)
ON CONFLICT (bucket, host) DO UPDATE SET source_delay_ms = excluded.source_delay_ms, updated_at = now();

-- name: unpace_host
-- Leave the default delay out for a host; answers nothing where that was so already.
INSERT INTO host_policies AS p (bucket, host, is_unpaced) VALUES ($1::smallint, $2::text, true)
ON CONFLICT (bucket, host) DO UPDATE SET is_unpaced = true, updated_at = now() WHERE NOT p.is_unpaced
RETURNING host;

-- name: pace_host
-- The default delay holds again for a host; answers nothing where it held.
UPDATE host_policies SET is_unpaced = false, updated_at = now()
WHERE bucket = $1::smallint AND host = $2::text AND is_unpaced
RETURNING host;

-- name: unpaced_hosts
-- Few, and on machines of our own.
SELECT host FROM host_policies WHERE is_unpaced ORDER BY bucket, host;

-- name: apply_host_policy
-- Make the effective delay, concurrency and burst follow; the next request of every process obeys.
SELECT apply_host_policy($1::smallint, $2::text, $3::integer, $4::timestamptz);

-- name: read_host
-- A host as it stands, with everything that has a say in its pace.
SELECT h.bucket, h.host, h.base_delay_ms, h.delay_ms, h.penalty_ms, h.max_concurrency, h.burst, h.in_flight,
       nullif(h.next_slot_at, '-infinity') AS next_slot_at, nullif(h.closed_until, '-infinity') AS closed_until,
       h.last_fetch_at, nullif(h.wake_at, 'infinity') AS wake_at,
       p.max_concurrency AS policy_concurrency, p.min_request_interval_ms, p.burst AS policy_burst, p.max_pages,
       p.max_kb_per_page, p.allow_js, p.crawl_delay_ms, p.source_delay_ms, nullif(p.is_unpaced, false) AS is_unpaced,
       coalesce(p.serves_jobs, false) AS serves_jobs, p.updated_at AS policy_updated_at,
       s.requests, s.succeeded, s.failed, s.rate_limited, s.last_status, h.is_doubted, h.address, h.address_delay_ms,
       (SELECT count(*) FROM hosts o WHERE o.address = h.address) AS names_at_address
FROM hosts h
LEFT JOIN host_policies p USING (bucket, host)
LEFT JOIN host_statistics s USING (bucket, host)
WHERE h.bucket = $1::smallint AND h.host = $2::text;

-- name: closures_of_host
-- Why a host is closed now, the longest first.
SELECT reason, until FROM host_closures
WHERE bucket = $1::smallint AND host = $2::text AND until > statement_timestamp()
ORDER BY until DESC;

-- name: regrant_slot
-- The next slot of a journey that holds one already; the request before is noted.
SELECT wait, is_alone, not_before, why
FROM regrant_slot(:bucket::smallint, :token::uuid, :lease::interval, :reach::interval, :verdict::text, :status::smallint,
                  :body_bytes::bigint, :started_after::interval, :duration_ms::integer, :kind::text,
                  :sent_from::text, :slack::interval, :now::timestamptz);

-- name: end_slots
-- Give back slots that are no entry's, and note their requests.
SELECT settle_requests($1::settlement[], $2::timestamptz);

-- name: charge_slots
-- Further requests in a slot already held, each put on the host's account; the request before is noted.
SELECT granted_at, lasts, not_before, why
FROM charge_slots(:bucket::smallint, :token::uuid, :count::integer, :margin::interval, :started_at::timestamptz,
                  :duration_ms::integer, :status::smallint, :body_bytes::bigint, :kind::text, :sent_from::text, :now::timestamptz);

-- name: weigh_addresses
-- Addresses of which something has changed, a batch: crowded are those with more than so many names, unless so many domains
-- answer there that it is a shared host. Invariant: a change that is noted meanwhile is left for the next time.
WITH noted AS (
    DELETE FROM address_changes WHERE ctid = ANY (ARRAY(SELECT ctid FROM address_changes LIMIT $3::integer FOR UPDATE SKIP LOCKED))
    RETURNING address
), weighed AS (
    SELECT n.address, w.names > $1::integer AND w.answering < $2::integer AS is_crowded
    FROM (SELECT DISTINCT address FROM noted) AS n
    CROSS JOIN LATERAL (SELECT count(*) AS names, count(DISTINCT h.domain) FILTER (WHERE NOT h.is_doubted) AS answering
                        FROM hosts h WHERE h.address = n.address) AS w
), thinned AS (
    DELETE FROM crowded_addresses c USING weighed w WHERE c.address = w.address AND NOT w.is_crowded
), crowded AS (
    INSERT INTO crowded_addresses SELECT address FROM weighed WHERE is_crowded ORDER BY 1 ON CONFLICT DO NOTHING
)
SELECT count(*) FROM noted;

-- name: crowded_hosts
-- Hosts whose part of their address's pace has changed by more than a tenth: names that were asked within the hour or have
-- something waiting share it. Looked at are crowded addresses, and those that were.
WITH crowds AS (
    SELECT a.address, a.is_crowded, w.active
    FROM (SELECT address, true AS is_crowded FROM crowded_addresses
          UNION ALL
          SELECT p.address, false FROM (SELECT DISTINCT address FROM hosts WHERE address_delay_ms > 0) AS p
          WHERE NOT EXISTS (SELECT 1 FROM crowded_addresses c WHERE c.address = p.address)) AS a
    CROSS JOIN LATERAL (
        SELECT count(*) FILTER (WHERE priority > 0 OR in_flight > 0
                                OR last_fetch_at > coalesce($2::timestamptz, statement_timestamp()) - interval '1 hour') AS active
        FROM hosts h WHERE h.address = a.address) AS w
), wanted AS (
    SELECT h.bucket, h.host, h.address_delay_ms AS before,
           CASE WHEN c.is_crowded THEN least(86400000, c.active * $1::integer) ELSE 0 END::integer AS delay_ms,
           row_number() OVER (PARTITION BY h.address ORDER BY h.next_slot_at, h.host) AS place
    FROM crowds c JOIN hosts h ON h.address = c.address
)
SELECT bucket, host, delay_ms, place FROM wanted
WHERE delay_ms <> before AND abs(delay_ms - before) * 10 > before ORDER BY bucket, host;

-- name: pace_hosts
-- Each host's part of its address's pace, and when it may next be asked.
SELECT pace_hosts($1::smallint[], $2::text[], $3::integer[], $4::interval[], $5::timestamptz);

-- name: answering_domains
-- How many domains at an address answer.
SELECT count(DISTINCT domain) FROM hosts WHERE address = $1::text AND NOT is_doubted;

-- name: has_answered
-- Whether a host was ever heard: an answer to robots.txt is the first thing that is had of every host.
SELECT EXISTS (SELECT 1 FROM robots WHERE bucket = $1::smallint AND host = $2::text AND http_status IS NOT NULL);

-- name: one_asks_at_a_time
-- Those who ask for takedowns wait for each other, so that none slips past the limits.
SELECT pg_advisory_xact_lock(hashtextextended('headwater.takedown_requests', 0));

-- name: add_takedown_request
-- Keep what a stranger asks, unless its address has asked for so much lately, or too much waits already.
INSERT INTO takedown_requests (id, place, contact, reason, asker)
SELECT :id::uuid, :place::text, :contact::text, :reason::text, :asker::text
WHERE (SELECT count(*) FROM takedown_requests WHERE asker = :asker::text AND asked_at > now() - :within::interval) < :of_one::integer
  AND (SELECT count(*) FROM takedown_requests WHERE decided_at IS NULL) < :in_all::integer
RETURNING true;

-- name: open_takedown_requests
-- Requests that nobody has decided, oldest first.
SELECT id, place, contact, reason, asked_at FROM takedown_requests WHERE decided_at IS NULL ORDER BY asked_at, id LIMIT $1::integer;

-- name: decide_takedown_request
-- Grant or refuse a request that is open.
UPDATE takedown_requests SET decided_at = now(), decided_by = $2::text, is_granted = $3::boolean
WHERE id = $1::uuid AND decided_at IS NULL RETURNING id, place, contact, reason, asked_at;

-- name: count_takedown_requests
-- How many wait for a person, and since when.
SELECT count(*) AS waiting, min(asked_at) AS since FROM takedown_requests WHERE decided_at IS NULL;

-- name: forget_takedown_requests
-- Requests that were decided so long ago.
DELETE FROM takedown_requests WHERE decided_at < now() - $1::interval;
