-- A page's story is as old as the oldest form of it.
create function grow_older(p_one document_key, p_since timestamptz, p_now timestamptz) returns void
    language plpgsql
    set plan_cache_mode = force_generic_plan set enable_seqscan = off
as $$
begin
    update documents d set told_since = p_since
    where d.bucket = p_one.bucket and d.url_hash = p_one.url_hash and coalesce(d.told_since, d.first_seen_at) > p_since;
    if found then
        perform find_place(p_one, p_now);
    end if;
end $$;
