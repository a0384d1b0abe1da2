alter table login_attempts drop column told_until;
drop index url_frontier_failures;
alter table role_processes
    drop column drain_asked_at, drop column drain_asked_by, drop column is_draining, drop column under_way;
