-- The effective delay, concurrency and burst of hosts from everything that has a say. Burst never beside a Crawl-delay.
create function apply_host_policies(p_buckets smallint[], p_hosts text[], p_now timestamptz) returns void
    language plpgsql
    set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off
as $$
begin
    update hosts h
    set delay_ms = e.delay_ms,
        max_concurrency = e.max_concurrency,
        burst = e.burst,
        -- The next slot was counted from the last start with the old delay; the new one holds for the next request. Once
        -- for each of a burst, or a longer delay would earn it anew.
        next_slot_at = h.next_slot_at + h.burst * (spacing_of(e.delay_ms, h.penalty_ms) - spacing_of(h.delay_ms, h.penalty_ms))
    from (select b.bucket, b.host,
                 greatest(coalesce(p.min_request_interval_ms, case when p.is_unpaced then 0 else b.base_delay_ms end),
                          coalesce(p.crawl_delay_ms, 0), coalesce(p.source_delay_ms, 0), b.address_delay_ms) as delay_ms,
                 coalesce(p.max_concurrency, 1::smallint) as max_concurrency,
                 case when p.crawl_delay_ms > 0 then 1::smallint else coalesce(p.burst, 1::smallint) end as burst
          from unnest(p_buckets, p_hosts) as g (bucket, host)
          join hosts b on b.bucket = g.bucket and b.host = g.host
          left join host_policies p on p.bucket = b.bucket and p.host = b.host) as e
    where h.bucket = e.bucket and h.host = e.host;
    perform refresh_hosts(p_buckets, p_hosts, p_now);
end $$;
