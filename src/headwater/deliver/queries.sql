-- name: move_changes
-- Committed changes from the outbox into the log, at most so many; answers with how many were taken.
SELECT move_changes($1::integer);

-- name: wake_log_readers
-- One NOTIFY, and only if a reader of the log sleeps.
SELECT pg_notify('headwater_log', '') WHERE EXISTS
    (SELECT 1 FROM sleepers WHERE waits_for = 'log' AND until > statement_timestamp());

-- name: sleep_at_log
-- Say that this reader of the log sleeps, so that a mover bothers to wake it.
INSERT INTO sleepers (owner, until, waits_for) VALUES ($1::text, clock_timestamp() + $2::interval, 'log')
ON CONFLICT (owner) DO UPDATE SET until = excluded.until;

-- name: look_for_work
-- Whether changes wait in the outbox, and which sinks have work that nobody does; says also that this process sleeps next.
-- The only statement of an idle process.
WITH asleep AS (
    INSERT INTO sleepers (owner, until, waits_for) VALUES ($1::text, clock_timestamp() + $2::interval, 'changes')
    ON CONFLICT (owner) DO UPDATE SET until = excluded.until
)
SELECT (SELECT true FROM outbox ORDER BY seq LIMIT 1) IS NOT NULL AS is_waiting, c.position,
       ARRAY(SELECT s.id FROM sinks s
             WHERE s.state = 'active' AND s.leased_until <= statement_timestamp() AND s.retry_at <= statement_timestamp()
               AND (s.position < c.position OR s.failures > 0 OR s.looked_at IS NULL OR s.looked_at <= statement_timestamp() - $3::interval OR EXISTS (SELECT 1 FROM backfills b WHERE b.sink_id = s.id)
                    OR EXISTS (SELECT 1 FROM delivery_failures f
                               WHERE f.sink_id = s.id AND f.next_try_at <= statement_timestamp()))
             ORDER BY s.last_success_at NULLS FIRST) AS due
FROM change_counter c;

-- name: log_state
-- The last position of the log, and the first one that is still there.
SELECT position, oldest_position, moved_at FROM change_counter;

-- name: read_log
-- Changes after a position, up to another one, in order.
SELECT position, at, kind, bucket, hash, version, op, changed_at FROM changes
WHERE position > $1::bigint AND position <= $2::bigint ORDER BY position LIMIT $3::integer;

-- name: note_oldest
-- After days of the log were dropped: where it begins now.
UPDATE change_counter c
SET oldest_position = coalesce((SELECT min(h.position) FROM changes h), c.position + 1)
WHERE c.oldest_position < coalesce((SELECT min(h.position) FROM changes h), c.position + 1);

-- name: documents_as_they_are
-- Documents by key, for one reader: what it should get, and what it holds. Not deliverable are those that were deleted, are
-- duplicates or not in the view; of them nothing but the version is read. LIMIT has each key looked up by itself: of a table
-- that was filled since it was last analysed, the planner believes that all of it is as quick.
SELECT k.place, k.bucket, k.hash, d.version, d.is_for_reader, h.version AS held_version, h.place AS held_place, d.source_id, s.name AS source_name, s.url AS source_url, s.kind AS source_kind,
       s.tags AS source_tags, s.country AS source_country, d.url, d.canonical_url, d.title, d.text, d.summary, d.author, d.authors,
       d.published_at, d.updated_at, d.language, d.section, d.keywords, d.images, d.word_count, d.page_type, d.quality,
       d.content_hash, d.produced_by, d.metadata, d.crawled_at, d.first_seen_at, d.changed_at, d.near_duplicate_of,
       d.rights, d.rights_statements, d.blocks
FROM unnest(:buckets::smallint[], :hashes::bytea[]) WITH ORDINALITY AS k (bucket, hash, place)
LEFT JOIN LATERAL (
    SELECT e.version, i.is_for_reader, e.source_id, e.url, e.canonical_url, e.title, CASE WHEN i.is_for_reader THEN e.text END AS text,
           e.summary, e.author, e.authors, e.published_at, e.updated_at, e.language, e.section, e.keywords, e.images, e.word_count,
           e.page_type, e.quality, e.content_hash, e.produced_by, CASE WHEN i.is_for_reader THEN e.metadata END AS metadata,
           e.crawled_at, e.first_seen_at, e.changed_at, e.near_duplicate_of, e.rights, e.rights_statements,
           CASE WHEN i.is_for_reader THEN e.blocks END AS blocks
    FROM documents e
    CROSS JOIN LATERAL (
        SELECT e.deleted_at IS NULL AND e.duplicate_of IS NULL
               AND (:view_id::uuid IS NULL
                    OR (SELECT is_in_view(v, 'document', e.source_id, (SELECT s.tags FROM sources s WHERE s.id = e.source_id),
                                   e.language, (SELECT s.country FROM sources s WHERE s.id = e.source_id), e.quality, e.rights)
                        FROM views v WHERE v.id = :view_id))
               AND (:question::text IS NULL OR coalesce(e.search, document_words(e.language, e.title, e.summary, e.keywords, e.author, e.text)) @@ :question::tsquery) AS is_for_reader) AS i
    WHERE e.bucket = k.bucket AND e.url_hash = k.hash
    LIMIT 1
) AS d ON true
LEFT JOIN sources s ON s.id = d.source_id
LEFT JOIN LATERAL (
    SELECT n.version, n.place FROM delivered n
    WHERE n.sink_id = :sink_id::uuid AND n.kind = 'document' AND n.bucket = k.bucket AND n.hash = k.hash
    LIMIT 1
) AS h ON true
ORDER BY k.place;

-- name: jobs_as_they_are
-- As documents_as_they_are; a vacancy that is over is for no reader.
SELECT k.place, k.bucket, k.hash, j.version, i.is_for_reader, h.version AS held_version, h.place AS held_place, j.source_id, s.name AS source_name, s.url AS source_url, s.kind AS source_kind,
       s.tags AS source_tags, s.country AS source_country, j.id AS job_id, j.title, j.org_name, j.apply_url, j.language, j.location_raw,
       j.country, j.country_iso, j.country_name, j.city, j.region_code, j.level_norm, j.mission_tags, j.functional_tags,
       j.international_eligible, j.deadline, j.application_window, j.description_snippet, j.org_type, j.career_type,
       j.contract_type, j.contract_duration_months, j.contract_urgency, j.work_modality, j.work_hours, j.benefits,
       j.policy_flags, j.donor_context, j.project_modality, j.procurement_vehicle, j.crisis_type, j.response_phase,
       j.humanitarian_cluster, j.surge_required, j.deployment_timeframe, j.duty_station_hardship, j.compensation_visible,
       j.compensation_type, j.compensation_min_usd::float8 AS compensation_min_usd,
       j.compensation_max_usd::float8 AS compensation_max_usd, j.compensation_currency, j.compensation_confidence,
       j.data_provenance, j.raw_metadata, j.impact_domain, j.functional_role, j.experience_level, j.sdgs,
       j.data_quality_score, j.data_quality_issues, j.status, j.page_url, j.fetched_at, j.last_seen_at, j.created_at,
       j.updated_at
FROM unnest(:buckets::smallint[], :hashes::bytea[]) WITH ORDINALITY AS k (bucket, hash, place)
LEFT JOIN LATERAL (SELECT * FROM jobs o WHERE o.bucket = k.bucket AND o.canonical_hash = k.hash LIMIT 1) AS j ON true
CROSS JOIN LATERAL (
    SELECT j.status = 'active' AND j.duplicate_of IS NULL
           AND (:view_id::uuid IS NULL
                OR (SELECT is_in_view(v, 'job', j.source_id, (SELECT s.tags FROM sources s WHERE s.id = j.source_id),
                                   j.language, coalesce(j.country_iso, (SELECT s.country FROM sources s WHERE s.id = j.source_id)), NULL, '{}') FROM views v WHERE v.id = :view_id))
           AND (:question::text IS NULL OR coalesce(j.search_tsv, job_words(j.language, j.title, j.org_name, j.description_snippet, j.mission_tags, j.functional_tags)) @@ :question::tsquery) AS is_for_reader) AS i
LEFT JOIN sources s ON s.id = j.source_id
LEFT JOIN LATERAL (
    SELECT n.version, n.place FROM delivered n
    WHERE n.sink_id = :sink_id::uuid AND n.kind = 'job' AND n.bucket = k.bucket AND n.hash = k.hash
    LIMIT 1
) AS h ON true
ORDER BY k.place;

-- name: feeds_of_sources
-- The feed of each of these sources that it has had for longest, of those that are polled.
SELECT DISTINCT ON (c.source_id) c.source_id, c.url FROM channels c
WHERE c.source_id = ANY ($1::uuid[]) AND c.kind = 'feed' AND c.is_active
ORDER BY c.source_id, c.created_at, c.id;

-- name: bodies_as_they_came
-- The last kept body of each of these pages.
SELECT k.bucket, k.hash, b.headers, b.body, b.coding, b.body_bytes, b.stored_in, b.object_id
FROM unnest($1::smallint[], $2::bytea[]) AS k (bucket, hash)
CROSS JOIN LATERAL (SELECT r.headers, r.body, r.coding, r.body_bytes, r.stored_in, r.object_id FROM raw_bodies r
                    WHERE r.bucket = k.bucket AND r.url_hash = k.hash ORDER BY r.at DESC LIMIT 1) AS b;

-- name: document_keys
-- A batch of all documents by key, deleted ones and duplicates included.
SELECT bucket, url_hash AS hash FROM documents WHERE (bucket, url_hash) > ($1::smallint, $2::bytea)
ORDER BY bucket, url_hash LIMIT $3::integer;

-- name: job_keys
-- A batch of all vacancies by key, those included that are over.
SELECT bucket, canonical_hash AS hash FROM jobs WHERE (bucket, canonical_hash) > ($1::smallint, $2::bytea)
ORDER BY bucket, canonical_hash LIMIT $3::integer;

-- name: document_keys_of_source
-- A batch of a source's documents, the newest first, from a place on.
SELECT first_seen_at AS at, bucket, url_hash AS hash FROM documents
WHERE source_id = $1::uuid AND deleted_at IS NULL AND first_seen_at <= coalesce($2::timestamptz, 'infinity')
  AND (first_seen_at < coalesce($2, 'infinity') OR (bucket, url_hash) > ($3::smallint, $4::bytea))
ORDER BY first_seen_at DESC, bucket, url_hash LIMIT $5::integer;

-- name: job_keys_of_source
-- As document_keys_of_source.
SELECT created_at AS at, bucket, canonical_hash AS hash FROM jobs
WHERE source_id = $1::uuid AND created_at <= coalesce($2::timestamptz, 'infinity')
  AND (created_at < coalesce($2, 'infinity') OR (bucket, canonical_hash) > ($3::smallint, $4::bytea))
ORDER BY created_at DESC, bucket, canonical_hash LIMIT $5::integer;

-- name: lease_sink
-- The right to work on a sink, unless another process has it; says also whether its last holder ended in order.
-- Invariant: whoever holds it names the token in every write, and a stale token changes nothing.
WITH held AS MATERIALIZED (
    SELECT s.id, s.is_handed_over,
           s.looked_at IS NULL OR s.looked_at <= statement_timestamp() - $4::interval AS is_to_be_checked
    FROM sinks s
    WHERE s.id = $1::uuid AND s.state = 'active' AND s.leased_until <= statement_timestamp() AND s.retry_at <= statement_timestamp()
    FOR UPDATE SKIP LOCKED
)
UPDATE sinks s
SET owner = $2::text, token = gen_random_uuid(), leased_until = clock_timestamp() + $3::interval, is_handed_over = false,
    looked_at = CASE WHEN h.is_to_be_checked THEN clock_timestamp() ELSE s.looked_at END
FROM held h WHERE s.id = h.id
RETURNING s.id, s.name, s.type, s.options, s.view_id, s.position, s.token, s.failures, h.is_handed_over, h.is_to_be_checked;

-- name: begin_batch
-- The holder of a sink goes on: the number of its next batch, how far the log goes, its next backfill, and whether records wait for
-- another try. Nothing where the token is another one.
-- Invariant: numbers of a sink's batches grow, over all processes, and also where the database is an older copy of itself.
WITH held AS (
    UPDATE sinks
    SET batch_number = greatest(batch_number + 1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint),
        leased_until = clock_timestamp() + $3::interval
    WHERE id = $1::uuid AND token = $2::uuid
    RETURNING id, position, state, batch_number
)
SELECT s.position, c.position AS log_position, c.oldest_position, s.state, s.batch_number, b.number, b.source_id, b.kind, b.at, b.bucket,
       b.hash, b.done,
       EXISTS (SELECT 1 FROM delivery_failures f WHERE f.sink_id = s.id AND f.next_try_at <= statement_timestamp()) AS has_retries
FROM held s CROSS JOIN change_counter c
LEFT JOIN LATERAL (SELECT * FROM backfills a WHERE a.sink_id = s.id ORDER BY a.number LIMIT 1) AS b ON true;

-- name: note_intents
-- Records that are sent for the first time, before they are: their acknowledgement may be lost. Answers with whether the lease
-- still holds; otherwise nothing is noted, and nothing may be sent.
WITH held AS MATERIALIZED (
    SELECT s.id FROM sinks s WHERE s.id = :sink_id::uuid AND s.token = :token::uuid
), noted AS (
    INSERT INTO delivered (sink_id, kind, bucket, hash, version, batch_number, place, at)
    SELECT h.id, k.kind, k.bucket, k.hash, 0, :batch_number::bigint, k.place, statement_timestamp()
    FROM held h
    CROSS JOIN unnest(:kinds::text[], :buckets::smallint[], :hashes::bytea[], :places::text[]) AS k (kind, bucket, hash, place)
    ORDER BY k.kind, k.bucket, k.hash
    ON CONFLICT DO NOTHING
)
SELECT EXISTS (SELECT 1 FROM held);

-- name: settle_sink
-- A batch is done: the sink stands further on, and its lease begins anew; the time it is. Nothing where the token is another
-- one.
UPDATE sinks
SET position = greatest(position, :position::bigint), leased_until = clock_timestamp() + :lease::interval,
    failures = CASE WHEN :is_success::boolean THEN 0 ELSE failures END,
    last_success_at = CASE WHEN :is_success AND :sent::bigint > 0 THEN clock_timestamp() ELSE last_success_at END,
    last_error = CASE WHEN :is_success THEN NULL ELSE last_error END, sent = sent + :sent
WHERE id = :id::uuid AND token = :token::uuid
RETURNING clock_timestamp();

-- name: release_sink
-- Its holder ends in order: the sink answered, and the next holder need not wait.
UPDATE sinks SET owner = NULL, token = NULL, leased_until = '-infinity', is_handed_over = true, failures = 0, last_error = NULL
WHERE id = $1::uuid AND token = $2::uuid;

-- name: put_sink_off
-- The sink as a whole takes nothing: it is tried again later; nobody holds it until then.
UPDATE sinks
SET failures = $5::integer, retry_at = clock_timestamp() + $3::interval, last_error = $4::text, last_error_at = clock_timestamp(),
    owner = NULL, token = NULL, leased_until = '-infinity', is_handed_over = true
WHERE id = $1::uuid AND token = $2::uuid;

-- name: disable_sink
-- The sink asked never to be sent anything again.
UPDATE sinks
SET state = 'disabled', state_reason = $3::text, last_error = $3, last_error_at = clock_timestamp(), owner = NULL, token = NULL,
    leased_until = '-infinity', is_handed_over = true, updated_at = now()
WHERE id = $1::uuid AND token = $2::uuid;

-- name: holds_records
-- Whether a sink is noted to hold records, at a place or, without one, anywhere. Where it is being filled, only those count
-- that were sent since that was asked for: the others are on their way.
SELECT EXISTS (
    SELECT 1 FROM delivered d
    WHERE d.sink_id = $1::uuid AND d.version > 0 AND ($2::text IS NULL OR d.place = $2)
      AND d.batch_number > coalesce((SELECT (extract(epoch FROM b.asked_at) * 1000000)::bigint FROM backfills b
                                     WHERE b.sink_id = $1 AND b.source_id IS NULL), 0));

-- name: filled_places
-- The places where a sink is noted to hold records, by a walk from one to the next.
WITH RECURSIVE walk AS (
    (SELECT d.place FROM delivered d WHERE d.sink_id = $1::uuid ORDER BY d.place LIMIT 1)
    UNION ALL
    SELECT (SELECT d.place FROM delivered d WHERE d.sink_id = $1 AND d.place > w.place ORDER BY d.place LIMIT 1)
    FROM walk w WHERE w.place IS NOT NULL
)
SELECT place FROM walk WHERE place IS NOT NULL;

-- name: outnumber
-- Another clock numbered the batches that a sink has seen: the next batch is numbered after them.
UPDATE sinks SET batch_number = greatest(batch_number, $3::bigint) WHERE id = $1::uuid AND token = $2::uuid;

-- name: note_delivered
-- Records that the sink holds now.
INSERT INTO delivered (sink_id, kind, bucket, hash, version, batch_number, place, at)
SELECT :sink_id::uuid, k.kind, k.bucket, k.hash, k.version, :batch_number::bigint, k.place, statement_timestamp()
FROM unnest(:kinds::text[], :buckets::smallint[], :hashes::bytea[], :versions::integer[], :places::text[])
     AS k (kind, bucket, hash, version, place)
ORDER BY k.kind, k.bucket, k.hash
ON CONFLICT (sink_id, kind, bucket, hash) DO UPDATE
SET version = excluded.version, batch_number = excluded.batch_number, place = excluded.place, at = excluded.at;

-- name: forget_delivered
-- Records that the sink holds no longer.
DELETE FROM delivered d USING unnest($2::text[], $3::smallint[], $4::bytea[]) AS k (kind, bucket, hash)
WHERE d.sink_id = $1::uuid AND d.kind = k.kind AND d.bucket = k.bucket AND d.hash = k.hash;

-- name: note_failures
-- Single records that the sink refused; without a next try they are parked.
INSERT INTO delivery_failures AS f (sink_id, kind, bucket, hash, position, version, attempts, next_try_at, error, failed_at,
                                    is_from_archive)
SELECT :sink_id::uuid, k.kind, k.bucket, k.hash, k.position, k.version, 1,
       CASE WHEN NOT k.is_final THEN statement_timestamp() + :first_wait::interval END, k.error, statement_timestamp(),
       k.is_from_archive
FROM unnest(:kinds::text[], :buckets::smallint[], :hashes::bytea[], :positions::bigint[], :versions::integer[], :finals::boolean[],
            :errors::text[], :from_archive::boolean[]) AS k (kind, bucket, hash, position, version, is_final, error, is_from_archive)
ORDER BY k.kind, k.bucket, k.hash
ON CONFLICT (sink_id, kind, bucket, hash) DO UPDATE
SET position = greatest(f.position, excluded.position), version = excluded.version, error = excluded.error,
    failed_at = excluded.failed_at, is_from_archive = excluded.is_from_archive,
    attempts = CASE WHEN f.version = excluded.version THEN f.attempts + 1 ELSE 1 END,
    next_try_at = CASE WHEN excluded.next_try_at IS NULL OR (f.version = excluded.version AND f.attempts + 1 >= :most::integer) THEN NULL
                       ELSE statement_timestamp()
                            + least(:first_wait * 2 ^ CASE WHEN f.version = excluded.version THEN f.attempts ELSE 0 END, :longest::interval) END;

-- name: forget_failures
-- Records that were refused once and are there now, or are not for the sink any more.
DELETE FROM delivery_failures f USING unnest($2::text[], $3::smallint[], $4::bytea[]) AS k (kind, bucket, hash)
WHERE f.sink_id = $1::uuid AND f.kind = k.kind AND f.bucket = k.bucket AND f.hash = k.hash;

-- name: failures_due
-- Records that wait for another try, in order of their positions.
SELECT kind, bucket, hash, position, version, is_from_archive FROM delivery_failures
WHERE sink_id = $1::uuid AND next_try_at <= statement_timestamp() ORDER BY position LIMIT $2::integer;

-- name: move_backfill
-- How far a backfill has come.
UPDATE backfills SET kind = $2::text, at = $3::timestamptz, bucket = $4::smallint, hash = $5::bytea, done = done + $6::integer
WHERE number = $1::bigint;

-- name: end_backfill
-- A backfill has walked everything.
DELETE FROM backfills WHERE number = $1::bigint;

-- name: ask_backfill
-- A sink is to be filled anew, all of it or one source's part; one that is under way begins again.
INSERT INTO backfills (sink_id, source_id, reason) VALUES ($1::uuid, $2::uuid, $3::text)
ON CONFLICT (sink_id, source_id) DO UPDATE
SET number = DEFAULT, kind = 'document', at = NULL, bucket = -1, hash = '', done = 0, asked_at = now(), reason = excluded.reason;

-- name: clear_failures
-- A rebuild sends everything anew, what was parked too.
DELETE FROM delivery_failures WHERE sink_id = $1::uuid;

-- name: retry_failures
-- Parked and waiting records of a sink are tried at once; with a class those of it. Answers with how many.
WITH retried AS (
    UPDATE delivery_failures SET next_try_at = statement_timestamp(), attempts = 0
    WHERE sink_id = $1::uuid AND ($2::text IS NULL OR error_class(error) = $2::text)
    RETURNING 1
)
SELECT count(*) FROM retried;

-- name: add_sink
-- A new sink; answers with its id, or with nothing where its name is taken.
INSERT INTO sinks (name, type, options, view_id, set_by, position)
SELECT :name::text, :type::text, :options::jsonb, :view_id::uuid, :set_by::text, c.position FROM change_counter c
ON CONFLICT (name) DO NOTHING
RETURNING id;

-- name: change_sink
-- Options of a sink that follows a setting.
UPDATE sinks SET type = :type::text, options = :options::jsonb, updated_at = now()
WHERE id = :id::uuid AND (type, options) IS DISTINCT FROM (:type, :options);

-- name: remove_sink
-- A sink with all that is known of it; what it holds stays there.
DELETE FROM sinks WHERE id = $1::uuid;

-- name: set_sink_state
-- A person pauses or resumes a sink: resumed, it is tried at once.
UPDATE sinks SET state = $2::text, state_reason = $3::text, retry_at = '-infinity', failures = 0, updated_at = now()
WHERE id = $1::uuid;

-- name: list_sinks
-- Every sink, how far it is, and what of it failed, counted up to ten thousand.
SELECT s.id, s.name, s.type, s.options, s.view_id, v.name AS view_name, s.state, s.state_reason, s.set_by, s.position,
       c.position AS log_position, c.oldest_position, s.owner, s.leased_until, s.leased_until > statement_timestamp() AS is_worked, s.failures, s.retry_at,
       s.looked_at, s.last_success_at, s.last_error, s.last_error_at, s.sent, s.created_at,
       greatest(c.position - s.position, 0) AS behind,
       (SELECT h.changed_at FROM changes h WHERE h.position > s.position ORDER BY h.position LIMIT 1) AS behind_since,
       (SELECT count(*) FROM (SELECT 1 FROM delivery_failures f WHERE f.sink_id = s.id AND f.next_try_at IS NULL
                              LIMIT 10000) AS p) AS parked,
       (SELECT count(*) FROM (SELECT 1 FROM delivery_failures f WHERE f.sink_id = s.id AND f.next_try_at IS NOT NULL
                              LIMIT 10000) AS p) AS retrying,
       b.reason AS backfill_reason, b.done AS backfill_done, b.kind AS backfill_kind, b.bucket AS backfill_bucket
FROM sinks s CROSS JOIN change_counter c
LEFT JOIN views v ON v.id = s.view_id
LEFT JOIN LATERAL (SELECT * FROM backfills a WHERE a.sink_id = s.id ORDER BY a.number LIMIT 1) AS b ON true
WHERE $1::text IS NULL OR s.name = $1
ORDER BY s.name;

-- name: failures_of_sink
-- Records that a sink refused, in order of their positions.
SELECT kind, bucket, hash, position, version, attempts, next_try_at, error, failed_at FROM delivery_failures
WHERE sink_id = $1::uuid ORDER BY position LIMIT $2::integer;

-- name: failures_of_sink_by_error
-- The records that a sink refused, of the first `$2`, by what it said of them.
SELECT error_class(f.error) AS error, count(*) AS records, count(*) FILTER (WHERE f.next_try_at IS NULL) AS parked,
       max(f.failed_at) AS last_at
FROM (SELECT error, next_try_at, failed_at FROM delivery_failures WHERE sink_id = $1::uuid LIMIT $2::integer) AS f
GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT $3::integer;

-- name: way_into_sinks
-- What each sink knows of one record: what it holds, or why it was refused.
SELECT s.name, s.type, s.state, s.position, d.version AS held_version, d.place, d.at AS held_at, f.error,
       f.attempts, f.next_try_at, f.failed_at, f.position AS failed_position
FROM sinks s
LEFT JOIN delivered d ON d.sink_id = s.id AND d.kind = $1::text AND d.bucket = $2::smallint AND d.hash = $3::bytea
LEFT JOIN delivery_failures f ON f.sink_id = s.id AND f.kind = $1 AND f.bucket = $2 AND f.hash = $3
ORDER BY s.name;

-- name: changes_of_record
-- The last changes of one record in the log.
SELECT position, at, version, op, changed_at FROM changes WHERE hash = $3::bytea AND kind = $1::text AND bucket = $2::smallint
ORDER BY position DESC LIMIT 20;

-- name: count_documents_in_range
-- How many documents have an id in a range, deleted ones and duplicates included; counted up to a bound. An id says nothing of
-- its bucket: each is asked.
SELECT count(*) FROM (SELECT 1 FROM generate_series(0, 255) AS b (number)
                      CROSS JOIN LATERAL (SELECT 1 FROM documents e WHERE e.bucket = b.number::smallint AND e.url_hash >= $1::bytea AND e.url_hash <= $2::bytea
                                          LIMIT $3::integer) AS k
                      LIMIT $3) AS found;

-- name: count_jobs_in_range
-- As count_documents_in_range.
SELECT count(*) FROM (SELECT 1 FROM generate_series(0, 255) AS b (number)
                      CROSS JOIN LATERAL (SELECT 1 FROM jobs j WHERE j.bucket = b.number::smallint AND j.canonical_hash >= $1::bytea AND j.canonical_hash <= $2::bytea
                                          LIMIT $3::integer) AS k
                      LIMIT $3) AS found;

-- name: documents_in_range
-- Documents with an id in a range, and what a sink is noted to hold of that range; deliverable is decided as in documents_as_they_are.
WITH known AS (
    SELECT d.bucket, d.hash, d.version, d.changed_at, d.is_for_reader
    FROM generate_series(0, 255) AS b (number)
    CROSS JOIN LATERAL (
        SELECT e.bucket, e.url_hash AS hash, e.version, e.changed_at,
               e.deleted_at IS NULL AND e.duplicate_of IS NULL
               AND (:view_id::uuid IS NULL
                    OR (SELECT is_in_view(v, 'document', e.source_id, (SELECT s.tags FROM sources s WHERE s.id = e.source_id),
                                   e.language, (SELECT s.country FROM sources s WHERE s.id = e.source_id), e.quality, e.rights) FROM views v WHERE v.id = :view_id))
               AND (:question::text IS NULL OR coalesce(e.search, document_words(e.language, e.title, e.summary, e.keywords, e.author, e.text)) @@ :question::tsquery) AS is_for_reader
        FROM documents e WHERE e.bucket = b.number::smallint AND e.url_hash >= :first::bytea AND e.url_hash <= :last::bytea) AS d
), noted AS (
    SELECT d.bucket, d.hash, d.version, d.place, d.batch_number FROM generate_series(0, 255) AS b (number)
    CROSS JOIN LATERAL (
        SELECT h.bucket, h.hash, h.version, h.place, h.batch_number FROM delivered h
        WHERE h.sink_id = :sink_id::uuid AND h.kind = 'document' AND h.bucket = b.number::smallint AND h.hash >= :first AND h.hash <= :last) AS d
)
SELECT coalesce(k.bucket, n.bucket) AS bucket, coalesce(k.hash, n.hash) AS hash, coalesce(k.version, 0) AS version,
       coalesce(k.is_for_reader, false) AS is_wanted, k.changed_at, n.version AS noted_version, n.place AS noted_place, n.batch_number AS noted_batch
FROM known k FULL JOIN noted n ON n.bucket = k.bucket AND n.hash = k.hash;

-- name: jobs_in_range
-- As documents_in_range, for vacancies.
WITH known AS (
    SELECT d.bucket, d.hash, d.version, d.changed_at, d.is_for_reader
    FROM generate_series(0, 255) AS b (number)
    CROSS JOIN LATERAL (
        SELECT j.bucket, j.canonical_hash AS hash, j.version, j.updated_at AS changed_at,
               j.status = 'active' AND j.duplicate_of IS NULL
               AND (:view_id::uuid IS NULL
                    OR (SELECT is_in_view(v, 'job', j.source_id, (SELECT s.tags FROM sources s WHERE s.id = j.source_id),
                                   j.language, coalesce(j.country_iso, (SELECT s.country FROM sources s WHERE s.id = j.source_id)), NULL, '{}') FROM views v WHERE v.id = :view_id))
               AND (:question::text IS NULL OR coalesce(j.search_tsv, job_words(j.language, j.title, j.org_name, j.description_snippet, j.mission_tags, j.functional_tags)) @@ :question::tsquery) AS is_for_reader
        FROM jobs j WHERE j.bucket = b.number::smallint AND j.canonical_hash >= :first::bytea AND j.canonical_hash <= :last::bytea) AS d
), noted AS (
    SELECT d.bucket, d.hash, d.version, d.place, d.batch_number FROM generate_series(0, 255) AS b (number)
    CROSS JOIN LATERAL (
        SELECT h.bucket, h.hash, h.version, h.place, h.batch_number FROM delivered h
        WHERE h.sink_id = :sink_id::uuid AND h.kind = 'job' AND h.bucket = b.number::smallint AND h.hash >= :first AND h.hash <= :last) AS d
)
SELECT coalesce(k.bucket, n.bucket) AS bucket, coalesce(k.hash, n.hash) AS hash, coalesce(k.version, 0) AS version,
       coalesce(k.is_for_reader, false) AS is_wanted, k.changed_at, n.version AS noted_version, n.place AS noted_place, n.batch_number AS noted_batch
FROM known k FULL JOIN noted n ON n.bucket = k.bucket AND n.hash = k.hash;

-- name: records_on_their_way
-- Of some records those that a sink hears of by itself: a change behind the position where it stood, or a try to come.
SELECT k.hash FROM unnest($4::bytea[]) AS k (hash)
WHERE EXISTS (SELECT 1 FROM changes h WHERE h.hash = k.hash AND h.kind = $2::text AND h.position > $3::bigint)
   OR EXISTS (SELECT 1 FROM delivery_failures f
              WHERE f.sink_id = $1::uuid AND f.kind = $2 AND f.hash = k.hash AND f.next_try_at IS NOT NULL);

-- name: note_strays
-- Records that were found in a sink where they do not belong: noted, so that they are removed from there.
INSERT INTO delivered (sink_id, kind, bucket, hash, version, batch_number, place, at)
SELECT $1::uuid, $2::text, k.bucket, k.hash, 0, 0, k.place, statement_timestamp()
FROM unnest($3::smallint[], $4::bytea[], $5::text[]) AS k (bucket, hash, place)
ORDER BY k.bucket, k.hash
ON CONFLICT (sink_id, kind, bucket, hash) DO UPDATE SET place = excluded.place, version = 0;

-- name: ask_again
-- Records that a sink is to be sent, or told to remove, once more. As records of the archive: messages and files of the log are
-- not written again, and a receiver that remembers them would take these for the same.
INSERT INTO delivery_failures (sink_id, kind, bucket, hash, position, is_from_archive, version, attempts, next_try_at, error, failed_at)
SELECT s.id, $2::text, k.bucket, k.hash, s.position, true, k.version, 0, statement_timestamp(),
       k.why, statement_timestamp()
FROM sinks s CROSS JOIN unnest($3::smallint[], $4::bytea[], $5::integer[], $6::text[]) AS k (bucket, hash, version, why)
WHERE s.id = $1::uuid
ORDER BY k.bucket, k.hash
ON CONFLICT (sink_id, kind, bucket, hash) DO UPDATE
SET version = excluded.version, attempts = 0, next_try_at = excluded.next_try_at, error = excluded.error,
    failed_at = excluded.failed_at, is_from_archive = true;

-- name: held_by_sinks
-- How many of these records each sink holds, or may hold.
SELECT h.sink_id, count(*) AS records FROM unnest($2::smallint[], $3::bytea[]) AS k (bucket, hash)
JOIN delivered h ON h.hash = k.hash AND h.bucket = k.bucket AND h.kind = $1::text
GROUP BY h.sink_id;

-- name: vacancies_to_remove
-- A batch of the vacancies that a sink holds, by key: of those that are no longer open their addresses, of the others none.
SELECT h.bucket, h.hash, CASE WHEN j.status <> 'active' THEN j.apply_url END AS apply_url,
       CASE WHEN j.status <> 'active' THEN j.page_url END AS page_url
FROM (SELECT d.bucket, d.hash FROM delivered d
      WHERE d.sink_id = $1::uuid AND d.kind = 'job' AND (d.bucket, d.hash) > ($2::smallint, $3::bytea)
      ORDER BY d.bucket, d.hash LIMIT $4::integer) AS h
LEFT JOIN jobs j ON j.bucket = h.bucket AND j.canonical_hash = h.hash
ORDER BY h.bucket, h.hash;

-- name: document_keys_to_export
-- A stretch of all documents by key, and which of them an export may want: a walk of bounded steps, whatever is wanted.
SELECT bucket, url_hash AS hash,
       deleted_at IS NULL AND duplicate_of IS NULL
       AND ($4::timestamptz IS NULL OR coalesce(published_at, first_seen_at) >= $4) AS is_wanted
FROM documents WHERE (bucket, url_hash) > ($1::smallint, $2::bytea)
ORDER BY bucket, url_hash LIMIT $3::integer;

-- name: job_keys_to_export
-- As document_keys_to_export.
SELECT bucket, canonical_hash AS hash,
       status = 'active' AND duplicate_of IS NULL AND ($4::timestamptz IS NULL OR created_at >= $4) AS is_wanted
FROM jobs WHERE (bucket, canonical_hash) > ($1::smallint, $2::bytea)
ORDER BY bucket, canonical_hash LIMIT $3::integer;

-- name: try_sink_at_once
-- A sink that was put off is due.
UPDATE sinks SET retry_at = '-infinity' WHERE id = $1::uuid;

-- name: sinks_of_search
-- The sinks whose servers can answer searches; with a name that one, whatever it is.
SELECT s.name, s.type, s.options, s.view_id, s.state FROM sinks s
WHERE CASE WHEN $1::text = '' THEN s.type = 'elasticsearch' AND s.options ->> 'layout' = 'search' ELSE s.name = $1 END
ORDER BY s.name LIMIT 5;
