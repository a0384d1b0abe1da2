-- What an operator asks of the running system: a worker that takes on no more, and failures looked at by what went wrong.
alter table role_processes
    add column drain_asked_at timestamptz,
    add column drain_asked_by text,
    add column is_draining    boolean not null default false,
    add column under_way      integer not null default 0;
comment on column role_processes.drain_asked_at is 'A person asked it to take on nothing more; null: it works.';
comment on column role_processes.is_draining is 'It has heard so, with its last beat.';
comment on column role_processes.under_way is 'Pieces of leased work it had in hand at its last beat.';

-- Those that failed, by what went wrong: counted without reading the table, and found in the order of keys.
create index url_frontier_failures on url_frontier (status, reason, bucket, url_hash)
    where status in ('failed', 'dead') and reason is not null;

-- A login that has to wait stands in the audit log once for each wait, however often it is tried meanwhile.
alter table login_attempts add column told_until timestamptz;
comment on column login_attempts.told_until is 'The end of the wait that was last written into the audit log.';
