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
    update tdmrep
    set fetched_at = v_now, expires_at = greatest(v_now, expires_at - p_back)
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
