-- name: delivered_documents
-- Which of these ids sinks hold or may hold; and whether this sink is known to hold it.
SELECT encode(d.hash, 'hex') AS id, bool_or(d.sink_id = :sink_id::uuid AND d.version > 0) AS is_in_sink FROM delivered d
WHERE d.kind = 'document' AND d.hash = ANY (:hashes::bytea[])
GROUP BY d.hash;
