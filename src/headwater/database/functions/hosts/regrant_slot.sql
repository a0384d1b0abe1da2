-- The next request of somebody who already holds a slot of this host: a redirect hop, a retry, robots.txt before the page.
-- A new reservation would wait for ever where only one request may run: it is our own. The request before is noted, and the
-- new one is granted like any other; `why` is lost, closed or delay where it is not.
create function regrant_slot(
    p_bucket smallint, p_token uuid, p_lease interval, p_reach interval,
    p_verdict text, p_status smallint, p_body_bytes bigint, p_started_after interval, p_duration_ms integer,
    p_past_kind text, p_sent_from text, p_slack interval,
    p_now timestamptz default null,
    out wait interval, out is_alone boolean, out not_before interval, out why text
)
    language plpgsql
as $$
declare
    s       slots;
    h       hosts;
    v_now   timestamptz;
    v_space interval;
    v_start timestamptz;
begin
    select * into s from slots where bucket = p_bucket and token = p_token;
    perform lock_hosts(array[p_bucket], array[s.host]);
    v_now := coalesce(p_now, clock_timestamp());
    select * into s from slots where bucket = p_bucket and token = p_token and expires_at > v_now;
    if not found then
        why := 'lost';
        return;
    end if;
    select * into h from hosts where bucket = p_bucket and host = s.host;
    v_space := spacing_of(h.delay_ms, h.penalty_ms);
    if p_started_after is not null then
        insert into fetch_log (at, bucket, host, token, kind, owner, url_hash, started_at, delay_ms, duration_ms, status, body_bytes,
                               verdict, sent_from)
        values (v_now, s.bucket, s.host, s.token, coalesce(p_past_kind, s.kind), s.owner, s.url_hash, s.starts_at + p_started_after,
                greatest(h.delay_ms, h.penalty_ms), p_duration_ms, p_status, p_body_bytes, p_verdict,
                p_sent_from::inet);
        h.next_slot_at := greatest(h.next_slot_at, began_at(s.starts_at + p_started_after, p_duration_ms, v_now) + v_space);
    end if;
    v_start := greatest(v_now, greatest(h.next_slot_at, v_now) - (h.burst - 1) * v_space);
    if h.closed_until > v_now then
        -- Before PostgreSQL 17 nothing can be taken from infinity.
        not_before := least(h.closed_until, v_now + interval '100 years') - v_now;
        why := 'closed';
    elsif v_start > v_now + p_reach then
        not_before := v_start - v_now;
        why := 'delay';
    else
        wait := v_start - v_now;
        -- Where fewer may run than before, others can still be under way.
        is_alone := h.max_concurrency = 1 and h.in_flight <= 1;
        update slots
        set starts_at = v_start, expires_at = greatest(expires_at, v_start + p_lease)
        where bucket = p_bucket and token = p_token;
        h.next_slot_at := greatest(h.next_slot_at, v_now) + spacing_after(v_space, p_slack, h.max_concurrency);
    end if;
    update hosts set next_slot_at = h.next_slot_at, last_fetch_at = v_now where bucket = p_bucket and host = s.host;
    perform refresh_hosts(array[p_bucket], array[s.host], v_now);
end $$;
