-- The first teller among its duplicates takes the place of a document that no longer says this, and the others point at it
-- from now on. One whose claim is believed is no heir: it says itself that it is only a form of another page.
create function crown_heir(p_one document_key, p_content bytea, p_now timestamptz) returns void
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off set enable_incremental_sort = off
as $$
declare
    v_heir document_key;
begin
    with early as (
        select o.bucket, o.url_hash, o.published_at, o.first_seen_at, coalesce(o.told_since, o.first_seen_at) as since
        from documents o
        where o.duplicate_bucket = p_one.bucket and o.duplicate_of = p_one.url_hash and o.content_hash = p_content
          and not o.is_claim_believed
        order by coalesce(o.told_since, o.first_seen_at) limit 100
    )
    select e.bucket, e.url_hash into v_heir from early e
    where e.since < (select min(since) from early) + interval '1 hour'
    order by coalesce(e.published_at, 'infinity'), e.since, e.first_seen_at, e.bucket, e.url_hash limit 1;
    if found then
        perform place_document(v_heir, null, false, p_now);
        perform hand_over_duplicates(p_one, v_heir);
    end if;
end $$;
