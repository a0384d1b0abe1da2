-- Closes a host, or with p_until null opens it for this reason.
create function close_host(p_bucket smallint, p_host text, p_reason text, p_until timestamptz, p_now timestamptz default null)
    returns void
    language plpgsql
as $$
begin
    perform lock_hosts(array[p_bucket], array[p_host]);
    if p_until is null then
        delete from host_closures where (bucket, host, reason) = (p_bucket, p_host, p_reason);
    else
        insert into host_closures (bucket, host, reason, until) values (p_bucket, p_host, p_reason, p_until)
        on conflict (bucket, host, reason) do update set until = excluded.until;
    end if;
    update hosts
    set closed_until = coalesce((select max(until) from host_closures where (bucket, host) = (p_bucket, p_host)), '-infinity')
    where (bucket, host) = (p_bucket, p_host);
    perform refresh_hosts(array[p_bucket], array[p_host], coalesce(p_now, clock_timestamp()));
end $$;
