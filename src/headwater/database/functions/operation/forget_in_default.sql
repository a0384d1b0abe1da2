-- Rows of the default partition that are past their retention, a batch of them; returns how many.
create function forget_in_default(p_table text, p_before timestamptz, p_limit integer) returns integer
    language plpgsql
as $$
declare
    v_count integer;
begin
    execute format('delete from %1$I where ctid = any (array(select ctid from %1$I where at < $1 limit $2))', p_table || '_default')
        using p_before, p_limit;
    get diagnostics v_count = row_count;
    return v_count;
end $$;
