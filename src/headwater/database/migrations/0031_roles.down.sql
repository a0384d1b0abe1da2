drop function forget_in_default(text, timestamptz, integer);
drop function ensure_days(text, date, integer, integer);
create function ensure_days(p_table text, p_from date, p_days integer) returns integer
    language plpgsql
as $$
declare
    v_day  date;
    v_name text;
    v_made integer := 0;
begin
    perform pg_advisory_xact_lock(hashtextextended('headwater.' || p_table, 0));
    for v_day in select p_from + n from generate_series(0, p_days - 1) as n loop
        v_name := p_table || '_' || to_char(v_day, 'YYYYMMDD');
        continue when to_regclass(v_name) is not null;
        execute format('create table %I (like %I including defaults including constraints including storage)', v_name, p_table);
        execute format('alter table %I attach partition %I for values from (%L) to (%L)', p_table, v_name,
                       (v_day::timestamp at time zone 'utc'), ((v_day + 1)::timestamp at time zone 'utc'));
        v_made := v_made + 1;
    end loop;
    return v_made;
end $$;
drop table raw_bodies_default, runs_default, fetch_log_default;
drop table request_totals, request_minutes, role_figures, role_processes;
