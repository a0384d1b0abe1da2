-- What each name of a crowded address has to wait for the others: p_waits is when each may next be asked, so that they do not
-- all come at once when their time is over.
create function pace_hosts(
    p_buckets smallint[], p_hosts text[], p_delays integer[], p_waits interval[], p_now timestamptz default null
) returns void
    language plpgsql
    set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off
as $$
declare
    v_now   timestamptz;
    v_slots timestamptz[];
begin
    perform lock_hosts(p_buckets, p_hosts);
    v_now := coalesce(p_now, clock_timestamp());
    select array_agg(h.next_slot_at order by g.place) into v_slots
    from unnest(p_buckets, p_hosts) with ordinality as g (bucket, host, place)
    join hosts h on h.bucket = g.bucket and h.host = g.host;
    update hosts h
    set address_delay_ms = g.delay_ms
    from unnest(p_buckets, p_hosts, p_delays) as g (bucket, host, delay_ms)
    where h.bucket = g.bucket and h.host = g.host;
    perform apply_host_policies(p_buckets, p_hosts, v_now);
    update hosts h
    set next_slot_at = case when g.delay_ms > 0 then greatest(v_now + g.wait, g.slot)
                            else coalesce(h.last_fetch_at + spacing_of(h.delay_ms, h.penalty_ms), h.next_slot_at) end
    from unnest(p_buckets, p_hosts, p_delays, p_waits, v_slots) as g (bucket, host, delay_ms, wait, slot)
    where h.bucket = g.bucket and h.host = g.host;
    perform refresh_hosts(p_buckets, p_hosts, v_now);
end $$;
