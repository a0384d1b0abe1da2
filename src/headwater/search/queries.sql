-- name: question_to_documents
-- Words as questions, one for each configuration that occurs, and all of them as one question to the index.
WITH configs AS (
    SELECT l.config FROM search_languages l
    WHERE ($2::text IS NULL OR l.language = $2)
      AND EXISTS (SELECT 1 FROM documents d WHERE d.language = l.language AND d.deleted_at IS NULL)
    UNION
    SELECT 'simple' WHERE $2 IS NULL OR search_config($2) = 'simple'::regconfig
)
SELECT string_agg(format('(%s) & %L', question, config_mark(config)), ' | ') AS anywhere,
       array_agg(config::text) AS configs, array_agg(question::text) AS questions
FROM (SELECT config, websearch_to_tsquery(config, $1::text) AS question FROM configs) AS asked
WHERE numnode(question) > 0;

-- name: search_documents
-- The best of the newest matches. Only what is ranked is read whole, and only what is shown is marked.
-- The index is asked in all configurations that occur at once; each text is then ranked and marked by its own. The question
-- is given, so that its plan knows how many texts match: of a word that stands everywhere the newest are read one by one.
-- What matched stands between two signs $12. Marking would drop all between < and >: they are the signs $13 until then.
WITH questions AS MATERIALIZED (
    SELECT config::regconfig, question::tsquery FROM unnest($14::text[], $15::text[]) AS q (config, question)
), matches AS MATERIALIZED (
    SELECT d.bucket, d.url_hash, d.search, search_config(d.language) AS config
    FROM documents d
    WHERE d.search @@ $1::text::tsquery AND d.deleted_at IS NULL
      AND ($2::text IS NULL OR d.language = $2) AND ($3::uuid IS NULL OR d.source_id = $3)
      AND ($4::timestamptz IS NULL OR coalesce(d.published_at, d.first_seen_at) >= $4)
      AND ($5::timestamptz IS NULL OR coalesce(d.published_at, d.first_seen_at) < $5)
      AND ($6::boolean OR d.duplicate_of IS NULL)
    ORDER BY d.first_seen_at DESC LIMIT $7::integer
), ranked AS (
    SELECT m.bucket, m.url_hash, q.config, q.question,
           ts_rank_cd('{0.1, 0.2, 0.4, 1.0}', m.search, q.question, 1) AS rank
    FROM matches m JOIN questions q ON q.config = m.config
), page AS (
    SELECT r.bucket, r.url_hash, r.config, r.question, r.rank FROM ranked r
    WHERE $8::real IS NULL OR r.rank < $8 OR (r.rank = $8 AND (r.bucket, r.url_hash) > ($9::smallint, $10::bytea))
    ORDER BY r.rank DESC, r.bucket, r.url_hash LIMIT $11::integer
)
SELECT p.bucket, p.url_hash AS hash, d.source_id, d.url, d.title, d.language, d.published_at, d.first_seen_at,
       d.duplicate_of IS NOT NULL AS is_duplicate, p.rank, (SELECT count(*) FROM matches) AS matches,
       ts_headline(p.config, regexp_replace(translate(left(d.text, 30000), '<>', $13::text), '[^ \n\r\t]{100}', '\& ', 'g'),
                   p.question, 'StartSel="' || $12::text || '", StopSel="' || $12
                   || '", MaxFragments=2, MinWords=8, MaxWords=24, FragmentDelimiter=" … "') AS marked
FROM page p JOIN documents d ON d.bucket = p.bucket AND d.url_hash = p.url_hash
ORDER BY p.rank DESC, p.bucket, p.url_hash;

-- name: question_to_jobs
-- As question_to_documents.
WITH configs AS (
    SELECT l.config FROM search_languages l
    WHERE ($2::text IS NULL OR l.language = $2)
      AND EXISTS (SELECT 1 FROM jobs j WHERE j.language = l.language AND j.status = 'active')
    UNION
    SELECT 'simple' WHERE $2 IS NULL OR search_config($2) = 'simple'::regconfig
)
SELECT string_agg(format('(%s) & %L', question, config_mark(config)), ' | ') AS anywhere,
       array_agg(config::text) AS configs, array_agg(question::text) AS questions
FROM (SELECT config, websearch_to_tsquery(config, $1::text) AS question FROM configs) AS asked
WHERE numnode(question) > 0;

-- name: search_jobs
-- As search_documents, among the vacancies that are open.
WITH questions AS MATERIALIZED (
    SELECT config::regconfig, question::tsquery FROM unnest($14::text[], $15::text[]) AS q (config, question)
), matches AS MATERIALIZED (
    SELECT j.bucket, j.canonical_hash, j.search_tsv, search_config(j.language) AS config
    FROM jobs j
    WHERE j.search_tsv @@ $1::text::tsquery AND j.status = 'active'
      AND ($2::text IS NULL OR j.language = $2) AND ($3::uuid IS NULL OR j.source_id = $3)
      AND ($4::timestamptz IS NULL OR j.created_at >= $4) AND ($5::timestamptz IS NULL OR j.created_at < $5)
      AND ($6::boolean OR j.duplicate_of IS NULL)
    ORDER BY j.created_at DESC LIMIT $7::integer
), ranked AS (
    SELECT m.bucket, m.canonical_hash, q.config, q.question,
           ts_rank_cd('{0.1, 0.2, 0.4, 1.0}', m.search_tsv, q.question, 1) AS rank
    FROM matches m JOIN questions q ON q.config = m.config
), page AS (
    SELECT r.bucket, r.canonical_hash, r.config, r.question, r.rank FROM ranked r
    WHERE $8::real IS NULL OR r.rank < $8 OR (r.rank = $8 AND (r.bucket, r.canonical_hash) > ($9::smallint, $10::bytea))
    ORDER BY r.rank DESC, r.bucket, r.canonical_hash LIMIT $11::integer
)
SELECT p.bucket, p.canonical_hash AS hash, j.source_id, j.apply_url AS url, j.title, j.language,
       NULL::timestamptz AS published_at, j.created_at AS first_seen_at, j.duplicate_of IS NOT NULL AS is_duplicate, p.rank,
       (SELECT count(*) FROM matches) AS matches,
       ts_headline(p.config, regexp_replace(translate(left(j.description_snippet, 30000), '<>', $13::text), '[^ \n\r\t]{100}', '\& ', 'g'),
                   p.question, 'StartSel="' || $12::text || '", StopSel="' || $12
                   || '", MaxFragments=2, MinWords=8, MaxWords=24, FragmentDelimiter=" … "') AS marked
FROM page p JOIN jobs j ON j.bucket = p.bucket AND j.canonical_hash = p.canonical_hash
ORDER BY p.rank DESC, p.bucket, p.canonical_hash;

-- name: newest_documents
-- The newest that pass, by when they were first seen. At most $9 rows are looked at; a row that does not match says how far.
WITH looked AS MATERIALIZED (
    SELECT * FROM (
        (SELECT d.bucket, d.url_hash, d.first_seen_at, d.published_at, d.language, d.duplicate_of FROM documents d
         WHERE $1::uuid IS NULL AND d.deleted_at IS NULL AND d.first_seen_at <= coalesce($2::timestamptz, 'infinity')
           AND ($2 IS NULL OR d.first_seen_at < $2 OR (d.bucket, d.url_hash) > ($3::smallint, $4::bytea))
         ORDER BY d.first_seen_at DESC, d.bucket, d.url_hash LIMIT $9::integer)
        UNION ALL
        (SELECT d.bucket, d.url_hash, d.first_seen_at, d.published_at, d.language, d.duplicate_of FROM documents d
         WHERE d.source_id = $1 AND d.deleted_at IS NULL AND d.first_seen_at <= coalesce($2, 'infinity')
           AND ($2 IS NULL OR d.first_seen_at < $2 OR (d.bucket, d.url_hash) > ($3, $4))
         ORDER BY d.first_seen_at DESC, d.bucket, d.url_hash LIMIT $9)
    ) AS either
), page AS MATERIALIZED (
    SELECT l.bucket, l.url_hash, l.first_seen_at FROM looked l
    WHERE ($5::text IS NULL OR l.language = $5) AND ($8::boolean OR l.duplicate_of IS NULL)
      AND ($6::timestamptz IS NULL OR coalesce(l.published_at, l.first_seen_at) >= $6)
      AND ($7::timestamptz IS NULL OR coalesce(l.published_at, l.first_seen_at) < $7)
    ORDER BY l.first_seen_at DESC, l.bucket, l.url_hash LIMIT $10::integer
)
SELECT * FROM (
    SELECT p.bucket, p.url_hash AS hash, d.source_id, d.url, d.title, d.language, d.published_at, d.first_seen_at,
           d.duplicate_of IS NOT NULL AS is_duplicate, 0::real AS rank,
           left(d.text, 200) || CASE WHEN length(d.text) > 200 THEN '…' ELSE '' END AS marked, true AS matches
    FROM page p JOIN documents d ON d.bucket = p.bucket AND d.url_hash = p.url_hash
    ORDER BY p.first_seen_at DESC, p.bucket, p.url_hash
) AS found
UNION ALL
SELECT l.bucket, l.url_hash, NULL, NULL, NULL, NULL, NULL, l.first_seen_at, NULL, NULL, NULL, false
FROM (SELECT * FROM looked ORDER BY first_seen_at, bucket DESC, url_hash DESC LIMIT 1) AS l
WHERE (SELECT count(*) FROM page) < $10 AND (SELECT count(*) FROM looked) = $9;

-- name: newest_jobs
-- As newest_documents, among the vacancies that are open; $11 to $16 are values of their columns.
WITH looked AS MATERIALIZED (
    SELECT * FROM (
        (SELECT j.bucket, j.canonical_hash, j.created_at, j.status, j.language, j.duplicate_of, j.country_iso, j.level_norm,
                j.work_modality, j.career_type, j.contract_type, j.mission_tags FROM jobs j
         WHERE $1::uuid IS NULL AND j.created_at <= coalesce($2::timestamptz, 'infinity')
           AND ($2 IS NULL OR j.created_at < $2 OR (j.bucket, j.canonical_hash) > ($3::smallint, $4::bytea))
         ORDER BY j.created_at DESC, j.bucket, j.canonical_hash LIMIT $9::integer)
        UNION ALL
        (SELECT j.bucket, j.canonical_hash, j.created_at, j.status, j.language, j.duplicate_of, j.country_iso, j.level_norm,
                j.work_modality, j.career_type, j.contract_type, j.mission_tags FROM jobs j
         WHERE j.source_id = $1 AND j.created_at <= coalesce($2, 'infinity')
           AND ($2 IS NULL OR j.created_at < $2 OR (j.bucket, j.canonical_hash) > ($3, $4))
         ORDER BY j.created_at DESC, j.bucket, j.canonical_hash LIMIT $9)
    ) AS either
), page AS MATERIALIZED (
    SELECT l.bucket, l.canonical_hash, l.created_at FROM looked l
    WHERE l.status = 'active' AND ($5::text IS NULL OR l.language = $5) AND ($8::boolean OR l.duplicate_of IS NULL)
      AND ($6::timestamptz IS NULL OR l.created_at >= $6) AND ($7::timestamptz IS NULL OR l.created_at < $7)
      AND ($11::text IS NULL OR l.country_iso = $11) AND ($12::text IS NULL OR l.level_norm = $12)
      AND ($13::text IS NULL OR l.work_modality = $13) AND ($14::text IS NULL OR l.career_type = $14)
      AND ($15::text IS NULL OR l.contract_type = $15) AND ($16::text IS NULL OR $16 = ANY (l.mission_tags))
    ORDER BY l.created_at DESC, l.bucket, l.canonical_hash LIMIT $10::integer
)
SELECT * FROM (
    SELECT p.bucket, p.canonical_hash AS hash, j.source_id, j.apply_url AS url, j.title, j.language,
           NULL::timestamptz AS published_at, j.created_at AS first_seen_at, j.duplicate_of IS NOT NULL AS is_duplicate,
           0::real AS rank, left(j.description_snippet, 200)
                            || CASE WHEN length(j.description_snippet) > 200 THEN '…' ELSE '' END AS marked, true AS matches
    FROM page p JOIN jobs j ON j.bucket = p.bucket AND j.canonical_hash = p.canonical_hash
    ORDER BY p.created_at DESC, p.bucket, p.canonical_hash
) AS found
UNION ALL
SELECT l.bucket, l.canonical_hash, NULL, NULL, NULL, NULL, NULL, l.created_at, NULL, NULL, NULL, false
FROM (SELECT * FROM looked ORDER BY created_at, bucket DESC, canonical_hash DESC LIMIT 1) AS l
WHERE (SELECT count(*) FROM page) < $10 AND (SELECT count(*) FROM looked) = $9;
