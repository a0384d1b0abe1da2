-- The document of an address under its new key. Sinks know it by its key: the old one is withdrawn, the new one told.
-- Where the new key has one already, that is the same page.
create function rekey_document(p_bucket smallint, p_old bytea, p_new bytea, p_now timestamptz) returns void
    language plpgsql
    set plan_cache_mode = force_generic_plan set enable_seqscan = off
as $$
declare
    n           new_document;
    v_since     timestamptz;
    v_is_single boolean;
begin
    select (jsonb_populate_record(null::new_document, to_jsonb(d))).* into n
    from documents d where d.bucket = p_bucket and d.url_hash = p_old and d.deleted_at is null;
    if not found then
        return;
    end if;
    select d.first_seen_at into v_since from documents d where d.bucket = p_bucket and d.url_hash = p_old;
    v_is_single := not exists (select 1 from documents d where d.bucket = p_bucket and d.url_hash = p_new and d.deleted_at is null);
    perform tombstone_documents(array[p_bucket], array[p_old], 'rekeyed', p_now);
    if v_is_single then
        n.url_hash := p_new;
        if n.claimed_hash = p_new then
            n := without_claim(n);
        end if;
        perform keep_document(n, p_now);
        -- It was seen as long ago as before, unless that would put it before the one it repeats.
        update documents d set first_seen_at = least(d.first_seen_at, v_since)
        where d.bucket = p_bucket and d.url_hash = p_new and d.duplicate_of is null and d.near_duplicate_of is null;
        update outlinks o set url_hash = p_new where o.bucket = p_bucket and o.url_hash = p_old
           and not exists (select 1 from outlinks t where t.bucket = p_bucket and t.url_hash = p_new);
    end if;
    delete from outlinks o where o.bucket = p_bucket and o.url_hash = p_old;
end $$;
