drop function rekey_entry;
drop function rekey_document;
drop function standing_of;
drop table host_rules;

drop function claim_channels(text, integer, interval, timestamptz, integer, integer, interval);
-- Leases due channels, the longest due first and one per host: many feeds of one host would only wait for each other.
-- The others of such a host are put as far off as its slots lie apart, or they would hide everything behind them.
-- A channel whose lease was lost is a suspect, and a poller has one of them at a time: when it dies again, that one alone is
-- lost twice, and not all that were under way both times.
create function claim_channels(p_owner text, p_limit integer, p_lease interval, p_now timestamptz default null)
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
    -- A statement of its own: it must see what others leased until the rows were locked.
    select array_agg(first.id) into v_chosen
    from (select c.id from (
              select distinct on (d.bucket, d.host) d.id, d.bucket, d.host, d.next_poll_at
              from channels d where d.id = any (v_ids)
              order by d.bucket, d.host, d.next_poll_at, d.id) as c
          where not exists (select 1 from channels busy where busy.bucket = c.bucket and busy.host = c.host
                            and busy.token is not null and busy.lease_until > v_clock)
          order by c.next_poll_at limit p_limit) as first;
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

comment on column url_frontier.content_hash is null;

drop view crawl_sources;

drop view domain_policies;
create view domain_policies as
select h.host,
       coalesce(p.max_concurrency, 1) as max_concurrency,
       coalesce(p.min_request_interval_ms, h.delay_ms) as min_request_interval_ms,
       p.max_pages, p.max_kb_per_page, coalesce(p.allow_js, false) as allow_js,
       s.last_status as last_seen_status, p.updated_at
from hosts h
left join host_policies p using (bucket, host)
left join host_statistics s using (bucket, host);

drop view host_state;
create view host_state as
select h.host, h.last_fetch_at, greatest(h.delay_ms, h.penalty_ms) as min_delay_ms, h.in_flight, h.closed_until, h.wake_at
from hosts h;

drop view robots_cache;
create view robots_cache as
select host, convert_from(body, 'LATIN1') as robots_txt, fetched_at, crawl_delay_ms, access, http_status
from robots where scheme = 'https' or not exists (
    select 1 from robots r where r.bucket = robots.bucket and r.host = robots.host and r.scheme = 'https');

drop function text_from;
alter table robots drop column disallow;
alter table hosts drop column created_at;
