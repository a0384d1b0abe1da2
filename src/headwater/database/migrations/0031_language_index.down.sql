drop index documents_of_language;
create index documents_of_language on documents (language, first_seen_at desc, bucket, url_hash) where deleted_at is null;
