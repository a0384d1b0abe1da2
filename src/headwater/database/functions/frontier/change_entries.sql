-- Changes many entries that are waiting, dead or fetched at once: hold, release, kill, revive, hand to another source.
-- The caller names them; whatever changed in between, or is being fetched, is left alone.
create function change_entries(
    p_buckets smallint[], p_hashes bytea[], p_from text[], p_status text, p_reason text, p_held text,
    p_now timestamptz default null, p_error text default null
) returns integer
    language plpgsql
    set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off
as $$
declare
    v_now     timestamptz := coalesce(p_now, clock_timestamp());
    v_buckets smallint[];
    v_hosts   text[];
    v_changed integer;
begin
    select array_agg(e.bucket), array_agg(e.host) into v_buckets, v_hosts
    from unnest(p_buckets, p_hashes) as g (bucket, url_hash)
    join url_frontier e on e.bucket = g.bucket and e.url_hash = g.url_hash;
    if v_hosts is null then
        return 0;
    end if;
    perform lock_hosts(v_buckets, v_hosts);
    with before as materialized (
        select e.bucket, e.url_hash, e.status
        from unnest(p_buckets, p_hashes) as g (bucket, url_hash)
        join url_frontier e on e.bucket = g.bucket and e.url_hash = g.url_hash
        where e.status = any (p_from)
    ), moved as (
        update url_frontier e
        set status = coalesce(p_status, e.status),
            -- A suspect stays one, whatever happens to its source.
            held = case when p_status is null and e.held = 'suspect' then e.held else p_held end,
            reason = case when p_status = 'dead' then p_reason when p_status = 'pending' then null else e.reason end,
            last_error = case when p_status is null then e.last_error else p_error end,
            retry_count = case when p_status = 'pending' then 0 else e.retry_count end,
            next_fetch_at = case when p_status = 'pending' then v_now else e.next_fetch_at end,
            revisit_at = case when p_status is null then e.revisit_at end,
            -- One that was dead is read anew: what it left may have been withdrawn meanwhile.
            etag = case when p_status = 'pending' and e.status = 'dead' then null else e.etag end,
            last_modified = case when p_status = 'pending' and e.status = 'dead' then null else e.last_modified end,
            content_hash = case when p_status = 'pending' and e.status = 'dead' then null else e.content_hash end,
            updated_at = v_now
        from before b
        where e.bucket = b.bucket and e.url_hash = b.url_hash and e.status = b.status
        returning e.source_id, e.status, b.status as from_status
    ), counted as (
        insert into counter_deltas (source_id, status, entries)
        select c.source_id, c.status, sum(c.entries)
        from (select m.source_id, m.status, 1 as entries from moved m
              union all select m.source_id, m.from_status, -1 from moved m) as c
        group by 1, 2 having sum(c.entries) <> 0
    )
    select count(*) into v_changed from moved;
    perform refresh_hosts(v_buckets, v_hosts, v_now);
    return v_changed;
end $$;
