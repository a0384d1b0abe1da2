-- Locks what storing a document may change beside its own row: claims on it, its claim before and now, and their contents.
-- Answers with whether there are claims on it.
create function lock_around(n new_document) returns boolean
    language plpgsql
    set plan_cache_mode = force_generic_plan set enable_seqscan = off
as $$
declare
    v_old      record;
    v_claiming bytea[];
    v_contents bytea[];
begin
    select d.content_hash, d.claimed_bucket, d.claimed_hash into v_old
    from documents d where d.bucket = n.bucket and d.url_hash = n.url_hash;
    perform lock_claims(array[n.url_hash, v_old.claimed_hash, n.claimed_hash]);
    v_claiming := array(select c.content_hash from claimants_of(n.bucket, n.url_hash) as c);
    v_contents := array[v_old.content_hash, n.content_hash] || v_claiming;
    if v_old.claimed_hash is not null or n.claimed_hash is not null then
        v_contents := v_contents || array(
            select d.content_hash from documents d where d.bucket = n.claimed_bucket and d.url_hash = n.claimed_hash
            union all
            select d.content_hash from documents d where d.bucket = v_old.claimed_bucket and d.url_hash = v_old.claimed_hash);
    end if;
    perform lock_hashes(array_remove(v_contents, null));
    return cardinality(v_claiming) > 0;
end $$;
