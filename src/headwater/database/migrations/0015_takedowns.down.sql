drop table job_sightings;
drop index jobs_apply_host, jobs_page_host;
comment on column jobs.source_id is null;
alter table jobs drop column page_url, drop column is_spoken_for;

drop function keep_page(settlement, bytea, new_document, bytea, new_body, text, text[], text);
drop function strip_claim(smallint, bytea);
drop function without_claim(new_document);
drop function ended_by_takedown(settlement);
-- The end of a journey: its request, and what it leaves. False if its lease was lost; then nothing is changed at all.
-- `p_withdrawn_by` says why the documents of this address have to go.
create function keep_page(
    p_settlement settlement, p_url_hash bytea, p_document new_document, p_outlinks bytea, p_body new_body, p_withdrawn_by text
) returns boolean
    language plpgsql
as $$
declare
    v_now timestamptz := clock_timestamp();
begin
    if cardinality(settle_requests(array[p_settlement])) = 0 then
        return false;
    end if;
    if p_body.url_hash is not null then
        perform keep_body(p_body, v_now);
    end if;
    if p_document.url_hash is not null then
        if (keep_document(p_document, v_now)).outcome <> 'unchanged' then
            perform keep_outlinks(p_document.bucket, p_document.url_hash, p_outlinks);
        end if;
    elsif p_withdrawn_by <> '' then
        perform withdraw_page(p_settlement.bucket, p_url_hash, p_withdrawn_by, v_now);
    end if;
    return true;
end $$;

drop index documents_claiming;
drop function is_taken_down(text[]);
drop function takedowns_over(text[]);
drop function outlive_watchers(interval);
drop view takedown_watchers;
drop function watch_takedowns();
drop function domains_above(text);
drop function host_backwards(text);
drop function url_host(text);

drop index takedowns_unswept;
alter table takedowns drop column swept_at;

-- Changes many entries that are waiting, dead or fetched at once: hold, release, kill, revive, hand to another source.
-- The caller names them; whatever changed in between, or is being fetched, is left alone.
create or replace function change_entries(
    p_buckets smallint[], p_hashes bytea[], p_from text[], p_status text, p_reason text, p_held text,
    p_now timestamptz default null
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
            last_error = case when p_status is null then e.last_error end,
            retry_count = case when p_status = 'pending' then 0 else e.retry_count end,
            next_fetch_at = case when p_status = 'pending' then v_now else e.next_fetch_at end,
            revisit_at = case when p_status is null then e.revisit_at end,
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
