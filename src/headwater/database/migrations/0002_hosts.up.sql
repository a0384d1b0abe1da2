-- Who we follow and whom we visit: sources, hosts, their policies and closures, and the slots every request needs.
-- Everything about a host lies in its bucket (0 to 255), the first column of every hot key.

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
    updated_at    timestamptz not null default now()
);

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
    primary key (bucket, host)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000,
        autovacuum_vacuum_cost_delay = 0, autovacuum_analyze_threshold = 10000);

-- The claim probes it level by level. The bucket stands last so that a claim limited to one bucket is answered here too.
create index hosts_open on hosts (priority, wake_at, bucket) where priority > 0;
create index hosts_promoted on hosts (promote_at) where promote_at < 'infinity';

comment on column hosts.base_delay_ms is 'Where nobody asks for more: by the kind of source that found the host first.';
comment on column hosts.bad_in_a_row is 'Requests in a row that did not even reach it.';
comment on column hosts.next_slot_at is 'No request may start earlier; granted slots lie spacing apart.';
comment on column hosts.yield_until is 'Claims leave the host alone until then, so that a refused reservation gets its turn.';
comment on column hosts.owes_claim is 'A reservation has had its turn; before the next one a claim may have its own.';

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
    primary key (bucket, host)
);

create index host_policies_unpaced on host_policies (bucket, host) where is_unpaced;

comment on column host_policies.is_unpaced is 'The default delay is left out: politeness is off, and it lies in a network of our own.';

-- Why a host is closed, one row per reason; hosts.closed_until is the latest of them.
create table host_closures (
    bucket smallint not null,
    host   text not null,
    reason text not null check (reason in ('retry_after', 'breaker', 'robots_unreachable', 'paused', 'takedown')),
    until  timestamptz not null,
    primary key (bucket, host, reason)
);

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

create table takedowns (
    domain_or_url text primary key,
    domain        text not null,
    key_prefix    text,
    reason        text,
    created_at    timestamptz not null default now()
);
create index takedowns_domain on takedowns (domain);

-- Who is asleep, so that a NOTIFY is sent only if somebody hears it. Losing it costs a second of sleep.
create unlogged table sleepers (
    owner text primary key,
    until timestamptz not null
);

-- Request starts lie this far apart. The slack covers the way from a granted time to an actual start.
create function spacing_of(delay_ms integer, penalty_ms integer) returns interval
    language sql immutable parallel safe
return case when greatest(delay_ms, penalty_ms) = 0 then interval '0'
            else make_interval(secs => (greatest(delay_ms, penalty_ms) + 30) / 1000.0) end;

-- What lies between a grant and the next slot. A busy process needs a wider window to start in than the slack leaves it; the
-- next slot then waits for its end. Alone on a host nobody needs it: the next slot counts from the start that was.
create function spacing_after(space interval, slack interval, max_concurrency smallint) returns interval
    language sql immutable parallel safe
return case when max_concurrency = 1 or space = interval '0' then space
            else space + greatest(slack - interval '0.03 seconds', interval '0') end;

-- What a host's penalty becomes when it asks us to slow down.
create function scolded_penalty(delay_ms integer, penalty_ms integer) returns integer
    language sql immutable parallel safe
return least(300000, 2 * greatest(delay_ms, penalty_ms, 500));

-- The breaker: a host that could not be reached so many times in a row rests, longer each time, and then one request at
-- a time tries it.
create function rest_after(bad_in_a_row integer) returns interval
    language sql immutable parallel safe
return case when bad_in_a_row >= 5 then least(interval '1 hour', interval '30 seconds' * (2 ^ least(bad_in_a_row - 5, 10))) end;

create function capacity_of(max_concurrency smallint, bad_in_a_row smallint) returns smallint
    language sql immutable parallel safe
return case when bad_in_a_row >= 5 then 1::smallint else max_concurrency end;

-- A host that has no row yet gets one; an existing row is left alone. It may have been closed before it was ever seen.
create function ensure_hosts(p_buckets smallint[], p_hosts text[], p_delay_ms integer) returns void
    language sql
begin atomic
    insert into hosts (bucket, host, base_delay_ms, delay_ms, closed_until)
    select wanted.bucket, wanted.host, p_delay_ms, p_delay_ms,
           coalesce((select max(c.until) from host_closures c where c.bucket = wanted.bucket and c.host = wanted.host), '-infinity')
    from (select distinct given.bucket, given.host from unnest(p_buckets, p_hosts) as given (bucket, host)) as wanted
    order by 1, 2
    on conflict do nothing;
end;

-- In one order everywhere, so that no two processes wait for each other.
create function lock_hosts(p_buckets smallint[], p_hosts text[]) returns void
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off
as $$
begin
    perform 1
    from (select distinct given.bucket, given.host from unnest(p_buckets, p_hosts) as given (bucket, host)
          order by 1, 2) as wanted
    cross join lateral (select 1 from hosts h where h.bucket = wanted.bucket and h.host = wanted.host for update) as locked;
end $$;

-- For a transaction that settles and submits, or submits more than once: all its hosts at the start, or the order is lost.
create function hold_hosts(p_buckets smallint[], p_hosts text[], p_default_delay_ms integer) returns void
    language plpgsql
as $$
begin
    perform ensure_hosts(p_buckets, p_hosts, p_default_delay_ms);
    perform lock_hosts(p_buckets, p_hosts);
end $$;

-- The effective delay, concurrency and burst from everything that has a say. Burst never beside a Crawl-delay.
create function apply_host_policy(p_bucket smallint, p_host text, p_default_delay_ms integer, p_now timestamptz default null)
    returns void
    language plpgsql
as $$
begin
    perform hold_hosts(array[p_bucket], array[p_host], p_default_delay_ms);
    update hosts h
    set delay_ms = e.delay_ms,
        max_concurrency = e.max_concurrency,
        burst = e.burst,
        -- The next slot was counted from the last start with the old delay; the new one holds for the next request. Once
        -- for each of a burst, or a longer delay would earn it anew.
        next_slot_at = h.next_slot_at + h.burst * (spacing_of(e.delay_ms, h.penalty_ms) - spacing_of(h.delay_ms, h.penalty_ms))
    from (select greatest(coalesce(p.min_request_interval_ms, case when p.is_unpaced then 0 else b.base_delay_ms end),
                          coalesce(p.crawl_delay_ms, 0), coalesce(p.source_delay_ms, 0)) as delay_ms,
                 coalesce(p.max_concurrency, 1::smallint) as max_concurrency,
                 case when p.crawl_delay_ms > 0 then 1::smallint else coalesce(p.burst, 1::smallint) end as burst
          from hosts b
          left join host_policies p on p.bucket = b.bucket and p.host = b.host
          where b.bucket = p_bucket and b.host = p_host) as e
    where h.bucket = p_bucket and h.host = p_host;
    perform refresh_hosts(array[p_bucket], array[p_host], coalesce(p_now, clock_timestamp()));
end $$;

-- Closes a host, or with p_until null opens it for this reason.
create function close_host(p_bucket smallint, p_host text, p_reason text, p_until timestamptz, p_now timestamptz default null)
    returns void
    language plpgsql
as $$
begin
    perform lock_hosts(array[p_bucket], array[p_host]);
    if p_until is null then
        delete from host_closures where (bucket, host, reason) = (p_bucket, p_host, p_reason);
    else
        insert into host_closures (bucket, host, reason, until) values (p_bucket, p_host, p_reason, p_until)
        on conflict (bucket, host, reason) do update set until = excluded.until;
    end if;
    update hosts
    set closed_until = coalesce((select max(until) from host_closures where (bucket, host) = (p_bucket, p_host)), '-infinity')
    where (bucket, host) = (p_bucket, p_host);
    perform refresh_hosts(array[p_bucket], array[p_host], coalesce(p_now, clock_timestamp()));
end $$;

-- The right to start one request that is no entry's: a poll, robots.txt, a hop, a render, a person's test fetch.
-- Granted up to p_reach ahead; otherwise `not_before` says when to ask again, and claims yield the host until then.
-- They take turns: after a grant a claim that could have the next slot gets a second to take it, and only a claim makes
-- the host yield again.
create function reserve_slot(
    p_bucket smallint, p_host text, p_kind text, p_owner text, p_lease interval, p_reach interval,
    p_default_delay_ms integer, p_slack interval, p_now timestamptz default null,
    out token uuid, out wait interval, out is_alone boolean, out not_before interval, out why text
)
    language plpgsql
as $$
declare
    h       hosts;
    v_now   timestamptz;
    v_after timestamptz;
    v_space interval;
    v_start timestamptz;
begin
    perform ensure_hosts(array[p_bucket], array[p_host], p_default_delay_ms);
    select * into h from hosts where bucket = p_bucket and host = p_host for update;
    v_now := coalesce(p_now, clock_timestamp()); -- after the lock: waiting for it must not lengthen the grant
    v_space := spacing_of(h.delay_ms, h.penalty_ms);
    v_start := greatest(v_now, greatest(h.next_slot_at, v_now) - (h.burst - 1) * v_space);
    if h.closed_until > v_now then
        v_after := h.closed_until;
        why := 'closed';
    elsif h.in_flight >= capacity_of(h.max_concurrency, h.bad_in_a_row) then
        v_after := greatest(v_start, v_now + interval '0.2 seconds');
        why := 'full';
    elsif v_start > v_now + p_reach then
        v_after := v_start;
        why := 'delay';
    elsif h.owes_claim and h.wake_at <= v_start and v_now < h.wake_at + interval '1 second' then
        v_after := h.wake_at + interval '1 second';
        why := 'turn';
    else
        token := gen_random_uuid();
        wait := v_start - v_now;
        is_alone := h.max_concurrency = 1;
        insert into slots (bucket, token, host, kind, owner, starts_at, expires_at)
        values (p_bucket, token, p_host, p_kind, p_owner, v_start, v_start + p_lease);
        update hosts
        set next_slot_at = greatest(next_slot_at, v_now) + spacing_after(v_space, p_slack, h.max_concurrency),
            in_flight = in_flight + 1, yield_until = '-infinity', owes_claim = true
        where bucket = p_bucket and host = p_host;
    end if;
    if why in ('full', 'delay') and not h.owes_claim then
        update hosts
        set yield_until = v_after + greatest(v_space, interval '1 second')
        where bucket = p_bucket and host = p_host;
    end if;
    not_before := case when v_after = 'infinity' then interval '100 years' else v_after - v_now end;
    perform refresh_hosts(array[p_bucket], array[p_host], v_now);
end $$;

create view host_state as
select h.host, h.last_fetch_at, greatest(h.delay_ms, h.penalty_ms) as min_delay_ms, h.in_flight, h.closed_until, h.wake_at
from hosts h;

create view domain_policies as
select h.host,
       coalesce(p.max_concurrency, 1) as max_concurrency,
       coalesce(p.min_request_interval_ms, h.delay_ms) as min_request_interval_ms,
       p.max_pages, p.max_kb_per_page, coalesce(p.allow_js, false) as allow_js,
       s.last_status as last_seen_status, p.updated_at
from hosts h
left join host_policies p using (bucket, host)
left join host_statistics s using (bucket, host);
