-- What a document says now is what it was before.
create function keep_version(p_one document_key, p_now timestamptz) returns void
    language plpgsql
    set plan_cache_mode = force_generic_plan set enable_seqscan = off
as $$
begin
    insert into document_versions (bucket, url_hash, version, title, text, summary, author, published_at, updated_at,
                                   word_count, content_hash, simhash, produced_by, crawled_at, changed_at, rights,
                                   rights_statements, replaced_at, blocks)
    select d.bucket, d.url_hash, d.version, d.title, d.text, d.summary, d.author, d.published_at, d.updated_at,
           d.word_count, d.content_hash, d.simhash, d.produced_by, d.crawled_at, d.changed_at, d.rights,
           d.rights_statements, p_now, d.blocks
    from documents d where d.bucket = p_one.bucket and d.url_hash = p_one.url_hash;
end $$;
