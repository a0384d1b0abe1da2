-- Vacancies that one applies for at an address, or whose words were read there, are over: it is gone.
create function expire_jobs_of_page(p_bucket smallint, p_url_hash bytea, p_now timestamptz) returns void
    language plpgsql
    set plan_cache_mode = force_generic_plan set enable_seqscan = off
as $$
declare
    v_url text;
begin
    select e.url into v_url from url_frontier e where e.bucket = p_bucket and e.url_hash = p_url_hash;
    with held as materialized (
        select j.bucket, j.canonical_hash from jobs j
        where j.status = 'active'
          and (j.bucket = get_byte(p_url_hash, 0)::smallint and j.canonical_hash = p_url_hash
               or j.is_detailed and hashtextextended(j.page_url, 0) = hashtextextended(v_url, 0) and j.page_url = v_url)
        order by j.bucket, j.canonical_hash for update of j
    ), gone as (
        update jobs j set status = 'expired', version = j.version + 1, updated_at = p_now
        from held h where j.bucket = h.bucket and j.canonical_hash = h.canonical_hash
        returning j.bucket, j.canonical_hash, j.version
    )
    insert into outbox (kind, bucket, hash, version, op, at)
    select 'job', g.bucket, g.canonical_hash, g.version, 'delete', p_now from gone g;
end $$;
