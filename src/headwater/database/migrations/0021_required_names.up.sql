-- The views that keep the names of the tables they replace say all that those tables said, one row a host or source.

alter table hosts add column created_at timestamptz not null default now();
comment on column hosts.created_at is 'When it was first heard of.';

alter table robots add column disallow jsonb;
comment on column robots.disallow is 'The paths its rules forbid us, as written; null: not read since this is kept.';
-- Asked for in full once more: an answer "not modified" would leave the new column empty.
update robots set etag = null, last_modified = null where etag is not null or last_modified is not null;

-- What a server sent as text, whatever it is. Most is UTF-8; a body with a zero byte is no text in any encoding.
create function text_from(p_body bytea) returns text
    language plpgsql immutable parallel safe
as $$
begin
    return convert_from(p_body, 'UTF8');
exception when character_not_in_repertoire or untranslatable_character then
    return encode(p_body, 'escape');
end $$;

-- The robots.txt of a host: that of https before http, of the usual port before others.
drop view robots_cache;
create view robots_cache as
select distinct on (bucket, host) host, text_from(body) as robots_txt, fetched_at, crawl_delay_ms, disallow, access, http_status,
       expires_at
from robots order by bucket, host, scheme desc, port in (80, 443) desc, port;

drop view host_state;
create view host_state as
select h.host, h.last_fetch_at, greatest(h.delay_ms, h.penalty_ms) as min_delay_ms, r.robots_txt, r.robots_fetched_at,
       case when p.serves_jobs then 12 else 24 end as robots_ttl_hours, h.created_at,
       -- Whatever this row tells changes at one of these moments.
       greatest(h.created_at, h.last_fetch_at, p.updated_at, r.robots_fetched_at) as updated_at,
       h.in_flight, h.closed_until, h.wake_at
from hosts h
left join host_policies p on p.bucket = h.bucket and p.host = h.host
left join lateral (
    select text_from(o.body) as robots_txt, o.fetched_at as robots_fetched_at from robots o
    where o.bucket = h.bucket and o.host = h.host order by o.scheme desc, o.port in (80, 443) desc, o.port limit 1
) as r on true;

-- What holds where nobody has set anything is shown as well; `fetch.max_body_bytes` may lower the size of a page further.
drop view domain_policies;
create view domain_policies as
select h.host,
       coalesce(p.max_concurrency, 1::smallint) as max_concurrency,
       coalesce(p.min_request_interval_ms, case when p.is_unpaced then 0 else h.base_delay_ms end) as min_request_interval_ms,
       coalesce(p.max_pages, 10) as max_pages,
       coalesce(p.max_kb_per_page, case when p.serves_jobs then 1024 else 10240 end) as max_kb_per_page,
       coalesce(p.allow_js, false) as allow_js,
       s.last_status as last_seen_status, coalesce(p.updated_at, h.created_at) as updated_at
from hosts h
left join host_policies p on p.bucket = h.bucket and p.host = h.host
left join host_statistics s on s.bucket = h.bucket and s.host = h.host;

-- Sources by the names of a crawler of job boards. Its first channel says of what type a source is, and how often nothing
-- came of it; the next run is the next poll of any of its channels.
create view crawl_sources as
select s.id, s.name as org_name, s.url as careers_url,
       case first.kind when 'feed' then 'rss' when 'api' then 'api' else 'html' end as source_type,
       s.org_type, s.status, s.status_reason,
       coalesce(s.crawl_frequency_days, case lower(s.org_type) when 'un' then 1 when 'ingo' then 2 when 'academic' then 7 else 3 end)
           as crawl_frequency_days,
       (select min(c.next_poll_at) from channels c where c.source_id = s.id and c.is_active) as next_run_at,
       s.last_run_at as last_crawled_at, s.last_run_status as last_crawl_status, s.last_run_message as last_crawl_message,
       s.consecutive_failures, coalesce(first.nochange_count, 0) as consecutive_nochange, s.parser_hint, s.time_window,
       s.created_at, s.updated_at
from sources s
left join lateral (
    select c.kind, c.nochange_count from channels c where c.source_id = s.id
    order by c.is_enabled desc, c.kind = 'search', c.created_at, c.id limit 1
) as first on true
where s.url_hash is not null;

comment on column url_frontier.content_hash is
    'Of the text that was extracted; of the body where a page has no article, such as a list. Null: it is to be read, whatever it says.';

drop function claim_channels(text, integer, interval, timestamptz);
-- Leases due channels, the longest due first and one per host: many feeds of one host would only wait for each other.
-- The others of such a host are put as far off as its slots lie apart, or they would hide everything behind them.
-- A channel whose lease was lost is a suspect, and a poller has one of them at a time: when it dies again, that one alone is
-- lost twice, and not all that were under way both times.
-- Of job sources p_jobs_pool channels are under lease at once, whoever polls them. Where many are due, all but the first
-- p_jobs_batch wait for p_jobs_every, the next as many for twice as long, and so on.
create function claim_channels(
    p_owner text, p_limit integer, p_lease interval, p_now timestamptz default null, p_jobs_pool integer default null,
    p_jobs_batch integer default null, p_jobs_every interval default null
)
    returns setof uuid
    language plpgsql
    set plan_cache_mode = force_generic_plan
as $$
declare
    v_now    timestamptz := coalesce(p_now, clock_timestamp());
    -- Days may be simulated; how long a process may work on something may not.
    v_clock  timestamptz := clock_timestamp();
    v_ids    uuid[];
    v_chosen uuid[];
    v_jobs   uuid[];
    v_room   integer;
begin
    select array_agg(due.id) into v_ids
    from (select c.id from channels c
          where c.is_active and c.next_poll_at <= v_now and c.token is null and c.lost_count = 0
          order by c.next_poll_at limit 8 * p_limit
          for update skip locked) as due;
    if not has_suspect(p_owner) then
        v_ids := v_ids || array(
            select c.id from channels c
            where c.is_active and c.next_poll_at <= v_now and (c.token is not null or c.lost_count > 0)
              and (c.lease_until is null or c.lease_until <= v_clock)
            order by c.next_poll_at limit 1
            for update skip locked);
    end if;
    if v_ids is null or v_ids = '{}' then
        return;
    end if;
    if p_jobs_pool is not null then
        v_jobs := array(select c.id from channels c join sources s on s.id = c.source_id and s.kind = 'jobs'
                        where c.id = any (v_ids) order by c.trigger = 'manual' desc, c.next_poll_at, c.id);
    end if;
    if v_jobs <> '{}' then
        -- Whoever leases some must see what others have leased.
        perform pg_advisory_xact_lock(hashtextextended('headwater.jobs_pool', 0));
        select greatest(0, p_jobs_pool - count(*)) into v_room
        from channels c join sources s on s.id = c.source_id and s.kind = 'jobs'
        where c.token is not null and c.lease_until > v_clock;
    end if;
    -- A statement of its own: it must see what others leased until the rows were locked.
    select array_agg(first.id) into v_chosen
    from (select f.id from (
              select c.id, c.next_poll_at, c.place,
                     count(c.place) over (order by c.place, c.id rows unbounded preceding) as jobs_before
              from (select distinct on (d.bucket, d.host) d.id, d.bucket, d.host, d.next_poll_at,
                           array_position(v_jobs, d.id) as place
                    from channels d where d.id = any (v_ids)
                    order by d.bucket, d.host, d.next_poll_at, d.id) as c
              where not exists (select 1 from channels busy where busy.bucket = c.bucket and busy.host = c.host
                                and busy.token is not null and busy.lease_until > v_clock)) as f
          where f.place is null or f.jobs_before <= v_room
          order by f.next_poll_at limit p_limit) as first;
    -- Left due, they would hide what is due behind them, and be asked for again and again.
    update channels c
    set next_poll_at = v_now + w.wait, next_reason = w.reason
    from (select j.id, case when j.is_late then (j.rank / p_jobs_batch) * p_jobs_every else interval '2 seconds' end
                       + j.rank * interval '1 millisecond' as wait,
                 case when j.is_late then format('waits for its turn: %s job sources every %s minutes', p_jobs_batch,
                                                 round(extract(epoch from p_jobs_every) / 60, 1))
                      else format('waits for its turn: %s job sources are polled at once', p_jobs_pool) end as reason
          from (select d.id, u.place - 1 as rank, u.place > p_jobs_batch and d.trigger <> 'manual' as is_late
                from unnest(v_jobs) with ordinality as u (id, place) join channels d on d.id = u.id
                where d.id <> all (coalesce(v_chosen, '{}'))) as j) as w
    where c.id = w.id and (v_room < cardinality(v_jobs));
    -- Everything of such a host that is due gets a turn of its own, not only what this claim happened to see: thousands of
    -- channels of one host would otherwise be looked at again and again, and nobody else.
    update channels c
    set next_poll_at = v_now + turn.place * turn.apart, next_reason = 'waits for its turn at ' || c.host
    from (select w.id, spacing_of(coalesce(greatest(h.delay_ms, h.penalty_ms), 1000), 0) + interval '1 second' as apart,
                 row_number() over (partition by w.bucket, w.host order by w.next_poll_at, w.id) as place
          from (select distinct d.bucket, d.host from channels d
                where d.id = any (v_ids) and d.id <> all (coalesce(v_chosen, '{}'))
                  and (exists (select 1 from channels o where o.id = any (coalesce(v_chosen, '{}'))
                                                          and o.bucket = d.bucket and o.host = d.host)
                       or exists (select 1 from channels o where o.bucket = d.bucket and o.host = d.host
                                                             and o.token is not null and o.lease_until > v_clock))) as busy_host
          cross join lateral (
              select q.id, q.bucket, q.host, q.next_poll_at from channels q
              where q.bucket = busy_host.bucket and q.host = busy_host.host and q.is_enabled and q.is_active
                and q.next_poll_at <= v_now
                and (q.lease_until is null or q.lease_until <= v_clock) and q.id <> all (coalesce(v_chosen, '{}'))
              order by q.next_poll_at limit 5000
              for update skip locked) as w
          left join hosts h on h.bucket = w.bucket and h.host = w.host) as turn
    where c.id = turn.id;
    return query
    update channels c
    set token = gen_random_uuid(), leased_by = p_owner, lease_until = v_clock + p_lease,
        leased_at = v_clock,
        -- A token that nobody gave back: least() because a row must not become too large to update.
        lost_count = case when c.token is null then c.lost_count else least(c.lost_count + 1, 1000) end
    where c.id = any (v_chosen)
    returning c.id;
end $$;

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
create index host_rules_to_apply on host_rules (changed_at) where rekeyed_at is null;
comment on column host_rules.pass_from is 'When the present walk through its entries began; null: none is under way.';
comment on column host_rules.has_missed is 'An entry was being fetched when the walk came by: another walk is needed.';

-- Which of two entries of one page is kept: the one of which more is known.
create function standing_of(p_status text) returns integer
    language sql immutable parallel safe
return case p_status when 'fetched' then 4 when 'pending' then 3 when 'failed' then 2 else 1 end;

-- The document of an address under its new key. Sinks know it by its key: the old one is withdrawn, the new one told.
-- Where the new key has one already, that is the same page.
create function rekey_document(p_bucket smallint, p_old bytea, p_new bytea, p_now timestamptz) returns void
    language plpgsql
    set plan_cache_mode = force_generic_plan set enable_seqscan = off
as $$
declare
    n           new_document;
    v_since     timestamptz;
    v_is_single boolean;
begin
    select (jsonb_populate_record(null::new_document, to_jsonb(d))).* into n
    from documents d where d.bucket = p_bucket and d.url_hash = p_old and d.deleted_at is null;
    if not found then
        return;
    end if;
    select d.first_seen_at into v_since from documents d where d.bucket = p_bucket and d.url_hash = p_old;
    v_is_single := not exists (select 1 from documents d where d.bucket = p_bucket and d.url_hash = p_new and d.deleted_at is null);
    perform tombstone_documents(array[p_bucket], array[p_old], 'rekeyed', p_now);
    if v_is_single then
        n.url_hash := p_new;
        if n.claimed_hash = p_new then
            n := without_claim(n);
        end if;
        perform keep_document(n, p_now);
        -- It was seen as long ago as before, unless that would put it before the one it repeats.
        update documents d set first_seen_at = least(d.first_seen_at, v_since)
        where d.bucket = p_bucket and d.url_hash = p_new and d.duplicate_of is null and d.near_duplicate_of is null;
        update outlinks o set url_hash = p_new where o.bucket = p_bucket and o.url_hash = p_old
           and not exists (select 1 from outlinks t where t.bucket = p_bucket and t.url_hash = p_new);
    end if;
    delete from outlinks o where o.bucket = p_bucket and o.url_hash = p_old;
end $$;

-- An entry under its new key, with all that is kept by it: moved; merged where that key has an entry already; busy while one
-- of the two is being fetched, and then nothing is changed; gone where it is there no more.
-- Invariants: its host is locked by the caller; the counters equal a recount; nobody who found it is forgotten.
create function rekey_entry(p_bucket smallint, p_old bytea, p_new bytea, p_now timestamptz) returns text
    language plpgsql
    set plan_cache_mode = force_generic_plan set enable_seqscan = off
as $$
declare
    a         url_frontier;
    b         url_frontier;
    v_is_only boolean;
begin
    perform 1 from url_frontier e where e.bucket = p_bucket and e.url_hash in (p_old, p_new) order by e.url_hash for update;
    select * into b from url_frontier e where e.bucket = p_bucket and e.url_hash = p_new;
    v_is_only := not found;
    select * into a from url_frontier e where e.bucket = p_bucket and e.url_hash = p_old;
    if not found then
        return 'gone';
    end if;
    if 'fetching' in (a.status, coalesce(b.status, '')) then
        return 'busy';
    end if;
    insert into discoveries (bucket, url_hash, source_id, channel_id, origin, parent_url, depth, rank, first_seen_at)
    select d.bucket, p_new, d.source_id, d.channel_id, d.origin, d.parent_url, d.depth, d.rank, d.first_seen_at
    from discoveries d where d.bucket = p_bucket and d.url_hash = p_old
    on conflict do nothing;
    delete from discoveries d where d.bucket = p_bucket and d.url_hash = p_old;
    update channel_items i set url_hash = p_new where i.bucket = p_bucket and i.url_hash = p_old
       and not exists (select 1 from channel_items o where o.channel_id = i.channel_id and o.url_hash = p_new);
    delete from channel_items i where i.bucket = p_bucket and i.url_hash = p_old;
    update raw_bodies r set url_hash = p_new where r.bucket = p_bucket and r.url_hash = p_old;
    update fetch_log l set url_hash = p_new where l.bucket = p_bucket and l.url_hash = p_old;
    perform rekey_document(p_bucket, p_old, p_new, p_now);
    if v_is_only then
        update url_frontier e set url_hash = p_new, updated_at = p_now where e.bucket = p_bucket and e.url_hash = p_old;
        return 'moved';
    end if;
    if standing_of(a.status) > standing_of(b.status) then
        delete from url_frontier e where e.bucket = p_bucket and e.url_hash = p_new;
        insert into counter_deltas (source_id, status, entries) values (b.source_id, b.status, -1);
        update url_frontier e set url_hash = p_new where e.bucket = p_bucket and e.url_hash = p_old;
    else
        delete from url_frontier e where e.bucket = p_bucket and e.url_hash = p_old;
        insert into counter_deltas (source_id, status, entries) values (a.source_id, a.status, -1);
    end if;
    update url_frontier e
    set priority = greatest(a.priority, b.priority), depth = least(a.depth, b.depth),
        discovered_at = least(a.discovered_at, b.discovered_at), fetch_count = greatest(a.fetch_count, b.fetch_count),
        updated_at = p_now
    where e.bucket = p_bucket and e.url_hash = p_new;
    return 'merged';
end $$;
