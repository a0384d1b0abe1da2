-- Ends requests: gives back their slots, moves their entries on, notes them in the log and in the counters, and lets the
-- hosts go on. Answers with the tokens that still held; a stale or expired one changes nothing.
-- `status` null puts the entry back as it was. `host_feedback` (`temper` in the type) is 1 where the host asked us to slow down, -1
-- where it was content, 2 where it could not even be reached.
-- A host is in doubt until it has answered within seconds, and again after a request that failed or took longer.
create function settle_requests(p_settlements settlement[], p_now timestamptz default null) returns uuid[]
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
                  g.moved_to, g.revisit_in, g.close_for, g.close_reason, g.temper as host_feedback, g.kind as asked_kind, g.address, g.sent_from
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
            content_hash = case when c.reads_anew then null when x.verdict = 'fetched' then x.content_hash
                                else e.content_hash end,
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
                               body_bytes, verdict, reason, sent_from)
        select v_now, x.bucket, x.host, x.token, coalesce(x.asked_kind, x.kind), x.owner, x.url_hash, x.starts_at + x.started_after,
               greatest(h.delay_ms, h.penalty_ms), x.duration_ms, x.http_status, x.body_bytes, x.verdict, x.reason,
               x.sent_from::inet
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
                     max(began_at(x.starts_at + x.started_after, x.duration_ms, v_now)) as started_at,
                     bool_or(x.verdict <> 'released') as visited, coalesce(bool_or(x.host_feedback = 1), false) as scolded,
                     bool_or(x.http_status is not null) as reached,
                     case when bool_or(x.host_feedback = 2 or x.counts_as_failure and x.http_status is null
                                       or x.verdict <> 'released' and x.duration_ms > 5000) then true
                          when bool_or(x.http_status < 500) then false end as leaves_doubt,
                     max(x.address) as address,
                     case when bool_or(x.http_status is not null) then null
                          else nullif(count(*) filter (where x.host_feedback = 2), 0)::integer end as unreached,
                     count(*) filter (where x.host_feedback < 0)::smallint as content
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
