-- What processes warned of lately, so that it can be read without looking for their logs on each machine.

create table process_lines (
    id         bigint generated always as identity primary key,
    at         timestamptz not null,
    process_id uuid        not null,
    role       text        not null,
    host       text        not null,
    pid        integer     not null,
    level      text        not null,
    event      text        not null,
    fields     jsonb       not null default '{}'
);
comment on table process_lines is 'Lines of the log from warning on, of all processes: the newest 20,000, a day long.';
comment on column process_lines.at is 'By the clock of the machine.';
