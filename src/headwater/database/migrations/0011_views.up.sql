-- Views by the names that other systems know: they say all that the tables of these names said, one row a host or source,
-- and they are for reading.

-- Sources with an address, in the columns that make a `Source`.
create view source_profiles as
select id, url, url_hash, name, kind, priority, tags, org_type, timezone, country, ingestion_mode, policy, poll_every,
       crawl_frequency_days, time_window, max_depth, max_pages, allowed_domains, include_paths, exclude_paths, allow_external,
       start_urls, article_patterns, selectors, parser_hint, rate_limit_ms, revisit_every, status, status_reason,
       consecutive_failures, last_run_at, last_run_status, last_run_message, created_at, updated_at, speaks_for
from sources where url_hash is not null;

-- Sources by the names of a crawler of job boards. Its first channel says of what type a source is, and how often nothing
-- came of it; the next run is the next poll of any of its channels.
create view crawl_sources as
select s.id, s.name as org_name, s.url as careers_url,
       case first.kind when 'feed' then 'rss' when 'api' then 'api' else 'html' end as source_type,
       s.org_type, s.status, s.status_reason,
       coalesce(s.crawl_frequency_days, case lower(s.org_type) when 'un' then 1 when 'ingo' then 2 when 'academic' then 7 else 3 end)
           as crawl_frequency_days,
       (select min(c.next_poll_at) from channels c where c.source_id = s.id and c.is_active) as next_run_at,
       s.last_run_at as last_crawled_at, s.last_run_status as last_crawl_status, s.last_run_message as last_crawl_message,
       s.consecutive_failures, coalesce(first.nochange_count, 0) as consecutive_nochange, s.parser_hint, s.time_window,
       s.created_at, s.updated_at
from sources s
left join lateral (
    select c.kind, c.nochange_count from channels c where c.source_id = s.id
    order by c.is_enabled desc, c.kind = 'search', c.created_at, c.id limit 1
) as first on true
where s.url_hash is not null;

create view feed_state as
select distinct on (source_id) source_id, url as feed_url, last_polled_at, etag as last_etag, last_modified, last_item_count,
       consecutive_errors, last_error, created_at, updated_at
from channels where kind = 'feed' order by source_id, is_enabled desc, created_at;

create view crawl_locks as
select distinct on (source_id) source_id, lease_until, leased_by, leased_at as locked_at from channels
where token is not null and lease_until > now() order by source_id, lease_until desc;

create view crawl_logs as
select id, source_id, at as ran_at, duration_ms, found, inserted, updated, skipped, status, message from runs;

create view job_executions as
select id, channel_id as job_id, source_id, status, at - make_interval(secs => duration_ms / 1000.0) as started_at,
       at as completed_at, duration_ms, found as items_found, inserted as items_inserted, message as error_message from runs;

-- What a server sent as text, whatever it is. Most is UTF-8; a body with a zero byte is no text in any encoding.
create function text_from(p_body bytea) returns text
    language plpgsql immutable parallel safe
as $$
begin
    return convert_from(p_body, 'UTF8');
exception when character_not_in_repertoire or untranslatable_character then
    return encode(p_body, 'escape');
end $$;

-- The robots.txt of a host: that of https before http, of the usual port before others.
create view robots_cache as
select distinct on (bucket, host) host, text_from(body) as robots_txt, fetched_at, crawl_delay_ms, disallow, access, http_status,
       expires_at
from robots order by bucket, host, scheme desc, port in (80, 443) desc, port;

create view host_state as
select h.host, h.last_fetch_at, greatest(h.delay_ms, h.penalty_ms) as min_delay_ms, r.robots_txt, r.robots_fetched_at,
       case when p.serves_jobs then 12 else 24 end as robots_ttl_hours, h.created_at,
       -- Whatever this row tells changes at one of these moments.
       greatest(h.created_at, h.last_fetch_at, p.updated_at, r.robots_fetched_at) as updated_at,
       h.in_flight, h.closed_until, h.wake_at
from hosts h
left join host_policies p on p.bucket = h.bucket and p.host = h.host
left join lateral (
    select text_from(o.body) as robots_txt, o.fetched_at as robots_fetched_at from robots o
    where o.bucket = h.bucket and o.host = h.host order by o.scheme desc, o.port in (80, 443) desc, o.port limit 1
) as r on true;

-- What holds where nobody has set anything is shown as well; `fetch.max_body_bytes` may lower the size of a page further.
create view domain_policies as
select h.host,
       coalesce(p.max_concurrency, 1::smallint) as max_concurrency,
       coalesce(p.min_request_interval_ms, case when p.is_unpaced then 0 else h.base_delay_ms end) as min_request_interval_ms,
       coalesce(p.max_pages, 10) as max_pages,
       coalesce(p.max_kb_per_page, case when p.serves_jobs then 1024 else 10240 end) as max_kb_per_page,
       coalesce(p.allow_js, false) as allow_js,
       s.last_status as last_seen_status, coalesce(p.updated_at, h.created_at) as updated_at
from hosts h
left join host_policies p on p.bucket = h.bucket and p.host = h.host
left join host_statistics s on s.bucket = h.bucket and s.host = h.host;

-- What the words of an entry are called where pages of a crawl are spoken of.
create function page_status(status text) returns text
    language sql immutable parallel safe
return case status when 'fetching' then 'processing' when 'fetched' then 'completed' when 'dead' then 'failed' else 'pending' end;

create view source_pages as
select entry_id(e.bucket, e.url_hash) as id, d.source_id, e.url, page_status(e.status) as status,
       d.depth, coalesce(e.reason, e.last_error) as error, e.created_at, e.updated_at
from discoveries d
join url_frontier e using (bucket, url_hash);

-- Views by the required names are for reading. PostgreSQL lets simple ones be written through: a `delete from crawl_logs`
-- would delete the runs themselves.
create function refuse_write() returns trigger
    language plpgsql
as $$
begin
    raise exception '% is a view for reading: nothing is written through it.', tg_table_name
        using errcode = 'feature_not_supported', hint = 'Change sources and hosts with the commands: headwater --help';
end $$;
create trigger only_for_reading instead of insert or update or delete on source_profiles
    for each row execute function refuse_write();
create trigger only_for_reading instead of insert or update or delete on crawl_sources
    for each row execute function refuse_write();
create trigger only_for_reading instead of insert or update or delete on feed_state
    for each row execute function refuse_write();
create trigger only_for_reading instead of insert or update or delete on crawl_locks
    for each row execute function refuse_write();
create trigger only_for_reading instead of insert or update or delete on crawl_logs
    for each row execute function refuse_write();
create trigger only_for_reading instead of insert or update or delete on job_executions
    for each row execute function refuse_write();
create trigger only_for_reading instead of insert or update or delete on robots_cache
    for each row execute function refuse_write();
create trigger only_for_reading instead of insert or update or delete on host_state
    for each row execute function refuse_write();
create trigger only_for_reading instead of insert or update or delete on domain_policies
    for each row execute function refuse_write();
create trigger only_for_reading instead of insert or update or delete on source_pages
    for each row execute function refuse_write();
