-- name: write_source
-- Everything a person may say of a source, by column; without an id it is new. Answers with its id, or null if its address is taken.
SELECT write_source($1::uuid, $2::jsonb);

-- name: bring_polls_forward
-- A shorter interval holds from now on, not after the next poll of the old one. What rests after errors rests on.
UPDATE channels
SET next_poll_at = coalesce(last_polled_at, now()) + $2::interval, next_reason = 'a person set the interval', updated_at = now()
WHERE source_id = $1::uuid AND kind <> 'search' AND consecutive_errors = 0
  AND next_poll_at > coalesce(last_polled_at, now()) + $2;

-- name: plan_revisits
-- Other times hold from now on for pages that were fetched before, too; none: they are not fetched again by the clock.
-- In the order in which everybody locks entries.
UPDATE url_frontier e
SET revisit_at = e.last_fetched_at + ($2::interval[])[least(greatest(e.fetch_count, 1), cardinality($2))]
FROM (SELECT f.bucket, f.url_hash FROM discoveries d
      JOIN url_frontier f USING (bucket, url_hash)
      WHERE d.source_id = $1::uuid AND f.source_id = $1 AND f.status = 'fetched'
      ORDER BY f.bucket, f.url_hash FOR NO KEY UPDATE OF f) AS old
WHERE e.bucket = old.bucket AND e.url_hash = old.url_hash;

-- name: want_all_again
-- What a source lists may be judged otherwise now: it is asked for in full once more. A poll under way judged by what held
-- before: it loses its lease, and the channel is due as it was. A backfill goes on from where it got to.
UPDATE channels
SET etag = NULL, last_modified = NULL, answers = '{"": {"wants_all": true}}',
    progress = CASE WHEN kind = 'backfill' THEN progress END, token = NULL, leased_by = NULL,
    lease_until = NULL
WHERE source_id = $1::uuid;

-- name: wait_to_be_alone
-- One transaction at a time makes the source of what people add by hand.
SELECT pg_advisory_xact_lock(hashtextextended('headwater.manual_source', 0));

-- name: find_manual_source
-- The source of what a person adds by hand: the one without an address.
SELECT id FROM sources WHERE url_hash IS NULL AND status <> 'deleted' ORDER BY created_at LIMIT 1;

-- name: create_manual_source
-- It has no address, and nothing is polled for it.
INSERT INTO sources (name, url) VALUES ('manual', 'about:manual') RETURNING id;

-- name: read_source
-- One source.
SELECT * FROM source_profiles WHERE id = $1::uuid;

-- name: lock_source
-- One source, to be changed in this transaction.
SELECT * FROM source_profiles WHERE id = $1::uuid FOR NO KEY UPDATE;

-- name: find_sources
-- By what a person types: id, address, exact name, id in another system, host of its own or of a channel, with its port if
-- one is named, beginning of the id or of the name; the surest first.
-- Each is asked for alone and by its index; ids from `:first_id` to `:last_id` are those that begin so.
SELECT p.*, f.rank
FROM (SELECT id, min(rank) AS rank FROM (
          SELECT :first_id::uuid AS id, 0 AS rank WHERE :first_id = :last_id::uuid
          UNION ALL SELECT id, 1 FROM sources WHERE url_hash = :url_hash::bytea AND status <> 'deleted'
          UNION ALL (SELECT id, 2 FROM source_profiles WHERE lower(name) = lower(:wanted::text) AND status <> 'deleted' LIMIT 20)
          UNION ALL SELECT source_id, 3 FROM external_ids WHERE external_id = :wanted
          UNION ALL (SELECT id, 4 FROM sources WHERE host = :host::text AND url_hash IS NOT NULL AND status <> 'deleted'
                       AND (:site::text IS NULL OR substring(url FROM '^https?://([^/]*)') = :site) LIMIT 20)
          UNION ALL (SELECT source_id, 5 FROM channels WHERE bucket = :bucket::smallint AND host = :host
                       AND (:site IS NULL OR substring(url FROM '^https?://([^/]*)') = :site) LIMIT 100)
          UNION ALL (SELECT id, 6 FROM source_profiles WHERE id BETWEEN :first_id AND :last_id AND status <> 'deleted'
                     ORDER BY id LIMIT 20)
          UNION ALL (SELECT id, 6 FROM source_profiles WHERE lower(name) LIKE :beginning::text AND status <> 'deleted'
                     ORDER BY lower(name), id LIMIT 20)) AS one
      GROUP BY 1) AS f
JOIN source_profiles p ON p.id = f.id
WHERE p.status <> 'deleted' ORDER BY f.rank, p.name, p.id LIMIT 20;

-- name: prove_sources
-- Sources that have an active channel and of which something was kept, a batch: from now on nobody asks for that.
UPDATE sources SET is_proven = true WHERE id = ANY (ARRAY(
    SELECT s.id FROM sources s
    WHERE s.status = 'active' AND s.url_hash IS NOT NULL AND NOT s.is_proven
      AND (SELECT 1 FROM channels c WHERE c.source_id = s.id AND c.is_active AND c.kind = ANY ($2::text[]) LIMIT 1) IS NOT NULL
      AND ((SELECT 1 FROM documents d WHERE d.source_id = s.id AND d.deleted_at IS NULL LIMIT 1) IS NOT NULL
           OR (SELECT 1 FROM jobs j WHERE j.source_id = s.id LIMIT 1) IS NOT NULL)
    LIMIT $1::integer FOR NO KEY UPDATE SKIP LOCKED));

-- name: set_source_status
-- Resuming forgives what went wrong before.
UPDATE sources
SET status = $2::text, status_reason = $3::text, updated_at = now(),
    consecutive_failures = CASE WHEN $2 = 'active' THEN 0 ELSE consecutive_failures END
WHERE id = $1::uuid;

-- name: follow_source_status
-- Channels are polled while they are enabled and their source is active; a resumed one that rested is tried at once.
-- Those of a deleted source give their addresses free.
UPDATE channels c
SET is_active = c.is_enabled AND s.status = 'active', updated_at = now(),
    is_enabled = c.is_enabled AND s.status <> 'deleted',
    disabled_reason = CASE WHEN c.is_enabled AND s.status = 'deleted' THEN 'its source was deleted' ELSE c.disabled_reason END,
    consecutive_errors = CASE WHEN s.status = 'active' THEN 0 ELSE c.consecutive_errors END,
    class_errors = CASE WHEN s.status = 'active' THEN 0 ELSE c.class_errors END,
    next_poll_at = CASE WHEN s.status = 'active' AND c.consecutive_errors > 0 THEN now() ELSE c.next_poll_at END
FROM sources s
WHERE c.source_id = $1::uuid AND s.id = c.source_id;

-- name: record_event
-- One line of the trail.
INSERT INTO events (kind, level, actor, source_id, channel_id, message, details)
VALUES (:kind::text, :level::text, :actor::text, :source_id::uuid, :channel_id::uuid, :message::text, :details::jsonb);

-- name: forget_events
-- What we noted by ourselves long ago. What people did stays.
DELETE FROM events WHERE at < now() - make_interval(days => $1::integer) AND actor = 'headwater';

-- name: events_of_source
-- Newest first, before an id.
SELECT id, at, kind, level, actor, source_id, channel_id, message, details FROM events
WHERE source_id = $1::uuid AND ($2::bigint IS NULL OR id < $2) ORDER BY id DESC LIMIT $3::integer;

-- name: add_channel
-- Answers with its id and whether it is new; one that was disabled is enabled again.
INSERT INTO channels AS c (source_id, kind, url, url_hash, bucket, host, title, recipe, is_active, next_reason, next_poll_at,
                           speaks_for_site, progress)
SELECT s.id, :kind::text, :url::text, :url_hash::bytea, :bucket::smallint, :host::text, :title::text, :recipe::text,
       s.status = 'active', :reason::text, coalesce(:now::timestamptz, now()) + :due_in::interval, :speaks_for_site::boolean, :heard::jsonb
FROM sources s WHERE s.id = :source_id::uuid
ON CONFLICT (source_id, kind, url_hash) DO UPDATE
SET is_enabled = true, disabled_reason = NULL, is_active = excluded.is_active, updated_at = now(),
    recipe = coalesce(excluded.recipe, c.recipe), title = coalesce(excluded.title, c.title),
    speaks_for_site = c.speaks_for_site OR excluded.speaks_for_site,
    next_poll_at = CASE WHEN c.is_enabled THEN c.next_poll_at ELSE excluded.next_poll_at END,
    next_reason = CASE WHEN c.is_enabled THEN c.next_reason ELSE excluded.next_reason END
RETURNING id, xmax = 0 AS is_new;

-- name: feed_is_followed
-- Which channel follows this feed already, and for which site.
SELECT c.id, c.source_id, s.url AS site FROM channels c JOIN sources s ON s.id = c.source_id
WHERE c.url_hash = $1::bytea AND c.kind = 'feed' AND c.is_enabled;

-- name: site_of_source
-- Where a source says it is at home.
SELECT url FROM sources WHERE id = $1::uuid;

-- name: disable_channel
-- It is polled no more, and says why.
UPDATE channels SET is_enabled = false, is_active = false, disabled_reason = $2::text, updated_at = now() WHERE id = $1::uuid;

-- name: poll_now
-- A person asks: as soon as its host allows. What is being polled at this moment is not polled again.
UPDATE channels
SET next_poll_at = coalesce($5::timestamptz, now()), next_reason = $3::text, trigger = $4::text, updated_at = now()
WHERE source_id = $1::uuid AND is_active AND ($2::text IS NULL OR kind = $2) RETURNING id;

-- name: wake_pollers
-- A poller may be asleep until the next tick.
SELECT pg_notify('headwater_poll', '');

-- name: channels_of_sources
-- The channels of some sources, enabled ones first, and how things stand with their hubs.
SELECT c.id, source_id, kind, url, title, is_enabled, disabled_reason, is_active, former_urls, next_poll_at, next_reason,
       poll_interval, leased_by, c.lease_until > now() AS is_running, last_polled_at, last_ok_at, last_new_at, newest_item_at,
       last_item_count, nochange_count, overflow_count, silent_since, doubted_since, consecutive_errors, error_class, class_errors,
       validators_distrusted_until, polls_lately, vain_polls_lately, new_items_lately,
       error_cause, last_error, unread_page, unread_since, held_by, last_status, c.created_at, updated_at, speaks_for_site,
       s.protocol AS push_protocol, s.hub AS push_hub, s.topic AS push_topic, s.state AS push_state, s.reason AS push_reason,
       s.since AS push_since, s.lease_until AS push_lease_until, s.proofs AS push_proofs, s.needed AS push_needed,
       s.pushes AS push_pushes, s.missed AS push_missed, s.last_push_at AS push_last_push_at, statement_timestamp() AS push_looked_at
FROM channels c LEFT JOIN subscriptions s ON s.channel_id = c.id
WHERE source_id = ANY ($1::uuid[]) ORDER BY source_id, is_enabled DESC, c.created_at, c.id;

-- name: known_addresses
-- Which of these addresses are sources already, or feeds of one.
SELECT url_hash, id AS source_id FROM sources WHERE url_hash = ANY ($1::bytea[]) AND status <> 'deleted'
UNION ALL
SELECT c.url_hash, c.source_id FROM channels c JOIN sources s ON s.id = c.source_id AND s.status <> 'deleted'
WHERE c.url_hash = ANY ($1) AND c.kind = 'feed' AND c.is_enabled;

-- name: known_feeds
-- Every feed that sources of these addresses have or had, whether it is polled or not, and where it was before it moved.
SELECT c.source_id, c.url_hash, c.former_urls FROM sources s JOIN channels c ON c.source_id = s.id AND c.kind = 'feed'
WHERE s.url_hash = ANY ($1::bytea[]) AND s.status <> 'deleted';

-- name: deleted_addresses
-- Which of these addresses a deleted source had.
SELECT url_hash, id AS source_id FROM sources WHERE url_hash = ANY ($1::bytea[]) AND status = 'deleted';

-- name: note_external_ids
-- Ids of other systems, one for each source named; answers with what is new.
INSERT INTO external_ids (source_id, external_id)
SELECT DISTINCT source_id, external_id FROM unnest($1::uuid[], $2::text[]) AS noted (source_id, external_id)
ON CONFLICT DO NOTHING RETURNING source_id;

-- name: external_ids_of
-- The ids that other systems have for some sources.
SELECT source_id, array_agg(external_id ORDER BY external_id) AS external_ids FROM external_ids
WHERE source_id = ANY ($1::uuid[]) GROUP BY source_id;

-- name: voices_of
-- For whom some sources may speak, and their addresses.
SELECT id, url_hash, speaks_for FROM source_profiles WHERE id = ANY ($1::uuid[]);

-- name: believe_channels
-- Channels that a person named for the site of their source; answers with those that were not believed before.
UPDATE channels c SET speaks_for_site = true, updated_at = now()
FROM unnest($1::uuid[], $2::bytea[]) AS named (source_id, url_hash)
WHERE c.source_id = named.source_id AND c.url_hash = named.url_hash AND NOT c.speaks_for_site
RETURNING c.source_id;

-- name: render_hosts
-- Pages of these hosts are rendered in a browser, unless a person said otherwise; answers with those that are so from now.
INSERT INTO host_policies AS p (bucket, host, allow_js)
SELECT bucket, host, true FROM unnest($1::smallint[], $2::text[]) AS wanted (bucket, host) ORDER BY bucket, host
ON CONFLICT (bucket, host) DO UPDATE SET allow_js = true, updated_at = now() WHERE p.allow_js IS NULL
RETURNING host;

-- name: rendered_hosts
-- Which of these hosts have their pages rendered.
SELECT p.host FROM unnest($1::smallint[], $2::text[]) AS asked (bucket, host)
JOIN host_policies p ON p.bucket = asked.bucket AND p.host = asked.host WHERE p.allow_js;

-- name: slow_down_for_jobs
-- A job source's host is asked more slowly, expects smaller pages, and its robots.txt is read more often.
INSERT INTO host_policies (bucket, host, serves_jobs) VALUES ($1::smallint, $2::text, true)
ON CONFLICT (bucket, host) DO UPDATE SET serves_jobs = true, updated_at = now() WHERE NOT host_policies.serves_jobs;

-- name: raise_base_delay
-- The pace of a host that was known before it became a job source's.
UPDATE hosts SET base_delay_ms = greatest(base_delay_ms, $3::integer) WHERE bucket = $1::smallint AND host = $2::text;

-- name: source_at
-- The source with this address.
SELECT id FROM sources WHERE url_hash = $1::bytea AND status <> 'deleted';

-- name: source_of_site
-- A source at this address; unless $3 is null also one of this host, where the address ($3) or the source is the whole site.
SELECT id, name FROM sources
WHERE host = $1::text AND status <> 'deleted'
  AND (url_hash = $2::bytea OR $3::boolean OR ($3 IS NOT NULL AND url ~ '^[a-z]+://[^/]+/?$'))
ORDER BY url_hash = $2 DESC LIMIT 1;

-- name: followers_of_feeds
-- The sources that follow these feeds: each is followed once.
SELECT c.url_hash, c.url, s.id, s.name FROM channels c JOIN sources s ON s.id = c.source_id
WHERE c.kind = 'feed' AND c.is_enabled AND c.url_hash = ANY ($1::bytea[]);

-- name: sources_blocked_by_robots
-- Channels of a host whose sources may not be asked for anything because of its robots.txt.
SELECT c.source_id, c.url FROM channels c JOIN sources s ON s.id = c.source_id
WHERE c.bucket = $1::smallint AND c.host = $2::text AND c.is_enabled AND s.status = 'blocked' AND s.status_reason = $3::text;

-- name: day_before
-- How far back a length of time reaches, by the only clock that decides.
SELECT clock_timestamp() - $1::interval;

-- name: begin_backfill
-- From its beginning, also where one is under way: another day may be meant. A poll under way loses its lease.
UPDATE channels
SET progress = NULL, token = NULL, leased_by = NULL, lease_until = NULL, next_poll_at = now() + $2::interval,
    next_reason = $3::text
WHERE id = $1::uuid;

-- name: fold_totals
-- Add the deltas to the totals. One statement: a reader sees them before or after, never twice.
WITH folded AS (
    DELETE FROM source_total_deltas RETURNING what, status, count
)
INSERT INTO source_totals AS t (what, status, count)
SELECT what, status, sum(count) FROM folded GROUP BY 1, 2 ORDER BY 1, 2
ON CONFLICT (what, status) DO UPDATE SET count = t.count + excluded.count;

-- name: refill_sinks
-- What views and places are made of has changed: every sink looks at the records of this source again.
INSERT INTO backfills (sink_id, source_id, reason)
SELECT s.id, $1::uuid, $2::text FROM sinks s
ON CONFLICT (sink_id, source_id) DO UPDATE
SET number = DEFAULT, kind = 'document', at = NULL, bucket = -1, hash = '', done = 0, asked_at = now(), reason = excluded.reason;
