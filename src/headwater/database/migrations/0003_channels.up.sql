-- Where new URLs come from: the channels of sources, what those listed, and every run's account.

-- One polled thing of a source. `search` looks for the others; `crawl` puts start pages into the queue; `backfill` reads the
-- past of its source, once, and is then switched off: its `recipe` is the day it goes back to.
-- `is_active` is kept by whoever changes a channel's or its source's state: the due index must not ask another table.
create table channels (
    id                 uuid primary key default gen_random_uuid(),
    source_id          uuid not null references sources,
    kind               text not null check (kind in ('feed', 'sitemap', 'listing', 'api', 'crawl', 'search', 'backfill')),
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
    -- Validators of more than a channel's first answer: the sitemaps of an index, the further pages of a listing.
    answers            jsonb not null default '{}',
    -- Since when a run holds its source.
    leased_at          timestamptz,
    -- Of which hosts its words count.
    domains            text[] not null default '{}',
    speaks_for_site    boolean not null default false,
    foreign_day        date,
    foreign_taken      integer not null default 0,
    -- How often in a row a poll's lease ran out under it: its process died or stopped. One such loss is forgiven.
    lost_count         smallint not null default 0,
    -- What a list of vacancies has said, so that those it no longer names come to an end.
    named_at           timestamptz,
    gone_before        timestamptz,
    doubted_since      timestamptz,
    -- Channels that were never polled stand in a line of their own: fifty thousand of them must not stand before one with a rhythm.
    is_unpolled        boolean generated always as (last_polled_at is null) stored,
    unique (source_id, kind, url_hash),
    constraint leased_as_a_whole check ((token is null) = (lease_until is null))
) with (fillfactor = 70);
comment on column channels.leased_at is 'Of the last lease, which may have ended.';
comment on column channels.last_error is 'With errors in a row the last of them; without any, what was wrong with an answer that was read all the same.';
comment on column channels.wishes is 'What its last body asked for: a 304 does not say it again.';
comment on column channels.answers is 'By address: validators of the further answers of the last run, and where an answer led.';
comment on column channels.domains is 'The registrable domains of whose pages its words count, as of its last poll.';
comment on column channels.speaks_for_site is 'Wherever it lies: a person gave it, or the site of its source names it.';
comment on column channels.foreign_taken is 'URLs of other sites it has queued on foreign_day.';
comment on column channels.lost_count is 'Leases in a row that ran out before their poll ended. Any end of a poll sets it to 0.';
comment on column channels.named_at is 'When the last whole answer that named its vacancies was begun.';
comment on column channels.gone_before is 'Vacancies it has not named since then are over: two answers left them out.';
comment on column channels.doubted_since is 'When its first whole answer was begun that named none of the vacancies that stood.';

-- A feed is followed once, whoever names it.
create unique index channels_one_feed on channels (url_hash) where kind = 'feed' and is_enabled;
create index channels_due on channels (is_unpolled, next_poll_at) where is_active;
-- People and rules of hosts ask for channels that are switched off, too.
create index channels_of_host on channels (bucket, host, next_poll_at);
create index channels_at_work on channels (bucket, host) where token is not null;
-- Channels under lease, and those whose last lease was lost: what a claim looks for suspects in.
create index channels_suspected on channels (next_poll_at) where token is not null or lost_count > 0;
create index channels_failing on channels (source_id) where is_active and consecutive_errors > 0;
create index channels_silent on channels (source_id) where is_active and silent_since is not null;
-- Channels with something to be judged by `headwater problems`: errors, silence, a damaged or an empty answer.
create index channels_ailing on channels (source_id)
    where is_active and (consecutive_errors > 0 or silent_since is not null or last_error is not null
                         or (last_item_count = 0 and last_ok_at is not null and kind in ('feed', 'listing')));
-- Starts of crawls are looked up by what stands in the index.
create index channels_crawls on channels (source_id) include (bucket, url_hash) where is_active and kind = 'crawl';
-- An active source has a channel that is not polled only where that is switched off.
create index channels_switched_off on channels (source_id) where not is_enabled;
-- Leases that hold, past the dead entries of those that ended, which an old snapshot keeps in the indexes. Whoever asks by
-- lease_until alone is answered by this one: tokens and losses would lead to others, which are walked whole.
create index channels_leased on channels (lease_until) where lease_until is not null;

-- Channels that are added count if they are polled.
create function count_channels_added() returns trigger language plpgsql as $$
begin
    insert into source_total_deltas (what, status, count)
    select 'channel', 'active', count(*) from added a where a.is_active having count(*) > 0;
    return null;
end $$;

-- Channels that are removed count no more.
create function count_channels_removed() returns trigger language plpgsql as $$
begin
    insert into source_total_deltas (what, status, count)
    select 'channel', 'active', -count(*) from removed r where r.is_active having count(*) > 0;
    return null;
end $$;

-- A channel counts from when it is polled until it is not.
create function count_channel_changed() returns trigger language plpgsql as $$
begin
    insert into source_total_deltas (what, status, count) values ('channel', 'active', case when new.is_active then 1 else -1 end);
    return null;
end $$;

-- Every poll changes its channel, and hardly any its being active: the conditions are asked before anything is called.
create trigger count_added after insert on channels
    referencing new table as added for each statement execute function count_channels_added();
create trigger count_removed after delete on channels
    referencing old table as removed for each statement execute function count_channels_removed();
create trigger count_changed after update of is_active on channels for each row
    when (old.is_active <> new.is_active) execute function count_channel_changed();

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
-- The newest items, for the delay from publication to discovery.
create index channel_items_fresh on channel_items (first_seen_at);
create index channel_items_old on channel_items using brin (last_seen_at);
-- A takedown that is lifted looks here for what it kept out.
create index channel_items_refused on channel_items (channel_id) where signature = '';

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

-- Rows of a day that has no partition are kept here, and nobody's work fails for want of one.
create table runs_default partition of runs default;
-- The first days; maintenance makes the next ones, with `ensure_days`.
do $$
declare
    v_day date;
begin
    for v_day in select (now() at time zone 'utc')::date + n from generate_series(-1, 14) as n loop
        execute format('create table %I partition of runs for values from (%L) to (%L)', 'runs_' || to_char(v_day, 'YYYYMMDD'),
                       v_day::timestamp at time zone 'utc', (v_day + 1)::timestamp at time zone 'utc');
    end loop;
end $$;

-- Polls by the minute: a day of them is read in 1,440 rows. Runs after `statistics_mark.runs_folded_until` are not in it yet.
create table run_minutes (
    minute timestamptz primary key,
    runs   integer not null,
    failed integer not null,
    found  bigint not null
);

-- The price of a poll, one number for the whole system, steered so that polls keep to the budget.
create table cadence (
    only_row   boolean primary key default true check (only_row),
    state      jsonb not null default '{}',
    steered_at timestamptz not null default now()
);
insert into cadence default values;
