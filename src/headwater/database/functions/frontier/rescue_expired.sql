-- Takes back leases that ran out. What a dead owner had begun returns as a suspect, and what it had begun alone is poison.
-- Everything else returns as it was: an owner that lives lost its way to the database and not its life, and what waited for
-- its slot cannot have killed anybody. A request counts as begun when its owner showed a sign of life after its slot: it
-- claimed or extended something, `p_lease` before that runs out. An entry that is met by a second death is a suspect anyway;
-- so is one whose lease runs out again and again although its owners live, for it may break their work: the fifth time it is
-- a suspect, the tenth time poison.
create function rescue_expired(p_limit integer, p_now timestamptz default null, p_lease interval default null)
    returns table (rescued integer, suspected integer, poisoned integer)
    language plpgsql
    set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off
as $$
#variable_conflict use_column
declare
    v_now     timestamptz := coalesce(p_now, clock_timestamp());
    v_buckets smallint[];
    v_hosts   text[];
    v_dead    text[];
begin
    select array_agg(s.bucket), array_agg(s.host) into v_buckets, v_hosts
    from (select bucket, host from slots where expires_at <= v_now order by expires_at limit p_limit) as s;
    if v_hosts is null then
        return query select 0, 0, 0;
        return;
    end if;
    perform lock_hosts(v_buckets, v_hosts);
    select array_agg(o.owner) into v_dead
    from (select distinct s.owner from slots s where s.expires_at <= v_now) as o
    where not is_owner_alive(o.owner, p_lease);
    return query
    with seen as materialized (
        select s.owner, max(s.expires_at) - p_lease as at from slots s where s.owner = any (v_dead) group by 1
    ), ended as materialized (
        delete from slots t
        using (select distinct bucket, host from unnest(v_buckets, v_hosts) as g (bucket, host)) as g
        where t.bucket = g.bucket and t.host = g.host and t.expires_at <= v_now
        returning t.*
    ), judged as materialized (
        select x.*, d.is_dead, d.is_dead and x.starts_at <= coalesce((select s.at from seen s where s.owner = x.owner), x.starts_at) as has_begun
        from ended x
        cross join lateral (select x.owner = any (coalesce(v_dead, '{}')) as is_dead) as d
    ), moved as (
        update url_frontier e
        set status = case when p.is_poison then 'dead' else x.from_status end,
            reason = case when p.is_poison then 'poison' else e.reason end,
            last_error = case when not p.is_poison then e.last_error
                              when x.is_dead then 'its worker died twice, the second time with nothing else to do'
                              else 'its lease ran out ten times in a row' end,
            held = case when p.is_poison then null
                        when x.kind = 'suspect' or x.has_begun or p.losses >= case when x.is_dead then 2 else 5 end then 'suspect' end,
            crash_count = p.losses, token = null, updated_at = v_now
        from judged x
        cross join lateral (select f.crash_count + 1 as losses, x.kind = 'suspect' and (x.is_dead or f.crash_count >= 9) as is_poison
                            from url_frontier f where f.bucket = x.bucket and f.url_hash = x.url_hash) as p
        where e.bucket = x.bucket and e.url_hash = x.url_hash and e.token = x.token
        returning e.status, e.held, e.source_id, x.from_status, x.is_dead
    ), counted as (
        insert into counter_deltas (source_id, status, entries)
        select c.source_id, c.status, sum(c.entries)
        from (select m.source_id, m.status, 1 as entries from moved m
              union all select m.source_id, m.from_status, -1 from moved m) as c
        group by 1, 2 having sum(c.entries) <> 0
    ), logged as (
        insert into fetch_log (at, bucket, host, token, kind, owner, url_hash, verdict, reason)
        select v_now, x.bucket, x.host, x.token, x.kind, x.owner, x.url_hash, 'crashed', 'lease_expired' from judged x
        where x.is_dead
    ), freed as (
        -- When the request began, if it did, nobody knows: a whole spacing from now is safe.
        update hosts h
        set in_flight = h.in_flight - f.n,
            next_slot_at = greatest(h.next_slot_at, v_now + spacing_of(h.delay_ms, h.penalty_ms))
        from (select x.bucket, x.host, count(*)::smallint as n from ended x group by 1, 2) as f
        where h.bucket = f.bucket and h.host = f.host
    )
    select (select count(*) from ended)::integer, (select count(*) from moved where held is not null and is_dead)::integer,
           (select count(*) from moved where status = 'dead')::integer;
    perform refresh_hosts(v_buckets, v_hosts, v_now);
end $$;
