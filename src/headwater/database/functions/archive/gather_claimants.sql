-- Pages that call this one canonical, and have its text, become duplicates where it is, or of its original.
create function gather_claimants(n new_document, p_simhash bigint, p_original document_key, p_now timestamptz) returns void
    language plpgsql
    set plan_cache_mode = force_generic_plan set enable_seqscan = off
as $$
declare
    v_one record;
begin
    for v_one in select c.bucket, c.url_hash, c.content_hash from claimants_of(n.bucket, n.url_hash) as c
                 where is_one_text(c.content_hash, c.simhash, n.content_hash, p_simhash) loop
        if v_one.content_hash <> n.content_hash then
            perform crown_heir((v_one.bucket, v_one.url_hash)::document_key, v_one.content_hash, p_now);
        end if;
        perform place_document((v_one.bucket, v_one.url_hash)::document_key, p_original, true, p_now);
    end loop;
end $$;
