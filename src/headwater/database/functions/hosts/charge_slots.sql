-- Further requests of somebody who holds a slot, without a wait for each: a page that is rendered asks for its parts at once,
-- as it would for a reader. The host is not the worse for it: its next slot moves by a spacing for every one of them, before
-- it is sent. The request before is noted, with no delay of its own to be held to; p_count 0 only notes it, and then the
-- next slot keeps its distance from when that last one really began. In the last p_margin of its lease nobody begins
-- anything.
-- `why` is lost or closed where nothing more may be asked.
create function charge_slots(
    p_bucket smallint, p_token uuid, p_count integer, p_margin interval,
    p_started_at timestamptz, p_duration_ms integer, p_status smallint, p_body_bytes bigint, p_past_kind text, p_sent_from text,
    p_now timestamptz default null,
    out granted_at timestamptz, out lasts interval, out not_before interval, out why text
)
    language plpgsql
as $$
declare
    s slots;
    h hosts;
begin
    select * into s from slots where bucket = p_bucket and token = p_token;
    perform lock_hosts(array[p_bucket], array[s.host]);
    granted_at := coalesce(p_now, clock_timestamp());
    select * into s from slots where bucket = p_bucket and token = p_token and expires_at > granted_at;
    if not found then
        why := 'lost';
        return;
    end if;
    if p_started_at is not null then
        insert into fetch_log (at, bucket, host, token, kind, owner, url_hash, started_at, delay_ms, duration_ms, status, body_bytes,
                               verdict, sent_from)
        values (granted_at, s.bucket, s.host, s.token, coalesce(p_past_kind, s.kind), s.owner, s.url_hash, p_started_at,
                0, p_duration_ms, p_status, p_body_bytes, 'went_on', p_sent_from::inet);
        if p_count = 0 then
            update hosts
            set next_slot_at = greatest(next_slot_at,
                                        began_at(p_started_at, p_duration_ms, granted_at) + spacing_of(delay_ms, penalty_ms))
            where bucket = p_bucket and host = s.host;
            perform refresh_hosts(array[p_bucket], array[s.host], granted_at);
        end if;
    end if;
    lasts := s.expires_at - granted_at;
    select * into h from hosts where bucket = p_bucket and host = s.host;
    if lasts <= p_margin then
        why := 'lost';
    elsif h.closed_until > granted_at then
        not_before := case when h.closed_until = 'infinity' then interval '100 years' else h.closed_until - granted_at end;
        why := 'closed';
    elsif p_count > 0 then
        update hosts
        set next_slot_at = greatest(next_slot_at, granted_at) + p_count * spacing_of(delay_ms, penalty_ms), last_fetch_at = granted_at
        where bucket = p_bucket and host = s.host;
        perform refresh_hosts(array[p_bucket], array[s.host], granted_at);
    end if;
end $$;
