-- name: keep_document
-- Store it if it says anything new; answers with what became of it.
SELECT outcome, version, is_new, other_bucket, other_hash FROM keep_document($1::new_document, $2::timestamptz);

-- name: renew_parts
-- What belongs to a text that is as it was; answers with its version, null where it is another one by now.
SELECT renew_parts($1::new_document, $2::timestamptz);

-- name: tombstone_documents
-- Out of search, out of every list; the rows stay to say why. Answers with how many there were to take.
SELECT tombstone_documents($1::smallint[], $2::bytea[], $3::text, $4::timestamptz);

-- name: write_changes
-- Changes for sinks; in the order given.
INSERT INTO outbox (kind, bucket, hash, version, op, at)
SELECT c.kind, c.bucket, c.hash, c.version, c.op, $6::timestamptz
FROM unnest($1::text[], $2::smallint[], $3::bytea[], $4::integer[], $5::text[]) WITH ORDINALITY
     AS c (kind, bucket, hash, version, op, place)
ORDER BY c.place;

-- name: wake_deliverers
-- One NOTIFY, and only if a process of `deliver` sleeps.
SELECT pg_notify('headwater_changes', '') WHERE EXISTS
    (SELECT 1 FROM sleepers WHERE waits_for = 'changes' AND until > statement_timestamp());

-- name: newest_body
-- The last body of a page.
SELECT at, bucket, url_hash, source_id, url, status, headers, body, body_bytes, coding, stored_in, object_id
FROM raw_bodies
WHERE bucket = $1::smallint AND url_hash = $2::bytea ORDER BY at DESC LIMIT 1;

-- name: newest_bodies_of_source
-- The newest body of each page of a source, a batch in key order.
SELECT DISTINCT ON (bucket, url_hash) at, bucket, url_hash, source_id, url, status, headers, body, body_bytes, coding, stored_in, object_id
FROM raw_bodies
WHERE source_id = $1::uuid AND (bucket, url_hash) > ($2::smallint, $3::bytea)
ORDER BY bucket, url_hash, at DESC LIMIT $4::integer;

-- name: has_bodies_in_folder
-- Whether the folder of raw bodies holds any.
SELECT EXISTS (SELECT FROM raw_bodies WHERE object_id IS NOT NULL AND stored_in = 'folder');

-- name: new_body_id
-- For a body that is only tried.
SELECT gen_random_uuid();

-- name: discard_bodies
-- Of these bodies outside, those that nothing refers to are to be deleted there; how many they are.
SELECT discard_bodies($1::text, $2::uuid[]);

-- name: bodies_to_remove
-- A batch of what is to be deleted in a store. A row that went from one day into another is a deletion, too: what is referred
-- to now is kept.
SELECT b.object_id,
       EXISTS (SELECT FROM raw_bodies r WHERE r.object_id = b.object_id AND r.stored_in = b.stored_in) AS is_kept
FROM body_removals b WHERE b.stored_in = $1::text ORDER BY b.object_id LIMIT $2::integer;

-- name: forget_removals
-- These are gone, or kept after all.
DELETE FROM body_removals WHERE stored_in = $1::text AND object_id = ANY ($2::uuid[]);

-- name: removals_waiting
-- How many bodies are to be deleted in each store, up to a limit, and since when.
SELECT k.stored_in, n.count, n.since
FROM (VALUES ('folder'), ('s3')) AS k (stored_in)
CROSS JOIN LATERAL (SELECT count(*), min(noted_at) AS since
                    FROM (SELECT noted_at FROM body_removals r WHERE r.stored_in = k.stored_in LIMIT $1::integer) AS r) AS n
WHERE n.count > 0;

-- name: sweep_place
-- Up to where a store was searched for bodies that nothing refers to.
SELECT after FROM body_sweeps WHERE stored_in = $1::text;

-- name: note_sweep
-- Up to here; null: to the end.
INSERT INTO body_sweeps (stored_in, after, ended_at) VALUES ($1::text, $2::uuid, CASE WHEN $2 IS NULL THEN now() END)
ON CONFLICT (stored_in) DO UPDATE SET after = excluded.after, ended_at = coalesce(excluded.ended_at, body_sweeps.ended_at);

-- name: bodies_elsewhere
-- A batch of bodies that are not where they are wanted, in key order, each with the name it would get there.
SELECT at, bucket, url_hash, body, stored_in, object_id, gen_random_uuid() AS new_id
FROM raw_bodies
WHERE stored_in IS DISTINCT FROM $1::text AND (bucket, url_hash) >= ($2::smallint, $3::bytea)
  AND NOT ((bucket, url_hash) = ($2, $3) AND at >= coalesce($4::timestamptz, '-infinity'))
ORDER BY bucket, url_hash, at DESC LIMIT $5::integer;

-- name: move_body
-- From where it is to where it was put. Nothing is changed if it was forgotten meanwhile.
UPDATE raw_bodies SET body = :body::bytea, stored_in = :stored_in::text, object_id = :object_id::uuid
WHERE bucket = :bucket::smallint AND url_hash = :url_hash::bytea AND at = :at::timestamptz
  AND object_id IS NOT DISTINCT FROM :former_id::uuid
RETURNING true;

-- name: keep_outlinks
-- Where a document points now.
SELECT keep_outlinks($1::smallint, $2::bytea, $3::bytea);

-- name: outlinks_of
-- Where a document points.
SELECT targets FROM outlinks WHERE bucket = $1::smallint AND url_hash = $2::bytea;

-- name: read_document
-- All of one document.
SELECT bucket, url_hash, source_id, url, canonical_url, title, text, summary, author, authors, published_at, updated_at, language,
       section, keywords, images, word_count, page_type, quality, quality_parts, content_hash, simhash, produced_by, metadata, version,
       crawled_at, first_seen_at, changed_at, duplicate_bucket, duplicate_of, near_bucket, near_duplicate_of, claimed_url,
       is_claim_believed, deleted_at, deleted_reason, rights, rights_statements
FROM documents WHERE bucket = $1::smallint AND url_hash = $2::bytea;

-- name: find_document
-- All of one document whose bucket is not known: each of the 256 is asked.
SELECT d.bucket, d.url_hash, d.source_id, d.url, d.canonical_url, d.title, d.text, d.summary, d.author, d.authors, d.published_at,
       d.updated_at, d.language, d.section, d.keywords, d.images, d.word_count, d.page_type, d.quality, d.quality_parts,
       d.content_hash, d.simhash, d.produced_by, d.metadata, d.version, d.crawled_at, d.first_seen_at, d.changed_at,
       d.duplicate_bucket, d.duplicate_of, d.near_bucket, d.near_duplicate_of, d.claimed_url, d.is_claim_believed,
       d.deleted_at, d.deleted_reason, d.rights, d.rights_statements
FROM generate_series(0, 255) AS b
CROSS JOIN LATERAL (SELECT * FROM documents e WHERE e.bucket = b::smallint AND e.url_hash = $1::bytea) AS d
LIMIT 1;

-- name: versions_of_document
-- The versions of a document, the present one first.
SELECT version, title, text, content_hash, word_count, crawled_at, changed_at, rights, rights_statements, deleted_at AS replaced_at
FROM documents WHERE bucket = $1::smallint AND url_hash = $2::bytea
UNION ALL
SELECT version, title, text, content_hash, word_count, crawled_at, changed_at, rights, rights_statements, replaced_at
FROM document_versions WHERE bucket = $1 AND url_hash = $2
ORDER BY version DESC;

-- name: versions_in_short
-- A page of the versions of a document, the newest first, without their texts.
SELECT version, title, content_hash, word_count, crawled_at, changed_at, rights, rights_statements, deleted_at AS replaced_at
FROM documents WHERE bucket = $1::smallint AND url_hash = $2::bytea AND version < $3::integer
UNION ALL
(SELECT version, title, content_hash, word_count, crawled_at, changed_at, rights, rights_statements, replaced_at
 FROM document_versions WHERE bucket = $1 AND url_hash = $2 AND version < $3 ORDER BY version DESC LIMIT $4::integer)
ORDER BY version DESC LIMIT $4;

-- name: version_of_document
-- One version of a document.
SELECT version, title, text, content_hash, word_count, crawled_at, changed_at, rights, rights_statements, deleted_at AS replaced_at
FROM documents WHERE bucket = $1::smallint AND url_hash = $2::bytea AND version = $3::integer
UNION ALL
SELECT version, title, text, content_hash, word_count, crawled_at, changed_at, rights, rights_statements, replaced_at
FROM document_versions WHERE bucket = $1 AND url_hash = $2 AND version = $3;

-- name: blocks_of_document
-- What a text was made of, with the text: of one version, or of the present one.
SELECT version, text, blocks FROM documents
WHERE bucket = $1::smallint AND url_hash = $2::bytea AND ($3::integer IS NULL OR version = $3)
UNION ALL
SELECT version, text, blocks FROM document_versions WHERE bucket = $1 AND url_hash = $2 AND version = $3;

-- name: hold_jobs
-- Vacancies that are known already, with who tells them, locked in one order everywhere.
SELECT j.canonical_hash, j.status, j.version, j.source_id, j.is_spoken_for, j.deleted_by,
       coalesce(s.status = 'deleted', false) AS is_abandoned, j.title, j.org_name, j.apply_url, j.language, j.location_raw, j.country,
       j.country_iso, j.city, j.region_code, j.level_norm, j.mission_tags, j.functional_tags, j.international_eligible,
       j.deadline, j.application_window, j.description_snippet, j.org_type, j.career_type, j.contract_type,
       j.contract_duration_months, j.contract_urgency, j.work_modality, j.work_hours, j.benefits, j.policy_flags,
       j.donor_context, j.project_modality, j.procurement_vehicle, j.crisis_type, j.response_phase, j.humanitarian_cluster,
       j.surge_required, j.deployment_timeframe, j.duty_station_hardship, j.compensation_visible, j.compensation_type,
       j.compensation_min_usd, j.compensation_max_usd, j.compensation_currency, j.compensation_confidence, j.data_provenance,
       j.raw_metadata, j.is_detailed, j.page_url, j.document_bucket, j.document_hash
FROM unnest($1::smallint[], $2::bytea[]) AS g (bucket, canonical_hash)
JOIN jobs j ON j.bucket = g.bucket AND j.canonical_hash = g.canonical_hash
LEFT JOIN sources s ON s.id = j.source_id
ORDER BY j.bucket, j.canonical_hash FOR UPDATE OF j;

-- name: write_jobs
-- New vacancies, and known ones that changed; answers with what was written.
-- Invariants: one that another process made in this moment is left as it is, since its version is not the one before ours. With
-- its source a vacancy leaves the list that named it: no list decides about what another source tells.
INSERT INTO jobs (bucket, canonical_hash, source_id, channel_id, document_bucket, document_hash, title, org_name, apply_url,
                  language, location_raw, country, country_iso, city, region_code, level_norm, mission_tags, functional_tags,
                  international_eligible, deadline, application_window, description_snippet, org_type, career_type,
                  contract_type, contract_duration_months, contract_urgency, work_modality, work_hours, benefits, policy_flags,
                  donor_context, project_modality, procurement_vehicle, crisis_type, response_phase, humanitarian_cluster,
                  surge_required, deployment_timeframe, duty_station_hardship, compensation_visible, compensation_type,
                  compensation_min_usd, compensation_max_usd, compensation_currency, compensation_confidence, data_provenance,
                  raw_metadata, is_detailed, page_url, is_spoken_for, version, fetched_at, last_seen_at, listed_at, created_at, updated_at, search_tsv)
SELECT r.bucket, r.canonical_hash, $2::uuid, $3::uuid, r.document_bucket, r.document_hash, r.title, r.org_name, r.apply_url,
       r.language, r.location_raw, r.country, r.country_iso, r.city, r.region_code, r.level_norm, r.mission_tags,
       r.functional_tags, r.international_eligible, r.deadline, r.application_window, r.description_snippet, r.org_type,
       r.career_type, r.contract_type, r.contract_duration_months, r.contract_urgency, r.work_modality, r.work_hours, r.benefits,
       r.policy_flags, r.donor_context, r.project_modality, r.procurement_vehicle, r.crisis_type, r.response_phase,
       r.humanitarian_cluster, r.surge_required, r.deployment_timeframe, r.duty_station_hardship, r.compensation_visible,
       r.compensation_type, r.compensation_min_usd, r.compensation_max_usd, r.compensation_currency, r.compensation_confidence,
       r.data_provenance, r.raw_metadata, r.is_detailed, r.page_url, r.is_spoken_for, r.version, $4::timestamptz, $4,
       CASE WHEN $3 IS NOT NULL THEN $4 END, $4, $4,
       CASE WHEN is_search_kept()
            THEN job_words(r.language, r.title, r.org_name, r.description_snippet, r.mission_tags, r.functional_tags) END
FROM jsonb_populate_recordset(NULL::jobs, $1::jsonb) AS r
ORDER BY r.bucket, r.canonical_hash
ON CONFLICT (bucket, canonical_hash) DO UPDATE
SET source_id = excluded.source_id,
    channel_id = CASE WHEN excluded.source_id = jobs.source_id THEN coalesce(excluded.channel_id, jobs.channel_id)
                      ELSE excluded.channel_id END,
    document_bucket = excluded.document_bucket, document_hash = excluded.document_hash, title = excluded.title,
    org_name = excluded.org_name, apply_url = excluded.apply_url, language = excluded.language,
    location_raw = excluded.location_raw, country = excluded.country, country_iso = excluded.country_iso, city = excluded.city,
    region_code = excluded.region_code, level_norm = excluded.level_norm, mission_tags = excluded.mission_tags,
    functional_tags = excluded.functional_tags, international_eligible = excluded.international_eligible,
    deadline = excluded.deadline, application_window = excluded.application_window,
    description_snippet = excluded.description_snippet, org_type = excluded.org_type, career_type = excluded.career_type,
    contract_type = excluded.contract_type, contract_duration_months = excluded.contract_duration_months,
    contract_urgency = excluded.contract_urgency, work_modality = excluded.work_modality, work_hours = excluded.work_hours,
    benefits = excluded.benefits, policy_flags = excluded.policy_flags, donor_context = excluded.donor_context,
    project_modality = excluded.project_modality, procurement_vehicle = excluded.procurement_vehicle,
    crisis_type = excluded.crisis_type, response_phase = excluded.response_phase,
    humanitarian_cluster = excluded.humanitarian_cluster, surge_required = excluded.surge_required,
    deployment_timeframe = excluded.deployment_timeframe, duty_station_hardship = excluded.duty_station_hardship,
    compensation_visible = excluded.compensation_visible, compensation_type = excluded.compensation_type,
    compensation_min_usd = excluded.compensation_min_usd, compensation_max_usd = excluded.compensation_max_usd,
    compensation_currency = excluded.compensation_currency, compensation_confidence = excluded.compensation_confidence,
    data_provenance = excluded.data_provenance, raw_metadata = excluded.raw_metadata, is_detailed = excluded.is_detailed,
    page_url = excluded.page_url, is_spoken_for = excluded.is_spoken_for, status = 'active', deleted_at = NULL, deleted_by = NULL,
    deleted_reason = NULL, version = excluded.version, fetched_at = excluded.fetched_at, last_seen_at = excluded.last_seen_at,
    listed_at = CASE WHEN excluded.source_id = jobs.source_id THEN coalesce(excluded.listed_at, jobs.listed_at)
                     ELSE excluded.listed_at END,
    updated_at = excluded.updated_at, search_tsv = excluded.search_tsv
WHERE jobs.version = excluded.version - 1
RETURNING bucket, canonical_hash, version;

-- name: see_jobs_again
-- Open vacancies that are as they were, still there for the source that tells them; answers with those whose last sighting
-- moved. Invariant: sinks are told of that, so it moves once a day at most, and with a version.
UPDATE jobs j
SET listed_at = CASE WHEN $3::uuid IS NULL THEN j.listed_at ELSE $4::timestamptz END, channel_id = coalesce($3, j.channel_id),
    last_seen_at = CASE WHEN g.is_news THEN $4 ELSE j.last_seen_at END, version = j.version + g.is_news::integer
FROM (SELECT k.bucket, k.canonical_hash,
             (k.last_seen_at AT TIME ZONE 'utc')::date < ($4::timestamptz AT TIME ZONE 'utc')::date AS is_news
      FROM unnest($1::smallint[], $2::bytea[]) AS u (bucket, canonical_hash)
      JOIN jobs k ON k.bucket = u.bucket AND k.canonical_hash = u.canonical_hash) AS g
WHERE j.bucket = g.bucket AND j.canonical_hash = g.canonical_hash AND j.status = 'active' AND (g.is_news OR $3::uuid IS NOT NULL)
RETURNING j.bucket, j.canonical_hash, j.version, g.is_news;

-- name: overdue_jobs
-- Vacancies whose day has passed everywhere on earth; a batch.
SELECT j.bucket, j.canonical_hash FROM jobs j
WHERE j.status = 'active' AND j.deadline < (($1::timestamptz - interval '12 hours') AT TIME ZONE 'utc')::date
ORDER BY j.bucket, j.canonical_hash LIMIT $2::integer
FOR UPDATE OF j SKIP LOCKED;

-- name: unnamed_jobs
-- Vacancies that their list has not named since a moment, and whose pages were not seen since then either.
SELECT j.bucket, j.canonical_hash FROM jobs j
WHERE j.status = 'active' AND j.channel_id = $1::uuid AND j.listed_at < $2::timestamptz AND j.last_seen_at < $2
ORDER BY j.bucket, j.canonical_hash
FOR UPDATE OF j SKIP LOCKED;

-- name: named_and_unnamed
-- Of the vacancies that stood before one moment: how many their list has named since another, and how many it has not.
SELECT count(*) FILTER (WHERE listed_at >= $2::timestamptz) AS named, count(*) FILTER (WHERE listed_at < $2) AS unnamed
FROM jobs WHERE status = 'active' AND channel_id = $1::uuid AND created_at < $3::timestamptz;

-- name: pages_gone
-- Which of these pages were asked for and are gone.
SELECT e.url_hash FROM unnest($1::smallint[], $2::bytea[]) AS g (bucket, url_hash)
JOIN url_frontier e ON e.bucket = g.bucket AND e.url_hash = g.url_hash
WHERE e.status = 'dead' AND e.reason IN ('not_found', 'gone', 'legal');

-- name: redirects_of
-- Which of these pages were left for another one, and where they led.
SELECT e.url_hash, e.moved_to FROM unnest($1::smallint[], $2::bytea[]) AS g (bucket, url_hash)
JOIN url_frontier e ON e.bucket = g.bucket AND e.url_hash = g.url_hash
WHERE e.status = 'dead' AND e.reason = 'redirect' AND e.moved_to IS NOT NULL;

-- name: found_on
-- The page on which an address was found, or which led there.
SELECT parent_url FROM url_frontier WHERE bucket = $1::smallint AND url_hash = $2::bytea;

-- name: jobs_read_on_their_pages
-- Which of these vacancies were read on their own pages, whatever became of them.
SELECT j.bucket, j.canonical_hash FROM unnest($1::smallint[], $2::bytea[]) AS g (bucket, canonical_hash)
JOIN jobs j ON j.bucket = g.bucket AND j.canonical_hash = g.canonical_hash
WHERE j.is_detailed;

-- name: pass_on_list
-- A vacancy that no list has named goes on in the list that named it under a former address.
UPDATE jobs j SET channel_id = f.channel_id, listed_at = f.listed_at
FROM jobs f
WHERE f.bucket = $1::smallint AND f.canonical_hash = $2::bytea AND j.bucket = $3::smallint AND j.canonical_hash = $4::bytea
  AND j.source_id = f.source_id AND j.channel_id IS NULL AND j.status = 'active';

-- name: expire_jobs
-- Vacancies this transaction has locked are over.
UPDATE jobs j SET status = 'expired', version = j.version + 1, updated_at = $3::timestamptz
FROM unnest($1::smallint[], $2::bytea[]) AS g (bucket, canonical_hash)
WHERE j.bucket = g.bucket AND j.canonical_hash = g.canonical_hash
RETURNING j.bucket, j.canonical_hash, j.version;

-- name: open_jobs_of_source
-- A page of the open vacancies that a source tells, the newest first: by its index, which also knows those that are over.
SELECT created_at, bucket, canonical_hash FROM jobs
WHERE source_id = $1::uuid AND status = 'active' AND created_at <= coalesce($2::timestamptz, 'infinity')
  AND (created_at < coalesce($2, 'infinity') OR (bucket, canonical_hash) > ($3::smallint, $4::bytea))
ORDER BY created_at DESC, bucket, canonical_hash LIMIT $5::integer;

-- name: open_jobs_of_lists
-- A page of the open vacancies that were left to lists of a source, while another one told them.
SELECT j.bucket, j.canonical_hash FROM channels c JOIN jobs j ON j.channel_id = c.id AND j.status = 'active'
WHERE c.source_id = $1::uuid AND j.source_id <> $1 AND (j.bucket, j.canonical_hash) > ($2::smallint, $3::bytea)
ORDER BY j.bucket, j.canonical_hash LIMIT $4::integer;

-- name: hold_left_jobs
-- Open vacancies of removed sources, locked in one order everywhere, each with a list of another source that names it.
-- Invariants: a list that two answers have left it out of does not. Sightings are noted every six hours at most.
SELECT j.bucket, j.canonical_hash, l.channel_id, l.listed_at
FROM unnest($1::smallint[], $2::bytea[]) AS g (bucket, canonical_hash)
JOIN jobs j ON j.bucket = g.bucket AND j.canonical_hash = g.canonical_hash AND j.status = 'active'
JOIN sources r ON r.id = j.source_id AND r.status = 'deleted'
LEFT JOIN LATERAL (
    SELECT n.channel_id, n.last_seen_at + interval '6 hours' AS listed_at
    FROM job_sightings n
    JOIN sources s ON s.id = n.source_id AND s.status IN ('active', 'paused')
    JOIN channels c ON c.id = n.channel_id AND c.is_enabled
    WHERE n.bucket = j.bucket AND n.canonical_hash = j.canonical_hash
      AND n.last_seen_at + interval '6 hours' >= coalesce(c.gone_before, '-infinity')
    ORDER BY n.last_seen_at DESC LIMIT 1
) AS l ON true
ORDER BY j.bucket, j.canonical_hash FOR UPDATE OF j;

-- name: leave_to_lists
-- Vacancies this transaction has locked: another list decides from now on whether they are open. In whose words they stand
-- changes when that list is read again. Not told: it is in our books only.
UPDATE jobs j SET channel_id = g.channel_id, listed_at = least(g.listed_at, $5::timestamptz)
FROM unnest($1::smallint[], $2::bytea[], $3::uuid[], $4::timestamptz[]) AS g (bucket, canonical_hash, channel_id, listed_at)
WHERE j.bucket = g.bucket AND j.canonical_hash = g.canonical_hash;

-- name: count_jobs_left
-- The open vacancies of a source, as its removal would find them: how many there are, and how many of them a list of
-- another source names.
SELECT count(*) AS standing, count(*) FILTER (WHERE EXISTS (
    SELECT 1 FROM job_sightings n
    JOIN sources s ON s.id = n.source_id AND s.status IN ('active', 'paused')
    JOIN channels c ON c.id = n.channel_id AND c.is_enabled
    WHERE n.bucket = j.bucket AND n.canonical_hash = j.canonical_hash AND n.source_id <> $1::uuid
      AND n.last_seen_at + interval '6 hours' >= coalesce(c.gone_before, '-infinity'))) AS named_elsewhere
FROM (SELECT t.bucket, t.canonical_hash FROM jobs t WHERE t.source_id = $1 AND t.status = 'active'
      UNION ALL
      SELECT t.bucket, t.canonical_hash FROM channels o JOIN jobs t ON t.channel_id = o.id AND t.status = 'active'
      WHERE o.source_id = $1 AND t.source_id <> $1) AS j;

-- name: lately_removed_sources
-- Sources that were removed in the last day: what was told of them in that moment has to end, too.
SELECT id FROM sources WHERE status = 'deleted' AND updated_at > now() - interval '1 day';

-- name: note_sightings
-- Vacancies that another source tells, seen by this one. Not at every poll: it only has to be known whether they are there.
INSERT INTO job_sightings AS s (bucket, canonical_hash, source_id, channel_id, url, first_seen_at, last_seen_at)
SELECT g.bucket, g.canonical_hash, $3::uuid, $4::uuid, $5::text, $6::timestamptz, $6
FROM unnest($1::smallint[], $2::bytea[]) AS g (bucket, canonical_hash)
ORDER BY g.bucket, g.canonical_hash
ON CONFLICT (bucket, canonical_hash, source_id, channel_id) DO UPDATE SET url = excluded.url, last_seen_at = excluded.last_seen_at
WHERE s.last_seen_at < excluded.last_seen_at - interval '6 hours' OR s.url <> excluded.url;

-- name: forget_sightings
-- Sightings that were not repeated for long; a batch.
DELETE FROM job_sightings WHERE ctid = ANY (ARRAY(
    SELECT s.ctid FROM job_sightings s WHERE s.last_seen_at < now() - make_interval(days => $1::integer) LIMIT $2::integer));

-- name: delete_jobs
-- Out of search and every list; the rows stay to say why.
WITH held AS MATERIALIZED (
    SELECT j.bucket, j.canonical_hash FROM unnest($1::smallint[], $2::bytea[]) AS g (bucket, canonical_hash)
    JOIN jobs j ON j.bucket = g.bucket AND j.canonical_hash = g.canonical_hash
    WHERE j.status <> 'deleted'
    ORDER BY j.bucket, j.canonical_hash FOR UPDATE OF j
)
UPDATE jobs j
SET status = 'deleted', version = j.version + 1, deleted_at = $5::timestamptz, deleted_by = $3::text, deleted_reason = $4::text,
    updated_at = $5
FROM held h WHERE j.bucket = h.bucket AND j.canonical_hash = h.canonical_hash
RETURNING j.bucket, j.canonical_hash, j.version;

-- name: buckets_of_domain
-- Where documents of a domain and of what lies below it can be. Rare, and over hosts, not documents.
SELECT DISTINCT bucket FROM hosts WHERE host = $1::text OR right(host, length($1) + 1) = '.' || $1 ORDER BY bucket;

-- name: standing_in_bucket
-- A page of the documents of one bucket that are not withdrawn and were read in a domain or below it, by key.
SELECT url_hash, url FROM documents
WHERE bucket = $1::smallint AND url_hash > $2::bytea AND deleted_at IS NULL
  AND (url_host(url) = $3::text OR right(url_host(url), length($3) + 1) = '.' || $3)
ORDER BY url_hash LIMIT $4::integer;

-- name: documents_claiming_within
-- A page of the documents whose pages call an address in a domain or below it canonical.
SELECT host_backwards(claimed_url) AS place, bucket, url_hash AS hash, url, claimed_url FROM documents
WHERE claimed_url IS NOT NULL AND deleted_at IS NULL AND host_backwards(claimed_url) COLLATE "C" < reverse($1::text) || '/'
  AND (host_backwards(claimed_url) COLLATE "C", bucket, url_hash) > ($2::text, $3::smallint, $4::bytea)
ORDER BY host_backwards(claimed_url) COLLATE "C", bucket, url_hash LIMIT $5::integer;

-- name: documents_in_words_of
-- Documents that were made of what feeds of these sources said, since their pages are refused.
SELECT bucket, url_hash, url FROM documents
WHERE source_id = ANY ($1::uuid[]) AND produced_by = 'feed_only' AND deleted_at IS NULL;

-- name: strip_claim
-- A document that calls no other page canonical.
SELECT strip_claim($1::smallint, $2::bytea);

-- name: jobs_applied_for_within
-- A page of the vacancies for which one applies in a domain or below it.
SELECT host_backwards(apply_url) AS place, bucket, canonical_hash AS hash, apply_url, page_url FROM jobs
WHERE status <> 'deleted' AND host_backwards(apply_url) COLLATE "C" < reverse($1::text) || '/'
  AND (host_backwards(apply_url) COLLATE "C", bucket, canonical_hash) > ($2::text, $3::smallint, $4::bytea)
ORDER BY host_backwards(apply_url) COLLATE "C", bucket, canonical_hash LIMIT $5::integer;

-- name: jobs_read_within
-- A page of the vacancies whose words were read in a domain or below it.
SELECT host_backwards(page_url) AS place, bucket, canonical_hash AS hash, apply_url, page_url FROM jobs
WHERE status <> 'deleted' AND host_backwards(page_url) COLLATE "C" < reverse($1::text) || '/'
  AND (host_backwards(page_url) COLLATE "C", bucket, canonical_hash) > ($2::text, $3::smallint, $4::bytea)
ORDER BY host_backwards(page_url) COLLATE "C", bucket, canonical_hash LIMIT $5::integer;

-- name: jobs_told_by
-- Vacancies that one of these sources or lists tells; a batch.
SELECT bucket, canonical_hash FROM jobs WHERE source_id = ANY ($1::uuid[]) AND status <> 'deleted'
UNION
SELECT bucket, canonical_hash FROM jobs WHERE channel_id = ANY ($2::uuid[]) AND status = 'active'
LIMIT $3::integer;

-- name: old_documents
-- A page of the documents of which something is left and that have not changed for so many days, the oldest first, from a
-- place on; whether another rule still needs them is asked once they are locked.
SELECT changed_at, bucket, url_hash FROM documents
WHERE NOT is_emptied AND changed_at < now() - make_interval(days => $1::integer)
  AND (changed_at, bucket, url_hash) > ($2::timestamptz, $3::smallint, $4::bytea)
ORDER BY changed_at, bucket, url_hash LIMIT $5::integer;

-- name: lock_documents
-- Nobody else stores or removes these documents until this transaction ends.
SELECT lock_hashes($1::bytea[]);

-- name: removable_documents
-- Of these, which are still so old and needed by nothing else.
-- Invariants: an original stays while another document is its duplicate, and a page while its vacancy is open.
SELECT d.bucket, d.url_hash FROM unnest($2::smallint[], $3::bytea[]) AS g (bucket, url_hash)
JOIN documents d ON d.bucket = g.bucket AND d.url_hash = g.url_hash
WHERE NOT d.is_emptied AND d.changed_at < now() - make_interval(days => $1::integer)
  AND NOT EXISTS (SELECT 1 FROM documents o WHERE o.duplicate_bucket = d.bucket AND o.duplicate_of = d.url_hash)
  AND NOT EXISTS (SELECT 1 FROM jobs j WHERE j.bucket = get_byte(d.url_hash, 0)::smallint AND j.canonical_hash = d.url_hash
                                         AND j.status = 'active')
  AND NOT EXISTS (SELECT 1 FROM jobs j WHERE j.is_detailed AND j.status = 'active' AND j.page_url = d.url
                                         AND hashtextextended(j.page_url, 0) = hashtextextended(d.url, 0));

-- name: empty_documents
-- Of documents that were withdrawn only the address, the hash of the text and the version are left.
UPDATE documents d
SET is_emptied = true, title = '', text = '', summary = '', author = '', authors = '{}', published_at = NULL, updated_at = NULL, section = '',
    keywords = '{}', images = '{}', word_count = 0, quality = NULL, quality_parts = '{}', simhash = NULL, metadata = '{}', rights = '{}', rights_statements = NULL,
    blocks = NULL,
    near_bucket = NULL, near_duplicate_of = NULL, claimed_bucket = NULL, claimed_hash = NULL, claimed_url = NULL
FROM unnest($1::smallint[], $2::bytea[]) AS g (bucket, url_hash)
WHERE d.bucket = g.bucket AND d.url_hash = g.url_hash AND d.deleted_at IS NOT NULL;

-- name: forget_versions_of
-- The former versions of these documents.
DELETE FROM document_versions v USING unnest($1::smallint[], $2::bytea[]) AS g (bucket, url_hash)
WHERE v.bucket = g.bucket AND v.url_hash = g.url_hash;

-- name: forget_outlinks_of
-- Where these documents pointed.
DELETE FROM outlinks l USING unnest($1::smallint[], $2::bytea[]) AS g (bucket, url_hash)
WHERE l.bucket = g.bucket AND l.url_hash = g.url_hash;

-- name: forget_old_versions
-- Versions that were replaced so many days ago, the oldest first; a batch.
DELETE FROM document_versions WHERE ctid = ANY (ARRAY(
    SELECT v.ctid FROM document_versions v WHERE v.replaced_at < now() - make_interval(days => $1::integer)
    ORDER BY v.replaced_at LIMIT $2::integer));

-- name: server_now
-- The only clock that decides anything.
SELECT clock_timestamp();

-- name: stated_rights
-- The statements that stand with a document.
SELECT rights_statements FROM documents WHERE bucket = $1::smallint AND url_hash = $2::bytea AND deleted_at IS NULL;

-- name: restate_rights
-- What is said about the use of a page that is as it was; whether that is news.
SELECT restate_rights(($1::smallint, $2::bytea)::document_key, $3::text[], $4::jsonb, clock_timestamp());
