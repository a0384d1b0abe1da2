-- Whom we visit: hosts, their policies and closures, robots.txt, and the slots every request needs.
-- Everything about a host lies in its bucket (0 to 255), the first column of every hot key.

-- The narrow hot row. `refresh_hosts` alone writes the derived columns, always after the row is locked and in a later
-- statement: wake_at (when a claim may next find something here), priority (the best due then) and promote_at (when a
-- better one falls due). Too early or too high is repaired by the next visit; too late or too low would be a bug.
create table hosts (
    bucket          smallint not null check (bucket between 0 and 255),
    host            text not null check (length(host) between 1 and 255),
    base_delay_ms   integer not null default 1000 check (base_delay_ms between 0 and 86400000),
    delay_ms        integer not null check (delay_ms between 0 and 86400000),
    penalty_ms      integer not null default 0,
    max_concurrency smallint not null default 1 check (max_concurrency between 1 and 1000),
    burst           smallint not null default 1 check (burst between 1 and 1000),
    in_flight       smallint not null default 0 check (in_flight >= 0),
    good_in_a_row   smallint not null default 0,
    bad_in_a_row    smallint not null default 0,
    owes_claim      boolean not null default false,
    next_slot_at    timestamptz not null default '-infinity',
    yield_until     timestamptz not null default '-infinity',
    closed_until    timestamptz not null default '-infinity',
    last_fetch_at   timestamptz,
    wake_at         timestamptz not null default 'infinity',
    promote_at      timestamptz not null default 'infinity',
    priority        smallint not null default 0,
    -- Where one site ends and another begins: who may speak for it.
    domain          text,
    -- Fair shares: hosts that answer come before hosts in doubt, and one source's flood of new hosts stands behind the first
    -- new hosts of every other. Names that share a machine share a pace.
    is_doubted       boolean not null default true,
    steps_back       smallint not null default 0,
    found_by         uuid,
    address          text,
    address_delay_ms integer not null default 0 check (address_delay_ms between 0 and 86400000),
    line             smallint generated always as (
        case when priority <= 0 then 0 when is_doubted then greatest(1, priority - steps_back) else priority + 10 end) stored,
    created_at       timestamptz not null default now(),
    primary key (bucket, host)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000,
        autovacuum_vacuum_cost_delay = 0, autovacuum_analyze_threshold = 10000);
comment on column hosts.base_delay_ms is 'Where nobody asks for more: by the kind of source that found the host first.';
comment on column hosts.bad_in_a_row is 'Requests in a row that did not even reach it.';
comment on column hosts.owes_claim is 'A reservation has had its turn; before the next one a claim may have its own.';
comment on column hosts.next_slot_at is 'No request may start earlier; granted slots lie spacing apart.';
comment on column hosts.yield_until is 'Claims leave the host alone until then, so that a refused reservation gets its turn.';
comment on column hosts.domain is 'Its registrable domain by the public suffix list; null until maintenance has named it.';
comment on column hosts.is_doubted is 'It has never answered within seconds, or did not at the last try.';
comment on column hosts.steps_back is 'Levels it stands lower while in doubt: the more, the more new hosts its source brought before it.';
comment on column hosts.found_by is 'The source that queued its first URL.';
comment on column hosts.address is 'The address it was last asked at; of IPv6 its /64. None inside networks of our own.';
comment on column hosts.address_delay_ms is 'What the names of its address ask of each other, by maintenance.';
comment on column hosts.line is 'Where claims look for it: 20 to 11 by the best priority due, 10 to 1 while in doubt, 0 nowhere.';
comment on column hosts.created_at is 'When it was first heard of.';

-- The claim probes it level by level. The bucket stands last so that a claim limited to one bucket is answered here too.
create index hosts_open on hosts (line, wake_at, bucket) where line > 0;
create index hosts_promoted on hosts (promote_at) where promote_at < 'infinity';
create index hosts_unnamed on hosts (bucket, host) where domain is null;
create index hosts_address on hosts (address) where address is not null;
create index hosts_paced on hosts (address) where address_delay_ms > 0;

-- Which addresses have changed: another name, a name that answers or does so no more. Maintenance weighs those, and keeps the
-- crowded ones, which it paces every minute.
create table address_changes (
    address text not null
);
create table crowded_addresses (
    address text primary key
);

-- The address a host had and the one it has now.
create function note_address_change() returns trigger language plpgsql as $$
begin
    insert into address_changes (address)
    select distinct a from unnest(array[new.address, case when tg_op = 'UPDATE' then old.address end]) as a where a is not null;
    return null;
end $$;

create trigger note_address_added after insert on hosts for each row
    when (new.address is not null) execute function note_address_change();
create trigger note_address_changed after update of address, domain, is_doubted on hosts for each row
    when ((old.address is not null or new.address is not null)
          and (old.address, old.domain, old.is_doubted) is distinct from (new.address, new.domain, new.is_doubted))
    execute function note_address_change();

-- What a person set for a host (null: the default holds), what robots.txt asks, what a source asks.
create table host_policies (
    bucket                  smallint not null,
    host                    text not null,
    max_concurrency         smallint check (max_concurrency between 1 and 1000),
    min_request_interval_ms integer check (min_request_interval_ms between 0 and 86400000),
    burst                   smallint check (burst between 1 and 1000),
    max_pages               integer check (max_pages >= 0),
    max_kb_per_page         integer check (max_kb_per_page > 0),
    allow_js                boolean,
    crawl_delay_ms          integer check (crawl_delay_ms between 0 and 86400000),
    source_delay_ms         integer check (source_delay_ms between 0 and 86400000),
    is_unpaced              boolean not null default false,
    updated_at              timestamptz not null default now(),
    -- A host of a job source is asked more slowly, and smaller pages are expected of it.
    serves_jobs             boolean not null default false,
    primary key (bucket, host)
);
comment on column host_policies.is_unpaced is 'The default delay is left out: politeness is off, and it lies in a network of our own.';
create index host_policies_unpaced on host_policies (bucket, host) where is_unpaced;

-- Why a host is closed, one row per reason; hosts.closed_until is the latest of them.
create table host_closures (
    bucket   smallint not null,
    host     text not null,
    reason   text not null check (reason in ('retry_after', 'breaker', 'robots_unreachable', 'paused', 'takedown')),
    until    timestamptz not null,
    -- One from a future that is none lasts as long as it was meant to, and no longer.
    noted_at timestamptz not null default clock_timestamp(),
    primary key (bucket, host, reason)
);
-- Every change of a closure is noted with its time.
create function note_closure() returns trigger
    language plpgsql
as $$
begin
    new.noted_at := clock_timestamp();
    return new;
end $$;
create trigger note_closure before insert or update on host_closures for each row execute function note_closure();

-- Folded from the fetch log by maintenance, off the hot path.
create table host_statistics (
    bucket        smallint not null,
    host          text not null,
    requests      bigint not null default 0,
    succeeded     bigint not null default 0,
    failed        bigint not null default 0,
    rate_limited  bigint not null default 0,
    body_bytes    bigint not null default 0,
    busy_ms       bigint not null default 0,
    last_status   smallint,
    last_seen_at  timestamptz,
    primary key (bucket, host)
);

-- What of a URL is part of its key, host by host, where that is not as usual. A change makes new keys for what is stored:
-- maintenance goes through the host's entries, from `position` on, until it has met all of them since every process knows of
-- the change.
create table host_rules (
    bucket       smallint not null,
    host         text not null,
    keep_slash   boolean not null default false,
    keep_params  text[] not null default '{}',
    strip_params text[] not null default '{}',
    changed_at   timestamptz not null default now(),
    pass_from    timestamptz,
    position     bytea not null default '',
    has_missed   boolean not null default false,
    rekeyed_at   timestamptz,
    primary key (bucket, host)
);
comment on column host_rules.pass_from is 'When the present walk through its entries began; null: none is under way.';
comment on column host_rules.has_missed is 'An entry was being fetched when the walk came by: another walk is needed.';
create index host_rules_to_apply on host_rules (changed_at) where rekeyed_at is null;

-- How many new hosts a source has brought, by the hour.
create table new_hosts (
    source_id uuid not null,
    hour      timestamptz not null,
    hosts     integer not null,
    refused   integer not null default 0,
    primary key (source_id, hour)
);

-- Every running request is a row here, entry leases included: hosts.in_flight changes only together with such a row, so
-- a dead process frees its host when the row expires.
create table slots (
    bucket      smallint not null,
    token       uuid not null,
    host        text not null,
    kind        text not null,
    owner       text not null,
    starts_at   timestamptz not null,
    expires_at  timestamptz not null,
    url_hash    bytea,
    source_id   uuid,
    from_status text,
    primary key (bucket, token)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0);
create index slots_expiry on slots (expires_at);
create index slots_of_owner on slots (owner);

-- Who is asleep, so that a NOTIFY is sent only if somebody hears it. Losing it costs a second of sleep.
create unlogged table sleepers (
    owner text primary key,
    until timestamptz not null
);

-- robots.txt by origin, shared by all workers. `rules` has a body; `allow_all` is a 4xx; `unreachable` is anything that means
-- wait, with the last good body kept.
create table robots (
    bucket         smallint not null,
    host           text not null,
    scheme         text not null check (scheme in ('http', 'https')),
    port           integer not null check (port between 1 and 65535),
    access         text not null check (access in ('rules', 'allow_all', 'unreachable')),
    body           bytea,
    body_hash      bytea,
    http_status    smallint,
    failure        text,
    failing_since  timestamptz,
    fetched_at     timestamptz not null,
    expires_at     timestamptz not null,
    etag           text,
    last_modified  text,
    crawl_delay_ms integer,
    sitemaps       text[] not null default '{}',
    disallow       jsonb,
    primary key (bucket, host, scheme, port)
);
comment on column robots.disallow is 'The paths its rules forbid us, as written; null: not read since this is kept.';
create index robots_expiry on robots (expires_at);
