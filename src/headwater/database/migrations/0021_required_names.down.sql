comment on column url_frontier.content_hash is null;

drop view crawl_sources;

drop view domain_policies;
create view domain_policies as
select h.host,
       coalesce(p.max_concurrency, 1) as max_concurrency,
       coalesce(p.min_request_interval_ms, h.delay_ms) as min_request_interval_ms,
       p.max_pages, p.max_kb_per_page, coalesce(p.allow_js, false) as allow_js,
       s.last_status as last_seen_status, p.updated_at
from hosts h
left join host_policies p using (bucket, host)
left join host_statistics s using (bucket, host);

drop view host_state;
create view host_state as
select h.host, h.last_fetch_at, greatest(h.delay_ms, h.penalty_ms) as min_delay_ms, h.in_flight, h.closed_until, h.wake_at
from hosts h;

drop view robots_cache;
create view robots_cache as
select host, convert_from(body, 'LATIN1') as robots_txt, fetched_at, crawl_delay_ms, access, http_status
from robots where scheme = 'https' or not exists (
    select 1 from robots r where r.bucket = robots.bucket and r.host = robots.host and r.scheme = 'https');

drop function text_from;
alter table robots drop column disallow;
alter table hosts drop column created_at;
