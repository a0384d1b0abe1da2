-- Back to entries that belong to whichever source found them first.

-- Ends requests: gives back their slots, moves their entries on, notes them in the log and in the counters, and lets the
-- hosts go on. Answers with the tokens that still held; a stale or expired one changes nothing.
-- `status` null puts the entry back as it was. `temper` is 1 where the host asked us to slow down, -1
-- where it was content, 2 where it could not even be reached.
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
                  g.moved_to, g.revisit_in, g.close_for, g.close_reason, g.temper, g.kind as asked_kind
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
            etag = case x.verdict when 'fetched' then x.etag when 'unchanged' then coalesce(x.etag, e.etag) else e.etag end,
            last_modified = case x.verdict when 'fetched' then x.last_modified
                                           when 'unchanged' then coalesce(x.last_modified, e.last_modified)
                                           else e.last_modified end,
            content_hash = coalesce(x.content_hash, e.content_hash),
            url = coalesce(x.fetch_url, e.url),
            resume_url = x.resume_url,
            hops = coalesce(x.hops, 0),
            moved_to = x.moved_to,
            held = case when x.kind = 'suspect' and x.verdict = 'released' then 'suspect' end,
            last_fetched_at = case when x.verdict in ('fetched', 'unchanged') then v_now else e.last_fetched_at end,
            revisit_at = case when n.status = 'fetched' then v_now + x.revisit_in end,
            updated_at = v_now
        from ended x
        cross join lateral (select f.changed_at, f.updated_at as told_at from url_frontier f
                            where f.bucket = x.bucket and f.url_hash = x.url_hash) as c
        cross join lateral (
            -- Told of a change while it was being fetched: what came may be the old page, so it is fetched again. A date in
            -- the future counts as the moment we were told, or it would be fetched again until then.
            select case when x.status is null then x.from_status
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

drop function submit_urls(uuid, uuid, submission[], integer, timestamptz);
drop function submission_outcome(url_frontier, submission, timestamptz);
alter type submission drop attribute domain, drop attribute rank;
-- What a submission means for an entry that exists. `failed` may rise but its time is never advanced: a 429 or a backoff
-- is not undone by a feed that still lists the page.
create function submission_outcome(e url_frontier, i submission, p_now timestamptz) returns text
    language sql stable
return case
    when e.status = 'pending' and (i.priority > e.priority or p_now + coalesce(i.due_in, interval '0') < e.next_fetch_at)
        then 'raised'
    when e.status = 'failed' and i.priority > e.priority then 'raised'
    when e.status in ('fetched', 'fetching') and i.changed_at is not null
         and i.changed_at > coalesce(e.changed_at, '-infinity')
         and (e.status = 'fetching' or i.changed_at > e.last_fetched_at) then 'revisit'
    else 'duplicate' end;

-- Queues what is new, raises what is pending, wakes what changed after its last fetch. Answers by position.
-- Invariant: nothing is queued twice and nothing that is queued sleeps for ever: a host's row is locked before its
-- entries are judged and refreshed after they are written, in statements of their own.
create function submit_urls(
    p_source uuid, p_channel uuid, p_items submission[], p_default_delay_ms integer, p_now timestamptz default null
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
begin
    -- Without locks first: most of a feed is known already, and its hosts are left in peace.
    -- What is a duplicate now stays one below: its host is not locked, so nothing of it may be changed.
    select array_agg(n.is_news order by n.place), array_agg(n.bucket) filter (where n.is_news),
           array_agg(n.host) filter (where n.is_news)
    into v_is_news, v_buckets, v_hosts
    from (select i.bucket, i.host, i.place,
                 e.bucket is null
                 or submission_outcome(e, row(i.bucket, i.url_hash, i.host, i.url, i.origin, i.parent_url, i.depth, i.priority,
                                              i.due_in, i.changed_at, i.hops)::submission, v_now) <> 'duplicate' as is_news
          from unnest(p_items) with ordinality as i (bucket, url_hash, host, url, origin, parent_url, depth, priority, due_in,
                                                     changed_at, hops, place)
          left join url_frontier e on e.bucket = i.bucket and e.url_hash = i.url_hash) as n;
    if v_hosts is not null then
        perform hold_hosts(v_buckets, v_hosts, p_default_delay_ms);
        v_now := coalesce(p_now, clock_timestamp());
    end if;
    return query
    with judged as materialized (
        select i.bucket, i.url_hash, i.host, i.url, i.origin, i.parent_url, i.depth, i.priority, i.changed_at, i.hops,
               i.place::integer, v_now + coalesce(i.due_in, interval '0') as due_at,
               e.status as from_status, e.source_id as owner,
               case when not v_is_news[i.place] then 'duplicate'
                    when e.bucket is null then 'queued'
                    else submission_outcome(e, row(i.bucket, i.url_hash, i.host, i.url, i.origin, i.parent_url, i.depth,
                                                   i.priority, i.due_in, i.changed_at, i.hops)::submission, v_now) end as outcome
        from unnest(p_items) with ordinality as i (bucket, url_hash, host, url, origin, parent_url, depth, priority, due_in,
                                                   changed_at, hops, place)
        left join url_frontier e on v_is_news[i.place] and e.bucket = i.bucket and e.url_hash = i.url_hash
        order by i.bucket, i.host, i.url_hash
    ), queued as (
        insert into url_frontier (bucket, url_hash, host, url, source_id, origin, parent_url, depth, priority, next_fetch_at,
                                  hops, discovered_at, created_at, updated_at)
        select j.bucket, j.url_hash, j.host, j.url, p_source, j.origin, j.parent_url, j.depth, j.priority, j.due_at,
               coalesce(j.hops, 0), v_now, v_now, v_now
        from judged j where j.outcome = 'queued'
    ), changed as (
        update url_frontier e
        set priority = greatest(e.priority, j.priority),
            next_fetch_at = case e.status when 'pending' then least(e.next_fetch_at, j.due_at)
                                          when 'fetched' then j.due_at
                                          else e.next_fetch_at end,
            changed_at = greatest(e.changed_at, j.changed_at),
            status = case e.status when 'fetched' then 'pending' else e.status end,
            revisit_at = case e.status when 'fetched' then null else e.revisit_at end,
            updated_at = v_now
        from judged j
        where j.outcome in ('raised', 'revisit') and e.bucket = j.bucket and e.url_hash = j.url_hash
          and e.status = j.from_status
    ), found as (
        insert into discoveries (bucket, url_hash, source_id, channel_id, origin, parent_url, depth, first_seen_at)
        select j.bucket, j.url_hash, p_source, p_channel, j.origin, j.parent_url, j.depth, v_now from judged j
        on conflict do nothing
    ), counted as (
        insert into counter_deltas (source_id, status, entries)
        select c.source_id, c.status, sum(c.entries)
        from (select p_source as source_id, 'pending' as status, 1 as entries from judged j where j.outcome = 'queued'
              union all select j.owner, 'fetched', -1 from judged j where j.outcome = 'revisit' and j.from_status = 'fetched'
              union all select j.owner, 'pending', 1 from judged j where j.outcome = 'revisit' and j.from_status = 'fetched'
             ) as c
        group by 1, 2
    )
    select j.place, j.outcome from judged j;
    if v_hosts is not null then
        perform refresh_hosts(v_buckets, v_hosts, v_now);
    end if;
end $$;

drop function reserve_slot(smallint, text, text, text, interval, interval, integer, interval, timestamptz, text);
-- The right to start one request that is no entry's: a poll, robots.txt, a hop, a render, a person's test fetch.
-- Granted up to p_reach ahead; otherwise `not_before` says when to ask again, and claims yield the host until then.
-- They take turns: after a grant a claim that could have the next slot gets a second to take it, and only a claim makes
-- the host yield again.
create function reserve_slot(
    p_bucket smallint, p_host text, p_kind text, p_owner text, p_lease interval, p_reach interval,
    p_default_delay_ms integer, p_slack interval, p_now timestamptz default null,
    out token uuid, out wait interval, out is_alone boolean, out not_before interval, out why text
)
    language plpgsql
as $$
declare
    h       hosts;
    v_now   timestamptz;
    v_after timestamptz;
    v_space interval;
    v_start timestamptz;
begin
    perform ensure_hosts(array[p_bucket], array[p_host], p_default_delay_ms);
    select * into h from hosts where bucket = p_bucket and host = p_host for update;
    v_now := coalesce(p_now, clock_timestamp()); -- after the lock: waiting for it must not lengthen the grant
    v_space := spacing_of(h.delay_ms, h.penalty_ms);
    v_start := greatest(v_now, greatest(h.next_slot_at, v_now) - (h.burst - 1) * v_space);
    if h.closed_until > v_now then
        v_after := h.closed_until;
        why := 'closed';
    elsif h.in_flight >= capacity_of(h.max_concurrency, h.bad_in_a_row) then
        v_after := greatest(v_start, v_now + interval '0.2 seconds');
        why := 'full';
    elsif v_start > v_now + p_reach then
        v_after := v_start;
        why := 'delay';
    elsif h.owes_claim and h.wake_at <= v_start and v_now < h.wake_at + interval '1 second' then
        v_after := h.wake_at + interval '1 second';
        why := 'turn';
    else
        token := gen_random_uuid();
        wait := v_start - v_now;
        is_alone := h.max_concurrency = 1;
        insert into slots (bucket, token, host, kind, owner, starts_at, expires_at)
        values (p_bucket, token, p_host, p_kind, p_owner, v_start, v_start + p_lease);
        update hosts
        set next_slot_at = greatest(next_slot_at, v_now) + spacing_after(v_space, p_slack, h.max_concurrency),
            in_flight = in_flight + 1, yield_until = '-infinity', owes_claim = true
        where bucket = p_bucket and host = p_host;
    end if;
    if why in ('full', 'delay') and not h.owes_claim then
        update hosts
        set yield_until = v_after + greatest(v_space, interval '1 second')
        where bucket = p_bucket and host = p_host;
    end if;
    not_before := case when v_after = 'infinity' then interval '100 years' else v_after - v_now end;
    perform refresh_hosts(array[p_bucket], array[p_host], v_now);
end $$;

drop function hold_hosts(smallint[], text[], integer, text[]);
-- For a transaction that settles and submits, or submits more than once: all its hosts at the start, or the order is lost.
create function hold_hosts(p_buckets smallint[], p_hosts text[], p_default_delay_ms integer) returns void
    language plpgsql
as $$
begin
    perform ensure_hosts(p_buckets, p_hosts, p_default_delay_ms);
    perform lock_hosts(p_buckets, p_hosts);
end $$;

drop function ensure_hosts(smallint[], text[], integer, text[]);
-- A host that has no row yet gets one; an existing row is left alone. It may have been closed before it was ever seen.
create function ensure_hosts(p_buckets smallint[], p_hosts text[], p_delay_ms integer) returns void
    language sql
begin atomic
    insert into hosts (bucket, host, base_delay_ms, delay_ms, closed_until)
    select wanted.bucket, wanted.host, p_delay_ms, p_delay_ms,
           coalesce((select max(c.until) from host_closures c where c.bucket = wanted.bucket and c.host = wanted.host), '-infinity')
    from (select distinct given.bucket, given.host from unnest(p_buckets, p_hosts) as given (bucket, host)) as wanted
    order by 1, 2
    on conflict do nothing;
end;

drop view source_profiles;
alter table sources drop column speaks_for;
create view source_profiles as
select id, url, url_hash, name, kind, priority, tags, org_type, timezone, country, ingestion_mode, policy, poll_every,
       crawl_frequency_days, time_window, max_depth, max_pages, allowed_domains, include_paths, exclude_paths, allow_external,
       start_urls, article_patterns, selectors, parser_hint, rate_limit_ms, revisit_every, status, status_reason,
       consecutive_failures, last_run_at, last_run_status, last_run_message, created_at, updated_at
from sources where url_hash is not null;

alter table discoveries drop column rank;
alter table url_frontier drop column owner_rank, drop column reads_anew;
alter table channels drop column domains, drop column speaks_for_site;
alter table hosts drop column domain;
