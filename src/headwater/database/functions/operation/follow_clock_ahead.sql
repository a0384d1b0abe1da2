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
