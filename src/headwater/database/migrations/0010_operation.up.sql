-- Who runs, what went wrong in the last hours, and how large everything has become.

-- One row per running process of a role, written by itself alone: nobody waits for anybody. It goes with a clean end.
create table role_processes (
    id         uuid primary key,
    owner      text not null,
    role       text not null,
    does       text[] not null,
    host       text not null,
    pid        integer not null,
    version    text not null,
    started_at timestamptz not null default now(),
    beat_at    timestamptz not null,
    counts     jsonb not null,
    failing    jsonb not null
) with (fillfactor = 50);
comment on column role_processes.counts is 'Since its start; role_figures has the same by ten minutes.';
comment on column role_processes.failing is 'Tasks that fail at present, each with the sentence of its last error.';

-- What processes counted, by ten minutes: it outlives them.
create table role_figures (
    since      timestamptz not null,
    figure     text not null,
    process_id uuid not null,
    count      bigint not null,
    said       text not null default '',
    primary key (since, figure, process_id)
);

-- How large each part of the database was at the first look of a day.
create table sizes (
    day      date not null,
    part     text not null,
    noted_at timestamptz not null,
    bytes    bigint not null check (bytes >= 0),
    primary key (day, part)
);
