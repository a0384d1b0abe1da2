-- Lease due entries of open hosts: strict priority between hosts, then the longest open; inside a host priority, then due
-- time. Hosts that answer come before hosts in doubt; p_doubted bounds how many of the latter are taken, and p_doubted_first
-- of them come before everything else, so that a busy machine still meets new publishers. Hosts of p_domains or found by
-- p_sources have their share already: they come last of those that answer.
-- The last row returned has no token: it says when to come back, and up to where nothing older was found.
-- Invariants: a host never starts two requests within its spacing, because its row is locked before entries are chosen in
-- a second statement with a snapshot of its own (one statement would choose by a snapshot older than its lock, and a
-- submit in between would sleep for ever). No entry is leased twice: its update repeats the status. Every visited host is
-- refreshed, also one that had nothing, or a few empty hosts at the head would stop all claims. While everything is paused
-- there is nothing to lease.
create function claim_entries(
    p_owner text, p_limit integer, p_lease interval, p_bucket smallint default null, p_marks timestamptz[] default null,
    p_now timestamptz default null, p_doubted integer default null, p_doubted_first integer default 0,
    p_domains text[] default '{}', p_sources uuid[] default '{}'
) returns table (
    token uuid, bucket smallint, url_hash bytea, host text, url text, source_id uuid, origin text, depth smallint,
    priority smallint, retry_count smallint, fetch_count integer, hops smallint, resume_url text, etag text,
    last_modified text, content_hash bytea, is_alone boolean, wait interval, marks timestamptz[],
    domain text, found_by uuid, is_doubted boolean
)
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off set enable_bitmapscan = off
    set enable_sort = on
as $$
#variable_conflict use_column
declare
    v_now      timestamptz := coalesce(p_now, clock_timestamp());
    v_room     integer := p_limit;
    v_doubted  integer := least(coalesce(p_doubted, p_limit), p_limit);
    v_left     integer;
    v_turn     integer;
    v_top      integer;
    v_has_shares boolean := cardinality(p_domains) + cardinality(p_sources) > 0;
    v_found    integer;
    v_marks    timestamptz[] := coalesce(p_marks, array_fill('-infinity'::timestamptz, array[20]));
    v_levels   integer[];
    v_wakes    timestamptz[];
    v_next     timestamptz := 'infinity';
    -- Nothing is granted further ahead, nor where its lease would run out before it could begin.
    v_reach    interval := least(interval '10 seconds', p_lease / 2);
    -- A range, not "all or this one": the index answers it whatever the plan was made for.
    v_first_bucket smallint := coalesce(p_bucket, 0::smallint);
    v_last_bucket  smallint := coalesce(p_bucket, 255::smallint);
    v_buckets  smallint[];
    v_hosts    text[];
begin
    if exists (select from crawl_pause) then
        return query select null::uuid, null::smallint, null::bytea, null::text, null::text, null::uuid, null::text, null::smallint,
                            null::smallint, null::smallint, null::integer, null::smallint, null::text, null::text, null::text,
                            null::bytea, null::boolean, interval '2 seconds', p_marks, null::text, null::uuid, null::boolean;
        return;
    end if;
    -- Turns: 1 a few hosts in doubt, 2 hosts that answer, 3 those of them whose owners have their share, 4 hosts in doubt.
    foreach v_turn in array array[1, 2, 3, 4] loop
    continue when v_turn = 1 and p_doubted_first <= 0 or v_turn = 3 and not v_has_shares;
    v_left := case v_turn when 1 then least(p_doubted_first, v_doubted) when 4 then least(v_room, v_doubted) else v_room end;
    v_top := case when v_turn in (1, 4) then 10 else 20 end;
    -- More rounds than hosts can be empty at once; the bound is against entries that somebody else has locked.
    for v_round in 1..50 loop
        exit when v_left <= 0;
        select array_agg(o.bucket), array_agg(o.host), array_agg(o.level), array_agg(o.wake_at)
        into v_buckets, v_hosts, v_levels, v_wakes
        from (select h.bucket, h.host, l.level, h.wake_at
              from generate_series(v_top, v_top - 9, -1) as l (level)
              cross join lateral (
                  select h.bucket, h.host, h.wake_at from hosts h
                  where h.line = l.level and h.line > 0 and h.wake_at <= v_now and h.wake_at >= v_marks[l.level]
                    and h.bucket between v_first_bucket and v_last_bucket
                    and (v_turn <> 2 or not v_has_shares or coalesce(h.domain <> all (p_domains), true) and coalesce(h.found_by <> all (p_sources), true))
                  order by h.wake_at limit v_left
                  for update skip locked
              ) as h
              limit v_left) as o;
        if v_round = 1 and p_bucket is null and (v_turn <> 2 or not v_has_shares) then
            -- Every level that was looked through is marked at its first open host, or at the present where it had none.
            for v_level in (case when cardinality(v_hosts) = v_left then v_levels[v_left] else v_top - 9 end)..v_top loop
                v_marks[v_level] := v_now - interval '1 second';
            end loop;
            for v_place in reverse coalesce(cardinality(v_hosts), 0)..1 loop
                v_marks[v_levels[v_place]] := v_wakes[v_place] - interval '1 second';
            end loop;
        end if;
        exit when v_hosts is null;
        return query
        with open as materialized (
            select o.place, h.bucket, h.host, greatest(h.next_slot_at, v_now) as slot, h.burst, h.max_concurrency = 1 as is_alone,
                   h.domain, h.found_by, h.is_doubted, spacing_of(h.delay_ms, h.penalty_ms) as space,
                   case when h.promote_at <= v_now then 10 else h.priority end as top,
                   least(capacity_of(h.max_concurrency, h.bad_in_a_row) - h.in_flight, v_left,
                         case when h.delay_ms + h.penalty_ms = 0 then v_left
                              else h.burst + floor(extract(epoch from v_reach - (greatest(h.next_slot_at, v_now) - v_now))
                                                   / extract(epoch from spacing_of(h.delay_ms, h.penalty_ms))) end)::integer
                       as room
            from unnest(v_buckets, v_hosts) with ordinality as o (bucket, host, place)
            join hosts h on h.bucket = o.bucket and h.host = o.host
        ), chosen as materialized (
            select o.bucket, o.host, o.domain, o.found_by, o.is_doubted, o.slot, o.space, o.is_alone, e.url_hash, e.from_status, e.is_active,
                   greatest(v_now, o.slot + (row_number() over (partition by o.bucket, o.host, e.is_active
                                                                order by e.level desc, e.next_fetch_at) - o.burst) * o.space)
                       as starts_at
            from open o
            cross join lateral (
                select w.url_hash, w.next_fetch_at, w.status as from_status, p.level,
                       (select s.status = 'active' from sources s where s.id = w.source_id) as is_active
                from generate_series(o.top, 1, -1) as p (level)
                cross join lateral (
                    select f.url_hash, f.next_fetch_at, f.status, f.source_id from url_frontier f
                    where f.bucket = o.bucket and f.host = o.host and f.priority = p.level
                      and f.status in ('pending', 'failed') and f.held is null and f.next_fetch_at <= v_now
                    order by f.next_fetch_at limit o.room
                    for update skip locked
                ) as w
                limit o.room
            ) as e
            order by o.place, starts_at limit v_left
        ), moved as (
            update url_frontier f
            set status = case when c.is_active then 'fetching' else f.status end,
                token = case when c.is_active then gen_random_uuid() end,
                held = case when c.is_active then null else 'paused' end,
                updated_at = v_now
            from chosen c
            where f.bucket = c.bucket and f.url_hash = c.url_hash and f.status in ('pending', 'failed')
            returning f.token, f.bucket, f.url_hash, f.host, f.url, f.source_id, f.origin, f.depth, f.priority, f.retry_count,
                      f.fetch_count, f.hops, f.resume_url, f.etag, f.last_modified, f.content_hash, c.starts_at, c.is_alone,
                      c.from_status, c.slot, c.space, c.domain, c.found_by, c.is_doubted
        ), leased as materialized (
            select * from moved where token is not null
        ), running as (
            insert into slots (bucket, token, host, kind, owner, starts_at, expires_at, url_hash, source_id, from_status)
            select l.bucket, l.token, l.host, 'page', p_owner, l.starts_at, v_now + p_lease, l.url_hash, l.source_id,
                   l.from_status
            from leased l
        ), taken as (
            update hosts h
            set in_flight = h.in_flight + t.n, next_slot_at = t.slot + t.n * t.space, owes_claim = false,
                wake_at = case when h.in_flight + t.n >= capacity_of(h.max_concurrency, h.bad_in_a_row) then 'infinity' else h.wake_at end,
                promote_at = case when h.in_flight + t.n >= capacity_of(h.max_concurrency, h.bad_in_a_row) then 'infinity' else h.promote_at end,
                priority = case when h.in_flight + t.n >= capacity_of(h.max_concurrency, h.bad_in_a_row) then 0 else h.priority end
            from (select l.bucket, l.host, l.slot, l.space, count(*)::smallint as n from leased l group by 1, 2, 3, 4) as t
            where h.bucket = t.bucket and h.host = t.host
        )
        select l.token, l.bucket, l.url_hash, l.host, l.url, l.source_id, l.origin, l.depth, l.priority, l.retry_count,
               l.fetch_count, l.hops, l.resume_url, l.etag, l.last_modified, l.content_hash, l.is_alone,
               l.starts_at - v_now, null::timestamptz[], l.domain, l.found_by, l.is_doubted
        from leased l;
        get diagnostics v_found = row_count;
        v_left := v_left - v_found;
        v_room := v_room - v_found;
        v_doubted := v_doubted - case when v_turn in (1, 4) then v_found else 0 end;
        -- A full host sleeps already; the others are looked at again.
        select array_agg(h.bucket), array_agg(h.host) into v_buckets, v_hosts
        from unnest(v_buckets, v_hosts) as o (bucket, host) join hosts h on h.bucket = o.bucket and h.host = o.host
        where h.in_flight < capacity_of(h.max_concurrency, h.bad_in_a_row);
        if v_hosts is not null then
            perform refresh_hosts(v_buckets, v_hosts, v_now);
        end if;
    end loop;
    end loop;
    if v_room > 0 then
        select min(first.wake_at) into v_next
        -- Where no more hosts in doubt may be taken, they are no reason to come back.
        from generate_series(case when v_doubted > 0 then 1 else 11 end, 20) as level
        cross join lateral (select h.wake_at from hosts h
                            where h.line = level and h.line > 0 and h.wake_at >= v_marks[level]
                              and h.bucket between v_first_bucket and v_last_bucket
                            order by h.wake_at limit 1) as first;
    end if;
    return query select null::uuid, null::smallint, null::bytea, null::text, null::text, null::uuid, null::text, null::smallint,
                        null::smallint, null::smallint, null::integer, null::smallint, null::text, null::text, null::text,
                        null::bytea, null::boolean,
                        case when v_room <= 0 then interval '0'
                             when v_next is null or v_next = 'infinity' then null
                             else greatest(v_next - v_now, interval '0.05 seconds') end,
                        v_marks, null::text, null::uuid, null::boolean;
end $$;
