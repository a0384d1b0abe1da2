-- What publishers say about the use of their pages: kept with each document, and a filter of views.

alter table documents add column rights text[] not null default '{}', add column rights_statements jsonb;
comment on column documents.rights is 'What was said, use by use: train=refused. A use that is not named here is unknown.';
comment on column documents.rights_statements is 'Who said so, where, and in which words; null: nobody.';
alter table document_versions add column rights text[] not null default '{}', add column rights_statements jsonb;
alter type new_document add attribute rights text[], add attribute rights_statements text;

alter table views add column rights text[] not null default '{}';
comment on column views.rights is 'All of them must hold: train=allowed.';

-- The rules of /.well-known/tdmrep.json, by origin.
create table tdmrep (
    bucket     smallint not null,
    host       text not null,
    scheme     text not null check (scheme in ('http', 'https')),
    port       integer not null check (port between 1 and 65535),
    rules      jsonb not null,
    fetched_at timestamptz not null,
    expires_at timestamptz not null,
    primary key (bucket, host, scheme, port)
);
comment on column tdmrep.rules is 'Location, reservation and policy of each, in order; empty: it has none, which is kept as well.';
create index tdmrep_by_age on tdmrep (expires_at);

alter table sources add column skips_tdmrep boolean not null default false;
comment on column sources.skips_tdmrep is 'Whether origins of its pages are never asked for tdmrep.json, which others are once a day.';
drop view source_profiles;
create view source_profiles as
select id, url, url_hash, name, kind, priority, tags, org_type, timezone, country, ingestion_mode, policy, poll_every,
       crawl_frequency_days, time_window, max_depth, max_pages, allowed_domains, include_paths, exclude_paths, allow_external,
       start_urls, article_patterns, selectors, parser_hint, rate_limit_ms, revisit_every, status, status_reason,
       consecutive_failures, last_run_at, last_run_status, last_run_message, created_at, updated_at, speaks_for, skips_tdmrep
from sources where url_hash is not null;
create trigger only_for_reading instead of insert or update or delete on source_profiles
    for each row execute function refuse_write();
