-- name: search_documents
-- The best of the newest matches. Only what is ranked is read whole, and only what is shown is marked.
-- The index is asked in all configurations that occur at once; each text is then ranked and marked by its own.
WITH configs AS (
    SELECT l.config FROM search_languages l
    WHERE ($2::text IS NULL OR l.language = $2)
      AND EXISTS (SELECT 1 FROM documents d WHERE d.language = l.language AND d.deleted_at IS NULL)
    UNION
    SELECT 'simple' WHERE $2 IS NULL OR search_config($2) = 'simple'::regconfig
), questions AS MATERIALIZED (
    SELECT config, websearch_to_tsquery(config, $1::text) AS question FROM configs
), asked AS (
    SELECT string_agg(format('(%s) & %L', question, config_mark(config)), ' | ')::tsquery AS anywhere
    FROM questions WHERE numnode(question) > 0
), matches AS MATERIALIZED (
    SELECT d.bucket, d.url_hash, d.search, search_config(d.language) AS config
    FROM documents d
    WHERE d.search @@ (SELECT anywhere FROM asked)
      AND ($2 IS NULL OR d.language = $2) AND ($3::uuid IS NULL OR d.source_id = $3)
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
       ts_headline(p.config, legible(d.text, 30000), p.question,
                   'StartSel=**, StopSel=**, MaxFragments=2, MinWords=8, MaxWords=24, FragmentDelimiter=" … "') AS snippet
FROM page p JOIN documents d ON d.bucket = p.bucket AND d.url_hash = p.url_hash
ORDER BY p.rank DESC, p.bucket, p.url_hash;

-- name: search_jobs
-- As search_documents, among the vacancies that are open.
WITH configs AS (
    SELECT l.config FROM search_languages l
    WHERE ($2::text IS NULL OR l.language = $2)
      AND EXISTS (SELECT 1 FROM jobs j WHERE j.language = l.language AND j.status = 'active')
    UNION
    SELECT 'simple' WHERE $2 IS NULL OR search_config($2) = 'simple'::regconfig
), questions AS MATERIALIZED (
    SELECT config, websearch_to_tsquery(config, $1::text) AS question FROM configs
), asked AS (
    SELECT string_agg(format('(%s) & %L', question, config_mark(config)), ' | ')::tsquery AS anywhere
    FROM questions WHERE numnode(question) > 0
), matches AS MATERIALIZED (
    SELECT j.bucket, j.canonical_hash, j.search_tsv, search_config(j.language) AS config
    FROM jobs j
    WHERE j.search_tsv @@ (SELECT anywhere FROM asked) AND j.status = 'active'
      AND ($2 IS NULL OR j.language = $2) AND ($3::uuid IS NULL OR j.source_id = $3)
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
       ts_headline(p.config, legible(j.description_snippet, 30000), p.question,
                   'StartSel=**, StopSel=**, MaxFragments=2, MinWords=8, MaxWords=24, FragmentDelimiter=" … "') AS snippet
FROM page p JOIN jobs j ON j.bucket = p.bucket AND j.canonical_hash = p.canonical_hash
ORDER BY p.rank DESC, p.bucket, p.canonical_hash;
