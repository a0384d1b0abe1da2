-- Only a query that names a language may be answered by the index of languages. Plans made for an empty archive find all
-- indexes equal, and kept this one, read from its beginning to its end, for documents asked for by their key or text.

drop index documents_of_language;
create index documents_of_language on documents (language, first_seen_at desc, bucket, url_hash)
    where deleted_at is null and language is not null;
