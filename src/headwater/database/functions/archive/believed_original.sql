-- The page that a document on its way in calls canonical is believed to be so if it stands, names no other page itself, and
-- has the same text or nearly so. Answers with the original of that text, which is that page or an older copy of it.
create function believed_original(n new_document, p_simhash bigint) returns document_key
    language plpgsql stable
    set plan_cache_mode = force_generic_plan set enable_seqscan = off
as $$
declare
    v_target record;
begin
    -- Asked for what stands, a plan made for an empty archive would take an index of all that does.
    select coalesce(d.duplicate_bucket, d.bucket) as bucket, coalesce(d.duplicate_of, d.url_hash) as url_hash,
           d.deleted_at is null and d.claimed_hash is null
           and is_one_text(d.content_hash, d.simhash, n.content_hash, p_simhash) as is_borne_out
    into v_target from documents d where d.bucket = n.claimed_bucket and d.url_hash = n.claimed_hash;
    return case when v_target.is_borne_out then (v_target.bucket, v_target.url_hash)::document_key end;
end $$;
