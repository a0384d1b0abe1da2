-- A day's partition is filled beside the table and attached: creating it in place would stall every writer. What the
-- default partition holds of that day is moved first, in the same transaction, so that nothing is ever out of sight. A day
-- of which it holds more than `p_most` stays there until its retention ends: moving it would keep writers waiting.
-- Whoever is in the way is waited for shortly, and the next round tries again.
create function ensure_days(p_table text, p_from date, p_days integer, p_most integer default 10000) returns integer
    language plpgsql
    set lock_timeout = '3s'
as $$
declare
    v_default text := p_table || '_default';
    v_day     date;
    v_name    text;
    v_begin   timestamptz;
    v_end     timestamptz;
    v_held    integer;
    v_made    integer := 0;
begin
    perform pg_advisory_xact_lock(hashtextextended('headwater.' || p_table, 0));
    for v_day in select p_from + n from generate_series(0, p_days - 1) as n loop
        v_name := p_table || '_' || to_char(v_day, 'YYYYMMDD');
        continue when to_regclass(v_name) is not null;
        v_begin := v_day::timestamp at time zone 'utc';
        v_end := (v_day + 1)::timestamp at time zone 'utc';
        execute format('select count(*) from (select 1 from %I where at >= $1 and at < $2 limit $3) as held', v_default)
            into v_held using v_begin, v_end, p_most + 1;
        continue when v_held > p_most;
        execute format('create table %I (like %I including defaults including constraints including storage)', v_name, p_table);
        -- A writer that was on its way into the default partition would find its row to be no part of it any more: where
        -- there may be one, it has to end first. Other days are attached beside writers.
        execute format('lock table only %I in %s mode', p_table,
                       case when v_held > 0 or v_begin < now() + interval '1 hour' then 'share row exclusive'
                            else 'share update exclusive' end);
        execute format('lock table %I in access exclusive mode', v_default);
        execute format('with moved as (delete from %I where at >= $1 and at < $2 returning *) insert into %I select * from moved',
                       v_default, v_name) using v_begin, v_end;
        execute format('alter table %I attach partition %I for values from (%L) to (%L)', p_table, v_name, v_begin, v_end);
        v_made := v_made + 1;
    end loop;
    return v_made;
end $$;
