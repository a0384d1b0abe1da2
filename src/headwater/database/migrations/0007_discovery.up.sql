-- Where new URLs come from: sources in full, their channels, what those listed, and every run's account.

alter table sources
    add column url_hash             bytea check (length(url_hash) = 32),
    add column tags                 text[] not null default '{}',
    add column org_type             text,
    add column timezone             text,
    add column country              text,
    add column ingestion_mode       text not null default 'spider' check (ingestion_mode in ('feed', 'spider', 'both')),
    add column policy               text check (policy in ('adaptive', 'tiers', 'frequency', 'fixed')),
    add column poll_every           interval check (poll_every > interval '0'),
    add column crawl_frequency_days real check (crawl_frequency_days > 0),
    add column time_window          text,
    add column max_depth            smallint not null default 2 check (max_depth between -1 and 100),
    add column max_pages            integer check (max_pages > 0),
    add column allowed_domains      text[] not null default '{}',
    add column include_paths        text[] not null default '{}',
    add column exclude_paths        text[] not null default '{}',
    add column allow_external       boolean not null default false,
    add column start_urls           text[] not null default '{}',
    add column article_patterns     text[] not null default '{}',
    add column selectors            jsonb not null default '{}',
    add column parser_hint          text,
    add column consecutive_failures smallint not null default 0,
    add column last_run_at          timestamptz,
    add column last_run_status      text check (last_run_status in ('ok', 'warn', 'fail')),
    add column last_run_message     text;

comment on column sources.max_depth is '-1 is without a limit.';
comment on column sources.poll_every is 'What a person set: it means the policy `fixed`.';
comment on column sources.policy is 'Null: by the kind of channel and source.';

-- One source per address. What people add by hand belongs to a source without one.
create unique index sources_address on sources (url_hash) where status <> 'deleted';
create index sources_by_name on sources (lower(name), id);
create index sources_ingestion_mode on sources (ingestion_mode);

-- Sources with an address, in the columns that make a `Source`.
create view source_profiles as
select id, url, url_hash, name, kind, priority, tags, org_type, timezone, country, ingestion_mode, policy, poll_every,
       crawl_frequency_days, time_window, max_depth, max_pages, allowed_domains, include_paths, exclude_paths, allow_external,
       start_urls, article_patterns, selectors, parser_hint, rate_limit_ms, revisit_every, status, status_reason,
       consecutive_failures, last_run_at, last_run_status, last_run_message, created_at, updated_at
from sources where url_hash is not null;

-- A host of a job source is asked more slowly, and smaller pages are expected of it.
alter table host_policies add column serves_jobs boolean not null default false;

-- One polled thing of a source. `search` looks for the others; `crawl` puts start pages into the queue.
-- `is_active` is kept by whoever changes a channel's or its source's state: the due index must not ask another table.
create table channels (
    id                 uuid primary key default gen_random_uuid(),
    source_id          uuid not null references sources,
    kind               text not null check (kind in ('feed', 'sitemap', 'listing', 'api', 'crawl', 'search')),
    url                text not null,
    url_hash           bytea not null check (length(url_hash) = 32),
    bucket             smallint not null,
    host               text not null,
    title              text,
    recipe             text,
    is_enabled         boolean not null default true,
    disabled_reason    text,
    is_active          boolean not null,
    former_urls        text[] not null default '{}',
    -- When it is polled next, and why then.
    next_poll_at       timestamptz not null default now(),
    next_reason        text not null default 'new',
    poll_interval      interval,
    trigger            text not null default 'schedule' check (trigger in ('schedule', 'manual')),
    -- The right to poll it.
    token              uuid,
    leased_by          text,
    lease_until        timestamptz,
    progress           jsonb,
    -- What it said last.
    etag               text,
    last_modified      text,
    last_polled_at     timestamptz,
    last_ok_at         timestamptz,
    last_new_at        timestamptz,
    newest_item_at     timestamptz,
    last_item_count    integer not null default 0,
    nochange_count     integer not null default 0,
    overflow_count     integer not null default 0,
    moved_count        smallint not null default 0,
    silent_since       timestamptz,
    -- What went wrong.
    consecutive_errors integer not null default 0,
    error_class        text,
    class_errors       integer not null default 0,
    last_error         text,
    last_status        smallint,
    rhythm             jsonb,
    wishes             jsonb not null default '{}',
    created_at         timestamptz not null default now(),
    updated_at         timestamptz not null default now(),
    unique (source_id, kind, url_hash),
    constraint leased_as_a_whole check ((token is null) = (lease_until is null))
) with (fillfactor = 70);

comment on column channels.wishes is 'What its last body asked for: a 304 does not say it again.';

-- A feed is followed once, whoever names it.
create unique index channels_one_feed on channels (url_hash) where kind = 'feed' and is_enabled;
create index channels_due on channels (next_poll_at) where is_active;
create index channels_of_host on channels (bucket, host, next_poll_at) where is_enabled;
create index channels_at_work on channels (bucket, host) where token is not null;
create index channels_failing on channels (source_id) where is_active and consecutive_errors > 0;
create index channels_silent on channels (source_id) where is_active and silent_since is not null;

-- What a channel listed, so that a poll knows what is new and a document can use what the channel knew.
create table channel_items (
    channel_id    uuid not null references channels on delete cascade,
    url_hash      bytea not null check (length(url_hash) = 32),
    bucket        smallint not null,
    signature     bytea not null,
    title         text,
    author        text,
    summary       text,
    content       text,
    language      text,
    published_at  timestamptz,
    updated_at    timestamptz,
    fields        jsonb,
    first_seen_at timestamptz not null default now(),
    last_seen_at  timestamptz not null default now(),
    primary key (channel_id, url_hash)
) with (fillfactor = 85);
comment on column channel_items.signature is 'What it said, in short. Empty: it was listed and refused, and nothing else of it is kept.';
create index channel_items_entry on channel_items (bucket, url_hash);
create index channel_items_fresh on channel_items using brin (first_seen_at);
create index channel_items_old on channel_items using brin (last_seen_at);

-- One row per finished run: a poll of a channel, a crawl's start, a search. By day, dropped a day at a time.
create table runs (
    at           timestamptz not null,
    id           uuid not null,
    source_id    uuid not null,
    channel_id   uuid not null,
    kind         text not null,
    trigger      text not null,
    status       text not null check (status in ('ok', 'warn', 'fail')),
    requests     integer not null default 0,
    found        integer not null default 0,
    inserted     integer not null default 0,
    updated      integer not null default 0,
    skipped      integer not null default 0,
    errors       integer not null default 0,
    duration_ms  integer not null,
    http_status  smallint,
    error_class  text,
    message      text not null default '',
    next_poll_at timestamptz,
    next_reason  text,
    policy       text
) partition by range (at);
create index runs_of_source on runs (source_id, at desc);
create index runs_of_channel on runs (channel_id, at desc);
create index runs_recent on runs (at);

select ensure_days('runs', (now() at time zone 'utc')::date - 1, 16);

-- What happened that a person may want to know, and who did it: the trail of every change of a source, moves, alarms.
create table events (
    id         bigint generated always as identity primary key,
    at         timestamptz not null default clock_timestamp(),
    kind       text not null,
    level      text not null default 'info' check (level in ('info', 'warn', 'error')),
    actor      text not null,
    source_id  uuid,
    channel_id uuid,
    message    text not null,
    details    jsonb not null default '{}'
);
create index events_of_source on events (source_id, id desc);
create index events_by_time on events (at);

-- The price of a poll, one number for the whole system, steered so that polls keep to the budget.
create table cadence (
    only_row   boolean primary key default true check (only_row),
    state      jsonb not null default '{}',
    steered_at timestamptz not null default now()
);
insert into cadence default values;

-- Leases due channels, the longest due first and one per host: many feeds of one host would only wait for each other.
-- The others of such a host are put as far off as its slots lie apart, or they would hide everything behind them.
create function claim_channels(p_owner text, p_limit integer, p_lease interval, p_now timestamptz default null)
    returns setof uuid
    language plpgsql
    set plan_cache_mode = force_generic_plan
as $$
declare
    v_now    timestamptz := coalesce(p_now, clock_timestamp());
    -- Days may be simulated; how long a process may work on something may not.
    v_clock  timestamptz := clock_timestamp();
    v_ids    uuid[];
    v_chosen uuid[];
begin
    select array_agg(due.id) into v_ids
    from (select c.id from channels c
          where c.is_active and c.next_poll_at <= v_now and (c.lease_until is null or c.lease_until <= v_clock)
          order by c.next_poll_at limit 8 * p_limit
          for update skip locked) as due;
    if v_ids is null then
        return;
    end if;
    -- A statement of its own: it must see what others leased until the rows were locked.
    select array_agg(first.id) into v_chosen
    from (select c.id from (
              select distinct on (d.bucket, d.host) d.id, d.bucket, d.host, d.next_poll_at
              from channels d where d.id = any (v_ids)
              order by d.bucket, d.host, d.next_poll_at, d.id) as c
          where not exists (select 1 from channels busy where busy.bucket = c.bucket and busy.host = c.host
                            and busy.token is not null and busy.lease_until > v_clock)
          order by c.next_poll_at limit p_limit) as first;
    -- Everything of such a host that is due gets a turn of its own, not only what this claim happened to see: thousands of
    -- channels of one host would otherwise be looked at again and again, and nobody else.
    update channels c
    set next_poll_at = v_now + turn.place * turn.apart, next_reason = 'waits for its turn at ' || c.host
    from (select w.id, spacing_of(coalesce(greatest(h.delay_ms, h.penalty_ms), 1000), 0) + interval '1 second' as apart,
                 row_number() over (partition by w.bucket, w.host order by w.next_poll_at, w.id) as place
          from (select distinct d.bucket, d.host from channels d
                where d.id = any (v_ids) and d.id <> all (coalesce(v_chosen, '{}'))
                  and (exists (select 1 from channels o where o.id = any (coalesce(v_chosen, '{}'))
                                                          and o.bucket = d.bucket and o.host = d.host)
                       or exists (select 1 from channels o where o.bucket = d.bucket and o.host = d.host
                                                             and o.token is not null and o.lease_until > v_clock))) as busy_host
          cross join lateral (
              select q.id, q.bucket, q.host, q.next_poll_at from channels q
              where q.bucket = busy_host.bucket and q.host = busy_host.host and q.is_enabled and q.is_active
                and q.next_poll_at <= v_now
                and (q.lease_until is null or q.lease_until <= v_clock) and q.id <> all (coalesce(v_chosen, '{}'))
              order by q.next_poll_at limit 5000
              for update skip locked) as w
          left join hosts h on h.bucket = w.bucket and h.host = w.host) as turn
    where c.id = turn.id;
    return query
    update channels c
    set token = gen_random_uuid(), leased_by = p_owner, lease_until = v_clock + p_lease
    where c.id = any (v_chosen)
    returning c.id;
end $$;

create view feed_state as
select distinct on (source_id) source_id, url as feed_url, last_polled_at, etag as last_etag, last_modified, last_item_count,
       consecutive_errors, last_error, created_at, updated_at
from channels where kind = 'feed' order by source_id, is_enabled desc, created_at;

create view crawl_locks as
select distinct on (source_id) source_id, lease_until, leased_by from channels
where token is not null and lease_until > now() order by source_id, lease_until desc;

create view crawl_logs as
select id, source_id, at as ran_at, duration_ms, found, inserted, updated, skipped, status, message from runs;

create view job_executions as
select id, channel_id as job_id, source_id, status, at - make_interval(secs => duration_ms / 1000.0) as started_at,
       at as completed_at, duration_ms, found as items_found, inserted as items_inserted, message as error_message from runs;
