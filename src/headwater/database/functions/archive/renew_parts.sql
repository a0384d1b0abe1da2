-- A document that says the same, read again by other rules: what belongs to its text and is not compared at every visit is
-- brought up to date. No version of the text is kept, since the words are the same; its line breaks come with its blocks.
-- Under the lock of its contents, as for another spelling. Answers with its version; null: there is no such text any more.
create function renew_parts(n new_document, p_now timestamptz) returns integer
    language plpgsql
    set plan_cache_mode = force_generic_plan set enable_seqscan = off
as $$
declare
    v_now record;
begin
    perform lock_hashes(array[n.url_hash]);
    perform lock_hashes(array[n.content_hash]);
    update documents d
    set blocks = n.blocks, text = n.text, authors = n.authors, images = n.images, updated_at = n.updated_at,
        quality = n.quality, quality_parts = n.quality_parts::jsonb, metadata = n.metadata::jsonb,
        produced_by = n.produced_by, version = d.version + 1, changed_at = p_now
    where d.bucket = n.bucket and d.url_hash = n.url_hash and d.content_hash = n.content_hash and d.deleted_at is null
    returning d.version, d.duplicate_of is null as is_delivered into v_now;
    if v_now.is_delivered then
        insert into outbox (kind, bucket, hash, version, op, at)
        values ('document', n.bucket, n.url_hash, v_now.version, 'upsert', p_now);
    end if;
    return v_now.version;
end $$;
