-- The queue: one row per URL, who found it, the counters that always equal a recount, and the log of requests.
-- Lock order everywhere: hosts by (bucket, host), then their entries. Whoever changes an entry holds its host's row.

-- No foreign keys to sources here: a source is never removed, only marked deleted, and submit holds its row; the check for
-- every single row cost a tenth of a submit.
create table url_frontier (
    bucket          smallint not null,
    url_hash        bytea not null check (length(url_hash) = 32),
    host            text not null,
    url             text not null,
    source_id       uuid not null,
    origin          text not null check (origin in ('feed', 'sitemap', 'spider', 'manual', 'api')),
    parent_url      text,
    depth           smallint not null default 0,
    priority        smallint not null check (priority between 1 and 10),
    status          text not null default 'pending' check (status in ('pending', 'fetching', 'fetched', 'failed', 'dead')),
    held            text check (held in ('paused', 'suspect')),
    next_fetch_at   timestamptz not null default now(),
    token           uuid,
    retry_count     smallint not null default 0,
    crash_count     smallint not null default 0,
    fetch_count     integer not null default 0,
    hops            smallint not null default 0,
    resume_url      text,
    moved_to        text,
    reason          text,
    last_error      text,
    last_status     smallint,
    etag            text,
    last_modified   text,
    content_hash    bytea,
    changed_at      timestamptz,
    revisit_at      timestamptz,
    last_fetched_at timestamptz,
    discovered_at   timestamptz not null default now(),
    created_at      timestamptz not null default now(),
    updated_at      timestamptz not null default now(),
    -- Who may say what. A source owns an entry of a host it may speak for; one that may not only keeps it until a better
    -- owner comes.
    owner_rank      smallint not null default 0,
    reads_anew      boolean not null default false,
    primary key (bucket, url_hash),
    constraint leased_while_fetching check ((status = 'fetching') = (token is not null)),
    constraint dead_has_a_reason check (status <> 'dead' or reason is not null),
    constraint held_only_while_waiting check (held is null or status in ('pending', 'failed'))
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000,
        autovacuum_vacuum_cost_delay = 0, autovacuum_analyze_scale_factor = 0.05);
comment on column url_frontier.content_hash is
    'Of the text that was extracted; of the body where a page has no article, such as a list. Null: it is to be read, whatever it says.';
comment on column url_frontier.owner_rank is '2: it lies below the address of the source that owns it; 1: that one may speak for its host; 0: a stranger.';
comment on column url_frontier.reads_anew is 'Another source took it over during a fetch: it is fetched and read again for that one.';

-- The waiting entries of a host, probed level by level: a million entries backing off cost nothing, and a better one due
-- later does not hide one due now.
create index url_frontier_waiting on url_frontier (bucket, host, priority desc, next_fetch_at)
    where status in ('pending', 'failed') and held is null;
create index url_frontier_paused on url_frontier (source_id, bucket, url_hash) where held = 'paused';
create index url_frontier_suspect on url_frontier (bucket, next_fetch_at) where held = 'suspect';
create index url_frontier_revisit on url_frontier (revisit_at) where status = 'fetched' and revisit_at is not null;
create index url_frontier_robots on url_frontier (bucket, host) where status = 'dead' and reason = 'robots_blocked';
create index url_frontier_poison on url_frontier (updated_at) where status = 'dead' and reason = 'poison';

-- The public id of an entry or a vacancy: a UUID of version 8, made of its bucket and its hash.
create function entry_id(bucket smallint, url_hash bytea) returns uuid
    language sql immutable parallel safe
return encode(set_byte(set_byte(set_byte(substring(url_hash from 1 for 1) || substring(url_hash from 1 for 15), 0, bucket),
       6, 128 | (get_byte(url_hash, 5) & 15)), 8, 128 | (get_byte(url_hash, 7) & 63)), 'hex')::uuid;

create table discoveries (
    bucket        smallint not null,
    url_hash      bytea not null,
    source_id     uuid not null,
    channel_id    uuid,
    origin        text not null,
    parent_url    text,
    depth         smallint not null default 0,
    first_seen_at timestamptz not null default now(),
    -- As url_frontier.owner_rank, of this source.
    rank          smallint not null default 0,
    primary key (source_id, bucket, url_hash)
);
-- The way from an entry to its other owners.
create index discoveries_entry on discoveries (bucket, url_hash);

-- What moves entries: submit, claim, settle, rescue. Each is one round trip; these are the rows they are called with.
create type submission as (
    bucket smallint, url_hash bytea, host text, url text, origin text, parent_url text, depth smallint, priority smallint,
    due_in interval, changed_at timestamptz, hops smallint, domain text, rank smallint
);
create type settlement as (
    bucket smallint, token uuid, host text, verdict text,
    status text, next_fetch_in interval, counts_as_failure boolean, reason text, last_error text,
    http_status smallint, body_bytes bigint, started_after interval, duration_ms integer,
    etag text, last_modified text, content_hash bytea, fetch_url text, resume_url text, hops smallint, moved_to text,
    revisit_in interval, close_for interval, close_reason text, temper smallint, kind text, address text
);

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
-- All sources together: five rows where the counters of 200,000 sources are a million.
create table counter_totals (
    status  text primary key,
    entries bigint not null
);

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
-- Statistics are folded every minute, from the last minute of the log.
create index fetch_log_recent on fetch_log (at);

-- Rows of a day that has no partition are kept here, and nobody's work fails for want of one.
create table fetch_log_default partition of fetch_log default;
-- The first days; maintenance makes the next ones, with `ensure_days`.
do $$
declare
    v_day date;
begin
    for v_day in select (now() at time zone 'utc')::date + n from generate_series(-1, 14) as n loop
        execute format('create table %I partition of fetch_log for values from (%L) to (%L)',
                       'fetch_log_' || to_char(v_day, 'YYYYMMDD'),
                       v_day::timestamp at time zone 'utc', (v_day + 1)::timestamp at time zone 'utc');
    end loop;
end $$;

-- Up to where host statistics were folded from the fetch log, and polls by the minute from the runs.
create table statistics_mark (
    only_row          boolean primary key default true check (only_row),
    folded_until      timestamptz not null,
    runs_folded_until timestamptz not null default now() - interval '1 day'
);
insert into statistics_mark (folded_until) values (now());

-- Requests by the minute and since ever. Those after the mark of the fold are not in it yet.
create table request_minutes (
    minute     timestamptz not null,
    kind       text not null,
    class      text not null,
    requests   bigint not null,
    body_bytes bigint not null,
    busy_ms    bigint not null,
    primary key (minute, kind, class)
);
create table request_totals (
    kind       text not null,
    class      text not null,
    requests   bigint not null,
    body_bytes bigint not null,
    busy_ms    bigint not null,
    primary key (kind, class)
);
