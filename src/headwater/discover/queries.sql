-- name: claim_channels
-- Lease due channels, one per host, and of job sources no more than their pool; answers with their ids. The last row has
-- none: it says where the next claim may begin, and when to come back.
SELECT id, marks, wait FROM claim_channels(:owner::text, :most::integer, :lease::interval, :now::timestamptz,
                                           :jobs_pool::integer, :jobs_batch::integer, :jobs_every::interval, :marks::timestamptz[], :first::integer);

-- name: make_everything_due
-- Every channel that tells of news is due now; one that rests after errors, is being polled, or was within the shortest
-- interval, is left alone.
UPDATE channels SET next_poll_at = clock_timestamp(), next_reason = 'adaptive scheduling is off: all are polled', updated_at = now()
WHERE is_active AND token IS NULL AND consecutive_errors = 0 AND kind = ANY ($2::text[])
  AND next_poll_at > statement_timestamp() AND (last_polled_at IS NULL OR last_polled_at <= statement_timestamp() - $1::interval);

-- name: read_leased
-- Everything a run needs to know of the channels that were just leased.
SELECT p.*, c.id AS channel_id, c.token, c.kind AS channel_kind, c.url AS channel_url, c.recipe, c.trigger, c.poll_interval,
       c.etag, c.last_modified, c.progress, c.last_ok_at, c.last_new_at, c.newest_item_at, c.last_item_count, c.nochange_count,
       c.moved_count, c.overflow_count, c.silent_since, c.consecutive_errors, c.error_class, c.class_errors, c.rhythm, c.publisher_hints, c.answers, c.speaks_for_site, c.lost_count,
       c.named_at, c.gone_before, c.doubted_since,
       s.protocol AS push_protocol, s.hub AS push_hub, s.topic AS push_topic, s.since AS push_since, s.lease_until AS push_lease_until,
       s.proofs AS push_proofs, s.needed AS push_needed, s.pushes AS push_pushes, s.missed AS push_missed,
       s.last_push_at AS push_last_push_at, s.pinged_at AS push_pinged_at,
       c.last_polled_at, c.last_status, c.validators_checked_at, c.validators_distrusted_until, c.polls_lately, c.vain_polls_lately, c.new_items_lately,
       h.delay_ms, coalesce(z.crowding, 1) AS crowding,
       q.max_pages AS policy_pages, k.state AS cadence, coalesce($3::timestamptz, clock_timestamp()) AS now,
       CASE WHEN c.kind = 'search' THEN ARRAY(SELECT DISTINCT o.kind FROM channels o WHERE o.source_id = c.source_id AND o.is_enabled)
            ELSE '{}' END AS followed,
       CASE WHEN c.kind = 'backfill'
            THEN ARRAY(SELECT o.kind || ' ' || o.url FROM channels o
                       WHERE o.source_id = c.source_id AND o.is_enabled AND o.kind = ANY ($4::text[]) ORDER BY o.kind DESC, o.url)
            ELSE '{}' END AS places
FROM channels c
JOIN source_profiles p ON p.id = c.source_id
CROSS JOIN cadence k
LEFT JOIN subscriptions s ON s.channel_id = c.id
LEFT JOIN hosts h ON h.bucket = c.bucket AND h.host = c.host
LEFT JOIN host_policies q ON q.bucket = c.bucket AND q.host = c.host
LEFT JOIN crowded_hosts z ON z.bucket = c.bucket AND z.host = c.host
WHERE c.id = ANY ($1::uuid[]) AND c.leased_by = $2::text AND c.token IS NOT NULL;

-- name: read_channels_of_source
-- The same for a person who tries a source's channels without leasing them.
SELECT p.*, c.id AS channel_id, c.id AS token, c.kind AS channel_kind, c.url AS channel_url, c.recipe, c.trigger, c.poll_interval,
       c.etag, c.last_modified, c.progress, c.last_ok_at, c.last_new_at, c.newest_item_at, c.last_item_count, c.nochange_count,
       c.moved_count, c.overflow_count, c.silent_since, c.consecutive_errors, c.error_class, c.class_errors, c.rhythm, c.publisher_hints, c.answers, c.speaks_for_site, c.lost_count,
       c.named_at, c.gone_before, c.doubted_since,
       s.protocol AS push_protocol, s.hub AS push_hub, s.topic AS push_topic, s.since AS push_since, s.lease_until AS push_lease_until,
       s.proofs AS push_proofs, s.needed AS push_needed, s.pushes AS push_pushes, s.missed AS push_missed,
       s.last_push_at AS push_last_push_at, s.pinged_at AS push_pinged_at,
       c.last_polled_at, c.last_status, c.validators_checked_at, c.validators_distrusted_until, c.polls_lately, c.vain_polls_lately, c.new_items_lately,
       h.delay_ms, coalesce(z.crowding, 1) AS crowding,
       q.max_pages AS policy_pages, k.state AS cadence, clock_timestamp() AS now,
       CASE WHEN c.kind = 'search' THEN ARRAY(SELECT DISTINCT o.kind FROM channels o WHERE o.source_id = c.source_id AND o.is_enabled)
            ELSE '{}' END AS followed,
       '{}'::text[] AS places
FROM channels c
JOIN source_profiles p ON p.id = c.source_id
CROSS JOIN cadence k
LEFT JOIN subscriptions s ON s.channel_id = c.id
LEFT JOIN hosts h ON h.bucket = c.bucket AND h.host = c.host
LEFT JOIN host_policies q ON q.bucket = c.bucket AND q.host = c.host
LEFT JOIN crowded_hosts z ON z.bucket = c.bucket AND z.host = c.host
WHERE c.source_id = $1::uuid AND c.is_enabled AND c.kind <> 'backfill' ORDER BY c.created_at, c.id;

-- name: extend_polls
-- Keep leases that still hold; answers with their tokens. A locked row is being settled: it holds, and a
-- heartbeat that waited for it would come too late for all the others.
WITH held AS MATERIALIZED (
    SELECT id, token FROM channels WHERE token IS NOT NULL AND token = ANY ($1::uuid[]) AND lease_until > statement_timestamp()
), free AS MATERIALIZED (
    SELECT c.id FROM held h JOIN channels c ON c.id = h.id AND c.token = h.token FOR UPDATE OF c SKIP LOCKED
), extended AS (
    UPDATE channels c SET lease_until = clock_timestamp() + $2::interval FROM free f WHERE c.id = f.id
)
SELECT token FROM held;

-- name: release_polls
-- Give back what was not finished: it is due again at once, from where it got to.
UPDATE channels SET token = NULL, leased_by = NULL, lease_until = NULL WHERE token IS NOT NULL AND token = ANY ($1::uuid[]);

-- name: release_unheld_polls
-- The same for channels leased to a poller that does not know of it: the answer to the claim was lost.
UPDATE channels SET token = NULL, leased_by = NULL, lease_until = NULL
WHERE token IS NOT NULL AND leased_by = $1::text AND token <> ALL ($2::uuid[]);

-- name: set_channel_aside
-- A leased channel whose row cannot be read is polled no more, and says why; what it remembered goes, so that a person who
-- enables it again has a sound one. Invariant: a stale token changes nothing.
UPDATE channels
SET is_enabled = false, is_active = false, disabled_reason = $3::text, updated_at = now(), progress = NULL, rhythm = NULL,
    publisher_hints = '{}', answers = '{}', error_class = NULL, error_cause = NULL, token = NULL, leased_by = NULL, lease_until = NULL
WHERE id = $1::uuid AND token = $2::uuid RETURNING id;

-- name: known_items
-- Which of these addresses the channel listed before, with what they were then; an empty signature: they were refused.
SELECT url_hash, signature FROM channel_items WHERE channel_id = $1::uuid AND url_hash = ANY ($2::bytea[]);

-- name: remember_items
-- Items that are new or changed.
INSERT INTO channel_items AS i (channel_id, url_hash, bucket, signature, title, author, summary, content, language, published_at,
                                updated_at, fields, first_seen_at, last_seen_at)
SELECT :channel_id::uuid, g.url_hash, g.bucket, g.signature, g.title, g.author, g.summary, g.content, g.language, g.published_at,
       g.updated_at, g.fields, :now::timestamptz, :now
FROM unnest(:url_hash::bytea[], :bucket::smallint[], :signature::bytea[], :title::text[], :author::text[], :summary::text[],
            :content::text[], :language::text[], :published_at::timestamptz[], :updated_at::timestamptz[], :fields::jsonb[])
     AS g (url_hash, bucket, signature, title, author, summary, content, language, published_at, updated_at, fields)
ON CONFLICT (channel_id, url_hash) DO UPDATE
SET signature = excluded.signature, title = excluded.title, author = excluded.author, summary = excluded.summary,
    content = excluded.content, language = excluded.language, published_at = excluded.published_at,
    updated_at = excluded.updated_at, fields = excluded.fields, last_seen_at = excluded.last_seen_at;

-- name: redirects_of
-- Which of these pages were left for another one, and where they led.
SELECT e.url_hash, e.moved_to FROM unnest($1::smallint[], $2::bytea[]) AS g (bucket, url_hash)
JOIN url_frontier e ON e.bucket = g.bucket AND e.url_hash = g.url_hash
WHERE e.status = 'dead' AND e.reason = 'redirect' AND e.moved_to IS NOT NULL;

-- name: settle_page_read
-- A page that a poll has read itself is not fetched once more. Invariant: only one of its own source that waits for its
-- first time; another source has its own use for it.
SELECT change_entries(array_agg(e.bucket), array_agg(e.url_hash), '{pending}', 'fetched', NULL, NULL) FROM url_frontier e
WHERE e.bucket = $1::smallint AND e.url_hash = $2::bytea AND e.source_id = $3::uuid AND e.fetch_count = 0;

-- name: note_page_read
-- Validators of such a page, for when it is fetched again.
UPDATE url_frontier
SET fetch_count = 1, etag = $4::text, last_modified = $5::text, last_status = 200, last_fetched_at = clock_timestamp()
WHERE bucket = $1::smallint AND url_hash = $2::bytea AND source_id = $3::uuid AND status = 'fetched' AND fetch_count = 0;

-- name: note_domains
-- The registrable domains of whose pages a channel's words count. Where it comes to speak from another place, the words it
-- said before are forgotten: they would count for pages it had no right to speak of then.
WITH changed AS (
    UPDATE channels c SET domains = $2::text[] FROM (SELECT id, domains FROM channels WHERE id = $1::uuid) AS was
    WHERE c.id = was.id AND c.domains <> $2
    RETURNING was.domains <> '{}' AND NOT $2 <@ was.domains AS is_elsewhere
)
UPDATE channel_items i
SET title = NULL, author = NULL, summary = NULL, content = NULL, language = NULL, published_at = NULL, updated_at = NULL
FROM changed WHERE changed.is_elsewhere AND i.channel_id = $1 AND i.last_seen_at < $3::timestamptz AND i.signature <> '';

-- name: foreign_taken
-- How many URLs of other sites a channel has queued on a day.
SELECT CASE WHEN foreign_day = $2::date THEN foreign_taken ELSE 0 END FROM channels WHERE id = $1::uuid;

-- name: count_foreign
-- Add to them; another day begins anew.
UPDATE channels
SET foreign_taken = CASE WHEN foreign_day = $2::date THEN foreign_taken ELSE 0 END + $3::integer, foreign_day = $2
WHERE id = $1::uuid;

-- name: see_items_again
-- Listed again, as they were. Once a day: it only has to be known whether they are still there, and each is a row written.
UPDATE channel_items SET last_seen_at = $2::timestamptz
WHERE channel_id = $1::uuid AND url_hash = ANY ($3::bytea[]) AND last_seen_at < $2::timestamptz - interval '1 day';

-- name: forget_items
-- Items that their channels have not listed for long; a batch. What stood in a channel's last answer is still listed,
-- however long ago that was: until it answers otherwise, nothing has changed there.
DELETE FROM channel_items WHERE ctid = ANY (ARRAY(
    SELECT i.ctid FROM channel_items i
    WHERE i.last_seen_at < now() - make_interval(days => $1::integer)
      AND i.last_seen_at < (SELECT max(o.last_seen_at) FROM channel_items o WHERE o.channel_id = i.channel_id)
    LIMIT $2::integer));

-- name: hold_source
-- Nobody else changes it until this transaction ends.
SELECT 1 FROM sources WHERE id = $1::uuid FOR NO KEY UPDATE;

-- name: put_away
-- A run in the middle: where it got to. With a lease it goes on at once, without one at its next time.
-- Invariant: a stale token changes nothing.
UPDATE channels
SET progress = $3::jsonb, updated_at = now(), next_poll_at = coalesce($4::timestamptz, next_poll_at),
    next_reason = coalesce($5::text, next_reason),
    token = CASE WHEN $4 IS NULL THEN token END, leased_by = CASE WHEN $4 IS NULL THEN leased_by END,
    lease_until = CASE WHEN $4 IS NULL THEN clock_timestamp() + $6::interval END
WHERE id = $1::uuid AND token = $2::uuid RETURNING id;

-- name: hold_poll
-- A part of an answer was taken: the lease begins anew. Invariant: a stale token changes nothing.
UPDATE channels SET lease_until = clock_timestamp() + $3::interval WHERE id = $1::uuid AND token = $2::uuid RETURNING id;

-- name: has_got_to
-- Whether a run under this lease stands where it would stand after a step: the step was taken, and its answer lost.
SELECT progress = $3::jsonb FROM channels WHERE id = $1::uuid AND token = $2::uuid;

-- name: finish_poll
-- A run's end: the channel's new state, its next poll, its lease given back.
-- Invariant: a stale token changes nothing, and then nothing else of this transaction may stand either.
UPDATE channels c
SET (url, url_hash, bucket, host, title, next_poll_at, next_reason, poll_interval, etag, last_modified, last_polled_at,
     last_ok_at, last_new_at, newest_item_at, last_item_count, nochange_count, overflow_count, moved_count, silent_since,
     consecutive_errors, error_class, class_errors, error_cause, last_error, unread_page, unread_since, held_by, last_status, rhythm,
     publisher_hints, answers, lost_count, named_at, gone_before, doubted_since,
     validators_checked_at, validators_distrusted_until, polls_lately, vain_polls_lately, new_items_lately)
    = (SELECT r.url, r.url_hash, r.bucket, r.host, r.title, r.next_poll_at, r.next_reason, r.poll_interval, r.etag,
              r.last_modified, r.last_polled_at, r.last_ok_at, r.last_new_at, r.newest_item_at, r.last_item_count, r.nochange_count,
              r.overflow_count, r.moved_count, r.silent_since, r.consecutive_errors, r.error_class, r.class_errors, r.error_cause,
              r.last_error, r.unread_page, r.unread_since, r.held_by, r.last_status, r.rhythm, r.publisher_hints, r.answers, r.lost_count, r.named_at, r.gone_before, r.doubted_since,
              r.validators_checked_at, r.validators_distrusted_until, r.polls_lately, r.vain_polls_lately, r.new_items_lately
       FROM jsonb_populate_record(c, $3::jsonb) AS r),
    former_urls = CASE WHEN $4::text IS NULL THEN c.former_urls
                       ELSE (c.url || c.former_urls)[1:20] END,
    progress = NULL, token = NULL, leased_by = NULL, lease_until = NULL, trigger = 'schedule', waits_since = NULL, updated_at = now()
WHERE c.id = $1::uuid AND c.token = $2::uuid RETURNING id;

-- name: who_has_address
-- Another channel that is polled at this address already.
SELECT id FROM channels
WHERE url_hash = $3::bytea AND id <> $1::uuid AND is_enabled AND is_active AND kind = $4::text AND (kind = 'feed' OR source_id = $2::uuid) LIMIT 1;

-- name: set_mode
-- How a source is followed, once a search has found out.
UPDATE sources SET ingestion_mode = $2::text WHERE id = $1::uuid;

-- name: sought_no_sitemap
-- Whether a source has no sitemap, and none was ever looked for.
SELECT NOT EXISTS (SELECT 1 FROM channels WHERE source_id = $1::uuid AND kind IN ('sitemap', 'search'));

-- name: was_searched
-- Whether the channels of a source were looked for since a moment.
SELECT EXISTS (SELECT 1 FROM channels WHERE source_id = $1::uuid AND kind = 'search' AND last_polled_at > $2::timestamptz);

-- name: log_run
-- One line of the log of runs.
INSERT INTO runs (at, id, source_id, channel_id, kind, trigger, status, requests, found, inserted, updated, skipped, errors,
                  duration_ms, http_status, error_class, message, next_poll_at, next_reason, policy)
VALUES (:now::timestamptz, gen_random_uuid(), :source_id::uuid, :channel_id::uuid, :kind::text, :trigger::text, :status::text,
        :requests::integer, :found::integer, :inserted::integer, :updated::integer, :skipped::integer, :errors::integer,
        :duration_ms::integer, :http_status::smallint, :error_class::text, :message::text, :next_poll_at::timestamptz,
        :next_reason::text, :policy::text);

-- name: note_delays
-- How long what a run found took from its publication, added to the day's counts of its source.
INSERT INTO source_delays AS d (source_id, day, counts)
VALUES ($1::uuid, ($2::timestamptz AT TIME ZONE 'utc')::date, $3::integer[])
ON CONFLICT (source_id, day) DO UPDATE
SET counts = ARRAY(SELECT coalesce(was, 0) + coalesce(more, 0)
                   FROM unnest(d.counts, excluded.counts) WITH ORDINALITY AS u (was, more, place) ORDER BY place);

-- name: note_run_of_source
-- How a source's last run went; only failures in a row count, and of those by hand the first.
UPDATE sources
SET last_run_at = $2::timestamptz, last_run_status = $3::text, last_run_message = $4::text,
    consecutive_failures = CASE WHEN $3 <> 'fail' THEN 0 WHEN $5::boolean THEN greatest(consecutive_failures, 1)
                                ELSE consecutive_failures + 1 END
WHERE id = $1::uuid;

-- name: robots_sitemaps
-- What robots.txt names as sitemaps at each origin of a host.
SELECT scheme, port, sitemaps FROM robots WHERE bucket = $1::smallint AND host = $2::text ORDER BY scheme DESC;

-- name: polls_made
-- How many adaptive polls were made by schedule in a stretch of time, and for how many channels: a person who polls by hand
-- makes no poll dearer.
SELECT (SELECT count(*) FROM runs WHERE at > $1::timestamptz AND at <= $2::timestamptz AND policy = 'adaptive'
        AND trigger = 'schedule') AS made,
       (SELECT count(*) FROM channels c JOIN sources s ON s.id = c.source_id
        WHERE c.is_active AND c.kind = ANY ($3::text[]) AND c.consecutive_errors = 0
          AND coalesce(s.policy, CASE WHEN s.kind = 'jobs' OR s.poll_every IS NOT NULL THEN 'other' ELSE 'adaptive' END) = 'adaptive')
       AS channels;

-- name: read_cadence
-- The price of a poll, and since when it holds.
SELECT state, steered_at, coalesce($1::timestamptz, clock_timestamp()) AS now FROM cadence;

-- name: steer_cadence
-- Only a poller that saw the last state may replace it: many pollers agree on one price.
UPDATE cadence SET state = $1::jsonb, steered_at = $2::timestamptz WHERE steered_at = $3::timestamptz RETURNING true;

-- name: some_rhythms
-- A sample of what was learned, for the habits all channels share.
SELECT rhythm FROM channels WHERE is_active AND rhythm IS NOT NULL ORDER BY id LIMIT $1::integer;

-- name: crawl_counts
-- The pages of a source by status, start pages apart: those that its crawl itself has queued and that lead nowhere else.
SELECT page_status(e.status) AS status, coalesce(c.kind = 'crawl', false) AND e.moved_to IS NULL AS is_start, count(*) AS pages,
       min(coalesce(e.reason, e.last_error)) AS error
FROM discoveries d
JOIN url_frontier e USING (bucket, url_hash)
LEFT JOIN channels c ON c.id = d.channel_id
WHERE d.source_id = $1::uuid GROUP BY 1, 2;

-- name: begin_next_round
-- A crawl begins anew: what it has fetched is asked for again, with its validators. In the order in which everybody locks
-- entries; pages that a feed or a sitemap of the source found have their own ways to say that they changed.
UPDATE url_frontier e SET revisit_at = $3::timestamptz
FROM (SELECT f.bucket, f.url_hash FROM discoveries d
      JOIN url_frontier f USING (bucket, url_hash)
      WHERE d.source_id = $1::uuid AND (d.channel_id IS NULL OR d.channel_id = $2::uuid) AND f.status = 'fetched'
      ORDER BY f.bucket, f.url_hash FOR NO KEY UPDATE OF f) AS old
WHERE e.bucket = old.bucket AND e.url_hash = old.url_hash;

-- name: begin_round_in_full
-- The same after an edit of what is taken: pages are sent and read in full once more, also those that wait, since what has not
-- changed would not show links that are wanted now. One that is being fetched is fetched again for that.
UPDATE url_frontier e
SET revisit_at = CASE WHEN e.status = 'fetched' THEN $3::timestamptz ELSE e.revisit_at END, etag = NULL, last_modified = NULL,
    content_hash = NULL, reads_anew = e.reads_anew OR e.status = 'fetching'
FROM (SELECT f.bucket, f.url_hash FROM discoveries d
      JOIN url_frontier f USING (bucket, url_hash)
      WHERE d.source_id = $1::uuid AND (d.channel_id IS NULL OR d.channel_id = $2::uuid) AND f.status <> 'dead'
      ORDER BY f.bucket, f.url_hash FOR NO KEY UPDATE OF f) AS old
WHERE e.bucket = old.bucket AND e.url_hash = old.url_hash;

-- name: pages_of_source
-- A page of a source's pages, in key order.
SELECT d.bucket, d.url_hash, entry_id(d.bucket, d.url_hash) AS id, d.source_id, e.url, p.status, d.depth,
       coalesce(e.reason, e.last_error) AS error, e.created_at, e.updated_at
FROM discoveries d
JOIN url_frontier e ON e.bucket = d.bucket AND e.url_hash = d.url_hash
CROSS JOIN LATERAL page_status(e.status) AS p (status)
WHERE d.source_id = $1::uuid AND (d.bucket, d.url_hash) > ($2::smallint, $3::bytea) AND ($4::text IS NULL OR p.status = $4)
ORDER BY d.bucket, d.url_hash LIMIT $5::integer;
