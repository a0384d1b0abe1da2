-- Documents whose pages call this one canonical: all that are believed, none of which is deleted, and so many of the others.
create function claimants_of(p_bucket smallint, p_url_hash bytea)
    returns table (bucket smallint, url_hash bytea, content_hash bytea, simhash bigint, since timestamptz, is_believed boolean)
    language plpgsql stable
    set plan_cache_mode = force_generic_plan set enable_seqscan = off
as $$
begin
    return query
    select d.bucket, d.url_hash, d.content_hash, d.simhash, coalesce(d.told_since, d.first_seen_at), true from documents d
    where d.claimed_bucket = p_bucket and d.claimed_hash = p_url_hash and d.is_claim_believed
    union all
    (select d.bucket, d.url_hash, d.content_hash, d.simhash, coalesce(d.told_since, d.first_seen_at), false from documents d
     where d.claimed_bucket = p_bucket and d.claimed_hash = p_url_hash and not d.is_claim_believed and d.deleted_at is null
     order by d.url_hash limit 100);
end $$;
