-- Whether one document's page calls another one canonical.
create function is_claim(p_one document_key, p_other document_key) returns boolean
    language plpgsql stable
    set plan_cache_mode = force_generic_plan set enable_seqscan = off
as $$
begin
    return exists (select 1 from documents d
                   where d.bucket = p_one.bucket and d.url_hash = p_one.url_hash
                     and d.claimed_bucket = p_other.bucket and d.claimed_hash = p_other.url_hash);
end $$;
