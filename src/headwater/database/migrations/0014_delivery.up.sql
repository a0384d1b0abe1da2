-- How documents and vacancies leave: the log of changes, views over the archive, sinks, and what each sink holds.

-- The one row that gives out positions: whoever moves changes into the log holds it.
create table change_counter (
    is_only         boolean primary key default true check (is_only),
    position        bigint not null default 0,
    moved_at        timestamptz not null default '-infinity',
    oldest_position bigint not null default 1
);
insert into change_counter default values;
comment on column change_counter.position is 'The last position of the log.';
comment on column change_counter.moved_at is 'The time of the last move: times of the log never go back, so that days follow positions.';
comment on column change_counter.oldest_position is 'A reader that stands before the one below this has missed changes.';

-- The log: every change that was committed, in one order that no reader ever sees changed. By day, dropped a day at a time.
create table changes (
    position   bigint not null,
    at         timestamptz not null,
    kind       text not null check (kind in ('document', 'job')),
    bucket     smallint not null,
    hash       bytea not null,
    version    integer not null,
    op         text not null check (op in ('upsert', 'delete')),
    changed_at timestamptz not null
) partition by range (at);
comment on column changes.at is 'When it was moved here; changed_at is when the archive changed.';
create index changes_by_position on changes (position);
-- The way of one document into the sinks is asked by its key.
create index changes_by_key on changes (hash);

create table changes_default partition of changes default;
create index changes_default_at on changes_default (at);
do $$
declare
    v_day date;
begin
    for v_day in select (now() at time zone 'utc')::date + n from generate_series(-1, 14) as n loop
        execute format('create table %I partition of changes for values from (%L) to (%L)',
                       'changes_' || to_char(v_day, 'YYYYMMDD'),
                       v_day::timestamp at time zone 'utc', (v_day + 1)::timestamp at time zone 'utc');
    end loop;
end $$;

-- The log is the list that is kept for long; what waits in the outbox is moved within moments.
drop index outbox_by_time;

-- Sleeping readers of the log are woken by another notice than sleeping workers.
alter table sleepers add column waits_for text not null default 'work';

-- A named filter over the archive. Empty lists and an empty query filter nothing.
create table views (
    id          uuid primary key default gen_random_uuid(),
    name        text not null unique check (name ~ '^[a-z0-9][a-z0-9_-]{0,62}$'),
    query       text not null default '',
    kinds       text[] not null default '{}' check (kinds <@ array['document', 'job']),
    source_ids  uuid[] not null default '{}',
    tags        text[] not null default '{}',
    languages   text[] not null default '{}',
    countries   text[] not null default '{}',
    min_quality smallint check (min_quality between 0 and 100),
    created_at  timestamptz not null default now(),
    updated_at  timestamptz not null default now()
);
comment on table views is 'Not an SQL view: a filter that sinks deliver, feeds show and searches use.';
comment on column views.tags is 'Of the source; any of them is enough.';
comment on column views.countries is 'ISO 3166 codes of two letters: of the vacancy, or of the source of a document.';

-- Where a view is delivered. Everything up to `position` is done, or stands in delivery_failures.
create table sinks (
    id              uuid primary key default gen_random_uuid(),
    name            text not null unique check (name ~ '^[a-z0-9][a-z0-9_-]{0,62}$'),
    type            text not null,
    options         jsonb not null default '{}',
    view_id         uuid references views,
    state           text not null default 'active' check (state in ('active', 'paused', 'disabled')),
    state_reason    text,
    set_by          text,
    position        bigint not null,
    batch_number    bigint not null default 0,
    owner           text,
    token           uuid,
    leased_until    timestamptz not null default '-infinity',
    is_handed_over  boolean not null default true,
    failures        integer not null default 0,
    retry_at        timestamptz not null default '-infinity',
    looked_at       timestamptz,
    last_success_at timestamptz,
    last_error      text,
    last_error_at   timestamptz,
    sent            bigint not null default 0,
    created_at      timestamptz not null default now(),
    updated_at      timestamptz not null default now()
) with (fillfactor = 50);
comment on column sinks.set_by is 'The setting that made it; it follows that setting at each start. Null: a person made it.';
comment on column sinks.batch_number is 'Taken before the records of a batch are read: later batches have later ones, in microseconds of the clock.';
comment on column sinks.is_handed_over is 'False while it is worked: its last holder may have died with a request under way.';
comment on column sinks.looked_at is 'When it was last taken up: every few minutes, also while there is nothing to send.';
comment on column sinks.failures is 'Failures of the whole sink in a row.';

-- What a sink holds, or may hold: a row is written before a record is sent for the first time, with the version 0, and again
-- when the sink has taken it. So a record is removed, too, whose acknowledgement was lost.
create table delivered (
    sink_id      uuid not null references sinks on delete cascade,
    kind         text not null,
    bucket       smallint not null,
    hash         bytea not null,
    version      integer not null,
    batch_number bigint not null,
    place        text not null,
    at           timestamptz not null,
    primary key (sink_id, kind, bucket, hash)
) with (fillfactor = 85);
comment on column delivered.place is 'Where in the sink it lies, such as the name of an index.';
create index delivered_by_key on delivered (hash);
-- Whether a place that is not there was filled before.
create index delivered_by_place on delivered (sink_id, place);

-- Single records that a sink refused while it took others. Without a next try they are parked: shown, never dropped.
create table delivery_failures (
    sink_id     uuid not null references sinks on delete cascade,
    kind        text not null,
    bucket      smallint not null,
    hash        bytea not null,
    position    bigint not null,
    version     integer not null,
    attempts    integer not null,
    next_try_at timestamptz,
    error       text not null,
    failed_at   timestamptz not null,
    is_from_archive boolean not null,
    primary key (sink_id, kind, bucket, hash)
);
create index delivery_failures_due on delivery_failures (sink_id, next_try_at, position);
create index delivery_failures_by_key on delivery_failures (hash);

-- Walks through the archive that a sink has before it: all of it, or one source's part. In order of their numbers.
create table backfills (
    number     bigint generated always as identity primary key,
    sink_id    uuid not null references sinks on delete cascade,
    source_id  uuid,
    reason     text not null,
    kind       text not null default 'document',
    at         timestamptz,
    bucket     smallint not null default -1,
    hash       bytea not null default '',
    done       bigint not null default 0,
    asked_at   timestamptz not null default now(),
    unique nulls not distinct (sink_id, source_id)
);
comment on column backfills.hash is 'With kind, bucket and, for one source, its time: the last key that was looked at.';
