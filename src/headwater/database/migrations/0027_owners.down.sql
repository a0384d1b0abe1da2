select amend_function('claim_channels', 'case when c.token is null or is_owner_alive(c.leased_by, p_lease) then c.lost_count else',
                      'case when c.token is null then c.lost_count else');

drop function rescue_expired(integer, timestamptz, interval);
-- Takes back what dead or frozen workers held. Their entries return as suspects; one that was alone is poison.
create function rescue_expired(p_limit integer, p_now timestamptz default null) returns table (rescued integer, poisoned integer)
    language plpgsql
    set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off
as $$
#variable_conflict use_column
declare
    v_now     timestamptz := coalesce(p_now, clock_timestamp());
    v_buckets smallint[];
    v_hosts   text[];
begin
    select array_agg(s.bucket), array_agg(s.host) into v_buckets, v_hosts
    from (select bucket, host from slots where expires_at <= v_now order by expires_at limit p_limit) as s;
    if v_hosts is null then
        return query select 0, 0;
        return;
    end if;
    perform lock_hosts(v_buckets, v_hosts);
    return query
    with ended as materialized (
        delete from slots t
        using (select distinct bucket, host from unnest(v_buckets, v_hosts) as g (bucket, host)) as g
        where t.bucket = g.bucket and t.host = g.host and t.expires_at <= v_now
        returning t.*
    ), moved as (
        update url_frontier e
        set status = case when x.kind = 'suspect' then 'dead' else x.from_status end,
            reason = case when x.kind = 'suspect' then 'poison' else e.reason end,
            last_error = case when x.kind = 'suspect' then 'its worker died twice, the second time with nothing else to do'
                              else e.last_error end,
            held = case when x.kind = 'suspect' then null else 'suspect' end,
            crash_count = e.crash_count + 1, token = null, updated_at = v_now
        from ended x
        where e.bucket = x.bucket and e.url_hash = x.url_hash and e.token = x.token
        returning e.status, e.source_id, x.from_status
    ), counted as (
        insert into counter_deltas (source_id, status, entries)
        select c.source_id, c.status, sum(c.entries)
        from (select m.source_id, m.status, 1 as entries from moved m
              union all select m.source_id, m.from_status, -1 from moved m) as c
        group by 1, 2 having sum(c.entries) <> 0
    ), logged as (
        insert into fetch_log (at, bucket, host, token, kind, owner, url_hash, verdict, reason)
        select v_now, x.bucket, x.host, x.token, x.kind, x.owner, x.url_hash, 'crashed', 'lease_expired' from ended x
    ), freed as (
        -- When the dead worker began its request, if it did, nobody knows: a whole spacing from now is safe.
        update hosts h
        set in_flight = h.in_flight - f.n,
            next_slot_at = greatest(h.next_slot_at, v_now + spacing_of(h.delay_ms, h.penalty_ms))
        from (select x.bucket, x.host, count(*)::smallint as n from ended x group by 1, 2) as f
        where h.bucket = f.bucket and h.host = f.host
    )
    select (select count(*) from ended)::integer, (select count(*) from moved where status = 'dead')::integer;
    perform refresh_hosts(v_buckets, v_hosts, v_now);
end $$;

-- Extends leases that still hold; answers with their tokens. A row being settled right now needs no extension, and
-- waiting for it could close a circle of waits.
create or replace function extend_leases(p_buckets smallint[], p_tokens uuid[], p_lease interval, p_now timestamptz default null)
    returns uuid[]
    language plpgsql
    set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off
as $$
declare
    v_now    timestamptz := coalesce(p_now, clock_timestamp());
    v_tokens uuid[];
begin
    with held as materialized (
        select s.bucket, s.token
        from unnest(p_buckets, p_tokens) as given (bucket, token)
        join slots s on s.bucket = given.bucket and s.token = given.token
        where s.expires_at > v_now
        for update of s skip locked
    ), extended as (
        update slots s set expires_at = greatest(s.expires_at, v_now + p_lease)
        from held h where s.bucket = h.bucket and s.token = h.token
        returning s.token
    )
    select array_agg(token) into v_tokens from extended;
    return coalesce(v_tokens, array[]::uuid[]);
end $$;

drop function is_owner_alive(text, interval);
drop function owner_key(text);
