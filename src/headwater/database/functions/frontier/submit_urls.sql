-- Queues what is new, raises what is pending, wakes what changed after its last fetch, hands what a stranger found to a
-- source that may speak for it, and what a removed source has left to an active one that finds it. Answers by position.
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
    -- What a source that is not active took over, nobody would fetch.
    v_may_take boolean := coalesce((select s.status = 'active' from sources s where s.id = p_source), false);
    v_buckets smallint[];
    v_hosts   text[];
    v_domains text[];
    v_hour    timestamptz;
    v_before  integer := 0;
    v_is_refused  boolean[];
    v_new_buckets smallint[];
    v_new_hosts   text[];
    v_hosts_before bigint[];
    v_refused     integer;
begin
    -- Without locks first: most of a feed is known already, and its hosts are left in peace.
    -- What is a duplicate now stays one below: its host is not locked, so nothing of it may be changed.
    select array_agg(n.is_news order by n.place), array_agg(n.bucket) filter (where n.is_news),
           array_agg(n.host) filter (where n.is_news), array_agg(n.domain) filter (where n.is_news)
    into v_is_news, v_buckets, v_hosts, v_domains
    from (select i.bucket, i.host, i.domain, i.place,
                 -- It has no entry, it would change its entry, or its owner has a better claim to it now.
                 e.bucket is null or submission_outcome(e, s.item, p_source, o.rank, v_now) <> 'duplicate' or i.rank > o.rank as is_news
          from unnest(p_items) with ordinality as i (bucket, url_hash, host, url, origin, parent_url, depth, priority, due_in,
                                                     changed_at, hops, domain, rank, place)
          cross join lateral (select row(i.bucket, i.url_hash, i.host, i.url, i.origin, i.parent_url, i.depth, i.priority, i.due_in,
                                         i.changed_at, i.hops, i.domain, i.rank)::submission as item) as s
          left join url_frontier e on e.bucket = i.bucket and e.url_hash = i.url_hash
          left join lateral (
              select true as is_removed from sources s
              where v_may_take and e.source_id <> p_source and s.id = e.source_id and s.status = 'deleted') as w on true
          cross join lateral (select claim_left(e, coalesce(w.is_removed, false), i.origin) as rank) as o) as n;
    if v_hosts is not null then
        v_hour := date_trunc('hour', v_now, 'utc');
        if p_new_hosts is not null then
            v_before := coalesce((select n.hosts from new_hosts n where n.source_id = p_source and n.hour = v_hour), 0);
        end if;
        with items as (
            select i.place, i.bucket, i.host, i.domain, v_is_news[i.place] as is_news,
                   -- News of a host that no source has found before.
                   v_is_news[i.place] and not exists (
                       select 1 from hosts h where h.bucket = i.bucket and h.host = i.host and h.found_by is not null) as is_new
            from unnest(p_items) with ordinality as i (bucket, url_hash, host, url, origin, parent_url, depth, priority, due_in,
                                                       changed_at, hops, domain, rank, place)
        ), by_host as (
            select s.*, min(s.place) over (partition by s.bucket, s.host, s.is_new) as first_place from items s
        ), numbered as (
            -- How many new hosts its source had found in this hour before it.
            select b.*, v_before + dense_rank() over (partition by b.is_new order by b.first_place) - 1 as hosts_before from by_host b
        ), of_host as (
            select n.*, n.is_new and n.place = n.first_place as is_first,
                   n.is_new and coalesce(n.hosts_before >= p_new_hosts, false) as is_refused
            from numbered n
        )
        select array_agg(o.is_refused order by o.place),
               array_agg(o.bucket) filter (where o.is_news and not o.is_refused),
               array_agg(o.host) filter (where o.is_news and not o.is_refused),
               array_agg(o.domain) filter (where o.is_news and not o.is_refused),
               array_agg(o.bucket) filter (where o.is_first and not o.is_refused),
               array_agg(o.host) filter (where o.is_first and not o.is_refused),
               array_agg(o.hosts_before) filter (where o.is_first and not o.is_refused),
               count(*) filter (where o.is_first and o.is_refused)
        into v_is_refused, v_buckets, v_hosts, v_domains, v_new_buckets, v_new_hosts, v_hosts_before, v_refused
        from of_host o;
    end if;
    if v_hosts is not null then
        perform hold_hosts(v_buckets, v_hosts, p_default_delay_ms, v_domains);
        v_now := coalesce(p_now, clock_timestamp());
    end if;
    if v_new_hosts is not null then
        update hosts h set found_by = p_source, steps_back = steps_back_of(g.hosts_before)
        from unnest(v_new_buckets, v_new_hosts, v_hosts_before) as g (bucket, host, hosts_before)
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
                    else submission_outcome(e, s.item, p_source, o.rank, v_now)
               end as outcome,
               coalesce(e.source_id = p_source and i.rank > e.owner_rank, false) as is_vouched
        from unnest(p_items) with ordinality as i (bucket, url_hash, host, url, origin, parent_url, depth, priority, due_in,
                                                   changed_at, hops, domain, rank, place)
        cross join lateral (select row(i.bucket, i.url_hash, i.host, i.url, i.origin, i.parent_url, i.depth, i.priority, i.due_in,
                                       i.changed_at, i.hops, i.domain, i.rank)::submission as item) as s
        left join url_frontier e on v_is_news[i.place] and e.bucket = i.bucket and e.url_hash = i.url_hash
        left join lateral (
            select true as is_removed from sources s
            where v_may_take and e.source_id <> p_source and s.id = e.source_id and s.status = 'deleted') as w on true
        cross join lateral (select claim_left(e, coalesce(w.is_removed, false), i.origin) as rank) as o
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
