-- Fair shares. Hosts that answer come before hosts in doubt, and one source's flood of new hosts stands behind the first new
-- hosts of every other. Names that share a machine share a pace.

alter table hosts add column is_doubted boolean not null default true,
                  add column steps_back smallint not null default 0,
                  add column found_by uuid,
                  add column address text,
                  add column address_delay_ms integer not null default 0 check (address_delay_ms between 0 and 86400000);
-- What is known already keeps its standing, and counts as nobody's new host.
update hosts set found_by = '00000000-0000-0000-0000-000000000000', is_doubted = last_fetch_at is null or bad_in_a_row > 0;
alter table hosts add column line smallint generated always as (
    case when priority <= 0 then 0 when is_doubted then greatest(1, priority - steps_back) else priority + 10 end) stored;
comment on column hosts.is_doubted is 'It has never answered within seconds, or did not at the last try.';
comment on column hosts.steps_back is 'Levels it stands lower while in doubt: the more, the more new hosts its source brought before it.';
comment on column hosts.found_by is 'The source that queued its first URL.';
comment on column hosts.line is 'Where claims look for it: 20 to 11 by the best priority due, 10 to 1 while in doubt, 0 nowhere.';
comment on column hosts.address is 'The address it was last asked at; of IPv6 its /64. None inside networks of our own.';
comment on column hosts.address_delay_ms is 'What the names of its address ask of each other, by maintenance.';
drop index hosts_open;
create index hosts_open on hosts (line, wake_at, bucket) where line > 0;
create index hosts_address on hosts (address) where address is not null;

-- How many new hosts a source has brought, by the hour.
create table new_hosts (
    source_id uuid not null,
    hour      timestamptz not null,
    hosts     integer not null,
    refused   integer not null default 0,
    primary key (source_id, hour)
);

alter table channels add column foreign_day date, add column foreign_taken integer not null default 0;
comment on column channels.foreign_taken is 'URLs of other sites it has queued on foreign_day.';

-- Levels that the new host number `rank` of its source, counted from 0, stands back.
create function steps_back_of(rank bigint) returns smallint
    language sql immutable parallel safe
return least(8, 2 * floor(ln(greatest(rank, 1)) / ln(4) + 1e-9))::smallint;

alter type settlement add attribute address text;

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

create or replace function apply_host_policy(p_bucket smallint, p_host text, p_default_delay_ms integer, p_now timestamptz default null)
    returns void
    language plpgsql
as $$
begin
    perform hold_hosts(array[p_bucket], array[p_host], p_default_delay_ms);
    perform apply_host_policies(array[p_bucket], array[p_host], coalesce(p_now, clock_timestamp()));
end $$;

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

drop function submit_urls(uuid, uuid, submission[], integer, timestamptz);
-- Queues what is new, raises what is pending, wakes what changed after its last fetch, hands what a stranger found to a
-- source that may speak for it. Answers by position.
-- What lies on more new hosts than p_new_hosts (of this source, in this hour) is refused, and they get no row. The later a new
-- host comes among those of its source, the further back it stands until it has answered: a flood is behind everybody else.
-- Invariant: nothing is queued twice and nothing that is queued sleeps for ever: a host's row is locked before its
-- entries are judged and refreshed after they are written, in statements of their own.
create function submit_urls(
    p_source uuid, p_channel uuid, p_items submission[], p_default_delay_ms integer, p_now timestamptz default null,
    p_new_hosts integer default null
) returns table (place integer, outcome text)
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off
as $$
#variable_conflict use_column
declare
    v_now     timestamptz := coalesce(p_now, clock_timestamp());
    v_is_news boolean[];
    v_buckets smallint[];
    v_hosts   text[];
    v_domains text[];
    v_hour    timestamptz;
    v_before  integer := 0;
    v_is_refused  boolean[];
    v_new_buckets smallint[];
    v_new_hosts   text[];
    v_new_ranks   bigint[];
    v_refused     integer;
begin
    -- Without locks first: most of a feed is known already, and its hosts are left in peace.
    -- What is a duplicate now stays one below: its host is not locked, so nothing of it may be changed.
    select array_agg(n.is_news order by n.place), array_agg(n.bucket) filter (where n.is_news),
           array_agg(n.host) filter (where n.is_news), array_agg(n.domain) filter (where n.is_news)
    into v_is_news, v_buckets, v_hosts, v_domains
    from (select i.bucket, i.host, i.domain, i.place,
                 e.bucket is null
                 or submission_outcome(e, row(i.bucket, i.url_hash, i.host, i.url, i.origin, i.parent_url, i.depth, i.priority,
                                              i.due_in, i.changed_at, i.hops, i.domain, 0::smallint)::submission, v_now) <> 'duplicate'
                 -- Its owner has a better claim to it now, or somebody else has.
                 or i.rank > e.owner_rank as is_news
          from unnest(p_items) with ordinality as i (bucket, url_hash, host, url, origin, parent_url, depth, priority, due_in,
                                                     changed_at, hops, domain, rank, place)
          left join url_frontier e on e.bucket = i.bucket and e.url_hash = i.url_hash) as n;
    if v_hosts is not null then
        v_hour := date_trunc('hour', v_now, 'utc');
        if p_new_hosts is not null then
            v_before := coalesce((select n.hosts from new_hosts n where n.source_id = p_source and n.hour = v_hour), 0);
        end if;
        select array_agg(of_host.is_refused order by of_host.place),
               array_agg(of_host.bucket) filter (where of_host.is_news and not of_host.is_refused),
               array_agg(of_host.host) filter (where of_host.is_news and not of_host.is_refused),
               array_agg(of_host.domain) filter (where of_host.is_news and not of_host.is_refused),
               array_agg(of_host.bucket) filter (where of_host.is_first and not of_host.is_refused),
               array_agg(of_host.host) filter (where of_host.is_first and not of_host.is_refused),
               array_agg(of_host.rank) filter (where of_host.is_first and not of_host.is_refused),
               count(*) filter (where of_host.is_first and of_host.is_refused)
        into v_is_refused, v_buckets, v_hosts, v_domains, v_new_buckets, v_new_hosts, v_new_ranks, v_refused
        from (select r.place, r.bucket, r.host, r.domain, r.is_news, r.rank, r.is_new and r.place = r.first_place as is_first,
                     r.is_new and r.rank >= coalesce(p_new_hosts, r.rank + 1) as is_refused
              from (select s.place, s.bucket, s.host, s.domain, s.is_news, s.is_new, s.first_place,
                           v_before + dense_rank() over (partition by s.is_new order by s.first_place) - 1 as rank
                    from (select i.place, i.bucket, i.host, i.domain, v_is_news[i.place] as is_news, k.is_new,
                                 min(i.place) over (partition by i.bucket, i.host, k.is_new) as first_place
                          from unnest(p_items) with ordinality as i (bucket, url_hash, host, url, origin, parent_url, depth, priority,
                                                                     due_in, changed_at, hops, domain, rank, place)
                          cross join lateral (
                              select v_is_news[i.place] and not exists (
                                  select 1 from hosts h where h.bucket = i.bucket and h.host = i.host and h.found_by is not null) as is_new
                          ) as k) as s) as r) as of_host;
    end if;
    if v_hosts is not null then
        perform hold_hosts(v_buckets, v_hosts, p_default_delay_ms, v_domains);
        v_now := coalesce(p_now, clock_timestamp());
    end if;
    if v_new_hosts is not null then
        update hosts h set found_by = p_source, steps_back = steps_back_of(g.rank)
        from unnest(v_new_buckets, v_new_hosts, v_new_ranks) as g (bucket, host, rank)
        where h.bucket = g.bucket and h.host = g.host and h.found_by is null;
    end if;
    if p_new_hosts is not null and (v_new_hosts is not null or v_refused > 0) then
        insert into new_hosts as n (source_id, hour, hosts, refused)
        values (p_source, v_hour, coalesce(cardinality(v_new_hosts), 0), v_refused)
        on conflict (source_id, hour) do update set hosts = n.hosts + excluded.hosts, refused = n.refused + excluded.refused;
    end if;
    return query
    with judged as materialized (
        select i.bucket, i.url_hash, i.host, i.url, i.origin, i.parent_url, i.depth, i.priority, i.changed_at, i.hops, i.rank,
               i.place::integer, v_now + coalesce(i.due_in, interval '0') as due_at,
               e.status as from_status, e.source_id as owner, e.token,
               -- While it is fetched, it is counted as it was before.
               case when e.status = 'fetching' then (select s.from_status from slots s where s.bucket = e.bucket and s.token = e.token)
                    else e.status end as counted_as,
               e.status = 'fetched' or e.status = 'dead' and e.reason = 'extract_failed' as is_read_anew,
               case when v_is_refused[i.place] then 'too_many_new_hosts'
                    when not v_is_news[i.place] then 'duplicate'
                    when e.bucket is null then 'queued'
                    else submission_outcome(e, row(i.bucket, i.url_hash, i.host, i.url, i.origin, i.parent_url, i.depth,
                                                   i.priority, i.due_in, i.changed_at, i.hops, i.domain,
                                                   case when e.source_id = p_source then 0::smallint else i.rank end)::submission, v_now)
               end as outcome,
               coalesce(e.source_id = p_source and i.rank > e.owner_rank, false) as is_vouched
        from unnest(p_items) with ordinality as i (bucket, url_hash, host, url, origin, parent_url, depth, priority, due_in,
                                                   changed_at, hops, domain, rank, place)
        left join url_frontier e on v_is_news[i.place] and e.bucket = i.bucket and e.url_hash = i.url_hash
        order by i.bucket, i.host, i.url_hash
    ), queued as (
        insert into url_frontier (bucket, url_hash, host, url, source_id, origin, parent_url, depth, priority, next_fetch_at,
                                  hops, owner_rank, discovered_at, created_at, updated_at)
        select j.bucket, j.url_hash, j.host, j.url, p_source, j.origin, j.parent_url, j.depth, j.priority, j.due_at,
               coalesce(j.hops, 0), j.rank, v_now, v_now, v_now
        from judged j where j.outcome = 'queued'
    ), changed as (
        update url_frontier e
        set priority = case when t.is_news then greatest(e.priority, j.priority) else e.priority end,
            next_fetch_at = case when e.status = 'pending' then least(e.next_fetch_at, j.due_at)
                                 when t.is_put_back then j.due_at
                                 else e.next_fetch_at end,
            changed_at = case when t.is_news then greatest(e.changed_at, j.changed_at) else e.changed_at end,
            status = case when t.is_put_back then 'pending' else e.status end,
            reason = case when t.is_put_back then null else e.reason end,
            retry_count = case when t.is_put_back and e.status = 'dead' then 0 else e.retry_count end,
            revisit_at = case when t.is_put_back then null else e.revisit_at end,
            source_id = case when t.is_taken then p_source else e.source_id end,
            owner_rank = case when t.is_taken or j.is_vouched then j.rank else e.owner_rank end,
            held = case when t.is_taken and e.held = 'paused' then null else e.held end,
            -- Another source may read it otherwise: what was sent before does not spare the reading.
            etag = case when t.is_taken or e.status = 'dead' then null else e.etag end,
            last_modified = case when t.is_taken or e.status = 'dead' then null else e.last_modified end,
            content_hash = case when t.is_taken or e.status = 'dead' then null else e.content_hash end,
            reads_anew = e.reads_anew or t.is_taken and e.status = 'fetching',
            updated_at = case when t.is_news then v_now else e.updated_at end
        from judged j
        cross join lateral (select j.outcome <> 'duplicate' as is_news, j.outcome = 'taken_over' as is_taken,
                                   j.outcome = 'revisit' and j.from_status in ('fetched', 'dead')
                                   or j.outcome = 'taken_over' and j.is_read_anew as is_put_back) as t
        where (j.outcome in ('raised', 'revisit', 'taken_over') or j.is_vouched) and e.bucket = j.bucket and e.url_hash = j.url_hash
          and e.status = j.from_status
    ), leased as (
        update slots s set source_id = p_source from judged j
        where j.outcome = 'taken_over' and j.from_status = 'fetching' and s.bucket = j.bucket and s.token = j.token
    ), found as (
        insert into discoveries (bucket, url_hash, source_id, channel_id, origin, parent_url, depth, rank, first_seen_at)
        select j.bucket, j.url_hash, p_source, p_channel, j.origin, j.parent_url, j.depth, j.rank, v_now from judged j
        where j.outcome <> 'too_many_new_hosts'
        on conflict do nothing
    ), counted as (
        insert into counter_deltas (source_id, status, entries)
        select c.source_id, c.status, sum(c.entries)
        from (select p_source as source_id, 'pending' as status, 1 as entries from judged j where j.outcome = 'queued'
              union all select j.owner, j.from_status, -1 from judged j
                        where j.outcome = 'revisit' and j.from_status in ('fetched', 'dead')
              union all select j.owner, 'pending', 1 from judged j
                        where j.outcome = 'revisit' and j.from_status in ('fetched', 'dead')
              union all select j.owner, j.counted_as, -1 from judged j where j.outcome = 'taken_over'
              union all select p_source, case when j.is_read_anew then 'pending' else j.counted_as end, 1
                        from judged j where j.outcome = 'taken_over'
             ) as c
        group by 1, 2 having sum(c.entries) <> 0
    )
    select j.place, j.outcome from judged j;
    if v_hosts is not null then
        perform refresh_hosts(v_buckets, v_hosts, v_now);
    end if;
end $$;

drop function claim_entries(text, integer, interval, smallint, timestamptz[], timestamptz);
-- Lease due entries of open hosts: strict priority between hosts, then the longest open; inside a host priority, then due
-- time. Hosts that answer come before hosts in doubt; p_doubted bounds how many of the latter are taken, and p_doubted_first
-- of them come before everything else, so that a busy machine still meets new publishers. Hosts of p_domains or found by
-- p_sources have their share already: they come last of those that answer.
-- The last row returned has no token: it says when to come back, and up to where nothing older was found.
-- Invariants: a host never starts two requests within its spacing, because its row is locked before entries are chosen in
-- a second statement with a snapshot of its own (one statement would choose by a snapshot older than its lock, and a
-- submit in between would sleep for ever). No entry is leased twice: its update repeats the status. Every visited host is
-- refreshed, also one that had nothing, or a few empty hosts at the head would stop all claims.
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

drop function claim_suspect(text, interval, timestamptz);
-- An entry that came back from a dead worker runs alone, one per worker: a second death then is its own doing.
create function claim_suspect(p_owner text, p_lease interval, p_now timestamptz default null)
    returns table (
        token uuid, bucket smallint, url_hash bytea, host text, url text, source_id uuid, origin text, depth smallint,
        priority smallint, retry_count smallint, fetch_count integer, hops smallint, resume_url text, etag text,
        last_modified text, content_hash bytea, is_alone boolean, wait interval, marks timestamptz[],
        domain text, found_by uuid, is_doubted boolean
    )
    language plpgsql
    set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off
as $$
#variable_conflict use_column
declare
    v_now  timestamptz := coalesce(p_now, clock_timestamp());
    v_pick record;
begin
    if exists (select 1 from slots s where s.owner = p_owner) then
        return;
    end if;
    select e.bucket, e.url_hash, e.host, h.max_concurrency = 1 as is_alone, h.domain, h.found_by, h.is_doubted into v_pick
    from url_frontier e join hosts h on h.bucket = e.bucket and h.host = e.host
    join sources s on s.id = e.source_id and s.status = 'active'
    where e.held = 'suspect' and e.next_fetch_at <= v_now and h.closed_until <= v_now and h.next_slot_at <= v_now
      and h.yield_until <= v_now and h.in_flight < capacity_of(h.max_concurrency, h.bad_in_a_row)
    order by e.next_fetch_at limit 1
    for update of h skip locked;
    if not found then
        return;
    end if;
    return query
    with leased as (
        update url_frontier f
        set status = 'fetching', held = null, token = gen_random_uuid(), updated_at = v_now
        from (select e.bucket, e.url_hash, e.status from url_frontier e
              where e.bucket = v_pick.bucket and e.url_hash = v_pick.url_hash for update skip locked) as was
        where f.bucket = was.bucket and f.url_hash = was.url_hash and f.held = 'suspect' and f.status in ('pending', 'failed')
        returning f.*, was.status as from_status
    ), running as (
        insert into slots (bucket, token, host, kind, owner, starts_at, expires_at, url_hash, source_id, from_status)
        select l.bucket, l.token, l.host, 'suspect', p_owner, v_now, v_now + p_lease, l.url_hash, l.source_id, l.from_status
        from leased l
    ), taken as (
        update hosts h
        set in_flight = h.in_flight + 1, next_slot_at = v_now + spacing_of(h.delay_ms, h.penalty_ms), owes_claim = false
        from leased l where h.bucket = l.bucket and h.host = l.host
    )
    select l.token, l.bucket, l.url_hash, l.host, l.url, l.source_id, l.origin, l.depth, l.priority, l.retry_count,
           l.fetch_count, l.hops, l.resume_url, l.etag, l.last_modified, l.content_hash, v_pick.is_alone, interval '0',
           null::timestamptz[], v_pick.domain, v_pick.found_by, v_pick.is_doubted
    from leased l;
    perform refresh_hosts(array[v_pick.bucket], array[v_pick.host], v_now);
end $$;

-- Ends requests: gives back their slots, moves their entries on, notes them in the log and in the counters, and lets the
-- hosts go on. Answers with the tokens that still held; a stale or expired one changes nothing.
-- `status` null puts the entry back as it was. `temper` is 1 where the host asked us to slow down, -1
-- where it was content, 2 where it could not even be reached.
-- A host is in doubt until it has answered within seconds, and again after a request that failed or took longer.
create or replace function settle_requests(p_settlements settlement[], p_now timestamptz default null) returns uuid[]
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
    v_now     timestamptz;
    v_buckets smallint[];
    v_hosts   text[];
    v_tokens  uuid[];
begin
    select array_agg(s.bucket), array_agg(s.host) into v_buckets, v_hosts from unnest(p_settlements) as s;
    if v_hosts is null then
        return array[]::uuid[];
    end if;
    perform lock_hosts(v_buckets, v_hosts);
    v_now := coalesce(p_now, clock_timestamp());
    with ended as materialized (
        delete from slots t using unnest(p_settlements) as g
        where t.bucket = g.bucket and t.token = g.token and t.host = g.host and t.expires_at > v_now
        returning t.bucket, t.token, t.host, t.kind, t.owner, t.starts_at, t.url_hash, t.from_status,
                  g.verdict, g.status, g.next_fetch_in, g.counts_as_failure, g.reason, g.last_error, g.http_status, g.body_bytes,
                  g.started_after, g.duration_ms, g.etag, g.last_modified, g.content_hash, g.fetch_url, g.resume_url, g.hops,
                  g.moved_to, g.revisit_in, g.close_for, g.close_reason, g.temper, g.kind as asked_kind, g.address
    ), moved as (
        update url_frontier e
        set status = n.status,
            token = null,
            next_fetch_at = case when n.status = 'fetched' or x.status is null then e.next_fetch_at
                                 when n.status = 'pending' and x.status = 'fetched' then v_now
                                 else v_now + coalesce(x.next_fetch_in, interval '0') end,
            retry_count = case when x.status = 'fetched' then 0
                               when x.counts_as_failure then e.retry_count + 1 else e.retry_count end,
            fetch_count = e.fetch_count + (x.verdict in ('fetched', 'unchanged'))::integer,
            crash_count = case when x.verdict = 'released' then e.crash_count else 0 end,
            reason = case when x.status is null then e.reason when n.status in ('failed', 'dead') then x.reason end,
            last_error = case when x.status is null then e.last_error when n.status in ('failed', 'dead') then x.last_error end,
            last_status = coalesce(x.http_status, e.last_status),
            -- A 304 need not repeat the validators it confirms.
            etag = case when c.reads_anew then null when x.verdict = 'fetched' then x.etag
                        when x.verdict = 'unchanged' then coalesce(x.etag, e.etag) else e.etag end,
            last_modified = case when c.reads_anew then null when x.verdict = 'fetched' then x.last_modified
                                 when x.verdict = 'unchanged' then coalesce(x.last_modified, e.last_modified)
                                 else e.last_modified end,
            content_hash = case when not c.reads_anew then coalesce(x.content_hash, e.content_hash) end,
            reads_anew = c.reads_anew and x.status is null,
            url = coalesce(x.fetch_url, e.url),
            resume_url = x.resume_url,
            hops = coalesce(x.hops, 0),
            moved_to = x.moved_to,
            held = case when x.kind = 'suspect' and x.verdict = 'released' then 'suspect' end,
            last_fetched_at = case when x.verdict in ('fetched', 'unchanged') then v_now else e.last_fetched_at end,
            revisit_at = case when n.status = 'fetched' then v_now + x.revisit_in end,
            updated_at = v_now
        from ended x
        cross join lateral (select f.changed_at, f.updated_at as told_at, f.reads_anew from url_frontier f
                            where f.bucket = x.bucket and f.url_hash = x.url_hash) as c
        cross join lateral (
            -- Told of a change while it was being fetched: what came may be the old page, so it is fetched again. A date in
            -- the future counts as the moment we were told, or it would be fetched again until then.
            select case when x.status is null then x.from_status
                        -- Another source owns it by now, and may read it otherwise.
                        when c.reads_anew and (x.status = 'fetched' or x.reason = 'extract_failed') then 'pending'
                        when x.status = 'fetched' and least(c.changed_at, c.told_at) > x.starts_at then 'pending'
                        else x.status end as status
        ) as n
        where e.bucket = x.bucket and e.url_hash = x.url_hash and e.token = x.token
        returning e.status, e.source_id, x.from_status
    ), counted as (
        insert into counter_deltas (source_id, status, entries)
        select c.source_id, c.status, sum(c.entries)
        from (select m.source_id, m.status, 1 as entries from moved m
              union all select m.source_id, m.from_status, -1 from moved m) as c
        group by 1, 2 having sum(c.entries) <> 0
    ), logged as (
        insert into fetch_log (at, bucket, host, token, kind, owner, url_hash, started_at, delay_ms, duration_ms, status,
                               body_bytes, verdict, reason)
        select v_now, x.bucket, x.host, x.token, coalesce(x.asked_kind, x.kind), x.owner, x.url_hash, x.starts_at + x.started_after,
               greatest(h.delay_ms, h.penalty_ms), x.duration_ms, x.http_status, x.body_bytes, x.verdict, x.reason
        from ended x join hosts h on h.bucket = x.bucket and h.host = x.host
        where x.verdict <> 'released'
    ), closed as (
        insert into host_closures as c (bucket, host, reason, until)
        select x.bucket, x.host, x.close_reason, v_now + max(x.close_for)
        from ended x
        where x.close_for > interval '0'
        group by 1, 2, 3
        on conflict (bucket, host, reason) do update set until = greatest(c.until, excluded.until)
    ), freed as (
        update hosts h
        set in_flight = h.in_flight - f.n,
            -- Granted times are not start times: the next slot counts from when the request really began.
            -- A new penalty holds for the next request already, once for each of a burst.
            next_slot_at = case when f.scolded
                then greatest(h.next_slot_at + h.burst * (spacing_of(h.delay_ms, scolded_penalty(h.delay_ms, h.penalty_ms))
                                                          - spacing_of(h.delay_ms, h.penalty_ms)),
                              f.started_at + spacing_of(h.delay_ms, scolded_penalty(h.delay_ms, h.penalty_ms)))
                else greatest(h.next_slot_at, f.started_at + spacing_of(h.delay_ms, h.penalty_ms)) end,
            last_fetch_at = case when f.visited then v_now else h.last_fetch_at end,
            is_doubted = coalesce(f.leaves_doubt, h.is_doubted),
            -- In another line it gets a new place: a claim begins its search near where the last one found something.
            priority = case when f.leaves_doubt <> h.is_doubted then 0 else h.priority end,
            address = coalesce(f.address, h.address),
            closed_until = greatest(h.closed_until, v_now + f.close_for, v_now + rest_after((h.bad_in_a_row + f.unreached)::integer)),
            bad_in_a_row = case when f.reached then 0 else least(h.bad_in_a_row + coalesce(f.unreached, 0), 1000) end,
            penalty_ms = case when f.scolded then scolded_penalty(h.delay_ms, h.penalty_ms)
                              when h.penalty_ms > 0 and h.good_in_a_row + f.content >= 10
                                  then case when h.penalty_ms / 2 > h.delay_ms then h.penalty_ms / 2 else 0 end
                              else h.penalty_ms end,
            good_in_a_row = case when f.scolded or h.penalty_ms = 0 or h.good_in_a_row + f.content >= 10 then 0
                                 else h.good_in_a_row + f.content end
        from (select x.bucket, x.host, count(*)::smallint as n, max(x.close_for) as close_for,
                     max(x.starts_at + x.started_after) as started_at,
                     bool_or(x.verdict <> 'released') as visited, coalesce(bool_or(x.temper = 1), false) as scolded,
                     bool_or(x.http_status is not null) as reached,
                     case when bool_or(x.temper = 2 or x.counts_as_failure and x.http_status is null
                                       or x.verdict <> 'released' and x.duration_ms > 5000) then true
                          when bool_or(x.http_status < 500) then false end as leaves_doubt,
                     max(x.address) as address,
                     case when bool_or(x.http_status is not null) then null
                          else nullif(count(*) filter (where x.temper = 2), 0)::integer end as unreached,
                     count(*) filter (where x.temper < 0)::smallint as content
              from ended x
              group by 1, 2) as f
        where h.bucket = f.bucket and h.host = f.host
        returning h.bucket, h.host, h.bad_in_a_row, f.unreached
    ), rested as (
        insert into host_closures as c (bucket, host, reason, until)
        select r.bucket, r.host, 'breaker', v_now + rest_after(r.bad_in_a_row) from freed r
        where r.unreached > 0 and r.bad_in_a_row >= 5
        on conflict (bucket, host, reason) do update set until = excluded.until
    )
    select array_agg(x.token) into v_tokens from ended x;
    if v_tokens is null then
        return array[]::uuid[];
    end if;
    perform refresh_hosts(v_buckets, v_hosts, v_now);
    return v_tokens;
end $$;
