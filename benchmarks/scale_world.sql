-- An installation filled by numbers; see scale_world.py.

-- name: functions
-- By the number of a thing: its id, its host and bucket, and a number below a million that looks like chance.
create function pg_temp.id_of(what text, n integer) returns uuid language sql immutable
    as $$ select md5(what || n)::uuid $$;
create function pg_temp.host_of(n integer) returns text language sql immutable
    as $$ select 'site-' || n || '.example' $$;
create function pg_temp.bucket_of(host text) returns smallint language sql immutable
    as $$ select get_byte(sha256(host::bytea), 0)::smallint $$;
create function pg_temp.mixed(n integer) returns integer language sql immutable
    as $$ select abs(hashint4(n) % 1000000) $$;

-- name: days_back
-- $1 days. Partitions for what is filled in.
select ensure_days(history, (now() at time zone 'utc')::date - $1::integer, $1 + 3)
from unnest(array['fetch_log', 'runs', 'raw_bodies']) as history;

-- name: sources
-- $1 sources, $2 hosts. Mostly active; some are stopped, some are deleted.
insert into sources (id, name, url, url_hash, kind, priority, status, status_reason, tags, updated_at, last_run_at,
                     last_run_status)
select pg_temp.id_of('source', n), 'Publisher ' || n, url, sha256(url::bytea),
       case when n % 20 = 0 then 'jobs' else 'news' end, 1 + n % 10, status,
       case when status <> 'active' then 'a person' end,
       case when n % 1000 = 7 then '{news, rare}'::text[] else '{news}' end,
       now() - pg_temp.mixed(n) * interval '10 seconds' - interval '20 minutes',
       now() - pg_temp.mixed(n) * interval '3 milliseconds', 'ok'
from (select n, 'https://' || pg_temp.host_of(1 + n % $2::integer) || '/s' || n || '/' as url,
             case n % 100 when 97 then 'blocked' when 98 then 'paused' when 99 then 'deleted' else 'active' end as status
      from generate_series(0, $1::integer - 1) as n) as numbered;

-- name: channels
-- $1 sources, $2 hosts. One each; fifty are due. A crawl begins at a page of its source that was fetched.
insert into channels (id, source_id, kind, url, url_hash, bucket, host, title, is_enabled, is_active, next_poll_at,
                      next_reason, poll_interval, last_polled_at, last_ok_at, last_new_at, newest_item_at,
                      last_item_count, consecutive_errors, silent_since, last_error, rhythm, domains, created_at, etag)
select pg_temp.id_of('channel', n), pg_temp.id_of('source', n), kind, url, sha256(url::bytea),
       pg_temp.bucket_of(host), host, 'Channel ' || n, n % 100 <> 99, n % 100 < 97,
       now() + case when n < 50 then interval '-1 minute'
                    else interval '1 minute' + pg_temp.mixed(n) * interval '3 milliseconds' end,
       'adaptive', interval '1 hour', now() - interval '50 minutes', now() - interval '50 minutes',
       now() - interval '5 hours', now() - interval '6 hours', 20, case when n % 200 = 3 then 2 else 0 end,
       case when n % 400 = 5 then now() - interval '3 days' end, case when n % 200 = 3 then 'timeout' end,
       '{"hours": [1, 2, 3, 4, 5, 6, 7, 8, 9], "rate": 0.4}', array[host], now() - interval '90 days', '"' || n || '"'
from (select n, pg_temp.host_of(1 + n % $2::integer) as host,
             'https://' || pg_temp.host_of(1 + n % $2) || case when n % 20 < 19 then '/s' || n || '/feed' else '/' || n end as url,
             case when n % 20 < 16 then 'feed' when n % 20 < 18 then 'sitemap' when n % 20 = 18 then 'listing'
                  else 'crawl' end as kind
      from generate_series(0, $1::integer - 1) as n) as numbered;

-- name: leased_channels
-- Fifty are being polled.
update channels
set token = gen_random_uuid(), leased_by = 'poller', lease_until = now() + interval '1 day', leased_at = now()
where id in (select pg_temp.id_of('channel', n) from generate_series(100, 149) as n);

-- name: subscriptions
-- $1 sources. Every fifth channel names a hub, mostly one of three; most are active, fifty are due, fifty have been quiet.
insert into subscriptions (channel_id, protocol, hub, hub_host, topic, state, due_at, since, lease_until, proofs, pushes,
                           last_push_at, quiet_until)
select pg_temp.id_of('channel', n), 'websub', 'https://' || hub || '/', hub, 'https://a.example/' || n, 'active',
       now() + case when n < 250 then interval '-1 minute' else interval '1 hour' + pg_temp.mixed(n) * interval '3 milliseconds' end,
       now() - interval '3 days', now() + interval '7 days', case when n % 3 = 0 then 5 else 0 end, n % 100,
       now() - pg_temp.mixed(n) * interval '3 milliseconds',
       case when n % 3 = 0 then now() + case when n < 750 then interval '-1 minute' else interval '5 hours' end end
from (select n, case when n % 2 = 0 then 'hub.example' when n % 3 = 0 then 'hub.b.example' else 'hub' || n || '.example' end as hub
      from generate_series(0, $1::integer - 1, 5) as n) as numbered;

-- name: callbacks
-- $1 sources. One for each subscription, and two hundred pushes that nobody has read.
with called as (
    insert into callbacks (token, channel_id, secret, hub, topic, verified_at)
    select rpad('token' || n, 43, 'x'), pg_temp.id_of('channel', n), 'secret', 'https://hub.example/', 'https://a.example/' || n, now()
    from generate_series(0, $1::integer - 1, 5) as n
)
insert into pushes (channel_id, content_type, body)
select pg_temp.id_of('channel', 5 * (n % 10)), 'text/xml', '\x00' from generate_series(1, 200) as n;

-- name: hosts
-- $1 hosts. A third share an address with nine others.
insert into hosts (bucket, host, domain, base_delay_ms, delay_ms, is_doubted, last_fetch_at, next_slot_at, address,
                   created_at)
select pg_temp.bucket_of(host), host, host, 1000, 1000, n % 20 = 0,
       now() - pg_temp.mixed(n) * interval '80 milliseconds', now() - pg_temp.mixed(n) * interval '80 milliseconds',
       case when n % 3 = 0 then 'address ' || n / 30 end, now() - interval '90 days'
from (select n, pg_temp.host_of(n) as host from generate_series(1, $1::integer) as n) as numbered
order by 1, 2;

-- name: host_rows
-- $1 hosts. Policies, statistics, robots.txt, lessons and templates.
with h as materialized (
    select n, pg_temp.host_of(n) as host, pg_temp.bucket_of(pg_temp.host_of(n)) as bucket
    from generate_series(1, $1::integer) as n
), policies as (
    insert into host_policies (bucket, host, crawl_delay_ms) select bucket, host, 2000 from h where n % 20 = 0
), statistics as (
    insert into host_statistics (bucket, host, requests, succeeded, failed, last_status, last_seen_at)
    select bucket, host, 100, 99, 1, 200, now() - interval '1 hour' from h
), rules as (
    insert into robots (bucket, host, scheme, port, access, body, body_hash, http_status, fetched_at, expires_at)
    select bucket, host, 'https', 443, 'rules', 'User-agent: *', sha256('x'), 200, now() - interval '5 hours',
           now() + interval '1 hour' + pg_temp.mixed(n) * interval '80 milliseconds'
    from h
), lessons as (
    insert into learning_hosts (bucket, host, source_id, learned_at, outcome)
    select bucket, host, pg_temp.id_of('source', n - 1), now() - interval '3 days', 'learned' from h where n % 3 = 0
)
insert into templates (bucket, host, section, version, template, pages, agreement, learned_at, used_at)
select bucket, host, '', 1, '{"form": 1, "container": "article"}', 4, 0.95, now() - interval '3 days',
       now() - pg_temp.mixed(n) * interval '80 milliseconds'
from h where n % 5 = 0;

-- name: entries
-- $1 entries, $2 sources, $3 hosts. Mostly fetched; what waits is due in an hour and later.
insert into url_frontier (bucket, url_hash, host, url, source_id, origin, priority, status, reason, next_fetch_at,
                          fetch_count, last_status, last_fetched_at, revisit_at, discovered_at, created_at, updated_at,
                          etag, content_hash)
select pg_temp.bucket_of(host), sha256(url::bytea), host, url, pg_temp.id_of('source', s), 'feed', 3 + n % 5, status,
       case when status = 'dead' then (array['not_found', 'robots_blocked', 'redirect'])[1 + n % 3] end,
       case when status in ('pending', 'failed')
            then now() + interval '1 hour' + pg_temp.mixed(n) * interval '80 milliseconds'
            else now() - interval '2 days' end,
       1, 200, now() - pg_temp.mixed(n) * interval '1 second',
       case when status = 'fetched' and n % 5 = 0
            then now() + interval '1 day' + pg_temp.mixed(n) * interval '1 second' end,
       now() - pg_temp.mixed(n) * interval '1 second', now() - interval '12 days',
       now() - pg_temp.mixed(n) * interval '1 second', '"' || n || '"', sha256(n::text::bytea)
from (select n, n % $2::integer as s, pg_temp.host_of(1 + (n % $2) % $3::integer) as host,
             'https://' || pg_temp.host_of(1 + (n % $2) % $3) || '/' || n as url,
             case when k < 85 then 'fetched' when k < 90 then 'pending' when k < 93 then 'failed' else 'dead' end as status
      from generate_series(0, $1::integer - 1) as n
      cross join lateral (select (n / $2 * 7 + n % 13) % 100 as k) as shares) as numbered
order by 1, 2;

-- name: discoveries
-- Each entry was found by its source.
insert into discoveries (bucket, url_hash, source_id, origin, first_seen_at)
select bucket, url_hash, source_id, origin, discovered_at from url_frontier order by source_id, bucket, url_hash;

-- name: counters
-- As if folded.
insert into counters select source_id, status, count(*) from url_frontier group by 1, 2;

-- name: totals
-- As if folded.
insert into counter_totals select status, sum(entries) from counters group by 1;

-- name: due_entries
-- A hundred entries are due.
update url_frontier e set next_fetch_at = now() - interval '1 minute'
from (select bucket, url_hash from url_frontier where status = 'pending' order by bucket, url_hash limit 100) as d
where e.bucket = d.bucket and e.url_hash = d.url_hash;

-- name: open_hosts
-- Hosts learn what waits for them by the same function as in production.
select refresh_hosts(array_agg(bucket), array_agg(host), statement_timestamp()) from hosts group by bucket;

-- name: slots
-- Requests under way that are no entry's.
insert into slots (bucket, token, host, kind, owner, starts_at, expires_at)
select bucket, gen_random_uuid(), host, 'poll', 'poller ' || row_number() over () % 8, now(), now() + interval '1 day'
from hosts limit 100;

-- name: items
-- $1 items, $2 channels, $3 hosts. In the order of time, over twenty days.
insert into channel_items (channel_id, url_hash, bucket, signature, title, author, summary, content, language,
                           published_at, first_seen_at, last_seen_at)
select pg_temp.id_of('channel', n % $2::integer), sha256(url::bytea), pg_temp.bucket_of(host), '\x01',
       'Title of item ' || n, 'Somebody', repeat('What it is about. ', 8),
       case when n % 3 = 0 then repeat('A paragraph of its text. ', 20) end, 'en',
       at - interval '7 minutes' - n % 60 * interval '1 minute', at, greatest(at, now() - interval '30 hours')
from (select n, pg_temp.host_of(1 + (n % $2) % $3::integer) as host,
             'https://' || pg_temp.host_of(1 + (n % $2) % $3) || '/' || n as url,
             now() - interval '20 days' * (1 - n::float8 / $1::integer) - interval '1 minute' as at
      from generate_series(0, $1 - 1) as n) as numbered;

-- name: runs
-- $1 runs, $2 channels, $3 days.
insert into runs (at, id, source_id, channel_id, kind, trigger, status, requests, found, inserted, duration_ms,
                  http_status, policy)
select now() - interval '1 day' * $3::integer * (1 - n::float8 / $1::integer) - interval '30 seconds',
       gen_random_uuid(), pg_temp.id_of('source', n % $2::integer), pg_temp.id_of('channel', n % $2), 'feed',
       'schedule', case when n % 100 = 1 then 'fail' else 'ok' end, 1, 20, n % 3, 120, 200, 'adaptive'
from generate_series(0, $1 - 1) as n;

-- name: log
-- $1 rows, $2 hosts, $3 days, $4 entries, $5 sources.
insert into fetch_log (at, bucket, host, token, kind, owner, url_hash, started_at, delay_ms, duration_ms, status,
                       body_bytes, verdict)
select at, pg_temp.bucket_of(host), host, gen_random_uuid(), 'page', 'worker',
       sha256(('https://' || host || '/' || e)::bytea), at, 1000, 100, 200, 50000, 'fetched'
from (select e, pg_temp.host_of(1 + (e % $5::integer) % $2::integer) as host,
             now() - interval '1 day' * $3::integer * (1 - n::float8 / $1::integer) - interval '30 seconds' as at
      from (select n, n % $4::integer as e from generate_series(0, $1 - 1) as n) as entries) as numbered;

-- name: marks
-- The logs were folded two minutes ago.
with minutes as (
    insert into run_minutes
    select date_trunc('minute', at), count(*), 0, sum(inserted) from runs
    where at > now() - interval '1 day' and at <= now() - interval '2 minutes' group by 1
)
update statistics_mark set folded_until = now() - interval '2 minutes', runs_folded_until = now() - interval '2 minutes';

-- name: rollups
-- $1 sources. What was counted of two days by the minute and of two months by the hour; of each source for a week.
with minutes as (
    insert into rollup_minutes (figure, minute, label, count)
    select figure, minute, label, 7
    from generate_series(date_trunc('minute', now() - interval '2 days'), now(), interval '1 minute') as minute,
         unnest(array['fetches', 'requests', 'polls', 'items', 'documents']) as figure, unnest(array['a', 'b', 'c']) as label
), hours as (
    insert into rollup_hours (figure, hour, label, count)
    select figure, hour, label, 400
    from generate_series(date_trunc('hour', now() - interval '60 days'), now(), interval '1 hour') as hour,
         unnest(array['fetches', 'requests', 'polls', 'items', 'documents']) as figure, unnest(array['a', 'b', 'c']) as label
), totals as (
    insert into rollup_totals (figure, label, count)
    select figure, label, 1000000
    from unnest(array['fetches', 'requests', 'polls', 'items', 'documents']) as figure, unnest(array['a', 'b', 'c']) as label
), sources as (
    insert into source_days (source_id, day, items, polls, errors)
    select pg_temp.id_of('source', n), (now() at time zone 'utc')::date - ago, array_fill(1, array[24]),
           array_fill(1::smallint, array[24]), array_fill(0::smallint, array[24])
    from generate_series(7, 1, -1) as ago, generate_series(0, $1::integer - 1) as n
)
update rollup_mark set rolled_until = now() - interval '1 minute',
                       sources_rolled_until = date_trunc('hour', now() - interval '70 minutes', 'UTC');

-- name: texts
-- $1 texts of $2 words; half of them are about the harvest.
create temp table texts as
select t, title, body, search_vector('en', title, '', '', body) as search
from (select t, 'Title ' || t || ' about subject' || t % 50 as title,
             string_agg('word' || (t * 31 + w * w) % 5000, ' ') || ' rare' || t
             || case when t % 2 = 0 then ' harvest' else '' end as body
      from generate_series(0, $1::integer - 1) as t, generate_series(1, $2::integer) as w group by 1) as made;

-- name: documents
-- $1 documents, $2 sources, $3 hosts, $4 texts. In the order of time, over sixty days.
insert into documents (bucket, url_hash, source_id, url, canonical_url, title, text, summary, author, published_at,
                       language, section, keywords, images, word_count, page_type, quality, quality_parts, content_hash,
                       simhash, produced_by, metadata, version, crawled_at, first_seen_at, changed_at, search)
select pg_temp.bucket_of(host), sha256(url::bytea), pg_temp.id_of('source', n % $2::integer), url, url, t.title, t.body,
       '', 'Somebody', at, 'en', '', '{}', '{}', 300, 'article', 80, '{}', sha256(n::text::bytea),
       hashint8extended(n, 7), 'trafilatura', '{}', 1, at, at, at, t.search
from (select n, pg_temp.host_of(1 + (n % $2) % $3::integer) as host,
             'https://' || pg_temp.host_of(1 + (n % $2) % $3) || '/' || n as url,
             now() - interval '60 days' * (1 - n::float8 / $1::integer) - interval '1 minute' as at
      from generate_series(0, $1 - 1) as n) as numbered
join texts t on t.t = n % $4::integer;

-- name: beside_documents
-- What hangs on documents, in shares of them.
with versions as (
    insert into document_versions (bucket, url_hash, version, title, text, summary, author, word_count, content_hash,
                                   produced_by, crawled_at, changed_at, replaced_at)
    select bucket, url_hash, 0, title, text, '', '', 300, content_hash, 'trafilatura', crawled_at, changed_at, changed_at
    from documents where simhash % 20 = 0
), links as (
    insert into outlinks (bucket, url_hash, targets) select bucket, url_hash, url_hash from documents where simhash % 10 = 0
)
insert into outbox (kind, bucket, hash, version, op, at)
select 'document', bucket, url_hash, 1, 'upsert', changed_at from documents;

-- name: bodies
-- $1 bodies, $2 documents, $3 sources, $4 hosts, $5 days.
insert into raw_bodies (at, bucket, url_hash, source_id, url, status, headers, body, body_bytes)
select now() - interval '1 day' * $5::integer * (1 - n::float8 / $1::integer) - interval '1 minute',
       pg_temp.bucket_of(host), sha256(url::bytea), pg_temp.id_of('source', e % $3::integer), url, 200, '{}',
       decode(repeat('ab', 600), 'hex'), 40000
from (select n, e, pg_temp.host_of(1 + (e % $3) % $4::integer) as host,
             'https://' || pg_temp.host_of(1 + (e % $3) % $4) || '/' || e as url
      from (select n, n % $2::integer as e from generate_series(0, $1 - 1) as n) as entries) as numbered;

-- name: jobs
-- $1 jobs, $2 sources. Each was seen in another list, too.
with made as (
    insert into jobs (bucket, canonical_hash, source_id, channel_id, title, org_name, apply_url, page_url, language,
                      location_raw, mission_tags, functional_tags, international_eligible, deadline, application_window,
                      description_snippet, benefits, policy_flags, donor_context, crisis_type, humanitarian_cluster,
                      compensation_visible, data_provenance, raw_metadata, is_detailed, fetched_at, last_seen_at,
                      listed_at, created_at, updated_at, search_tsv, status)
    select get_byte(sha256(url::bytea), 0), sha256(url::bytea), pg_temp.id_of('source', n * 20 % $2::integer),
           pg_temp.id_of('channel', n * 20 % $2), 'Driver ' || n, 'Aid ' || n % 100, url, url, 'en', 'Nairobi', '{}',
           '{}', true, current_date + 30 + n % 30, '{}', 'Drives a lorry.', '{}', '{}', '{}', '{}', '{}', false, 'page',
           '{}', true, at, at, at, at, at, search_vector('en', 'Driver ' || n, '', '', 'drives a lorry'), 'active'
    from (select n, 'https://jobs-' || n % 1000 || '.example/' || n as url,
                 now() - pg_temp.mixed(n) * interval '1 second' as at
          from generate_series(0, $1::integer - 1) as n) as numbered
    returning bucket, canonical_hash, source_id, apply_url
)
insert into job_sightings (bucket, canonical_hash, source_id, channel_id, url, first_seen_at, last_seen_at)
select bucket, canonical_hash, source_id, null, apply_url, now() - interval '9 days', now() - interval '9 days' from made;

-- name: around_sources
-- $1 sources. Events, new hosts, takedowns, ids of other systems; and those that stand are proven.
with s as materialized (
    select n, pg_temp.id_of('source', n) as id from generate_series(0, $1::integer - 1) as n
), told as (
    insert into events (kind, actor, source_id, channel_id, message, details, at)
    select case n % 500 when 4 then 'extraction_decayed' when 5 then 'channel_overflowed' else 'source_created' end,
           case when n % 3 = 0 then 'headwater' else 'person' end, id,
           case when n % 500 = 5 then pg_temp.id_of('channel', n) end, 'It was so.', '{"missed": 3, "before": {"pages": 50, "documents": 50, "words": 400}}',
           now() - pg_temp.mixed(n) * interval '10 seconds'
    from s, generate_series(1, 3) order by pg_temp.mixed(n) desc
), found as (
    insert into new_hosts (source_id, hour, hosts) select id, date_trunc('hour', now()), 1 from s where n % 50 = 0
), taken as (
    insert into takedowns (domain_or_url, domain, created_at, swept_at)
    select 'gone-' || n || '.example', 'gone-' || n || '.example', now() - interval '9 days', now() - interval '8 days'
    from s where n < 50
), named as (
    insert into external_ids (external_id, source_id) select 'other-' || n, id from s where n % 10 = 0
)
update sources set is_proven = true where status = 'active' and id in (select source_id from documents);
