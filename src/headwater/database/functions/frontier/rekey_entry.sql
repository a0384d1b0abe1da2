-- An entry under its new key, with all that is kept by it: moved; merged where that key has an entry already; busy while one
-- of the two is being fetched, and then nothing is changed; gone where it is there no more.
-- Invariants: its host is locked by the caller; the counters equal a recount; nobody who found it is forgotten.
create function rekey_entry(p_bucket smallint, p_old bytea, p_new bytea, p_now timestamptz) returns text
    language plpgsql
    set plan_cache_mode = force_generic_plan set enable_seqscan = off
as $$
declare
    a         url_frontier;
    b         url_frontier;
    v_is_only boolean;
begin
    perform 1 from url_frontier e where e.bucket = p_bucket and e.url_hash in (p_old, p_new) order by e.url_hash for update;
    select * into b from url_frontier e where e.bucket = p_bucket and e.url_hash = p_new;
    v_is_only := not found;
    select * into a from url_frontier e where e.bucket = p_bucket and e.url_hash = p_old;
    if not found then
        return 'gone';
    end if;
    if 'fetching' in (a.status, coalesce(b.status, '')) then
        return 'busy';
    end if;
    insert into discoveries (bucket, url_hash, source_id, channel_id, origin, parent_url, depth, rank, first_seen_at)
    select d.bucket, p_new, d.source_id, d.channel_id, d.origin, d.parent_url, d.depth, d.rank, d.first_seen_at
    from discoveries d where d.bucket = p_bucket and d.url_hash = p_old
    on conflict do nothing;
    delete from discoveries d where d.bucket = p_bucket and d.url_hash = p_old;
    update channel_items i set url_hash = p_new where i.bucket = p_bucket and i.url_hash = p_old
       and not exists (select 1 from channel_items o where o.channel_id = i.channel_id and o.url_hash = p_new);
    delete from channel_items i where i.bucket = p_bucket and i.url_hash = p_old;
    update raw_bodies r set url_hash = p_new where r.bucket = p_bucket and r.url_hash = p_old;
    update fetch_log l set url_hash = p_new where l.bucket = p_bucket and l.url_hash = p_old;
    perform rekey_document(p_bucket, p_old, p_new, p_now);
    if v_is_only then
        update url_frontier e set url_hash = p_new, updated_at = p_now where e.bucket = p_bucket and e.url_hash = p_old;
        return 'moved';
    end if;
    if standing_of(a.status, a.reason) > standing_of(b.status, b.reason) then
        delete from url_frontier e where e.bucket = p_bucket and e.url_hash = p_new;
        insert into counter_deltas (source_id, status, entries) values (b.source_id, b.status, -1);
        update url_frontier e set url_hash = p_new where e.bucket = p_bucket and e.url_hash = p_old;
    else
        delete from url_frontier e where e.bucket = p_bucket and e.url_hash = p_old;
        insert into counter_deltas (source_id, status, entries) values (a.source_id, a.status, -1);
    end if;
    update url_frontier e
    set priority = greatest(a.priority, b.priority), depth = least(a.depth, b.depth),
        discovered_at = least(a.discovered_at, b.discovered_at), fetch_count = greatest(a.fetch_count, b.fetch_count),
        updated_at = p_now
    where e.bucket = p_bucket and e.url_hash = p_new;
    return 'merged';
end $$;
