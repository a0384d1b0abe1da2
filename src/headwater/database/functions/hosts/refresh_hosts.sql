-- Writes the derived columns of hosts whose rows this transaction has locked, from what is waiting now.
-- A host that is already open keeps its place in the line of its level; one that opens, or comes to another level, gets the
-- present as its place, so no place is ever taken far in the past and a claim may begin its search near where the last one
-- found something.
create function refresh_hosts(p_buckets smallint[], p_hosts text[], p_now timestamptz) returns void
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off set enable_bitmapscan = off
as $$
begin
    update hosts h
    set wake_at = n.wake_at, priority = n.priority, promote_at = n.promote_at
    from (
        select c.bucket, c.host,
               case when state.opens_at > p_now then state.opens_at
                    when c.wake_at <= p_now and c.priority = state.level then greatest(state.opens_at, c.wake_at)
                    else p_now end as wake_at,
               case when state.opens_at = 'infinity' then 0 else state.level end as priority,
               case when state.opens_at = 'infinity' then 'infinity' else coalesce(state.better_at, 'infinity') end as promote_at
        from (select distinct given.bucket, given.host from unnest(p_buckets, p_hosts) as given (bucket, host)) as wanted
        join hosts c on c.bucket = wanted.bucket and c.host = wanted.host
        cross join lateral (
            select greatest(c.next_slot_at - (c.burst - 1) * spacing_of(c.delay_ms, c.penalty_ms),
                            c.closed_until, c.yield_until) as at
        ) as free
        left join lateral (
            select e.priority as level, e.next_fetch_at as due_at from url_frontier e
            where e.bucket = c.bucket and e.host = c.host and e.status in ('pending', 'failed') and e.held is null
              and c.in_flight < capacity_of(c.max_concurrency, c.bad_in_a_row)
            order by e.priority desc, e.next_fetch_at limit 1
        ) as first on true
        -- Mostly the best one waiting is due by the time the host opens, and nothing else matters. If not, every level is
        -- asked: something less urgent may be due before it.
        cross join lateral (
            select array_agg(l.level) as levels, array_agg(l.due) as first_due, min(l.due) as due_at
            from (select level::smallint, (select e.next_fetch_at from url_frontier e
                                 where e.bucket = c.bucket and e.host = c.host and e.priority = level
                                   and e.status in ('pending', 'failed') and e.held is null
                                 order by e.next_fetch_at limit 1) as due
                  from generate_series(1, first.level) as level
                  where first.due_at > greatest(free.at, p_now)) as l
            where l.due is not null
        ) as ladder
        cross join lateral (
            select max(l.level) as level from unnest(ladder.levels, ladder.first_due) as l (level, due)
            where l.due <= greatest(free.at, ladder.due_at, p_now)
        ) as best
        cross join lateral (
            select case when first.level is null then 'infinity'
                        else greatest(free.at, coalesce(ladder.due_at, first.due_at)) end as opens_at,
                   coalesce(best.level, first.level) as level,
                   (select min(l.due) from unnest(ladder.levels, ladder.first_due) as l (level, due)
                    where l.level > best.level) as better_at
        ) as state
    ) as n
    -- What stays as it was is not written: most submits change nothing here.
    where h.bucket = n.bucket and h.host = n.host
      and (h.wake_at <> n.wake_at or h.priority <> n.priority or h.promote_at <> n.promote_at);
end $$;
