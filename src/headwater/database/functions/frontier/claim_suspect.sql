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
    if exists (select from crawl_pause) or exists (select 1 from slots s where s.owner = p_owner) then
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
