-- Figures for charts and for Prometheus: by the minute, by the hour, and since ever; and since when something is wrong.

-- What a figure came to in a minute, for the whole installation. `label` says of what kind, such as `new` of polls.
create table rollup_minutes (
    figure text not null,
    minute timestamptz not null,
    label  text not null,
    count  bigint not null,
    primary key (figure, minute, label)
) with (fillfactor = 80);
create index rollup_minutes_old on rollup_minutes (minute);

create table rollup_hours (
    figure text not null,
    hour   timestamptz not null,
    label  text not null,
    count  bigint not null,
    primary key (figure, hour, label)
) with (fillfactor = 80);
create index rollup_hours_old on rollup_hours (hour);

-- Sums that only grow, whatever the minutes and hours forget.
create table rollup_totals (
    figure text not null,
    label  text not null,
    count  bigint not null,
    primary key (figure, label)
) with (fillfactor = 50);

create table rollup_mark (
    only_row             boolean primary key default true check (only_row),
    rolled_until         timestamptz not null,
    sources_rolled_until timestamptz not null,
    database_bytes       bigint not null default 0
);
comment on column rollup_mark.rolled_until is 'Minutes up to then were counted; the last ones are counted again, for rows that come late.';
comment on column rollup_mark.sources_rolled_until is 'A whole hour: source_days has all hours before it.';
-- What an installation that is older than this table has done lately is counted too.
insert into rollup_mark (rolled_until, sources_rolled_until)
select greatest(now() - interval '2 days', least(now(), (select min(at) from fetch_log), (select min(at) from runs))),
       date_trunc('hour', greatest(now() - interval '7 days', least(now(), (select min(at) from runs))), 'UTC');

-- What processes of roles counted, since ever: role_figures has the same by ten minutes, for days.
create table figure_totals (
    figure text primary key,
    count  bigint not null
) with (fillfactor = 50);

-- What came of a source in each hour of a day in UTC, the first hour first.
create table source_days (
    source_id uuid not null,
    day       date not null,
    items     integer[] not null,
    polls     smallint[] not null,
    errors    smallint[] not null,
    primary key (source_id, day)
) with (fillfactor = 80);
create index source_days_old on source_days using brin (day);

-- Since when a part of the installation is not well, where nothing else knows it.
create table health_marks (
    part  text primary key,
    since timestamptz not null default now()
);
