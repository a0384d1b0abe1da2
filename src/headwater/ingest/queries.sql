-- name: now
-- The only clock that decides anything.
SELECT clock_timestamp();

-- name: keep_page
-- End a journey and keep what it leaves, in one statement: no transaction around it costs a round trip.
-- Invariants: false, and nothing changed, if the lease was lost; nothing stored of an address that was taken down.
SELECT keep_page(:settlement::settlement, :url_hash::bytea, :document::new_document, :outlinks::bytea, :body::new_body,
                 :withdrawn_by::text, :keys::text[], :claimed::text);

-- name: known_of_pages
-- The words of channels about pages, the fullest first; whether their sources crawl; and the templates of sites, if named.
-- Invariants: one row a page, in the order given. A channel's word counts only for pages of its own registrable domain, or
-- of hosts that a person named for its source: what a stranger says of a page is nothing that is known of it.
SELECT i.title, i.author, i.language, i.content, i.published_at, i.updated_at, i.rights,
       EXISTS (SELECT 1 FROM channels c WHERE c.source_id = g.source_id AND c.kind = 'crawl' AND c.is_enabled) AS crawls,
       (SELECT s.updated_at FROM sources s WHERE s.id = g.source_id) AS source_changed_at,
       (SELECT jsonb_agg(jsonb_build_object('section', t.section, 'version', t.version, 'template', t.template, 'served', t.served))
        FROM templates t WHERE t.bucket = g.bucket AND t.host = g.site AND t.status = 'active') AS templates
FROM unnest($1::smallint[], $2::bytea[], $3::uuid[], $4::text[], $5::text[], $6::text[]) WITH ORDINALITY
     AS g (bucket, url_hash, source_id, site, page_host, page_domain, place)
LEFT JOIN LATERAL (
    SELECT k.title, k.author, k.language, k.content, k.published_at, k.updated_at, k.fields -> 'rsl:statements' AS rights
    FROM channel_items k
    JOIN channels c ON c.id = k.channel_id
    JOIN sources s ON s.id = c.source_id
    WHERE k.bucket = g.bucket AND k.url_hash = g.url_hash AND k.signature <> '' AND s.status <> 'deleted'
      AND (g.page_domain = ANY (c.domains)
           OR EXISTS (SELECT 1 FROM unnest(s.speaks_for) AS n WHERE n = g.page_host OR right(g.page_host, length(n) + 1) = '.' || n))
    -- Its own host's word first, then its own source's: on a shared domain the neighbours speak, too.
    ORDER BY (c.host = g.page_host) DESC, (c.source_id = g.source_id) DESC, length(k.content) DESC NULLS LAST,
             k.last_seen_at DESC LIMIT 1
) AS i ON true
ORDER BY g.place;

-- name: missing_page
-- Of a page that was not found: whether a channel that is polled names it, and whether it was missing at the last attempt, too.
-- Invariant: an entry keeps the reason of its last failure while it is fetched again. A crawl follows links, it lists nothing.
SELECT e.reason IS NOT DISTINCT FROM 'not_found' AS was_missing,
       EXISTS (SELECT 1 FROM (SELECT i.channel_id FROM channel_items i
                              WHERE i.bucket = e.bucket AND i.url_hash = e.url_hash AND i.signature <> ''
                              -- What stands in sitemaps is not remembered, only that it was found there.
                              UNION ALL
                              SELECT d.channel_id FROM discoveries d WHERE d.bucket = e.bucket AND d.url_hash = e.url_hash) AS n
               JOIN channels c ON c.id = n.channel_id AND c.is_enabled AND c.kind <> 'crawl'
               JOIN sources s ON s.id = c.source_id AND s.status = 'active') AS is_listed
FROM url_frontier e WHERE e.bucket = $1::smallint AND e.url_hash = $2::bytea;

-- name: pass_on_items
-- Words of channels about a page are about the page it redirects to. Whose words count there is decided when it is read.
INSERT INTO channel_items (channel_id, url_hash, bucket, signature, title, author, summary, content, language, published_at,
                           updated_at, fields, first_seen_at, last_seen_at)
SELECT channel_id, $4::bytea, $3::smallint, signature, title, author, summary, content, language, published_at, updated_at,
       fields, first_seen_at, last_seen_at
FROM channel_items WHERE bucket = $1::smallint AND url_hash = $2::bytea AND signature <> ''
ON CONFLICT (channel_id, url_hash) DO NOTHING;

-- name: last_body
-- The last body of a page, if it was so long: of another length, it is not even read.
SELECT coding, body, stored_in, object_id
FROM (SELECT body_bytes, coding, body, stored_in, object_id FROM raw_bodies
      WHERE bucket = $1::smallint AND url_hash = $2::bytea ORDER BY at DESC LIMIT 1) AS newest
WHERE body_bytes = $3::integer;

-- name: owner_speaks
-- Whether a source that owns an entry may speak for its host.
SELECT owner_rank > 0 FROM url_frontier WHERE bucket = $1::smallint AND url_hash = $2::bytea AND source_id = $3::uuid;

-- name: repeats_another_page
-- Whether another page of a source says the same, or nearly: a site may have its text under any number of addresses.
-- Invariant: only pages that told it before count, so that a page which is read again repeats nothing.
SELECT EXISTS (
    SELECT 1 FROM documents d
    WHERE d.content_hash = $4::bytea AND d.duplicate_of IS NULL AND d.deleted_at IS NULL AND is_comparable(d.word_count)
      AND d.source_id = $1::uuid AND (d.bucket, d.url_hash) <> ($2::smallint, $3::bytea)
) OR EXISTS (
    SELECT 1 FROM near_duplicate_of(
        coalesce((SELECT telling_of((o.bucket, o.url_hash)::document_key) FROM documents o WHERE o.bucket = $2 AND o.url_hash = $3),
                 (now(), NULL, now(), $2, $3)::telling), $5::bigint) AS n
    JOIN documents d ON d.bucket = n.bucket AND d.url_hash = n.url_hash AND d.source_id = $1
);


-- name: forget_bodies
-- The bodies of these pages.
DELETE FROM raw_bodies r USING unnest($1::smallint[], $2::bytea[]) AS g (bucket, url_hash)
WHERE r.bucket = g.bucket AND r.url_hash = g.url_hash;

-- name: forget_items_of_pages
-- The words of channels about these pages; that they were listed and are refused is still known.
UPDATE channel_items i
SET signature = '', title = NULL, author = NULL, summary = NULL, content = NULL, language = NULL, published_at = NULL,
    updated_at = NULL, fields = NULL
FROM unnest($1::smallint[], $2::bytea[]) AS g (bucket, url_hash)
WHERE i.bucket = g.bucket AND i.url_hash = g.url_hash AND i.signature <> '';

-- name: forget_items_of_channels
-- All that these channels said.
UPDATE channel_items
SET signature = '', title = NULL, author = NULL, summary = NULL, content = NULL, language = NULL, published_at = NULL,
    updated_at = NULL, fields = NULL
WHERE channel_id = ANY ($1::uuid[]) AND signature <> '';

-- name: sources_within_domain
-- Sources that lie in a domain or below it. Rare, and over sources, not documents.
SELECT id, url FROM sources WHERE host = $1::text OR right(host, length($1) + 1) = '.' || $1;

-- name: channels_within_domain
-- Channels that lie in a domain or below it. Rare, and over channels, not items.
SELECT id, url FROM channels WHERE host = $1::text OR right(host, length($1) + 1) = '.' || $1;

-- name: welcome_channels
-- These channels, and all of these sources, are polled in full and with a clean slate: what went wrong while they were taken
-- down was our doing. A poll under way judged by what held before: it loses its lease. A backfill goes on from where it got to.
UPDATE channels
SET next_poll_at = now(), next_reason = 'its takedown was lifted', consecutive_errors = 0, error_class = NULL, class_errors = 0,
    last_error = NULL, etag = NULL, last_modified = NULL, answers = '{"": {"wants_all": true}}',
    progress = CASE WHEN kind = 'backfill' THEN progress END, token = NULL, leased_by = NULL, lease_until = NULL, updated_at = now()
WHERE id = ANY ($1::uuid[]) OR source_id = ANY ($2::uuid[]);

-- name: welcome_sources
-- The same for what counts against the sources themselves.
UPDATE sources SET consecutive_failures = 0
WHERE id = ANY ($2::uuid[] || ARRAY(SELECT source_id FROM channels WHERE id = ANY ($1::uuid[])));

-- name: wake_pollers
-- A poller may be asleep until the next tick.
SELECT pg_notify('headwater_poll', '');

-- name: sighting_urls_within_domain
-- Lists and pages in a domain or below it, or of hosts whose names begin so, where vacancies of others were seen.
SELECT DISTINCT url FROM job_sightings
WHERE host_backwards(url) COLLATE "C" >= reverse($1::text) AND host_backwards(url) COLLATE "C" < reverse($1) || '/';

-- name: forget_sightings_at
-- Sightings of vacancies in these lists and pages.
DELETE FROM job_sightings s USING unnest($1::text[]) AS g (url)
WHERE host_backwards(s.url) COLLATE "C" = host_backwards(g.url) COLLATE "C" AND s.url = g.url;

-- name: forget_sightings_by
-- Sightings of vacancies by these sources.
DELETE FROM job_sightings WHERE source_id = ANY ($1::uuid[]);
