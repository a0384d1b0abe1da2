-- What a database knows of itself: whose it is, and the newest time it has seen.

-- Which installation a database belongs to: exactly one row, written when the installation is first used.
create table installation (
    only_row   boolean primary key default true check (only_row),
    id         uuid not null default gen_random_uuid(),
    created_at timestamptz not null default now(),
    created_by text not null
);
comment on table installation is 'One row: which installation of Headwater this database belongs to.';
comment on column installation.created_by is 'Version of Headwater that first used the database.';

-- The newest time that maintenance has seen here. A clock behind it was set back.
create table clock_mark (
    only_row boolean primary key default true check (only_row),
    seen_at  timestamptz not null
);
insert into clock_mark (seen_at) values (clock_timestamp());
