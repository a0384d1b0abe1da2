-- Who may say what. A source owns an entry of a host it may speak for; one that may not only keeps it until a better owner
-- comes. Where one site ends and another begins is its registrable domain.

alter table hosts add column domain text;
comment on column hosts.domain is 'Its registrable domain by the public suffix list; null until maintenance has named it.';
create index hosts_unnamed on hosts (bucket, host) where domain is null;

alter table sources add column speaks_for text[] not null default '{}';
comment on column sources.speaks_for is 'Hosts beside those of its channels'' domains of which its word counts, by a person.';
create or replace view source_profiles as
select id, url, url_hash, name, kind, priority, tags, org_type, timezone, country, ingestion_mode, policy, poll_every,
       crawl_frequency_days, time_window, max_depth, max_pages, allowed_domains, include_paths, exclude_paths, allow_external,
       start_urls, article_patterns, selectors, parser_hint, rate_limit_ms, revisit_every, status, status_reason,
       consecutive_failures, last_run_at, last_run_status, last_run_message, created_at, updated_at, speaks_for
from sources where url_hash is not null;

-- What was found before is left to its owner: taking everything over at once would fetch everything again.
alter table url_frontier add column owner_rank smallint not null default 2,
                         add column reads_anew boolean not null default false;
alter table url_frontier alter column owner_rank set default 0;
comment on column url_frontier.owner_rank is '2: it lies below the address of the source that owns it; 1: that one may speak for its host; 0: a stranger.';
comment on column url_frontier.reads_anew is 'Another source took it over during a fetch: it is fetched and read again for that one.';
alter table discoveries add column rank smallint not null default 2;
alter table discoveries alter column rank set default 0;

alter table channels add column domains text[] not null default '{}', add column speaks_for_site boolean not null default true;
alter table channels alter column speaks_for_site set default false;
comment on column channels.domains is 'The registrable domains of whose pages its words count, as of its last poll.';
comment on column channels.speaks_for_site is 'Wherever it lies: a person gave it, or the site of its source names it.';

alter type submission add attribute domain text, add attribute rank smallint;

drop function ensure_hosts(smallint[], text[], integer);
-- A host that has no row yet gets one; an existing row is left alone. It may have been closed before it was ever seen.
-- Its registrable domain comes from the caller, who has the list of public suffixes; null: maintenance names it.
create function ensure_hosts(p_buckets smallint[], p_hosts text[], p_delay_ms integer, p_domains text[] default null) returns void
    language sql
begin atomic
    insert into hosts (bucket, host, domain, base_delay_ms, delay_ms, closed_until)
    select wanted.bucket, wanted.host, wanted.domain, p_delay_ms, p_delay_ms,
           coalesce((select max(c.until) from host_closures c where c.bucket = wanted.bucket and c.host = wanted.host), '-infinity')
    from (select given.bucket, given.host, max(given.domain) as domain
          from unnest(p_buckets, p_hosts, p_domains) as given (bucket, host, domain) group by 1, 2) as wanted
    order by 1, 2
    on conflict do nothing;
end;

drop function hold_hosts(smallint[], text[], integer);
-- For a transaction that settles and submits, or submits more than once: all its hosts at the start, or the order is lost.
create function hold_hosts(p_buckets smallint[], p_hosts text[], p_default_delay_ms integer, p_domains text[] default null) returns void
    language plpgsql
as $$
begin
    perform ensure_hosts(p_buckets, p_hosts, p_default_delay_ms, p_domains);
    perform lock_hosts(p_buckets, p_hosts);
end $$;

drop function reserve_slot(smallint, text, text, text, interval, interval, integer, interval, timestamptz);
-- The right to start one request that is no entry's: a poll, robots.txt, a hop, a render, a person's test fetch.
-- Granted up to p_reach ahead; otherwise `not_before` says when to ask again, and claims yield the host until then.
-- They take turns: after a grant a claim that could have the next slot gets a second to take it, and only a claim makes
-- the host yield again.
create function reserve_slot(
    p_bucket smallint, p_host text, p_kind text, p_owner text, p_lease interval, p_reach interval,
    p_default_delay_ms integer, p_slack interval, p_now timestamptz default null, p_domain text default null,
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
    perform ensure_hosts(array[p_bucket], array[p_host], p_default_delay_ms, array[p_domain]);
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

-- What a submission means for an entry that exists. `failed` may rise but its time is never advanced: a 429 or a backoff
-- is not undone by a feed that still lists the page.
-- A source with a better claim to the page takes it over.
create or replace function submission_outcome(e url_frontier, i submission, p_now timestamptz) returns text
    language sql stable
return case
    when i.rank > e.owner_rank then 'taken_over'
    -- Whoever submits has asked: it is taken down no more.
    when e.status = 'dead' and e.reason = 'takedown' then 'revisit'
    when e.status = 'pending' and (i.priority > e.priority or p_now + coalesce(i.due_in, interval '0') < e.next_fetch_at)
        then 'raised'
    when e.status = 'failed' and i.priority > e.priority then 'raised'
    when e.status in ('fetched', 'fetching') and i.changed_at is not null
         and i.changed_at > coalesce(e.changed_at, '-infinity')
         and (e.status = 'fetching' or i.changed_at > e.last_fetched_at) then 'revisit'
    else 'duplicate' end;

-- Queues what is new, raises what is pending, wakes what changed after its last fetch, hands what a stranger found to a
-- source that may speak for it. Answers by position.
-- Invariant: nothing is queued twice and nothing that is queued sleeps for ever: a host's row is locked before its
-- entries are judged and refreshed after they are written, in statements of their own.
create or replace function submit_urls(
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
    v_domains text[];
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
        perform hold_hosts(v_buckets, v_hosts, p_default_delay_ms, v_domains);
        v_now := coalesce(p_now, clock_timestamp());
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
               case when not v_is_news[i.place] then 'duplicate'
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
