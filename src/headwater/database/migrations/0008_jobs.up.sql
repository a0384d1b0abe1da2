-- Vacancies. One is told by whoever may speak for it; others that name it are sightings.

create table jobs (
    bucket                   smallint not null,
    canonical_hash           bytea not null check (length(canonical_hash) = 32),
    id                       uuid generated always as (entry_id(bucket, canonical_hash)) stored,
    source_id                uuid not null,
    channel_id               uuid,
    document_bucket          smallint,
    document_hash            bytea,
    title                    text not null check (title <> ''),
    org_name                 text not null,
    apply_url                text not null,
    language                 text not null,
    location_raw             text not null,
    country                  text,
    country_name             text generated always as (country) stored,
    country_iso              text,
    city                     text,
    region_code              text,
    level_norm               text,
    mission_tags             text[] not null,
    functional_tags          text[] not null,
    international_eligible   boolean not null,
    deadline                 date,
    application_window       jsonb not null,
    description_snippet      text not null,
    org_type                 text,
    career_type              text,
    contract_type            text,
    contract_duration_months integer,
    contract_urgency         text,
    work_modality            text,
    work_hours               text,
    benefits                 text[] not null,
    policy_flags             text[] not null,
    donor_context            text[] not null,
    project_modality         text,
    procurement_vehicle      text,
    crisis_type              text[] not null,
    response_phase           text,
    humanitarian_cluster     text[] not null,
    surge_required           boolean,
    deployment_timeframe     text,
    duty_station_hardship    text,
    compensation_visible     boolean not null,
    compensation_type        text,
    compensation_min_usd     numeric,
    compensation_max_usd     numeric,
    compensation_currency    text,
    compensation_confidence  real,
    data_provenance          text not null,
    raw_metadata             jsonb not null,
    -- Filled by later enrichment and by people; a crawl never touches them.
    duplicate_of             uuid,
    impact_domain            text[],
    functional_role          text[],
    experience_level         text,
    sdgs                     smallint[],
    data_quality_score       smallint,
    data_quality_issues      text[],
    status                   text not null default 'active' check (status in ('active', 'expired', 'deleted')),
    version                  integer not null default 1 check (version > 0),
    is_detailed              boolean not null,
    fetched_at               timestamptz not null,
    last_seen_at             timestamptz not null,
    listed_at                timestamptz,
    created_at               timestamptz not null,
    updated_at               timestamptz not null,
    deleted_at               timestamptz,
    deleted_by               text,
    deleted_reason           text,
    search_tsv               tsvector not null,
    page_url                 text not null default '',
    is_spoken_for            boolean not null default false,
    primary key (bucket, canonical_hash),
    constraint deleted_by_somebody check ((status = 'deleted') = (deleted_at is not null)),
    constraint document_as_a_whole check ((document_bucket is null) = (document_hash is null))
) with (fillfactor = 80, toast_tuple_target = 512);
comment on column jobs.source_id is 'The source that tells it. Others that see it, too, stand in job_sightings.';
comment on column jobs.is_detailed is 'Its own page was read, which knows more than a list.';
comment on column jobs.fetched_at is 'When what stands here was read.';
comment on column jobs.listed_at is 'When its channel last named it; last_seen_at also moves with its own page.';
comment on column jobs.page_url is 'The address its words were read from: its own page, or the list that named it.';
comment on column jobs.is_spoken_for is 'Whether its words come from whoever may speak for the host where one applies.';
create index jobs_search on jobs using gin (search_tsv) with (gin_pending_list_limit = 1024);
create index jobs_by_time on jobs (created_at desc, bucket, canonical_hash);
create index jobs_of_source on jobs (source_id, created_at desc, bucket, canonical_hash);
create index jobs_language on jobs (language) where status = 'active';
create index jobs_deadline on jobs (deadline) where status = 'active';
create index jobs_of_channel on jobs (channel_id) where status = 'active';
-- Vacancies that were read on a page of their own, by its address.
create index jobs_of_page on jobs (hashtextextended(page_url, 0)) where is_detailed and status = 'active';
create index jobs_apply_host on jobs (host_backwards(apply_url) collate "C", bucket, canonical_hash) where status <> 'deleted';
create index jobs_page_host on jobs (host_backwards(page_url) collate "C", bucket, canonical_hash) where status <> 'deleted';

-- Others that name a vacancy beside the source that tells it. They change nothing of it.
create table job_sightings (
    bucket         smallint not null,
    canonical_hash bytea not null,
    source_id      uuid not null,
    channel_id     uuid,
    url            text not null,
    first_seen_at  timestamptz not null,
    last_seen_at   timestamptz not null,
    unique nulls not distinct (bucket, canonical_hash, source_id, channel_id)
) with (fillfactor = 85);
comment on column job_sightings.url is 'Where it was seen: a list, or a page.';
comment on column job_sightings.channel_id is 'Null: on a page, not in a list.';
create index job_sightings_of_source on job_sightings (source_id);
create index job_sightings_host on job_sightings (host_backwards(url) collate "C");
create index job_sightings_old on job_sightings using brin (last_seen_at);
