-- The right to start one request that is no entry's: a poll, robots.txt, a hop, a render, a person's test fetch.
-- Granted up to p_reach ahead; otherwise `not_before` says when to ask again, and claims yield the host until then.
-- They take turns: after a grant a claim that could have the next slot gets a second to take it, and only a claim makes
-- the host yield again.
create function reserve_slot(
    p_bucket smallint, p_host text, p_kind text, p_owner text, p_lease interval, p_reach interval,
    p_default_delay_ms integer, p_slack interval, p_now timestamptz default null, p_domain text default null,
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
    perform ensure_hosts(array[p_bucket], array[p_host], p_default_delay_ms, array[p_domain]);
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
