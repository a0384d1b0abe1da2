-- What was learned of hosts' article pages. Statistics here are flushed every few seconds by whoever reads pages: a worker
-- that is killed takes the last of them with it, and nothing else depends on them.

-- One row for each host whose pages are read: which of its stored pages can teach, and when the next lesson is.
create table learning_hosts (
    bucket      smallint not null,
    host        text not null,
    source_id   uuid not null,
    pool        bytea[] not null default '{}',
    refused     bytea[] not null default '{}',
    fresh       integer not null default 0,
    failures    integer not null default 0,
    learn_at    timestamptz,
    why         text not null default '',
    outcome     text not null default '',
    learned_at  timestamptz,
    disabled_at timestamptz,
    primary key (bucket, host),
    constraint disabled_learns_nothing check (disabled_at is null or learn_at is null)
) with (fillfactor = 70);
comment on column learning_hosts.source_id is 'Whose page came last: its trail tells of the template.';
comment on column learning_hosts.pool is 'Hashes of stored pages that were read well, the newest last; bounded by its writer.';
comment on column learning_hosts.refused is 'The same of pages that the host''s template refused.';
comment on column learning_hosts.fresh is 'Pages that joined the pool since the last lesson.';
comment on column learning_hosts.learn_at is 'When a lesson is due. Whoever begins one moves it: if he dies, it is due again.';
comment on column learning_hosts.why is 'What the next lesson is for, or the last one was.';

create index learning_by_name on learning_hosts (host, bucket);
create index learning_due on learning_hosts (learn_at) where learn_at is not null;

-- Every template there ever was for a host, or for one section of it. Only what it was good for is ever changed.
create table templates (
    bucket     smallint not null,
    host       text not null,
    section    text not null,
    version    integer not null check (version > 0),
    status     text not null default 'active' check (status in ('active', 'replaced', 'off', 'expired')),
    template   jsonb not null,
    pages      integer not null,
    agreement  real not null,
    learned_at timestamptz not null,
    ended_at   timestamptz,
    why_ended  text,
    served     bigint not null default 0,
    refused    bigint not null default 0,
    audited    bigint not null default 0,
    refusing   real not null default 0,
    agreeing   real,
    reasons    jsonb not null default '{}',
    used_at    timestamptz not null,
    primary key (bucket, host, section, version),
    constraint ended_for_a_reason check ((status = 'active') = (ended_at is null) and (ended_at is null) = (why_ended is null))
) with (fillfactor = 70);
comment on column templates.agreement is 'With the general extractor, on the pages it was learned from.';
comment on column templates.agreeing is 'The same on pages served lately; null until one was audited.';
comment on column templates.refusing is 'Which share of the last pages it refused.';
comment on column templates.reasons is 'How often it refused for which reason.';

create unique index templates_active on templates (bucket, host, section) where status = 'active';
create index templates_unused on templates (used_at) where status = 'active';
