-- A process that was stopped keeps its connection, and its heart beats no more: `p_within` is the longest time between two
-- beats. Sessions of another role do not show it, and then the lock has to do.
create function is_owner_alive(p_owner text, p_within interval) returns boolean
    language sql volatile
as $$
    select exists (
        select 1 from pg_locks l left join pg_stat_activity a on a.pid = l.pid
        where l.locktype = 'advisory' and l.objsubid = 1 and l.granted
          and l.database = (select d.oid from pg_database d where d.datname = current_database())
          and ((l.classid::bigint << 32) | l.objid::bigint) = owner_key(p_owner)
          and coalesce(a.state_change > clock_timestamp() - p_within, true));
$$;
