-- name: now
-- The only clock that decides anything.
SELECT clock_timestamp();

-- name: keep_page
-- End a journey and keep what it leaves, in one statement: no transaction around it costs a round trip.
-- Invariant: false, and nothing changed, if the lease was lost.
SELECT keep_page($1::settlement, $2::bytea, $3::new_document, $4::bytea, $5::new_body, $6::text);

-- name: known_of_pages
-- What channels knew of pages, the fullest first; whether their sources crawl; and what was learned of hosts, if named.
-- Invariant: one row a page, in the order given.
SELECT i.title, i.author, i.language, i.content, i.published_at, i.updated_at,
       EXISTS (SELECT 1 FROM channels c WHERE c.source_id = g.source_id AND c.kind = 'crawl' AND c.is_enabled) AS crawls,
       (SELECT jsonb_agg(jsonb_build_object('section', t.section, 'version', t.version, 'template', t.template, 'served', t.served))
        FROM templates t WHERE t.bucket = g.bucket AND t.host = g.host AND t.status = 'active') AS templates
FROM unnest($1::smallint[], $2::bytea[], $3::uuid[], $4::text[]) WITH ORDINALITY AS g (bucket, url_hash, source_id, host, place)
LEFT JOIN LATERAL (
    SELECT title, author, language, content, published_at, updated_at FROM channel_items
    WHERE bucket = g.bucket AND url_hash = g.url_hash AND signature <> ''
    ORDER BY length(content) DESC NULLS LAST, last_seen_at DESC LIMIT 1
) AS i ON true
ORDER BY g.place;

-- name: repeats_another_page
-- Whether another page of a source says the same, or nearly: a site may have its text under any number of addresses.
-- Invariant: the page's own document is not looked at, so that a page which is read again repeats nothing.
SELECT EXISTS (
    SELECT 1 FROM documents d
    WHERE d.content_hash = $4::bytea AND d.duplicate_of IS NULL AND d.deleted_at IS NULL AND is_comparable(d.word_count)
      AND d.source_id = $1::uuid AND (d.bucket, d.url_hash) <> ($2::smallint, $3::bytea)
) OR EXISTS (
    SELECT 1 FROM near_duplicate_of($2::smallint, $3::bytea, $5::bigint) AS n
    JOIN documents d ON d.bucket = n.bucket AND d.url_hash = n.url_hash AND d.source_id = $1
);

-- name: known_to_source
-- Which of these addresses a source has found before.
SELECT d.url_hash FROM unnest($2::smallint[], $3::bytea[]) AS u (bucket, url_hash)
JOIN discoveries d ON d.source_id = $1::uuid AND d.bucket = u.bucket AND d.url_hash = u.url_hash;

-- name: count_entries_of_source
-- How many entries a source owns, by its counters.
SELECT coalesce(sum(entries), 0)::bigint FROM (
    SELECT entries FROM counters WHERE source_id = $1::uuid
    UNION ALL SELECT entries FROM counter_deltas WHERE source_id = $1) AS counted;
