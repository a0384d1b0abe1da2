-- Lists that are read in their order by an index, whatever they are asked for.

-- The newest documents of a language; the index on the language alone, which it replaces, knew no order.
create index documents_of_language on documents (language, first_seen_at desc, bucket, url_hash) where deleted_at is null;
drop index documents_language;
