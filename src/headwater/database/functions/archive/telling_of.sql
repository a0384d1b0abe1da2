-- What decides whether a stored document told first.
create function telling_of(p_one document_key) returns telling
    language plpgsql stable
    set plan_cache_mode = force_generic_plan set enable_seqscan = off
as $$
declare
    v_told telling;
begin
    select coalesce(d.told_since, d.first_seen_at), d.published_at, d.first_seen_at, d.bucket, d.url_hash into v_told
    from documents d where d.bucket = p_one.bucket and d.url_hash = p_one.url_hash;
    return v_told;
end $$;
