-- A document that stands calls no other page canonical any more. The page it claims is withdrawn, so nobody believes the
-- claim, and sinks know nothing of it.
create function strip_claim(p_bucket smallint, p_url_hash bytea) returns void
    language plpgsql
    set plan_cache_mode = force_generic_plan set enable_seqscan = off
as $$
begin
    perform lock_hashes(array[p_url_hash]);
    perform lock_claims(array(select d.claimed_hash from documents d where d.bucket = p_bucket and d.url_hash = p_url_hash));
    update documents d set claimed_bucket = null, claimed_hash = null, claimed_url = null
    where d.bucket = p_bucket and d.url_hash = p_url_hash and not d.is_claim_believed;
end $$;
