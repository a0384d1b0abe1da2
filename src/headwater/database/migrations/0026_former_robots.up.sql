-- Rules of robots.txt that are not in force any more, for as long as the fetch log tells what was requested under them.
create table former_robots (
    bucket smallint    not null,
    host   text        not null,
    scheme text        not null,
    port   integer     not null,
    body   bytea,
    until  timestamptz not null
);
comment on table former_robots is 'Rules of robots.txt that are not in force any more, for as long as the fetch log tells what was requested under them.';
comment on column former_robots.body is 'Null: there was no file, and all was allowed.';
create index former_robots_of_host on former_robots (bucket, host);
create index former_robots_by_time on former_robots (until);
