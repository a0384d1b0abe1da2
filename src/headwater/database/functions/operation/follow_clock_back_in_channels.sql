-- What `follow_clock_back` does for a bucket, for channels and for the price of a poll. Channels that wait for their turn at a
-- host were not written otherwise.
create function follow_clock_back_in_channels(p_back interval, p_lease interval, p_now timestamptz default null) returns void
    language plpgsql
as $$
declare
    v_now timestamptz := coalesce(p_now, clock_timestamp());
begin
    update channels c
    set next_poll_at = case when c.next_poll_at > v_now then greatest(v_now, c.next_poll_at - p_back) else c.next_poll_at end,
        last_polled_at = least(c.last_polled_at, v_now), last_ok_at = least(c.last_ok_at, v_now),
        last_new_at = least(c.last_new_at, v_now), silent_since = least(c.silent_since, v_now),
        validators_checked_at = least(c.validators_checked_at, v_now), waits_since = least(c.waits_since, v_now), updated_at = v_now
    from (select id from channels
          where updated_at > v_now or (next_reason like 'waits for its turn at %' and next_poll_at >= v_now + p_back)
          order by id for update) as ahead
    where c.id = ahead.id;
    update channels c set lease_until = v_now + p_lease, leased_at = least(c.leased_at, v_now)
    from (select id from channels where lease_until > v_now + p_lease order by id for update) as held
    where c.id = held.id;
    update cadence set steered_at = v_now where steered_at > v_now;
end $$;
