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
FROM (SELECT config, words_asked(config, $1::text) AS question FROM configs) AS asked
WHERE numnode(question) > 0;

-- name: search_documents
-- The best of the newest matches, of a view or of rights among the newest `:looked`. Only what is ranked is read whole, and only what is
-- shown is marked.
-- The index is asked in all configurations that occur at once; each text is then ranked and marked by its own. The question
-- is given, so that its plan knows how many texts match: of a word that stands everywhere the newest are read one by one.
-- What matched stands between two signs `:mark`. Marking would drop all between < and >: they are the signs `:angles` until then.
WITH questions AS MATERIALIZED (
    SELECT config::regconfig, question::tsquery FROM unnest(:configs::text[], :questions::text[]) AS q (config, question)
), looked AS MATERIALIZED (
    SELECT d.bucket, d.url_hash, d.search, d.first_seen_at, d.source_id, d.language, d.quality, d.rights
    FROM documents d
    WHERE d.search @@ :anywhere::text::tsquery AND d.deleted_at IS NULL
      AND (:language::text IS NULL OR d.language = :language) AND (:sources::uuid[] IS NULL OR d.source_id = ANY (:sources))
      AND (:since::timestamptz IS NULL OR coalesce(d.published_at, d.first_seen_at) >= :since)
      AND (:until::timestamptz IS NULL OR coalesce(d.published_at, d.first_seen_at) < :until)
      AND (:duplicates::boolean OR d.duplicate_of IS NULL) AND (:author::text IS NULL OR :author = ANY (d.authors))
      AND (:host::text IS NULL OR url_host(d.url) = :host) AND (:page_type::text IS NULL OR d.page_type = :page_type)
    ORDER BY d.first_seen_at DESC LIMIT :looked::integer
), matches AS MATERIALIZED (
    SELECT l.bucket, l.url_hash, l.search, search_config(l.language) AS config FROM looked l
    WHERE (:rights::text[] = '{}' OR has_rights(l.rights, :rights))
      AND CASE WHEN :view_id::uuid IS NULL THEN true
               WHEN (SELECT is_in_view(v, 'document', l.source_id, (SELECT s.tags FROM sources s WHERE s.id = l.source_id),
                                   l.language, (SELECT s.country FROM sources s WHERE s.id = l.source_id), l.quality, l.rights)
                     FROM views v WHERE v.id = :view_id)
               THEN :view_question::text IS NULL OR l.search @@ :view_question::tsquery
               ELSE false END
    ORDER BY l.first_seen_at DESC LIMIT :most::integer
), ranked AS (
    SELECT m.bucket, m.url_hash, q.config, q.question,
           ts_rank_cd('{0.1, 0.2, 0.4, 1.0}', m.search, q.question, 1) AS rank
    FROM matches m JOIN questions q ON q.config = m.config
), page AS (
    SELECT r.bucket, r.url_hash, r.config, r.question, r.rank FROM ranked r
    WHERE :rank::real IS NULL OR r.rank < :rank
       OR (r.rank = :rank AND (r.bucket, r.url_hash) > (:bucket::smallint, :hash::bytea))
    ORDER BY r.rank DESC, r.bucket, r.url_hash LIMIT :limit::integer
)
SELECT p.bucket, p.url_hash AS hash, d.source_id, d.url, d.title, d.language, d.published_at, d.first_seen_at,
       d.duplicate_of IS NOT NULL AS is_duplicate, p.rank, (SELECT count(*) FROM matches) AS matches,
       (SELECT count(*) FROM looked) AS looked,
       ts_headline(p.config, regexp_replace(letter_pairs(translate(left(d.text, 30000), '<>', :angles::text)), '[^ \n\r\t]{100}', '\& ', 'g'),
                   p.question, 'StartSel="' || :mark::text || '", StopSel="' || :mark
                   || '", MaxFragments=2, MinWords=8, MaxWords=24, FragmentDelimiter=" … "') AS marked
FROM page p JOIN documents d ON d.bucket = p.bucket AND d.url_hash = p.url_hash
ORDER BY p.rank DESC, p.bucket, p.url_hash;

-- name: facets_of_search
-- Of the newest matches of search_documents, how many have each value of some facets: the most of each, of months and days the newest;
-- with all that have any. A row says at least how many were counted and looked at.
WITH looked AS MATERIALIZED (
    SELECT d.bucket, d.url_hash, d.search, d.first_seen_at, d.published_at, d.source_id, d.url, d.language, d.page_type, d.authors,
           d.quality, d.rights
    FROM documents d
    WHERE d.search @@ :anywhere::text::tsquery AND d.deleted_at IS NULL
      AND (:language::text IS NULL OR d.language = :language) AND (:sources::uuid[] IS NULL OR d.source_id = ANY (:sources))
      AND (:since::timestamptz IS NULL OR coalesce(d.published_at, d.first_seen_at) >= :since)
      AND (:until::timestamptz IS NULL OR coalesce(d.published_at, d.first_seen_at) < :until)
      AND (:duplicates::boolean OR d.duplicate_of IS NULL) AND (:author::text IS NULL OR :author = ANY (d.authors))
      AND (:host::text IS NULL OR url_host(d.url) = :host) AND (:page_type::text IS NULL OR d.page_type = :page_type)
    ORDER BY d.first_seen_at DESC LIMIT :looked::integer
), matches AS MATERIALIZED (
    SELECT l.source_id, l.url, l.language, l.page_type, l.authors, coalesce(l.published_at, l.first_seen_at) AS told_at
    FROM looked l
    WHERE (:rights::text[] = '{}' OR has_rights(l.rights, :rights))
      AND CASE WHEN :view_id::uuid IS NULL THEN true
               WHEN (SELECT is_in_view(v, 'document', l.source_id, (SELECT s.tags FROM sources s WHERE s.id = l.source_id),
                                   l.language, (SELECT s.country FROM sources s WHERE s.id = l.source_id), l.quality, l.rights)
                     FROM views v WHERE v.id = :view_id)
               THEN :view_question::text IS NULL OR l.search @@ :view_question::tsquery
               ELSE false END
    ORDER BY l.first_seen_at DESC LIMIT :most::integer
), counted AS (
    SELECT f.facet, f.value, count(*) AS count, sum(count(*)) OVER (PARTITION BY f.facet)::bigint AS total,
           row_number() OVER (PARTITION BY f.facet ORDER BY CASE WHEN f.facet IN ('month', 'day') THEN f.value END DESC,
                              count(*) DESC, f.value COLLATE "C") AS place
    FROM matches m CROSS JOIN LATERAL facet_values(:facets::text[], m.source_id, m.url, m.language, m.page_type, m.authors, m.told_at) AS f
    GROUP BY f.facet, f.value
)
SELECT t.matches, t.looked, c.facet, c.value, c.count, c.total
FROM (SELECT (SELECT count(*) FROM matches) AS matches, (SELECT count(*) FROM looked) AS looked) AS t
LEFT JOIN counted c ON c.place <= :values::integer
ORDER BY c.facet, c.place;

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
FROM (SELECT config, words_asked(config, $1::text) AS question FROM configs) AS asked
WHERE numnode(question) > 0;

-- name: search_jobs
-- As search_documents, among the vacancies that are open.
WITH questions AS MATERIALIZED (
    SELECT config::regconfig, question::tsquery FROM unnest(:configs::text[], :questions::text[]) AS q (config, question)
), looked AS MATERIALIZED (
    SELECT j.bucket, j.canonical_hash, j.search_tsv, j.created_at, j.source_id, j.language, j.country_iso
    FROM jobs j
    WHERE j.search_tsv @@ :anywhere::text::tsquery AND j.status = 'active'
      AND (:language::text IS NULL OR j.language = :language) AND (:sources::uuid[] IS NULL OR j.source_id = ANY (:sources))
      AND (:since::timestamptz IS NULL OR j.created_at >= :since) AND (:until::timestamptz IS NULL OR j.created_at < :until)
      AND (:duplicates::boolean OR j.duplicate_of IS NULL) AND (:rights::text[] = '{}' OR has_rights('{}', :rights))
    ORDER BY j.created_at DESC LIMIT :looked::integer
), matches AS MATERIALIZED (
    SELECT l.bucket, l.canonical_hash, l.search_tsv, search_config(l.language) AS config FROM looked l
    WHERE (:view_id::uuid IS NULL
           OR (SELECT is_in_view(v, 'job', l.source_id, (SELECT s.tags FROM sources s WHERE s.id = l.source_id),
                                   l.language, coalesce(l.country_iso, (SELECT s.country FROM sources s WHERE s.id = l.source_id)), NULL, '{}') FROM views v WHERE v.id = :view_id))
      AND (:view_question::text IS NULL OR l.search_tsv @@ :view_question::tsquery)
    ORDER BY l.created_at DESC LIMIT :most::integer
), ranked AS (
    SELECT m.bucket, m.canonical_hash, q.config, q.question,
           ts_rank_cd('{0.1, 0.2, 0.4, 1.0}', m.search_tsv, q.question, 1) AS rank
    FROM matches m JOIN questions q ON q.config = m.config
), page AS (
    SELECT r.bucket, r.canonical_hash, r.config, r.question, r.rank FROM ranked r
    WHERE :rank::real IS NULL OR r.rank < :rank
       OR (r.rank = :rank AND (r.bucket, r.canonical_hash) > (:bucket::smallint, :hash::bytea))
    ORDER BY r.rank DESC, r.bucket, r.canonical_hash LIMIT :limit::integer
)
SELECT p.bucket, p.canonical_hash AS hash, j.source_id, j.apply_url AS url, j.title, j.language,
       NULL::timestamptz AS published_at, j.created_at AS first_seen_at, j.duplicate_of IS NOT NULL AS is_duplicate, p.rank,
       (SELECT count(*) FROM matches) AS matches, (SELECT count(*) FROM looked) AS looked,
       ts_headline(p.config, regexp_replace(letter_pairs(translate(left(j.description_snippet, 30000), '<>', :angles::text)),
                                            '[^ \n\r\t]{100}', '\& ', 'g'),
                   p.question, 'StartSel="' || :mark::text || '", StopSel="' || :mark
                   || '", MaxFragments=2, MinWords=8, MaxWords=24, FragmentDelimiter=" … "') AS marked
FROM page p JOIN jobs j ON j.bucket = p.bucket AND j.canonical_hash = p.canonical_hash
ORDER BY p.rank DESC, p.bucket, p.canonical_hash;

-- name: sources_of_view
-- The sources of a view, if it names some and they are no more than so many.
SELECT (SELECT CASE WHEN count(*) <= $2::integer THEN coalesce(array_agg(few.id), '{}') END FROM (
            (SELECT n.id FROM unnest(v.source_ids) AS n (id)
             WHERE v.tags = '{}' OR (SELECT s.tags && v.tags FROM sources s WHERE s.id = n.id) LIMIT $2 + 1)
            UNION ALL
            (SELECT s.id FROM sources s WHERE v.source_ids = '{}' AND s.tags && v.tags LIMIT $2 + 1)) AS few)
FROM views v WHERE v.id = $1::uuid AND (v.source_ids <> '{}' OR v.tags <> '{}');

-- name: has_language
-- Whether any document is in a language. By the order of an index: a plan for any language would read all documents for one that none is in.
SELECT coalesce((SELECT language = $1::text FROM documents WHERE language >= $1 AND deleted_at IS NULL
                 ORDER BY language LIMIT 1), false);

-- name: newest_documents
-- The newest that pass, by when they were first seen. At most `:most` rows are looked at; a row that does not match says how far.
WITH looked AS MATERIALIZED (
    SELECT * FROM (
        (SELECT d.bucket, d.url_hash, d.first_seen_at, d.published_at, d.language, d.duplicate_of, d.source_id, d.quality, d.rights, d.authors,
                d.url, d.page_type
         FROM documents d
         WHERE :sources::uuid[] IS NULL AND :language::text IS NULL AND d.deleted_at IS NULL
           AND d.first_seen_at <= coalesce(:first_seen_at::timestamptz, 'infinity')
           AND (:first_seen_at IS NULL OR d.first_seen_at < :first_seen_at
                OR (d.bucket, d.url_hash) > (:bucket::smallint, :hash::bytea))
         ORDER BY d.first_seen_at DESC, d.bucket, d.url_hash LIMIT :most::integer)
        UNION ALL
        (SELECT d.bucket, d.url_hash, d.first_seen_at, d.published_at, d.language, d.duplicate_of, d.source_id, d.quality, d.rights, d.authors,
                d.url, d.page_type
         FROM documents d
         WHERE :sources IS NULL AND d.language = :language AND d.deleted_at IS NULL
           AND d.first_seen_at <= coalesce(:first_seen_at, 'infinity')
           AND (:first_seen_at IS NULL OR d.first_seen_at < :first_seen_at OR (d.bucket, d.url_hash) > (:bucket, :hash))
         ORDER BY d.first_seen_at DESC, d.bucket, d.url_hash LIMIT :most)
        UNION ALL
        (SELECT d.bucket, d.url_hash, d.first_seen_at, d.published_at, d.language, d.duplicate_of, d.source_id, d.quality, d.rights, d.authors,
                d.url, d.page_type
         FROM (SELECT n.bucket, n.url_hash FROM unnest(:sources) AS k (id) CROSS JOIN LATERAL (
                   SELECT o.first_seen_at, o.bucket, o.url_hash FROM documents o
                   WHERE o.source_id = k.id AND o.deleted_at IS NULL AND o.first_seen_at <= coalesce(:first_seen_at, 'infinity')
                     AND (:first_seen_at IS NULL OR o.first_seen_at < :first_seen_at OR (o.bucket, o.url_hash) > (:bucket, :hash))
                   ORDER BY o.first_seen_at DESC, o.bucket, o.url_hash LIMIT :most) AS n
               ORDER BY n.first_seen_at DESC, n.bucket, n.url_hash LIMIT :most) AS of_sources
         JOIN documents d ON d.bucket = of_sources.bucket AND d.url_hash = of_sources.url_hash)
    ) AS either
), page AS MATERIALIZED (
    SELECT l.bucket, l.url_hash, l.first_seen_at FROM looked l
    WHERE (:language IS NULL OR l.language = :language) AND (:duplicates::boolean OR l.duplicate_of IS NULL)
      AND (:rights::text[] = '{}' OR has_rights(l.rights, :rights))
      AND (:author::text IS NULL OR :author = ANY (l.authors))
      AND (:host::text IS NULL OR url_host(l.url) = :host) AND (:page_type::text IS NULL OR l.page_type = :page_type)
      AND CASE WHEN :view_id::uuid IS NULL THEN true
               WHEN (SELECT is_in_view(v, 'document', l.source_id, (SELECT s.tags FROM sources s WHERE s.id = l.source_id),
                                   l.language, (SELECT s.country FROM sources s WHERE s.id = l.source_id), l.quality, l.rights)
                     FROM views v WHERE v.id = :view_id)
               THEN :view_question::text IS NULL OR (SELECT coalesce(e.search, document_words(e.language, e.title, e.summary, e.keywords, e.author, e.text)) @@ :view_question::tsquery FROM documents e WHERE e.bucket = l.bucket AND e.url_hash = l.url_hash)
               ELSE false END
      AND (:since::timestamptz IS NULL OR coalesce(l.published_at, l.first_seen_at) >= :since)
      AND (:until::timestamptz IS NULL OR coalesce(l.published_at, l.first_seen_at) < :until)
    ORDER BY l.first_seen_at DESC, l.bucket, l.url_hash LIMIT :limit::integer
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
WHERE (SELECT count(*) FROM page) < :limit AND (SELECT count(*) FROM looked) = :most;

-- name: facets_of_newest
-- As facets_of_search, of the newest that pass among the newest `:looked`.
WITH looked AS MATERIALIZED (
    SELECT * FROM (
        (SELECT d.bucket, d.url_hash, d.first_seen_at, d.published_at, d.language, d.duplicate_of, d.source_id, d.quality, d.rights, d.authors,
                d.url, d.page_type
         FROM documents d
         WHERE :sources::uuid[] IS NULL AND :language::text IS NULL AND d.deleted_at IS NULL
         ORDER BY d.first_seen_at DESC, d.bucket, d.url_hash LIMIT :looked::integer)
        UNION ALL
        (SELECT d.bucket, d.url_hash, d.first_seen_at, d.published_at, d.language, d.duplicate_of, d.source_id, d.quality, d.rights, d.authors,
                d.url, d.page_type
         FROM documents d
         WHERE :sources IS NULL AND d.language = :language AND d.deleted_at IS NULL
         ORDER BY d.first_seen_at DESC, d.bucket, d.url_hash LIMIT :looked)
        UNION ALL
        (SELECT d.bucket, d.url_hash, d.first_seen_at, d.published_at, d.language, d.duplicate_of, d.source_id, d.quality, d.rights, d.authors,
                d.url, d.page_type
         FROM (SELECT n.bucket, n.url_hash FROM unnest(:sources) AS k (id) CROSS JOIN LATERAL (
                   SELECT o.first_seen_at, o.bucket, o.url_hash FROM documents o
                   WHERE o.source_id = k.id AND o.deleted_at IS NULL
                   ORDER BY o.first_seen_at DESC, o.bucket, o.url_hash LIMIT :looked) AS n
               ORDER BY n.first_seen_at DESC, n.bucket, n.url_hash LIMIT :looked) AS of_sources
         JOIN documents d ON d.bucket = of_sources.bucket AND d.url_hash = of_sources.url_hash)
    ) AS either
), matches AS MATERIALIZED (
    SELECT l.source_id, l.url, l.language, l.page_type, l.authors, coalesce(l.published_at, l.first_seen_at) AS told_at
    FROM looked l
    WHERE (:language::text IS NULL OR l.language = :language) AND (:sources::uuid[] IS NULL OR l.source_id = ANY (:sources))
      AND (:since::timestamptz IS NULL OR coalesce(l.published_at, l.first_seen_at) >= :since)
      AND (:until::timestamptz IS NULL OR coalesce(l.published_at, l.first_seen_at) < :until)
      AND (:duplicates::boolean OR l.duplicate_of IS NULL) AND (:author::text IS NULL OR :author = ANY (l.authors))
      AND (:host::text IS NULL OR url_host(l.url) = :host) AND (:page_type::text IS NULL OR l.page_type = :page_type)
      AND (:rights::text[] = '{}' OR has_rights(l.rights, :rights))
      AND CASE WHEN :view_id::uuid IS NULL THEN true
               WHEN (SELECT is_in_view(v, 'document', l.source_id, (SELECT s.tags FROM sources s WHERE s.id = l.source_id),
                                   l.language, (SELECT s.country FROM sources s WHERE s.id = l.source_id), l.quality, l.rights)
                     FROM views v WHERE v.id = :view_id)
               THEN :view_question::text IS NULL OR (SELECT coalesce(e.search, document_words(e.language, e.title, e.summary, e.keywords, e.author, e.text)) @@ :view_question::tsquery FROM documents e WHERE e.bucket = l.bucket AND e.url_hash = l.url_hash)
               ELSE false END
), counted AS (
    SELECT f.facet, f.value, count(*) AS count, sum(count(*)) OVER (PARTITION BY f.facet)::bigint AS total,
           row_number() OVER (PARTITION BY f.facet ORDER BY CASE WHEN f.facet IN ('month', 'day') THEN f.value END DESC,
                              count(*) DESC, f.value COLLATE "C") AS place
    FROM matches m CROSS JOIN LATERAL facet_values(:facets::text[], m.source_id, m.url, m.language, m.page_type, m.authors, m.told_at) AS f
    GROUP BY f.facet, f.value
)
SELECT t.matches, t.looked, c.facet, c.value, c.count, c.total
FROM (SELECT (SELECT count(*) FROM matches) AS matches, (SELECT count(*) FROM looked) AS looked) AS t
LEFT JOIN counted c ON c.place <= :values::integer
ORDER BY c.facet, c.place;

-- name: newest_jobs
-- As newest_documents, among the vacancies that are open; `:country_iso` to `:mission_tags` are values of their columns.
WITH looked AS MATERIALIZED (
    SELECT * FROM (
        (SELECT j.bucket, j.canonical_hash, j.created_at, j.status, j.language, j.duplicate_of, j.country_iso, j.level_norm,
                j.work_modality, j.career_type, j.contract_type, j.mission_tags, j.source_id FROM jobs j
         WHERE :sources::uuid[] IS NULL AND j.created_at <= coalesce(:first_seen_at::timestamptz, 'infinity')
           AND (:first_seen_at IS NULL OR j.created_at < :first_seen_at
                OR (j.bucket, j.canonical_hash) > (:bucket::smallint, :hash::bytea))
         ORDER BY j.created_at DESC, j.bucket, j.canonical_hash LIMIT :most::integer)
        UNION ALL
        (SELECT j.bucket, j.canonical_hash, j.created_at, j.status, j.language, j.duplicate_of, j.country_iso, j.level_norm,
                j.work_modality, j.career_type, j.contract_type, j.mission_tags, j.source_id
         FROM (SELECT n.bucket, n.canonical_hash FROM unnest(:sources) AS k (id) CROSS JOIN LATERAL (
                   SELECT o.created_at, o.bucket, o.canonical_hash FROM jobs o
                   WHERE o.source_id = k.id AND o.created_at <= coalesce(:first_seen_at, 'infinity')
                     AND (:first_seen_at IS NULL OR o.created_at < :first_seen_at OR (o.bucket, o.canonical_hash) > (:bucket, :hash))
                   ORDER BY o.created_at DESC, o.bucket, o.canonical_hash LIMIT :most) AS n
               ORDER BY n.created_at DESC, n.bucket, n.canonical_hash LIMIT :most) AS of_sources
         JOIN jobs j ON j.bucket = of_sources.bucket AND j.canonical_hash = of_sources.canonical_hash)
    ) AS either
), page AS MATERIALIZED (
    SELECT l.bucket, l.canonical_hash, l.created_at FROM looked l
    WHERE l.status = 'active' AND (:language::text IS NULL OR l.language = :language)
      AND (:duplicates::boolean OR l.duplicate_of IS NULL) AND (:rights::text[] = '{}' OR has_rights('{}', :rights))
      AND (:since::timestamptz IS NULL OR l.created_at >= :since) AND (:until::timestamptz IS NULL OR l.created_at < :until)
      AND CASE WHEN :view_id::uuid IS NULL THEN true
               WHEN (SELECT is_in_view(v, 'job', l.source_id, (SELECT s.tags FROM sources s WHERE s.id = l.source_id),
                                   l.language, coalesce(l.country_iso, (SELECT s.country FROM sources s WHERE s.id = l.source_id)), NULL, '{}')
                     FROM views v WHERE v.id = :view_id)
               THEN :view_question::text IS NULL OR (SELECT coalesce(e.search_tsv, job_words(e.language, e.title, e.org_name, e.description_snippet, e.mission_tags, e.functional_tags)) @@ :view_question::tsquery FROM jobs e WHERE e.bucket = l.bucket AND e.canonical_hash = l.canonical_hash)
               ELSE false END
      AND (:country_iso::text IS NULL OR l.country_iso = :country_iso)
      AND (:level_norm::text IS NULL OR l.level_norm = :level_norm)
      AND (:work_modality::text IS NULL OR l.work_modality = :work_modality)
      AND (:career_type::text IS NULL OR l.career_type = :career_type)
      AND (:contract_type::text IS NULL OR l.contract_type = :contract_type)
      AND (:mission_tags::text IS NULL OR :mission_tags = ANY (l.mission_tags))
    ORDER BY l.created_at DESC, l.bucket, l.canonical_hash LIMIT :limit::integer
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
WHERE (SELECT count(*) FROM page) < :limit AND (SELECT count(*) FROM looked) = :most;

-- name: add_view
-- A new view; answers with its id, or with nothing where its name is taken.
INSERT INTO views (name, query, kinds, source_ids, tags, languages, countries, min_quality, rights)
VALUES (:name::text, :query::text, :kinds::text[], :source_ids::uuid[], :tags::text[], :languages::text[], :countries::text[],
        :min_quality::smallint, :rights::text[])
ON CONFLICT (name) DO NOTHING
RETURNING id;

-- name: change_view
-- All of a view but its id.
UPDATE views
SET name = :name::text, query = :query::text, kinds = :kinds::text[], source_ids = :source_ids::uuid[], tags = :tags::text[],
    languages = :languages::text[], countries = :countries::text[], min_quality = :min_quality::smallint,
    rights = :rights::text[], updated_at = now()
WHERE id = :id::uuid;

-- name: remove_view
-- A view that no sink delivers.
DELETE FROM views WHERE id = $1::uuid;

-- name: sinks_of_view
-- The sinks that deliver a view.
SELECT id, name FROM sinks WHERE view_id = $1::uuid ORDER BY name;

-- name: view_named
-- One view.
SELECT id, name, query, kinds, source_ids, tags, languages, countries, min_quality, rights FROM views WHERE name = $1::text;

-- name: lock_view
-- One view, to be changed in this transaction.
SELECT id, name, query, kinds, source_ids, tags, languages, countries, min_quality, rights FROM views
WHERE name = $1::text FOR UPDATE;

-- name: view_with_id
-- One view.
SELECT id, name, query, kinds, source_ids, tags, languages, countries, min_quality, rights FROM views WHERE id = $1::uuid;

-- name: list_views
-- All views by name: people make dozens of them.
SELECT id, name, query, kinds, source_ids, tags, languages, countries, min_quality, rights FROM views ORDER BY name;

-- name: count_documents_in_view
-- How many of the newest documents are in a view, and how many were looked at.
SELECT count(*) FILTER (WHERE is_in_view(v, 'document', d.source_id, (SELECT s.tags FROM sources s WHERE s.id = d.source_id),
                                   d.language, (SELECT s.country FROM sources s WHERE s.id = d.source_id), d.quality, d.rights)
                              AND ($2::text IS NULL OR coalesce(d.search, document_words(d.language, d.title, d.summary, d.keywords, d.author, d.text)) @@ $2::tsquery)) AS found, count(*) AS looked
FROM views v CROSS JOIN LATERAL (
    SELECT e.source_id, e.language, e.quality, e.rights, e.search, e.title, e.summary, e.keywords, e.author, e.text FROM documents e WHERE e.deleted_at IS NULL AND e.duplicate_of IS NULL
    ORDER BY e.first_seen_at DESC LIMIT $3::integer) AS d
WHERE v.id = $1::uuid;

-- name: count_jobs_in_view
-- As count_documents_in_view, among the vacancies that are open.
SELECT count(*) FILTER (WHERE j.status = 'active' AND j.duplicate_of IS NULL
                              AND is_in_view(v, 'job', j.source_id, (SELECT s.tags FROM sources s WHERE s.id = j.source_id),
                                   j.language, coalesce(j.country_iso, (SELECT s.country FROM sources s WHERE s.id = j.source_id)), NULL, '{}')
                              AND ($2::text IS NULL OR coalesce(j.search_tsv, job_words(j.language, j.title, j.org_name, j.description_snippet, j.mission_tags, j.functional_tags)) @@ $2::tsquery)) AS found, count(*) AS looked
FROM views v CROSS JOIN LATERAL (
    SELECT e.source_id, e.language, e.country_iso, e.search_tsv, e.status, e.duplicate_of, e.title, e.org_name, e.description_snippet,
           e.mission_tags, e.functional_tags FROM jobs e
    ORDER BY e.created_at DESC LIMIT $3::integer) AS j
WHERE v.id = $1::uuid;

-- name: search_column_now
-- Whether the columns that PostgreSQL searches are kept, and how far they were emptied or filled.
SELECT state, kind, bucket, hash, done, changed_at FROM search_column;

-- name: question_as_typed
-- A question with all its words, as they were typed: other servers have rules of their own for them.
SELECT websearch_to_tsquery('simple', $1::text)::text;

-- name: words_left_out
-- Of some words those that languages leave out, such as "the".
SELECT c.config, array_agg(w.word) AS words FROM unnest($1::text[]) AS c (config) CROSS JOIN unnest($2::text[]) AS w (word)
WHERE numnode(plainto_tsquery(c.config::regconfig, w.word)) = 0 GROUP BY c.config;

-- name: documents_found
-- Of documents that another server found, those that pass the filters now, as they are now.
SELECT k.bucket, k.hash, d.source_id, d.url, d.title, d.language, d.published_at, d.first_seen_at, d.duplicate_of IS NOT NULL AS is_duplicate,
       d.version, left(d.text, 200) || CASE WHEN length(d.text) > 200 THEN '…' ELSE '' END AS beginning
FROM unnest(:buckets::smallint[], :hashes::bytea[]) AS k (bucket, hash)
CROSS JOIN LATERAL (SELECT e.source_id, e.url, e.title, e.language, e.published_at, e.first_seen_at, e.duplicate_of, e.version, e.text,
                           e.deleted_at, e.authors, e.rights, e.quality, e.page_type
                    FROM documents e WHERE e.bucket = k.bucket AND e.url_hash = k.hash LIMIT 1) AS d
WHERE d.deleted_at IS NULL
  AND (:language::text IS NULL OR d.language = :language) AND (:sources::uuid[] IS NULL OR d.source_id = ANY (:sources))
  AND (:since::timestamptz IS NULL OR coalesce(d.published_at, d.first_seen_at) >= :since)
  AND (:until::timestamptz IS NULL OR coalesce(d.published_at, d.first_seen_at) < :until)
  AND (:duplicates::boolean OR d.duplicate_of IS NULL) AND (:author::text IS NULL OR :author = ANY (d.authors))
  AND (:host::text IS NULL OR url_host(d.url) = :host) AND (:page_type::text IS NULL OR d.page_type = :page_type)
  AND (:rights::text[] = '{}' OR has_rights(d.rights, :rights))
  AND (:view_id::uuid IS NULL
       OR (SELECT is_in_view(v, 'document', d.source_id, (SELECT s.tags FROM sources s WHERE s.id = d.source_id),
                             d.language, (SELECT s.country FROM sources s WHERE s.id = d.source_id), d.quality, d.rights)
           FROM views v WHERE v.id = :view_id));

-- name: facets_of_found
-- As facets_of_search, of documents that another server found.
WITH looked AS MATERIALIZED (
    SELECT d.source_id, d.url, d.language, d.page_type, d.authors, d.published_at, d.first_seen_at, d.duplicate_of, d.quality, d.rights
    FROM unnest(:buckets::smallint[], :hashes::bytea[]) AS k (bucket, hash)
    CROSS JOIN LATERAL (SELECT e.source_id, e.url, e.language, e.page_type, e.authors, e.published_at, e.first_seen_at, e.duplicate_of,
                               e.quality, e.rights, e.deleted_at
                        FROM documents e WHERE e.bucket = k.bucket AND e.url_hash = k.hash LIMIT 1) AS d
    WHERE d.deleted_at IS NULL
), matches AS MATERIALIZED (
    SELECT l.source_id, l.url, l.language, l.page_type, l.authors, coalesce(l.published_at, l.first_seen_at) AS told_at
    FROM looked l
    WHERE (:language::text IS NULL OR l.language = :language) AND (:sources::uuid[] IS NULL OR l.source_id = ANY (:sources))
      AND (:since::timestamptz IS NULL OR coalesce(l.published_at, l.first_seen_at) >= :since)
      AND (:until::timestamptz IS NULL OR coalesce(l.published_at, l.first_seen_at) < :until)
      AND (:duplicates::boolean OR l.duplicate_of IS NULL) AND (:author::text IS NULL OR :author = ANY (l.authors))
      AND (:host::text IS NULL OR url_host(l.url) = :host) AND (:page_type::text IS NULL OR l.page_type = :page_type)
      AND (:rights::text[] = '{}' OR has_rights(l.rights, :rights))
      AND (:view_id::uuid IS NULL
           OR (SELECT is_in_view(v, 'document', l.source_id, (SELECT s.tags FROM sources s WHERE s.id = l.source_id),
                                 l.language, (SELECT s.country FROM sources s WHERE s.id = l.source_id), l.quality, l.rights)
               FROM views v WHERE v.id = :view_id))
), counted AS (
    SELECT f.facet, f.value, count(*) AS count, sum(count(*)) OVER (PARTITION BY f.facet)::bigint AS total,
           row_number() OVER (PARTITION BY f.facet ORDER BY CASE WHEN f.facet IN ('month', 'day') THEN f.value END DESC,
                              count(*) DESC, f.value COLLATE "C") AS place
    FROM matches m CROSS JOIN LATERAL facet_values(:facets::text[], m.source_id, m.url, m.language, m.page_type, m.authors, m.told_at) AS f
    GROUP BY f.facet, f.value
)
SELECT t.matches, t.looked, c.facet, c.value, c.count, c.total
FROM (SELECT (SELECT count(*) FROM matches) AS matches, (SELECT count(*) FROM looked) AS looked) AS t
LEFT JOIN counted c ON c.place <= :values::integer
ORDER BY c.facet, c.place;

-- name: names_of_sources
-- Of those that were not removed.
SELECT id, name FROM sources WHERE id = ANY ($1::uuid[]) AND status <> 'deleted';

-- name: jobs_found
-- As documents_found, among the vacancies that are open.
SELECT k.bucket, k.hash, j.source_id, j.apply_url AS url, j.title, j.language, NULL::timestamptz AS published_at,
       j.created_at AS first_seen_at, j.duplicate_of IS NOT NULL AS is_duplicate, j.version,
       left(j.description_snippet, 200) || CASE WHEN length(j.description_snippet) > 200 THEN '…' ELSE '' END AS beginning
FROM unnest(:buckets::smallint[], :hashes::bytea[]) AS k (bucket, hash)
CROSS JOIN LATERAL (SELECT o.source_id, o.apply_url, o.title, o.language, o.created_at, o.duplicate_of, o.version, o.description_snippet,
                           o.status, o.country_iso
                    FROM jobs o WHERE o.bucket = k.bucket AND o.canonical_hash = k.hash LIMIT 1) AS j
WHERE j.status = 'active'
  AND (:language::text IS NULL OR j.language = :language) AND (:sources::uuid[] IS NULL OR j.source_id = ANY (:sources))
  AND (:since::timestamptz IS NULL OR j.created_at >= :since) AND (:until::timestamptz IS NULL OR j.created_at < :until)
  AND (:duplicates::boolean OR j.duplicate_of IS NULL) AND (:rights::text[] = '{}' OR has_rights('{}', :rights))
  AND (:view_id::uuid IS NULL
       OR (SELECT is_in_view(v, 'job', j.source_id, (SELECT s.tags FROM sources s WHERE s.id = j.source_id), j.language,
                             coalesce(j.country_iso, (SELECT s.country FROM sources s WHERE s.id = j.source_id)), NULL, '{}')
           FROM views v WHERE v.id = :view_id));

-- name: duplicates_of_found
-- Documents that say the same as some others, at most so many of each: no sink holds them.
SELECT k.hash AS original, d.bucket, d.url_hash AS hash, d.first_seen_at
FROM unnest($1::smallint[], $2::bytea[]) AS k (bucket, hash)
CROSS JOIN LATERAL (SELECT e.bucket, e.url_hash, e.first_seen_at FROM documents e
                    WHERE e.duplicate_bucket = k.bucket AND e.duplicate_of = k.hash AND e.deleted_at IS NULL LIMIT $3::integer) AS d;

-- name: begin_switch
-- The columns are emptied or filled from now on, from the first row; nothing where that was begun before.
UPDATE search_column SET state = $1::text, kind = 'document', bucket = -1, hash = '', done = 0, changed_at = now()
WHERE state <> $1;

-- name: lock_switch
-- How far a switch is; nobody else does a part of it until this transaction ends.
SELECT state, kind, bucket, hash, done, changed_at FROM search_column FOR UPDATE;

-- name: note_switch
-- How far a switch is now.
UPDATE search_column SET kind = $1::text, bucket = $2::smallint, hash = $3::bytea, done = done + $4::bigint;

-- name: end_switch
-- All rows are emptied, or filled.
UPDATE search_column SET state = $2::text, kind = '', bucket = -1, hash = '', changed_at = now() WHERE state = $1::text;

-- name: empty_documents
-- The next documents by key, out of search: how many were looked at, and the last of them.
WITH looked AS MATERIALIZED (
    SELECT d.bucket, d.url_hash FROM documents d WHERE (d.bucket, d.url_hash) > ($1::smallint, $2::bytea)
    ORDER BY d.bucket, d.url_hash LIMIT $3::integer
), held AS MATERIALIZED (
    SELECT d.bucket, d.url_hash FROM looked l JOIN documents d ON d.bucket = l.bucket AND d.url_hash = l.url_hash
    WHERE d.search IS NOT NULL ORDER BY d.bucket, d.url_hash FOR NO KEY UPDATE OF d
), written AS (
    UPDATE documents d SET search = NULL FROM held h WHERE d.bucket = h.bucket AND d.url_hash = h.url_hash RETURNING 1
)
SELECT (SELECT count(*) FROM looked) AS looked, (SELECT count(*) FROM written) AS written, l.bucket, l.url_hash AS hash
FROM looked l ORDER BY l.bucket DESC, l.url_hash DESC LIMIT 1;

-- name: empty_jobs
-- As empty_documents.
WITH looked AS MATERIALIZED (
    SELECT j.bucket, j.canonical_hash FROM jobs j WHERE (j.bucket, j.canonical_hash) > ($1::smallint, $2::bytea)
    ORDER BY j.bucket, j.canonical_hash LIMIT $3::integer
), held AS MATERIALIZED (
    SELECT j.bucket, j.canonical_hash FROM looked l JOIN jobs j ON j.bucket = l.bucket AND j.canonical_hash = l.canonical_hash
    WHERE j.search_tsv IS NOT NULL ORDER BY j.bucket, j.canonical_hash FOR NO KEY UPDATE OF j
), written AS (
    UPDATE jobs j SET search_tsv = NULL FROM held h WHERE j.bucket = h.bucket AND j.canonical_hash = h.canonical_hash RETURNING 1
)
SELECT (SELECT count(*) FROM looked) AS looked, (SELECT count(*) FROM written) AS written, l.bucket, l.canonical_hash AS hash
FROM looked l ORDER BY l.bucket DESC, l.canonical_hash DESC LIMIT 1;

-- name: fill_documents
-- As empty_documents, into search again: by what each says when it is written.
WITH looked AS MATERIALIZED (
    SELECT d.bucket, d.url_hash FROM documents d WHERE (d.bucket, d.url_hash) > ($1::smallint, $2::bytea)
    ORDER BY d.bucket, d.url_hash LIMIT $3::integer
), held AS MATERIALIZED (
    SELECT d.bucket, d.url_hash FROM looked l JOIN documents d ON d.bucket = l.bucket AND d.url_hash = l.url_hash
    WHERE d.search IS NULL AND d.deleted_at IS NULL ORDER BY d.bucket, d.url_hash FOR NO KEY UPDATE OF d
), written AS (
    UPDATE documents d SET search = document_words(d.language, d.title, d.summary, d.keywords, d.author, d.text)
    FROM held h WHERE d.bucket = h.bucket AND d.url_hash = h.url_hash RETURNING 1
)
SELECT (SELECT count(*) FROM looked) AS looked, (SELECT count(*) FROM written) AS written, l.bucket, l.url_hash AS hash
FROM looked l ORDER BY l.bucket DESC, l.url_hash DESC LIMIT 1;

-- name: fill_jobs
-- As fill_documents; vacancies that are over have their words, too.
WITH looked AS MATERIALIZED (
    SELECT j.bucket, j.canonical_hash FROM jobs j WHERE (j.bucket, j.canonical_hash) > ($1::smallint, $2::bytea)
    ORDER BY j.bucket, j.canonical_hash LIMIT $3::integer
), held AS MATERIALIZED (
    SELECT j.bucket, j.canonical_hash FROM looked l JOIN jobs j ON j.bucket = l.bucket AND j.canonical_hash = l.canonical_hash
    WHERE j.search_tsv IS NULL ORDER BY j.bucket, j.canonical_hash FOR NO KEY UPDATE OF j
), written AS (
    UPDATE jobs j
    SET search_tsv = job_words(j.language, j.title, j.org_name, j.description_snippet, j.mission_tags, j.functional_tags)
    FROM held h WHERE j.bucket = h.bucket AND j.canonical_hash = h.canonical_hash RETURNING 1
)
SELECT (SELECT count(*) FROM looked) AS looked, (SELECT count(*) FROM written) AS written, l.bucket, l.canonical_hash AS hash
FROM looked l ORDER BY l.bucket DESC, l.canonical_hash DESC LIMIT 1;

-- name: writers_now
-- Transactions that are writing documents or vacancies in this moment.
SELECT DISTINCT l.virtualtransaction FROM pg_locks l
WHERE l.relation IN ('documents'::regclass, 'jobs'::regclass) AND l.mode = 'RowExclusiveLock' AND l.granted AND l.pid <> pg_backend_pid()
  AND l.database = (SELECT b.oid FROM pg_database b WHERE b.datname = current_database());

-- name: is_index_whole
-- Whether an index is there and was built to its end; nothing where it is not there.
SELECT i.indisvalid FROM pg_index i WHERE i.indexrelid = to_regclass($1::text);
