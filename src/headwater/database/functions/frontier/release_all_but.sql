-- Gives back the leases of entries that an owner does not know of: a claim was granted, or a settlement tried, and the
-- answer was lost. The owner lives, so nobody died of these entries: each is as it was before, a suspect still a suspect.
-- Also where the lease has run out meanwhile and nobody has taken it back yet.
-- Invariant: called by the owner itself, between its claims; p_held are all the leases it works on.
create function release_all_but(p_owner text, p_held uuid[], p_now timestamptz default null) returns integer
    language plpgsql
    set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
    v_now      timestamptz;
    v_buckets  smallint[];
    v_hosts    text[];
    v_released integer;
begin
    select array_agg(s.bucket), array_agg(s.host) into v_buckets, v_hosts
    from slots s where s.owner = p_owner and s.url_hash is not null and s.token <> all (p_held);
    if v_hosts is null then
        return 0;
    end if;
    perform lock_hosts(v_buckets, v_hosts);
    v_now := coalesce(p_now, clock_timestamp());
    with ended as materialized (
        delete from slots t
        using (select distinct g.bucket, g.host from unnest(v_buckets, v_hosts) as g (bucket, host)) as g
        where t.bucket = g.bucket and t.host = g.host and t.owner = p_owner and t.url_hash is not null
          and t.token <> all (p_held)
        returning t.bucket, t.host, t.token, t.kind, t.url_hash, t.from_status
    ), moved as (
        update url_frontier e
        set status = x.from_status, token = null, held = case when x.kind = 'suspect' then 'suspect' end, updated_at = v_now
        from ended x
        where e.bucket = x.bucket and e.url_hash = x.url_hash and e.token = x.token
    ), freed as (
        -- Whether and when a request began is not known here: a whole spacing from now is safe.
        update hosts h
        set in_flight = h.in_flight - f.n,
            next_slot_at = greatest(h.next_slot_at, v_now + spacing_of(h.delay_ms, h.penalty_ms))
        from (select x.bucket, x.host, count(*)::smallint as n from ended x group by 1, 2) as f
        where h.bucket = f.bucket and h.host = f.host
    )
    select count(*) into v_released from ended;
    perform refresh_hosts(v_buckets, v_hosts, v_now);
    return v_released;
end $$;
