-- A host that has no row yet gets one; an existing row is left alone. It may have been closed before it was ever seen.
-- Its registrable domain comes from the caller, who has the list of public suffixes; null: maintenance names it.
create function ensure_hosts(p_buckets smallint[], p_hosts text[], p_delay_ms integer, p_domains text[] default null) returns void
    language sql
begin atomic
    insert into hosts (bucket, host, domain, base_delay_ms, delay_ms, closed_until)
    select wanted.bucket, wanted.host, wanted.domain, p_delay_ms, p_delay_ms,
           coalesce((select max(c.until) from host_closures c where c.bucket = wanted.bucket and c.host = wanted.host), '-infinity')
    from (select given.bucket, given.host, max(given.domain) as domain
          from unnest(p_buckets, p_hosts, p_domains) as given (bucket, host, domain) group by 1, 2) as wanted
    order by 1, 2
    on conflict do nothing;
end;
