-- Views by the required names are for reading. PostgreSQL lets simple ones be written through: a `delete from crawl_logs`
-- would delete the runs themselves.
create function refuse_write() returns trigger
    language plpgsql
as $$
begin
    raise exception '% is a view for reading: nothing is written through it.', tg_table_name
        using errcode = 'feature_not_supported', hint = 'Change sources and hosts with the commands: headwater --help';
end $$;

create trigger only_for_reading instead of insert or update or delete on host_state
    for each row execute function refuse_write();
create trigger only_for_reading instead of insert or update or delete on domain_policies
    for each row execute function refuse_write();
create trigger only_for_reading instead of insert or update or delete on robots_cache
    for each row execute function refuse_write();
create trigger only_for_reading instead of insert or update or delete on crawl_sources
    for each row execute function refuse_write();
create trigger only_for_reading instead of insert or update or delete on feed_state
    for each row execute function refuse_write();
create trigger only_for_reading instead of insert or update or delete on crawl_logs
    for each row execute function refuse_write();
create trigger only_for_reading instead of insert or update or delete on job_executions
    for each row execute function refuse_write();
create trigger only_for_reading instead of insert or update or delete on crawl_locks
    for each row execute function refuse_write();
create trigger only_for_reading instead of insert or update or delete on source_pages
    for each row execute function refuse_write();
create trigger only_for_reading instead of insert or update or delete on source_profiles
    for each row execute function refuse_write();
