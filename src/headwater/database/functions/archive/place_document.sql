-- Makes a document an original (of null) or a duplicate. Sinks hear of it where it begins or ceases to be delivered.
create function place_document(p_one document_key, p_of document_key, p_is_believed boolean, p_now timestamptz) returns void
    language plpgsql
    set plan_cache_mode = force_generic_plan set enable_seqscan = off
as $$
declare
    v_was     record;
    v_is_news boolean;
begin
    select d.duplicate_of, d.is_claim_believed, d.version into v_was
    from documents d where d.bucket = p_one.bucket and d.url_hash = p_one.url_hash;
    if v_was.duplicate_of is not distinct from p_of.url_hash and v_was.is_claim_believed = p_is_believed then
        return;
    end if;
    v_is_news := (v_was.duplicate_of is null) <> (p_of.url_hash is null);
    update documents d
    set duplicate_bucket = p_of.bucket, duplicate_of = p_of.url_hash, is_claim_believed = p_is_believed,
        canonical_url = case when p_is_believed then d.claimed_url else d.url end,
        version = d.version + v_is_news::integer, changed_at = case when v_is_news then p_now else d.changed_at end
    where d.bucket = p_one.bucket and d.url_hash = p_one.url_hash;
    if v_is_news then
        insert into outbox (kind, bucket, hash, version, op, at)
        values ('document', p_one.bucket, p_one.url_hash, v_was.version + 1,
                case when p_of.url_hash is null then 'upsert' else 'delete' end, p_now);
    end if;
end $$;
