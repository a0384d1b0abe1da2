-- name: create_source
-- Answers with its id.
INSERT INTO sources (name, url, kind, priority) VALUES ($1::text, $2::text, $3::text, $4::smallint) RETURNING id;

-- name: wait_to_be_alone
-- One transaction at a time makes the source of what people add by hand.
SELECT pg_advisory_xact_lock(hashtextextended('headwater.manual_source', 0));

-- name: find_manual_source
-- The source of what a person adds by hand.
SELECT id FROM sources WHERE name = 'manual' AND status <> 'deleted' ORDER BY created_at LIMIT 1;
