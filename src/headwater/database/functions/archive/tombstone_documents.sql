-- Takes documents from search and sinks; what they were stays readable. Answers with how many there were to take.
create function tombstone_documents(p_buckets smallint[], p_hashes bytea[], p_reason text, p_now timestamptz)
    returns integer
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off
as $$
declare
    v_key   document_key;
    v_old   record;
    v_freed document_key[];
    v_count integer := 0;
begin
    perform lock_hashes(p_hashes);
    perform lock_claims(p_hashes || array(
        select d.claimed_hash from unnest(p_buckets, p_hashes) as g (bucket, url_hash)
        join documents d on d.bucket = g.bucket and d.url_hash = g.url_hash));
    perform lock_hashes(
        array(select d.content_hash from unnest(p_buckets, p_hashes) as g (bucket, url_hash)
              join documents d on d.bucket = g.bucket and d.url_hash = g.url_hash)
        || array(select c.content_hash from unnest(p_buckets, p_hashes) as g (bucket, url_hash)
                 cross join lateral claimants_of(g.bucket, g.url_hash) as c));
    for v_key in select g.bucket, g.url_hash from unnest(p_buckets, p_hashes) as g (bucket, url_hash) order by 1, 2 loop
        -- Each anew: it may be the heir of the one before.
        select d.duplicate_of is null as is_delivered, d.word_count, d.content_hash, d.deleted_at into v_old
        from documents d where d.bucket = v_key.bucket and d.url_hash = v_key.url_hash;
        continue when not found or v_old.deleted_at is not null;
        v_count := v_count + 1;
        with gone as (
            update documents d
            set deleted_at = p_now, deleted_reason = p_reason, changed_at = p_now, version = d.version + 1, search = null,
                duplicate_bucket = null, duplicate_of = null, is_claim_believed = false, canonical_url = d.url
            where d.bucket = v_key.bucket and d.url_hash = v_key.url_hash
            returning d.version
        )
        insert into outbox (kind, bucket, hash, version, op, at)
        select 'document', v_key.bucket, v_key.url_hash, g.version, 'delete', p_now from gone g where v_old.is_delivered;
        v_freed := free_claimants(v_key, null, null);
        if v_old.is_delivered and is_comparable(v_old.word_count) then
            perform crown_heir(v_key, v_old.content_hash, p_now);
        end if;
        perform find_place(f, p_now) from unnest(v_freed) as f;
    end loop;
    return v_count;
end $$;
