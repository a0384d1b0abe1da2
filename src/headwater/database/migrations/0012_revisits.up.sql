-- A row of times: `24h,7d` is once after a day, then every week.
drop view source_profiles;
alter table sources drop constraint sources_revisit_every_check;
alter table sources alter column revisit_every type interval[]
    using case when revisit_every is null then '{}'::interval[] else array[revisit_every] end;
alter table sources alter column revisit_every set default '{}', alter column revisit_every set not null,
    add constraint sources_revisit_every_check check (interval '0' < all (revisit_every));
comment on column sources.revisit_every is 'After which times a fetched page is fetched again, the last one over and over; empty: never.';
create view source_profiles as
select id, url, url_hash, name, kind, priority, tags, org_type, timezone, country, ingestion_mode, policy, poll_every,
       crawl_frequency_days, time_window, max_depth, max_pages, allowed_domains, include_paths, exclude_paths, allow_external,
       start_urls, article_patterns, selectors, parser_hint, rate_limit_ms, revisit_every, status, status_reason,
       consecutive_failures, last_run_at, last_run_status, last_run_message, created_at, updated_at, speaks_for
from sources where url_hash is not null;
create trigger only_for_reading instead of insert or update or delete on source_profiles
    for each row execute function refuse_write();
