drop view source_profiles;
alter table sources drop column skips_tdmrep;
create view source_profiles as
select id, url, url_hash, name, kind, priority, tags, org_type, timezone, country, ingestion_mode, policy, poll_every,
       crawl_frequency_days, time_window, max_depth, max_pages, allowed_domains, include_paths, exclude_paths, allow_external,
       start_urls, article_patterns, selectors, parser_hint, rate_limit_ms, revisit_every, status, status_reason,
       consecutive_failures, last_run_at, last_run_status, last_run_message, created_at, updated_at, speaks_for
from sources where url_hash is not null;
create trigger only_for_reading instead of insert or update or delete on source_profiles
    for each row execute function refuse_write();
drop table tdmrep;
alter table views drop column rights;
alter type new_document drop attribute rights, drop attribute rights_statements;
alter table document_versions drop column rights, drop column rights_statements;
alter table documents drop column rights, drop column rights_statements;
