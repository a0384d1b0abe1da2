-- The effective policy of one host, as `apply_host_policies` makes it; the host is locked and made where it is missing.
create function apply_host_policy(p_bucket smallint, p_host text, p_default_delay_ms integer, p_now timestamptz default null)
    returns void
    language plpgsql
as $$
begin
    perform hold_hosts(array[p_bucket], array[p_host], p_default_delay_ms);
    perform apply_host_policies(array[p_bucket], array[p_host], coalesce(p_now, clock_timestamp()));
end $$;
