-- Duplicates of one document are those of another from now on.
create function hand_over_duplicates(p_one document_key, p_to document_key) returns void
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off
as $$
begin
    update documents set duplicate_bucket = p_to.bucket, duplicate_of = p_to.url_hash
    where duplicate_bucket = p_one.bucket and duplicate_of = p_one.url_hash;
end $$;
