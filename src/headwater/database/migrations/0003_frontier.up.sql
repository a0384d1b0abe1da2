-- The queue: one row per URL, who found it, and the counters that always equal a recount.

-- No foreign keys to sources here: a source is never removed, only marked deleted, and submit holds its row; the check for
-- every single row cost a tenth of a submit.
create table url_frontier (
    bucket         smallint not null,
    url_hash       bytea not null check (length(url_hash) = 32),
    host           text not null,
    url            text not null,
    source_id      uuid not null,
    origin         text not null check (origin in ('feed', 'sitemap', 'spider', 'manual', 'api')),
    parent_url     text,
    depth          smallint not null default 0,
    priority       smallint not null check (priority between 1 and 10),
    status         text not null default 'pending' check (status in ('pending', 'fetching', 'fetched', 'failed', 'dead')),
    held           text check (held in ('paused', 'suspect')),
    next_fetch_at  timestamptz not null default now(),
    token          uuid,
    retry_count    smallint not null default 0,
    crash_count    smallint not null default 0,
    fetch_count    integer not null default 0,
    hops           smallint not null default 0,
    resume_url     text,
    moved_to       text,
    reason         text,
    last_error     text,
    last_status    smallint,
    etag           text,
    last_modified  text,
    content_hash   bytea,
    changed_at     timestamptz,
    revisit_at     timestamptz,
    last_fetched_at timestamptz,
    discovered_at  timestamptz not null default now(),
    created_at     timestamptz not null default now(),
    updated_at     timestamptz not null default now(),
    primary key (bucket, url_hash),
    constraint leased_while_fetching check ((status = 'fetching') = (token is not null)),
    constraint dead_has_a_reason check (status <> 'dead' or reason is not null),
    constraint held_only_while_waiting check (held is null or status in ('pending', 'failed'))
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000,
        autovacuum_vacuum_cost_delay = 0, autovacuum_analyze_scale_factor = 0.05);

-- The waiting entries of a host, probed level by level: a million entries backing off cost nothing, and a better one due
-- later does not hide one due now.
create index url_frontier_waiting on url_frontier (bucket, host, priority desc, next_fetch_at)
    where status in ('pending', 'failed') and held is null;
create index url_frontier_paused on url_frontier (source_id, bucket, url_hash) where held = 'paused';
create index url_frontier_suspect on url_frontier (bucket, next_fetch_at) where held = 'suspect';
create index url_frontier_revisit on url_frontier (revisit_at) where status = 'fetched' and revisit_at is not null;
create index url_frontier_robots on url_frontier (bucket, host) where status = 'dead' and reason = 'robots_blocked';

create table discoveries (
    bucket        smallint not null,
    url_hash      bytea not null,
    source_id     uuid not null,
    channel_id    uuid,
    origin        text not null,
    parent_url    text,
    depth         smallint not null default 0,
    first_seen_at timestamptz not null default now(),
    primary key (source_id, bucket, url_hash)
);
-- The way from an entry to its other owners.
create index discoveries_entry on discoveries (bucket, url_hash);

-- Entries by source and status, counted where they were before a lease: `fetching` is counted live from slots. Signed
-- deltas are appended in the transaction that changes entries and folded by maintenance, so no row is hot.
create table counters (
    source_id uuid not null,
    status    text not null,
    entries   bigint not null,
    primary key (source_id, status)
);
create table counter_deltas (
    source_id uuid not null,
    status    text not null,
    entries   bigint not null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);

-- One row per finished request, by day. Dropped a day at a time.
create table fetch_log (
    at          timestamptz not null,
    bucket      smallint not null,
    host        text not null,
    token       uuid not null,
    kind        text not null,
    owner       text not null,
    url_hash    bytea,
    started_at  timestamptz,
    delay_ms    integer,
    duration_ms integer,
    status      smallint,
    body_bytes  bigint,
    verdict     text not null,
    reason      text
) partition by range (at);
create index fetch_log_entry on fetch_log (bucket, url_hash);

-- A day's partition is filled beside the table and attached: creating it in place would stall every writer.
create function ensure_days(p_table text, p_from date, p_days integer) returns integer
    language plpgsql
as $$
declare
    v_day  date;
    v_name text;
    v_made integer := 0;
begin
    perform pg_advisory_xact_lock(hashtextextended('headwater.' || p_table, 0));
    for v_day in select p_from + n from generate_series(0, p_days - 1) as n loop
        v_name := p_table || '_' || to_char(v_day, 'YYYYMMDD');
        continue when to_regclass(v_name) is not null;
        execute format('create table %I (like %I including defaults including constraints including storage)', v_name, p_table);
        execute format('alter table %I attach partition %I for values from (%L) to (%L)', p_table, v_name,
                       (v_day::timestamp at time zone 'utc'), ((v_day + 1)::timestamp at time zone 'utc'));
        v_made := v_made + 1;
    end loop;
    return v_made;
end $$;

select ensure_days('fetch_log', (now() at time zone 'utc')::date - 1, 16);

-- Up to where host statistics were folded from the fetch log.
create table statistics_mark (
    only_row     boolean primary key default true check (only_row),
    folded_until timestamptz not null
);
insert into statistics_mark (folded_until) values (now());

create function entry_id(bucket smallint, url_hash bytea) returns uuid
    language sql immutable parallel safe
return encode(set_byte(set_byte(set_byte(substring(url_hash from 1 for 1) || substring(url_hash from 1 for 15), 0, bucket),
       6, 128 | (get_byte(url_hash, 5) & 15)), 8, 128 | (get_byte(url_hash, 7) & 63)), 'hex')::uuid;

-- Writes the derived columns of hosts whose rows this transaction has locked, from what is waiting now.
-- A host that is already open keeps its place in the line of its level; one that opens, or comes to another level, gets the
-- present as its place, so no place is ever taken far in the past and a claim may begin its search near where the last one
-- found something.
create function refresh_hosts(p_buckets smallint[], p_hosts text[], p_now timestamptz) returns void
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off set enable_bitmapscan = off
as $$
begin
    update hosts h
    set wake_at = n.wake_at, priority = n.priority, promote_at = n.promote_at
    from (
        select c.bucket, c.host,
               case when state.opens_at > p_now then state.opens_at
                    when c.wake_at <= p_now and c.priority = state.level then greatest(state.opens_at, c.wake_at)
                    else p_now end as wake_at,
               case when state.opens_at = 'infinity' then 0 else state.level end as priority,
               case when state.opens_at = 'infinity' then 'infinity' else coalesce(state.better_at, 'infinity') end as promote_at
        from (select distinct given.bucket, given.host from unnest(p_buckets, p_hosts) as given (bucket, host)) as wanted
        join hosts c on c.bucket = wanted.bucket and c.host = wanted.host
        cross join lateral (
            select greatest(c.next_slot_at - (c.burst - 1) * spacing_of(c.delay_ms, c.penalty_ms),
                            c.closed_until, c.yield_until) as at
        ) as free
        left join lateral (
            select e.priority as level, e.next_fetch_at as due_at from url_frontier e
            where e.bucket = c.bucket and e.host = c.host and e.status in ('pending', 'failed') and e.held is null
              and c.in_flight < capacity_of(c.max_concurrency, c.bad_in_a_row)
            order by e.priority desc, e.next_fetch_at limit 1
        ) as first on true
        -- Mostly the best one waiting is due by the time the host opens, and nothing else matters. If not, every level is
        -- asked: something less urgent may be due before it.
        cross join lateral (
            select array_agg(l.level) as levels, array_agg(l.due) as first_due, min(l.due) as due_at
            from (select level::smallint, (select e.next_fetch_at from url_frontier e
                                 where e.bucket = c.bucket and e.host = c.host and e.priority = level
                                   and e.status in ('pending', 'failed') and e.held is null
                                 order by e.next_fetch_at limit 1) as due
                  from generate_series(1, first.level) as level
                  where first.due_at > greatest(free.at, p_now)) as l
            where l.due is not null
        ) as ladder
        cross join lateral (
            select max(l.level) as level from unnest(ladder.levels, ladder.first_due) as l (level, due)
            where l.due <= greatest(free.at, ladder.due_at, p_now)
        ) as best
        cross join lateral (
            select case when first.level is null then 'infinity'
                        else greatest(free.at, coalesce(ladder.due_at, first.due_at)) end as opens_at,
                   coalesce(best.level, first.level) as level,
                   (select min(l.due) from unnest(ladder.levels, ladder.first_due) as l (level, due)
                    where l.level > best.level) as better_at
        ) as state
    ) as n
    -- What stays as it was is not written: most submits change nothing here.
    where h.bucket = n.bucket and h.host = n.host
      and (h.wake_at <> n.wake_at or h.priority <> n.priority or h.promote_at <> n.promote_at);
end $$;

-- What the words of an entry are called where pages of a crawl are spoken of.
create function page_status(status text) returns text
    language sql immutable parallel safe
return case status when 'fetching' then 'processing' when 'fetched' then 'completed' when 'dead' then 'failed' else 'pending' end;

create view source_pages as
select entry_id(e.bucket, e.url_hash) as id, d.source_id, e.url, page_status(e.status) as status,
       d.depth, coalesce(e.reason, e.last_error) as error, e.created_at, e.updated_at
from discoveries d
join url_frontier e using (bucket, url_hash);
