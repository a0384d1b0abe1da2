drop view job_executions, crawl_logs, crawl_locks, feed_state, source_profiles;
drop function claim_channels;
drop table cadence, events, runs, channel_items, channels;
alter table host_policies drop column serves_jobs;
drop index sources_address, sources_by_name, sources_ingestion_mode;
alter table sources
    drop column url_hash, drop column tags, drop column org_type, drop column timezone, drop column country,
    drop column ingestion_mode, drop column policy, drop column poll_every, drop column crawl_frequency_days,
    drop column time_window, drop column max_depth, drop column max_pages, drop column allowed_domains,
    drop column include_paths, drop column exclude_paths, drop column allow_external, drop column start_urls,
    drop column article_patterns, drop column selectors, drop column parser_hint, drop column consecutive_failures,
    drop column last_run_at, drop column last_run_status, drop column last_run_message;
