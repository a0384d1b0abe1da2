-- For a transaction that settles and submits, or submits more than once: all its hosts at the start, or the order is lost.
create function hold_hosts(p_buckets smallint[], p_hosts text[], p_default_delay_ms integer, p_domains text[] default null) returns void
    language plpgsql
as $$
begin
    perform ensure_hosts(p_buckets, p_hosts, p_default_delay_ms, p_domains);
    perform lock_hosts(p_buckets, p_hosts);
end $$;
