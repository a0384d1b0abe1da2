-- Leases due channels, one per host: many feeds of one host would only wait for each other. First come p_first of those that
-- were never polled, then all that have a rhythm, the longest due first, then more that were never polled: a large import
-- delays nobody and has all room that is left.
-- The others of such a host are put as far off as its slots lie apart, or they would hide everything behind them; who has
-- waited longest is its next.
-- A channel whose lease was lost is a suspect, and a poller has one of them at a time: when it dies again, that one alone is
-- lost twice, and not all that were under way both times.
-- Of job sources p_jobs_pool channels are under lease at once, whoever polls them. Where many are due, all but the first
-- p_jobs_batch wait for p_jobs_every, the next as many for twice as long, and so on.
-- p_marks: up to where the claim before found nothing due, of channels with a rhythm, of those without, and of suspects.
-- What lies before the first of them are dead entries of the index, which an old snapshot keeps there. Null: look everywhere.
-- The last row returned has no id: it has the marks for the next claim and, where nothing was leased, when to come back.
create function claim_channels(
    p_owner text, p_limit integer, p_lease interval, p_now timestamptz default null, p_jobs_pool integer default null,
    p_jobs_batch integer default null, p_jobs_every interval default null, p_marks timestamptz[] default null,
    p_first integer default 0
)
    returns table (id uuid, marks timestamptz[], wait interval)
    language plpgsql
    set plan_cache_mode = force_generic_plan set enable_bitmapscan = off set enable_seqscan = off
as $$
#variable_conflict use_column
declare
    v_now    timestamptz := coalesce(p_now, clock_timestamp());
    -- Days may be simulated; how long a process may work on something may not.
    v_clock  timestamptz := clock_timestamp();
    v_marks  timestamptz[] := coalesce(p_marks, array_fill('-infinity'::timestamptz, array[3]));
    v_oldest timestamptz;
    v_more   uuid[];
    v_ids    uuid[];
    v_chosen uuid[];
    v_jobs   uuid[];
    v_late   uuid[];
    v_room   integer;
    -- At a host with a queue of first polls every fourth turn is theirs, however far apart its turns are.
    v_first_turn constant boolean := hashint8((extract(epoch from v_now) * 1000)::bigint) & 3 = 0;
begin
    if exists (select from crawl_pause) then
        return query select null::uuid, v_marks, interval '2 seconds';
        return;
    end if;
    select array_agg(due.id), min(due.next_poll_at) into v_ids, v_oldest
    from (select c.id, c.next_poll_at from channels c
          where c.is_active and c.is_unpolled = false and c.next_poll_at <= v_now and c.next_poll_at >= v_marks[1]
            and c.token is null and c.lost_count = 0
          order by c.next_poll_at limit 8 * p_limit
          for update skip locked) as due;
    v_marks[1] := coalesce(v_oldest, v_now) - interval '1 second';
    select array_agg(due.id), min(due.next_poll_at) into v_more, v_oldest
    from (select c.id, c.next_poll_at from channels c
          where c.is_active and c.is_unpolled = true and c.next_poll_at <= v_now and c.next_poll_at >= v_marks[2]
            and c.token is null and c.lost_count = 0
          order by c.next_poll_at limit 8 * p_limit
          for update skip locked) as due;
    v_marks[2] := coalesce(v_oldest, v_now) - interval '1 second';
    v_ids := v_ids || v_more;
    if v_marks[3] < 'infinity' and not has_suspect(p_owner) then
        v_more := array(
            select c.id from channels c
            where c.is_active and c.next_poll_at <= v_now and (c.token is not null or c.lost_count > 0)
              and (c.lease_until is null or c.lease_until <= v_clock)
            order by c.next_poll_at limit 1
            for update skip locked);
        v_ids := v_ids || v_more;
        v_marks[3] := case when v_more = '{}' then 'infinity'::timestamptz else '-infinity' end;
    end if;
    if coalesce(v_ids, '{}') = '{}' then
        return query select null::uuid, v_marks, until_channel_due(p_owner, v_now, v_marks);
        return;
    end if;
    if p_jobs_pool is not null then
        v_jobs := array(select c.id from channels c join sources s on s.id = c.source_id and s.kind = 'jobs'
                        where c.id = any (v_ids) order by c.trigger = 'manual' desc, c.is_unpolled, c.next_poll_at, c.id);
    end if;
    if v_jobs <> '{}' then
        -- Whoever leases some must see what others have leased.
        perform pg_advisory_xact_lock(hashtextextended('headwater.jobs_pool', 0));
        select greatest(0, p_jobs_pool - count(*)) into v_room
        from channels c
        where c.lease_until > v_clock and (select s.kind from sources s where s.id = c.source_id) = 'jobs';
    end if;
    -- Where there is a queue nobody passes it, though none of it is due at this moment.
    v_late := array(
        select c.id from channels c join crowded_hosts k on k.bucket = c.bucket and k.host = c.host
        where c.id = any (v_ids) and c.waits_since is null and c.trigger <> 'manual'
          and case when c.is_unpolled then k.first_queue_ends_at else k.queue_ends_at end > v_now);
    -- A statement of its own: it must see what others leased until the rows were locked.
    select array_agg(first.id) into v_chosen
    from (select f.id from (
              select c.id, c.next_poll_at, c.place, c.is_unpolled,
                     count(c.place) over (order by c.place, c.id rows unbounded preceding) as jobs_before,
                     row_number() over (partition by c.is_unpolled order by c.next_poll_at, c.id) as nth
              from (select distinct on (d.bucket, d.host) d.id, d.bucket, d.host, d.next_poll_at, d.is_unpolled,
                           array_position(v_jobs, d.id) as place
                    from channels d left join crowded_hosts k on k.bucket = d.bucket and k.host = d.host
                    where d.id = any (v_ids) and d.id <> all (v_late)
                    order by d.bucket, d.host, d.trigger = 'manual' desc,
                             coalesce(k.first_queue_ends_at > v_now, false) and d.is_unpolled <> v_first_turn,
                             coalesce(d.waits_since, d.next_poll_at), d.id) as c
              where not exists (select 1 from channels busy where busy.bucket = c.bucket and busy.host = c.host
                                and busy.token is not null and busy.lease_until > v_clock
                                and busy.leased_by not like '% pushes')) as f
          where f.place is null or f.jobs_before <= v_room
          order by case when not f.is_unpolled then 2 when f.nth <= p_first then 1 else 3 end, f.next_poll_at
          limit p_limit) as first;
    -- Left due, they would hide what is due behind them, and be asked for again and again.
    -- The steps are common to all of them: one claim sees them together, and not each of them for itself.
    update channels c
    set next_poll_at = w.at, next_reason = w.reason
    from (select j.id, case when j.is_late then v_now + (j.rank / p_jobs_batch) * p_jobs_every
                            else date_bin('2 seconds', v_now, timestamptz 'epoch') + interval '2 seconds' end
                       + j.rank * interval '1 microsecond' as at,
                 case when j.is_late then format('waits for its turn: %s job sources every %s minutes', p_jobs_batch,
                                                 round(extract(epoch from p_jobs_every) / 60, 1))
                      else format('waits for its turn: %s job sources are polled at once', p_jobs_pool) end as reason
          from (select d.id, u.place - 1 as rank, u.place > p_jobs_batch and d.trigger <> 'manual' as is_late
                from unnest(v_jobs) with ordinality as u (id, place) join channels d on d.id = u.id
                where d.id <> all (coalesce(v_chosen, '{}'))) as j) as w
    where c.id = w.id and (v_room < cardinality(v_jobs));
    -- Everything of such a host that is due gets a turn of its own, not only what this claim happened to see: thousands of
    -- channels of one host would otherwise be looked at again and again, and nobody else. Who has waited longest is at the front
    -- and seen by the next claim; the others stand at the end of the queue, and are not moved again before their turn comes. Not
    -- for longer than six hours: a delay that was long for a while, or channels that went, may have left the queue too long.
    with busy as materialized (
        select distinct d.bucket, d.host from channels d
        where d.id = any (v_ids) and d.id <> all (coalesce(v_chosen, '{}'))
          and (d.id = any (v_late)
               or exists (select 1 from channels o where o.id = any (coalesce(v_chosen, '{}'))
                                                  and o.bucket = d.bucket and o.host = d.host)
               or exists (select 1 from channels o where o.bucket = d.bucket and o.host = d.host
                                                     and o.token is not null and o.lease_until > v_clock
                                                     and o.leased_by not like '% pushes'))
    ), waiting as materialized (
        select x.id, x.bucket, x.host, x.is_unpolled, x.age,
               row_number() over (partition by x.bucket, x.host, x.is_unpolled order by x.is_wanted desc, x.age, x.id) as nth
        from busy
        cross join lateral (
            select q.id, q.bucket, q.host, q.is_unpolled, coalesce(q.waits_since, q.next_poll_at) as age,
                   q.trigger = 'manual' as is_wanted
            from channels q
            where q.bucket = busy.bucket and q.host = busy.host and q.is_enabled and q.is_active and q.next_poll_at <= v_now
              and (q.lease_until is null or q.lease_until <= v_clock) and q.id <> all (coalesce(v_chosen, '{}'))
            order by q.next_poll_at limit 5000
            for update skip locked) as x
    ), placed as materialized (
        -- Every fourth is a first poll.
        select w.*, row_number() over (partition by w.bucket, w.host order by w.nth * case when w.is_unpolled then 3 else 1 end,
                                                                              w.is_unpolled, w.id) as place
        from waiting w
    ), spaced as materialized (
        -- In the steps of one ladder for each host: what waits for the same turn is looked at by the same claim.
        select p.*, l.step, t.apart, k.host is not null as has_queue,
               case when p.is_unpolled then k.first_queue_ends_at else k.queue_ends_at end as queue_ends_at,
               count(*) filter (where p.place > 8) over (partition by p.bucket, p.host, p.is_unpolled order by p.place) as behind
        from placed p
        left join hosts h on h.bucket = p.bucket and h.host = p.host
        left join crowded_hosts k on k.bucket = p.bucket and k.host = p.host
        cross join lateral poll_turn(greatest(h.delay_ms, h.penalty_ms), false) as t (apart)
        cross join lateral date_bin(t.apart, v_now, timestamptz 'epoch' + hashtext(p.host) % 60000 * interval '1 millisecond') as l (step)
    ), turns as materialized (
        select s.*, case when s.place <= 8 then s.step + s.place * s.apart
                         else date_bin(s.apart, greatest(least(coalesce(s.queue_ends_at, s.step), v_now + interval '6 hours'),
                                                         s.step + 8 * s.apart), s.step) + s.behind * s.apart end as at
        from spaced s
    ), queues as (
        -- Where many wait, somebody has to ask whether all can have their turns. In the order of hosts, as everybody locks them.
        insert into crowded_hosts as k (bucket, host, seen_at, queue_ends_at, first_queue_ends_at)
        -- It ends where its last stands: who is looked at sooner than its turn leaves that turn to others.
        select t.bucket, t.host, v_now, max(t.end_at) filter (where not t.is_unpolled), max(t.end_at) filter (where t.is_unpolled)
        from (select *, greatest(least(at, v_now + interval '6 hours'), queue_ends_at) as end_at from turns) as t
        group by t.bucket, t.host having count(*) > 8 or bool_or(t.has_queue) order by t.bucket, t.host
        on conflict (bucket, host) do update
        set seen_at = excluded.seen_at, queue_ends_at = coalesce(excluded.queue_ends_at, k.queue_ends_at),
            first_queue_ends_at = coalesce(excluded.first_queue_ends_at, k.first_queue_ends_at)
    )
    update channels c
    set next_poll_at = case when t.at <= v_now + interval '6 hours' then t.at
                            else v_now + interval '6 hours' * (0.5 + 0.5 * random()) end,
        next_reason = 'waits for its turn at ' || c.host, waits_since = t.age
    from turns t where c.id = t.id;
    return query
    update channels c
    set token = gen_random_uuid(), leased_by = p_owner, lease_until = v_clock + p_lease,
        leased_at = v_clock,
        -- A token that nobody gave back: least() because a row must not become too large to update. A poll whose poller
        -- lives was not lost by dying: the database was away for longer than its lease.
        lost_count = case when c.token is null or is_owner_alive(regexp_replace(c.leased_by, ' pushes$', ''), p_lease) then c.lost_count else least(c.lost_count + 1, 1000) end
    where c.id = any (v_chosen)
    returning c.id, null::timestamptz[], null::interval;
    return query select null::uuid, v_marks,
                        case when v_chosen is null then until_channel_due(p_owner, v_now, v_marks) end;
end $$;
