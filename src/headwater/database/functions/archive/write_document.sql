-- A new document, or all of one anew; one that was deleted lives again.
create function write_document(
    n new_document, p_simhash bigint, p_original document_key, p_is_believed boolean, p_near document_key,
    p_told_since timestamptz, p_told_first bigint, p_version integer, p_now timestamptz
) returns void
    language plpgsql
    set plan_cache_mode = force_generic_plan
as $$
begin
    insert into documents (
        bucket, url_hash, source_id, url, canonical_url, title, text, word_count, content_hash, summary, author, published_at,
        updated_at, language, section, keywords, images, page_type, quality, quality_parts, simhash, produced_by, metadata,
        claimed_bucket, claimed_hash, claimed_url, is_claim_believed, duplicate_bucket, duplicate_of, near_bucket,
        near_duplicate_of, told_since, told_first, version, crawled_at, first_seen_at, changed_at, rights,
        rights_statements, authors, blocks, search)
    values (
        n.bucket, n.url_hash, n.source_id, n.url, case when p_is_believed then n.canonical_url else n.url end, n.title, n.text,
        n.word_count, n.content_hash, n.summary, n.author, n.published_at, n.updated_at, n.language, n.section, n.keywords,
        n.images, n.page_type, n.quality, n.quality_parts::jsonb, p_simhash, n.produced_by, n.metadata::jsonb,
        n.claimed_bucket, n.claimed_hash, case when n.claimed_hash is not null then n.canonical_url end, p_is_believed,
        p_original.bucket, p_original.url_hash, p_near.bucket, p_near.url_hash, p_told_since, p_told_first, p_version, p_now,
        p_now, p_now, n.rights, n.rights_statements::jsonb, n.authors, n.blocks,
        case when is_search_kept() then document_words(n.language, n.title, n.summary, n.keywords, n.author, n.text) end)
    on conflict (bucket, url_hash) do update
    set source_id = excluded.source_id, url = excluded.url, canonical_url = excluded.canonical_url, title = excluded.title,
        text = excluded.text, word_count = excluded.word_count, content_hash = excluded.content_hash,
        summary = excluded.summary, author = excluded.author, published_at = excluded.published_at,
        updated_at = excluded.updated_at, language = excluded.language, section = excluded.section,
        keywords = excluded.keywords, images = excluded.images, page_type = excluded.page_type, quality = excluded.quality,
        quality_parts = excluded.quality_parts, simhash = excluded.simhash, produced_by = excluded.produced_by,
        metadata = excluded.metadata, claimed_bucket = excluded.claimed_bucket, claimed_hash = excluded.claimed_hash,
        claimed_url = excluded.claimed_url, is_claim_believed = excluded.is_claim_believed,
        duplicate_bucket = excluded.duplicate_bucket, duplicate_of = excluded.duplicate_of, near_bucket = excluded.near_bucket,
        near_duplicate_of = excluded.near_duplicate_of, told_since = excluded.told_since, told_first = excluded.told_first,
        version = excluded.version, crawled_at = excluded.crawled_at, changed_at = excluded.changed_at,
        rights = excluded.rights, rights_statements = excluded.rights_statements, authors = excluded.authors,
        blocks = excluded.blocks, search = excluded.search, deleted_at = null, deleted_reason = null, is_emptied = false;
end $$;
