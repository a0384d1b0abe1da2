-- name: add_learning
-- Hosts whose pages were read, as rows that can be locked. In one order everywhere.
INSERT INTO learning_hosts (bucket, host, source_id)
SELECT h.bucket, h.host, h.source_id FROM unnest($1::smallint[], $2::text[], $3::uuid[]) AS h (bucket, host, source_id)
ORDER BY h.bucket, h.host
ON CONFLICT DO NOTHING;

-- name: lock_learning
-- Hosts with what they can learn from, locked in one order.
SELECT p.bucket, p.host, p.source_id, p.pool, p.refused, p.fresh, p.failures, p.learn_at IS NOT NULL AS is_waiting,
       p.disabled_at IS NOT NULL AS is_disabled
FROM unnest($1::smallint[], $2::text[]) AS h (bucket, host)
JOIN learning_hosts p ON p.bucket = h.bucket AND p.host = h.host
ORDER BY p.bucket, p.host FOR UPDATE OF p;

-- name: standings_of
-- The active templates of hosts; one that another release of Headwater wrote down in a form of its own reads nothing.
SELECT t.bucket, t.host, t.section, t.version, t.agreement, t.served, t.refused, t.audited, t.refusing, t.agreeing, t.reasons,
       coalesce(t.template -> 'form' = to_jsonb($3::integer), false) AS is_readable
FROM unnest($1::smallint[], $2::text[]) AS h (bucket, host)
JOIN templates t ON t.bucket = h.bucket AND t.host = h.host AND t.status = 'active';

-- name: write_learning
-- Pages that hosts can learn from now; where there is a reason, a training is due.
UPDATE learning_hosts p
SET source_id = r.source_id, pool = r.pool, refused = r.refused, fresh = r.fresh,
    learn_at = CASE WHEN r.why <> '' THEN clock_timestamp() ELSE p.learn_at END,
    why = CASE WHEN r.why <> '' THEN r.why ELSE p.why END
FROM jsonb_populate_recordset(NULL::learning_hosts, $1::jsonb) AS r
WHERE p.bucket = r.bucket AND p.host = r.host AND p.disabled_at IS NULL;

-- name: write_standings
-- The use of templates. Blocks that a host repeats are learned while it is read: the last worker's word stands.
UPDATE templates t
SET served = r.served, refused = r.refused, audited = r.audited, refusing = r.refusing, agreeing = r.agreeing, reasons = r.reasons,
    template = coalesce(r.template, t.template), used_at = clock_timestamp()
FROM jsonb_populate_recordset(NULL::templates, $1::jsonb) AS r
WHERE t.bucket = r.bucket AND t.host = r.host AND t.section = r.section AND t.version = r.version AND t.status = 'active';

-- name: begin_training
-- A host whose training is due, for the first worker that asks. Its next try is set before this one is made: if this process dies, so
-- does its claim, and a host whose pages kill the process that learns is tried ever more rarely.
UPDATE learning_hosts p
SET learn_at = clock_timestamp() + $1::interval * power(2, least(p.failures, 7)), failures = p.failures + 1
FROM (SELECT bucket, host FROM learning_hosts WHERE learn_at <= statement_timestamp() ORDER BY learn_at LIMIT 1
      FOR UPDATE SKIP LOCKED) AS due
WHERE p.bucket = due.bucket AND p.host = due.host
RETURNING p.bucket, p.host, p.source_id, p.pool, p.refused, p.why, p.failures;

-- name: end_training
-- The result of a training; false if a person disabled the host meanwhile.
UPDATE learning_hosts
SET learn_at = NULL, fresh = 0, failures = CASE WHEN $4::boolean THEN 0 ELSE failures END, outcome = $3::text,
    learned_at = clock_timestamp()
WHERE bucket = $1::smallint AND host = $2::text AND disabled_at IS NULL
RETURNING true;

-- name: end_templates
-- Templates that speak no more: of the sections named, or of all if none is. Answers with them.
UPDATE templates
SET status = $4::text, ended_at = clock_timestamp(), why_ended = $5::text
WHERE bucket = $1::smallint AND host = $2::text AND status = 'active' AND ($3::text[] IS NULL OR section = ANY ($3))
RETURNING section, version;

-- name: add_template
-- The next version of a host's section. The host's row is locked by its training's end, so there is only one.
INSERT INTO templates (bucket, host, section, version, template, pages, agreement, learned_at, used_at)
SELECT $1::smallint, $2::text, $3::text,
       1 + coalesce((SELECT max(version) FROM templates WHERE bucket = $1 AND host = $2), 0),
       $4::jsonb, $5::integer, $6::real, clock_timestamp(), clock_timestamp()
RETURNING version;

-- name: forget_versions
-- Templates that ended long ago are of no use.
DELETE FROM templates t
WHERE t.bucket = $1::smallint AND t.host = $2::text AND t.status <> 'active'
  AND t.version <= (SELECT max(version) FROM templates WHERE bucket = $1 AND host = $2) - $3::integer;

-- name: expire_templates
-- Nobody asked for them for so long: what they know may no longer hold.
UPDATE templates
SET status = 'expired', ended_at = clock_timestamp(), why_ended = 'not used for ' || $1::integer || ' days'
WHERE status = 'active' AND used_at < statement_timestamp() - make_interval(days => $1)
RETURNING bucket, host, section, version;

-- name: list_learning
-- Hosts from a host on, with what ended last of what was learned of them.
SELECT p.bucket, p.host, p.learn_at, p.why, p.outcome, p.learned_at, p.disabled_at, p.failures, p.fresh,
       cardinality(p.pool) + cardinality(p.refused) AS pages, e.ended_at, e.why_ended
FROM (SELECT * FROM learning_hosts WHERE host > $1::text ORDER BY host, bucket LIMIT $2::integer) AS p
LEFT JOIN LATERAL (
    SELECT ended_at, why_ended FROM templates
    WHERE bucket = p.bucket AND host = p.host AND status <> 'active' ORDER BY ended_at DESC LIMIT 1
) AS e ON true
ORDER BY p.host;

-- name: list_templates
-- The templates that hosts are read by.
SELECT t.host, t.section, t.version, t.status, t.pages, t.agreement, t.learned_at, t.ended_at, t.why_ended, t.served, t.refused,
       t.audited, t.refusing, t.agreeing, t.reasons, t.used_at
FROM unnest($1::smallint[], $2::text[]) AS h (bucket, host)
JOIN templates t ON t.bucket = h.bucket AND t.host = h.host AND t.status = 'active'
ORDER BY t.host, t.section;

-- name: read_learning
-- One host, as `list_pupils` shows it; what ended can be seen in its versions.
SELECT bucket, host, source_id, learn_at, why, outcome, learned_at, disabled_at, failures,
       cardinality(pool) + cardinality(refused) AS pages, fresh
FROM learning_hosts WHERE bucket = $1::smallint AND host = $2::text;

-- name: versions_of_host
-- All there is of a host's templates, newest first.
SELECT section, version, status, template, pages, agreement, learned_at, ended_at, why_ended, served, refused, audited, refusing,
       agreeing, reasons, used_at
FROM templates WHERE bucket = $1::smallint AND host = $2::text ORDER BY version DESC;

-- name: request_training
-- A person wants it learned now, also where it was disabled; false if nothing is known of the host.
UPDATE learning_hosts SET learn_at = clock_timestamp(), why = $3::text, failures = 0, disabled_at = NULL
WHERE bucket = $1::smallint AND host = $2::text
RETURNING true;

-- name: disable_host
-- A person wants the host's pages read the general way; false if nothing is known of it.
UPDATE learning_hosts SET disabled_at = coalesce(disabled_at, clock_timestamp()), learn_at = NULL
WHERE bucket = $1::smallint AND host = $2::text
RETURNING source_id;

-- name: count_templates
-- How many hosts are read by a template of their own, wait for training, or were disabled.
SELECT (SELECT count(*) FROM (SELECT 1 FROM templates WHERE status = 'active' GROUP BY bucket, host) AS read) AS active,
       (SELECT count(*) FROM learning_hosts WHERE learn_at IS NOT NULL) AS waiting,
       (SELECT count(*) FROM learning_hosts WHERE disabled_at IS NOT NULL) AS disabled;
