-- In one order everywhere, so that no two processes wait for each other.
create function lock_hosts(p_buckets smallint[], p_hosts text[]) returns void
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off
as $$
begin
    perform 1
    from (select distinct given.bucket, given.host from unnest(p_buckets, p_hosts) as given (bucket, host)
          order by 1, 2) as wanted
    cross join lateral (select 1 from hosts h where h.bucket = wanted.bucket and h.host = wanted.host for update) as locked;
end $$;
