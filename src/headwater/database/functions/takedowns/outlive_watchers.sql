-- Waits until every transaction has ended that had looked at the takedowns before. False: one of them took too long.
create function outlive_watchers(p_patience interval) returns boolean
    language plpgsql
as $$
declare
    v_until  timestamptz := clock_timestamp() + p_patience;
    v_before text[] := array(select w.transaction from takedown_watchers w);
begin
    while exists (select 1 from takedown_watchers w where w.transaction = any (v_before)) loop
        if clock_timestamp() > v_until then
            return false;
        end if;
        perform pg_sleep(0.01);
    end loop;
    return true;
end $$;
