-- The claims on a document that its new text (null: it is gone) does not bear out are believed no more. Answers with those
-- who made them; they have to find their places when the document has found its own.
create function free_claimants(p_one document_key, p_content bytea, p_simhash bigint) returns document_key[]
    language plpgsql
    set plan_cache_mode = force_generic_plan set enable_seqscan = off
as $$
declare
    v_freed document_key[];
begin
    with freed as (
        update documents d set is_claim_believed = false, canonical_url = d.url
        where d.claimed_bucket = p_one.bucket and d.claimed_hash = p_one.url_hash and d.is_claim_believed
          and (p_content is null or not is_one_text(d.content_hash, d.simhash, p_content, p_simhash))
        returning d.bucket, d.url_hash
    )
    select array_agg((f.bucket, f.url_hash)::document_key order by f.bucket, f.url_hash) into v_freed from freed f;
    return v_freed;
end $$;
