-- A database whose clock is set: what was written under another clock is moved to the one that holds.

-- The newest time that maintenance has seen here. A clock behind it was set back.
create table clock_mark (
    only_row boolean primary key default true check (only_row),
    seen_at  timestamptz not null
);
insert into clock_mark (seen_at) values (clock_timestamp());

-- When a closure was written: one from a future that is none lasts as long as it was meant to, and no longer.
alter table host_closures add column noted_at timestamptz not null default clock_timestamp();

create function note_closure() returns trigger
    language plpgsql
as $$
begin
    new.noted_at := clock_timestamp();
    return new;
end $$;
create trigger note_closure before insert or update on host_closures for each row execute function note_closure();

-- Further ahead than this no host's slot lies by what its pace allows: its burst, one more, and the reach of a grant.
create function farthest_slot(burst smallint, delay_ms integer, penalty_ms integer) returns interval
    language sql immutable parallel safe
return (burst + 1) * spacing_of(delay_ms, penalty_ms) + interval '12 seconds';

-- The clock was set back by at least p_back. What this bucket's rows were given by the clock before moves by as much; a row
-- written since, or one that is within its bounds, stays, so that it may be run again after a crash.
-- Invariant: a host's next slot is never brought nearer than its spacing, and no lease outlives p_lease from now.
create function follow_clock_back(p_bucket smallint, p_back interval, p_lease interval, p_now timestamptz default null) returns void
    language plpgsql
as $$
declare
    v_now   timestamptz;
    v_hosts text[];
begin
    perform 1 from hosts where bucket = p_bucket order by host for update;
    v_now := coalesce(p_now, clock_timestamp());
    update url_frontier
    set next_fetch_at = case when next_fetch_at > v_now then greatest(v_now, next_fetch_at - p_back) else next_fetch_at end,
        revisit_at = case when revisit_at > v_now then greatest(v_now, revisit_at - p_back) else revisit_at end,
        last_fetched_at = least(last_fetched_at, v_now),
        updated_at = v_now
    where bucket = p_bucket and updated_at > v_now;
    update slots
    set expires_at = least(expires_at, v_now + p_lease + interval '10 seconds'),
        starts_at = case when starts_at > v_now + interval '12 seconds' then greatest(starts_at - p_back, v_now) else starts_at end
    where bucket = p_bucket and (expires_at > v_now + p_lease + interval '10 seconds' or starts_at > v_now + interval '12 seconds');
    update host_closures
    set until = greatest(v_now, until - p_back)
    where bucket = p_bucket and noted_at > v_now and until > v_now and until < 'infinity';
    update robots
    set fetched_at = v_now, expires_at = greatest(v_now, expires_at - p_back), failing_since = least(failing_since, v_now)
    where bucket = p_bucket and fetched_at > v_now;
    update hosts h
    set next_slot_at = case when h.next_slot_at > v_now + farthest_slot(h.burst, h.delay_ms, h.penalty_ms)
                            then greatest(v_now + spacing_of(h.delay_ms, h.penalty_ms), h.next_slot_at - p_back)
                            else h.next_slot_at end,
        yield_until = least(h.yield_until, v_now + spacing_of(h.delay_ms, h.penalty_ms) + interval '1 second'),
        closed_until = coalesce((select max(c.until) from host_closures c where (c.bucket, c.host) = (h.bucket, h.host)), '-infinity'),
        last_fetch_at = least(h.last_fetch_at, v_now)
    where h.bucket = p_bucket and greatest(h.next_slot_at, h.yield_until, h.closed_until, h.last_fetch_at) > v_now;
    select array_agg(host) into v_hosts from hosts where bucket = p_bucket;
    if v_hosts is not null then
        perform refresh_hosts(array_fill(p_bucket, array[cardinality(v_hosts)]), v_hosts, v_now);
    end if;
end $$;

-- The same for channels, and for the price of a poll. Those that wait for their turn at a host were not written otherwise.
create function follow_clock_back_in_channels(p_back interval, p_lease interval, p_now timestamptz default null) returns void
    language plpgsql
as $$
declare
    v_now timestamptz := coalesce(p_now, clock_timestamp());
begin
    update channels c
    set next_poll_at = case when c.next_poll_at > v_now then greatest(v_now, c.next_poll_at - p_back) else c.next_poll_at end,
        last_polled_at = least(c.last_polled_at, v_now), last_ok_at = least(c.last_ok_at, v_now),
        last_new_at = least(c.last_new_at, v_now), silent_since = least(c.silent_since, v_now), updated_at = v_now
    from (select id from channels
          where updated_at > v_now or (next_reason like 'waits for its turn at %' and next_poll_at >= v_now + p_back)
          order by id for update) as ahead
    where c.id = ahead.id;
    update channels c set lease_until = v_now + p_lease, leased_at = least(c.leased_at, v_now)
    from (select id from channels where lease_until > v_now + p_lease order by id for update) as held
    where c.id = held.id;
    update cadence set steered_at = v_now where steered_at > v_now;
end $$;

-- The clock was set forward by p_ahead, and stood at p_seen before. What is under way keeps the time it had left: no lease
-- runs out early, and a host's next slot counts from requests that began by the old clock.
create function follow_clock_ahead(p_bucket smallint, p_ahead interval, p_seen timestamptz, p_lease interval) returns void
    language plpgsql
as $$
declare
    v_hosts text[];
begin
    perform 1 from hosts where bucket = p_bucket order by host for update;
    -- Not beyond a lease: it may have been the one who looks that stood still.
    update slots set expires_at = least(expires_at + p_ahead, clock_timestamp() + p_lease + interval '10 seconds'),
                     starts_at = starts_at + p_ahead
    where bucket = p_bucket and starts_at < p_seen + p_ahead - interval '2 seconds';
    with moved as (
        update hosts set next_slot_at = next_slot_at + p_ahead
        where bucket = p_bucket and next_slot_at > p_seen - interval '2 seconds' and next_slot_at < p_seen + p_ahead - interval '2 seconds'
        returning host
    )
    select array_agg(host) into v_hosts from moved;
    if v_hosts is not null then
        perform refresh_hosts(array_fill(p_bucket, array[cardinality(v_hosts)]), v_hosts, clock_timestamp());
    end if;
end $$;

-- When a request began, by the clock that holds now. One whose end lies where no request could have ended began under another
-- clock: then it counts as begun just now, so that a whole spacing follows it.
create function began_at(granted timestamptz, duration_ms integer, p_now timestamptz) returns timestamptz
    language sql immutable parallel safe
return case when granted is null then null
            when granted + make_interval(secs => coalesce(duration_ms, 0) / 1000.0)
                 between p_now - interval '2 minutes' and p_now + interval '1 second' then granted
            else p_now end;

-- Puts one expression in place of another in a function that other migrations write whole; it must be there, once.
create function amend_function(p_function regproc, p_old text, p_new text) returns void
    language plpgsql
as $$
declare
    v_text text := pg_get_functiondef(p_function);
begin
    if cardinality(string_to_array(v_text, p_old)) <> 2 then
        raise exception '% does not contain "%" once', p_function, p_old;
    end if;
    execute replace(v_text, p_old, p_new);
end $$;

select amend_function('settle_requests', 'max(x.starts_at + x.started_after) as started_at',
                      'max(began_at(x.starts_at + x.started_after, x.duration_ms, v_now)) as started_at');
select amend_function('regrant_slot', 's.starts_at + p_started_after + v_space',
                      'began_at(s.starts_at + p_started_after, p_duration_ms, v_now) + v_space');
