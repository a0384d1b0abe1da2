-- A document that says the same, and of which nobody knew what it is made of or who wrote it, name by name: it was read
-- before there were blocks, or lists of authors. The line breaks of its text come with its blocks. Under the lock of its contents, as for another spelling. Answers with its version.
create function gain_parts(n new_document, p_now timestamptz) returns integer
    language plpgsql
    set plan_cache_mode = force_generic_plan set enable_seqscan = off
as $$
declare
    v_now record;
begin
    perform lock_hashes(array[n.content_hash]);
    update documents d
    set blocks = coalesce(n.blocks, d.blocks), text = case when n.blocks is null then d.text else n.text end,
        authors = case when d.authors = '{}' then n.authors else d.authors end, version = d.version + 1, changed_at = p_now
    where d.bucket = n.bucket and d.url_hash = n.url_hash
    returning d.version, d.duplicate_of is null as is_delivered into v_now;
    if v_now.is_delivered then
        insert into outbox (kind, bucket, hash, version, op, at)
        values ('document', n.bucket, n.url_hash, v_now.version, 'upsert', p_now);
    end if;
    return v_now.version;
end $$;
