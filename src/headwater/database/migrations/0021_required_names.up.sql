-- The views that keep the names of the tables they replace say all that those tables said, one row a host or source.

alter table hosts add column created_at timestamptz not null default now();
comment on column hosts.created_at is 'When it was first heard of.';

alter table robots add column disallow jsonb;
comment on column robots.disallow is 'The paths its rules forbid us, as written; null: not read since this is kept.';
-- Asked for in full once more: an answer "not modified" would leave the new column empty.
update robots set etag = null, last_modified = null where etag is not null or last_modified is not null;

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
drop view robots_cache;
create view robots_cache as
select distinct on (bucket, host) host, text_from(body) as robots_txt, fetched_at, crawl_delay_ms, disallow, access, http_status,
       expires_at
from robots order by bucket, host, scheme desc, port in (80, 443) desc, port;

drop view host_state;
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
drop view domain_policies;
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

comment on column url_frontier.content_hash is
    'Of the text that was extracted; of the body where a page has no article, such as a list. Null: it is to be read, whatever it says.';
