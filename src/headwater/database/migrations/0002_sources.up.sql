-- Whom we follow: sources, the names others have for them, and the trail of what happened to them.

create table sources (
    id            uuid primary key default gen_random_uuid(),
    name          text not null check (name <> ''),
    url           text not null,
    kind          text not null default 'news' check (kind in ('news', 'jobs', 'docs')),
    priority      smallint not null default 5 check (priority between 1 and 10),
    status        text not null default 'active' check (status in ('active', 'paused', 'blocked', 'deleted')),
    status_reason text,
    rate_limit_ms integer check (rate_limit_ms >= 0),
    revisit_every interval check (revisit_every > interval '0'),
    created_at    timestamptz not null default now(),
    updated_at    timestamptz not null default now(),
    -- Its profile, as a person sets it.
    url_hash             bytea check (length(url_hash) = 32),
    tags                 text[] not null default '{}',
    org_type             text,
    timezone             text,
    country              text,
    ingestion_mode       text not null default 'spider' check (ingestion_mode in ('feed', 'spider', 'both')),
    policy               text check (policy in ('adaptive', 'tiers', 'frequency', 'fixed')),
    poll_every           interval check (poll_every > interval '0'),
    crawl_frequency_days real check (crawl_frequency_days > 0),
    time_window          text,
    max_depth            smallint not null default 2 check (max_depth between -1 and 100),
    max_pages            integer check (max_pages > 0),
    allowed_domains      text[] not null default '{}',
    include_paths        text[] not null default '{}',
    exclude_paths        text[] not null default '{}',
    allow_external       boolean not null default false,
    start_urls           text[] not null default '{}',
    article_patterns     text[] not null default '{}',
    selectors            jsonb not null default '{}',
    parser_hint          text,
    -- What its runs have said.
    consecutive_failures smallint not null default 0,
    last_run_at          timestamptz,
    last_run_status      text check (last_run_status in ('ok', 'warn', 'fail')),
    last_run_message     text,
    -- People name a source by its host, wherever its channels are.
    host       text generated always as (substring(lower(url) from '^[a-z]+://([^/:?#]+)')) stored,
    speaks_for text[] not null default '{}',
    -- An active channel was seen, and something that was kept: nobody has to ask for that again.
    is_proven  boolean not null default false
);
comment on column sources.max_depth is '-1 is without a limit.';
comment on column sources.poll_every is 'What a person set: it means the policy `fixed`.';
comment on column sources.policy is 'Null: by the kind of channel and source.';
comment on column sources.speaks_for is 'Hosts beside those of its channels'' domains of which its word counts, by a person.';

-- One source per address. What people add by hand belongs to a source without one.
create unique index sources_address on sources (url_hash) where status <> 'deleted';
-- What a list names as deleted is looked for here, so that the same list again adds nothing.
create index sources_deleted on sources (url_hash) where status = 'deleted';
create index sources_by_name on sources (lower(name), id);
-- For beginnings of names, whatever the order of letters is in this database.
create index sources_beginning on sources (lower(name) text_pattern_ops);
create index sources_of_host on sources (host);
create index sources_tags on sources using gin (tags);
create index sources_ingestion_mode on sources (ingestion_mode);
create index sources_stopped on sources (id) where status in ('paused', 'blocked');
create index sources_stopped_lately on sources (updated_at) where status <> 'active';
create index sources_unproven on sources (id) where status = 'active' and not is_proven and url_hash is not null;

-- Sources by status, and channels that are polled: counted for every look, so kept as they change. Changes are added as rows
-- of their own, so that nobody waits for another; maintenance folds them.
create table source_totals (
    what   text not null,
    status text not null,
    count  bigint not null,
    primary key (what, status)
);
insert into source_totals (what, status, count) values ('channel', 'active', 0);
create table source_total_deltas (
    what   text not null,
    status text not null,
    count  bigint not null
);

-- Sources that are added count; one without an address, of what people add by hand, does not.
create function count_sources_added() returns trigger language plpgsql as $$
begin
    insert into source_total_deltas (what, status, count)
    select 'source', a.status, count(*) from added a where a.url_hash is not null group by 2;
    return null;
end $$;

-- Sources that are removed count no more.
create function count_sources_removed() returns trigger language plpgsql as $$
begin
    insert into source_total_deltas (what, status, count)
    select 'source', r.status, -count(*) from removed r where r.url_hash is not null group by 2;
    return null;
end $$;

-- A source counts under its new status.
create function count_source_changed() returns trigger language plpgsql as $$
begin
    insert into source_total_deltas (what, status, count)
    select 'source', c.status, c.count
    from (values (old.status, -1, old.url_hash), (new.status, 1, new.url_hash)) as c (status, count, url_hash)
    where c.url_hash is not null;
    return null;
end $$;

create trigger count_added after insert on sources
    referencing new table as added for each statement execute function count_sources_added();
create trigger count_removed after delete on sources
    referencing old table as removed for each statement execute function count_sources_removed();
create trigger count_changed after update of status, url_hash on sources for each row
    when (old.status <> new.status or (old.url_hash is null) <> (new.url_hash is null)) execute function count_source_changed();

-- Names that other systems have for our sources. A table of its own: several systems may know one source.
create table external_ids (
    external_id text not null,
    source_id   uuid not null references sources on delete cascade,
    primary key (external_id, source_id)
);
create index external_ids_of_source on external_ids (source_id);

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
-- What `headwater problems` looks for.
create index events_alarms on events (source_id, id desc)
    where kind in ('extraction_decayed', 'extraction_recovered', 'channel_overflowed');
