-- Where extracted pages are kept: documents and what they were before, raw bodies, vacancies, and the list of changes that
-- sinks work off. Search stands in the same rows, so it can never say anything else than the archive.

-- Languages whose words PostgreSQL can bring to their stems. All others are searched word for word, as `simple`.
create view search_languages (language, config) as
values ('ar', 'arabic'::regconfig), ('ca', 'catalan'), ('da', 'danish'), ('de', 'german'), ('el', 'greek'), ('en', 'english'),
       ('es', 'spanish'), ('eu', 'basque'), ('fi', 'finnish'), ('fr', 'french'), ('ga', 'irish'), ('hi', 'hindi'),
       ('hu', 'hungarian'), ('hy', 'armenian'), ('id', 'indonesian'), ('it', 'italian'), ('lt', 'lithuanian'),
       ('nb', 'norwegian'), ('ne', 'nepali'), ('nl', 'dutch'), ('nn', 'norwegian'), ('no', 'norwegian'), ('pt', 'portuguese'),
       ('ro', 'romanian'), ('ru', 'russian'), ('sr', 'serbian'), ('sv', 'swedish'), ('ta', 'tamil'), ('tr', 'turkish'),
       ('yi', 'yiddish');

create function search_config(p_language text) returns regconfig
    language sql stable parallel safe
return coalesce((select l.config from search_languages l where l.language = p_language), 'simple'::regconfig);

-- What the parser can read in linear time: one unbroken run such as a_a_a_… of 100 kB keeps it busy for minutes, and an
-- unclosed < has it search to the end of the text again and again.
create function legible(p_text text, p_most integer) returns text
    language sql immutable parallel safe
return regexp_replace(translate(left(p_text, p_most), '<>', '  '), '[^ \n\r\t]{100}', '\& ', 'g');

-- A word no text can contain, since words have no spaces: it ties a vector, and a question to it, to one configuration.
-- Otherwise a word left out in one language ("-cats") would be let in by the spelling of another.
create function config_mark(p_config regconfig) returns text
    language sql stable parallel safe
return 'language ' || p_config::text;

-- The four lengths together stay below the limit of 1 MB for a vector, whatever the letters; longer words are left out by
-- the parser itself. Storing a document never fails because of its words.
create function search_vector(p_language text, p_a text, p_b text, p_c text, p_d text) returns tsvector
    language plpgsql stable parallel safe
as $$
declare
    v_config regconfig := search_config(p_language);
begin
    return array_to_tsvector(array[config_mark(v_config)])
        || setweight(to_tsvector(v_config, legible(p_a, 1000)), 'A')
        || setweight(to_tsvector(v_config, legible(p_b, 4000)), 'B')
        || setweight(to_tsvector(v_config, legible(p_c, 4000)), 'C')
        || setweight(to_tsvector(v_config, legible(p_d, 80000)), 'D');
end $$;

-- One current document per canonical URL; its id is the hash of that. No foreign key to sources, as in the queue.
create table documents (
    bucket            smallint not null,
    url_hash          bytea not null check (length(url_hash) = 32),
    source_id         uuid not null,
    url               text not null,
    canonical_url     text not null,
    title             text not null,
    text              text not null,
    summary           text not null,
    author            text not null,
    published_at      timestamptz,
    updated_at        timestamptz,
    language          text not null,
    section           text not null,
    keywords          text[] not null,
    images            text[] not null,
    word_count        integer not null,
    page_type         text not null,
    quality           smallint,
    quality_parts     jsonb not null,
    content_hash      bytea not null check (length(content_hash) = 32),
    simhash           bigint,
    produced_by       text not null,
    metadata          jsonb not null,
    version           integer not null check (version > 0),
    crawled_at        timestamptz not null,
    first_seen_at     timestamptz not null,
    changed_at        timestamptz not null,
    duplicate_bucket  smallint,
    duplicate_of      bytea,
    near_bucket       smallint,
    near_duplicate_of bytea,
    deleted_at        timestamptz,
    deleted_reason    text,
    search            tsvector,
    primary key (bucket, url_hash),
    constraint duplicate_of_a_whole_key check ((duplicate_bucket is null) = (duplicate_of is null)),
    constraint near_a_whole_key check ((near_bucket is null) = (near_duplicate_of is null)),
    constraint deleted_for_a_reason check ((deleted_at is null) = (deleted_reason is null)),
    constraint deleted_is_out_of_search check ((deleted_at is null) = (search is not null)),
    constraint deleted_is_nobodys_duplicate check (deleted_at is null or duplicate_of is null)
-- Long columns lie apart, so that a search looks through narrow rows.
) with (fillfactor = 85, toast_tuple_target = 512);

comment on column documents.updated_at is 'What the page says of itself.';
comment on column documents.version is 'Grows with every change, also with a deletion: what a sink has is never newer.';
comment on column documents.simhash is 'Null: too short to be compared.';

-- Long pending lists are read by every search.
create index documents_search on documents using gin (search) with (gin_pending_list_limit = 1024);
create index documents_by_time on documents (first_seen_at desc, bucket, url_hash) where deleted_at is null;
create index documents_of_source on documents (source_id, first_seen_at desc, bucket, url_hash) where deleted_at is null;
create index documents_language on documents (language) where deleted_at is null;
create index documents_original on documents (content_hash) where duplicate_of is null and deleted_at is null;
create index documents_duplicates on documents (duplicate_bucket, duplicate_of, first_seen_at) where duplicate_of is not null;

-- Two likenesses that differ in at most three of their 64 bits agree in one of four pieces.
create function likeness_piece(p_simhash bigint, p_piece integer) returns integer
    language sql immutable strict parallel safe
return ((p_simhash >> (16 * p_piece)) & 65535)::integer;

create index documents_like_0 on documents (likeness_piece(simhash, 0), first_seen_at) include (simhash, bucket, url_hash)
    where simhash is not null and duplicate_of is null and deleted_at is null;
create index documents_like_1 on documents (likeness_piece(simhash, 1), first_seen_at) include (simhash, bucket, url_hash)
    where simhash is not null and duplicate_of is null and deleted_at is null;
create index documents_like_2 on documents (likeness_piece(simhash, 2), first_seen_at) include (simhash, bucket, url_hash)
    where simhash is not null and duplicate_of is null and deleted_at is null;
create index documents_like_3 on documents (likeness_piece(simhash, 3), first_seen_at) include (simhash, bucket, url_hash)
    where simhash is not null and duplicate_of is null and deleted_at is null;

-- What a document was before it changed. Nothing here is ever changed.
create table document_versions (
    bucket       smallint not null,
    url_hash     bytea not null,
    version      integer not null,
    title        text not null,
    text         text not null,
    summary      text not null,
    author       text not null,
    published_at timestamptz,
    updated_at   timestamptz,
    word_count   integer not null,
    content_hash bytea not null,
    simhash      bigint,
    produced_by  text not null,
    crawled_at   timestamptz not null,
    changed_at   timestamptz not null,
    replaced_at  timestamptz not null,
    primary key (bucket, url_hash, version)
);

-- What was sent, so that extraction can run again without fetching again. By day, dropped a day at a time.
create table raw_bodies (
    at         timestamptz not null,
    bucket     smallint not null,
    url_hash   bytea not null,
    source_id  uuid not null,
    url        text not null,
    status     smallint not null,
    headers    jsonb not null,
    body       bytea not null,
    body_bytes integer not null check (body_bytes >= 0)
) partition by range (at);
create index raw_bodies_of_document on raw_bodies (bucket, url_hash, at desc);
create index raw_bodies_of_source on raw_bodies (source_id, bucket, url_hash, at desc);
comment on column raw_bodies.body is 'Compressed with zstd; body_bytes is its length before.';

select ensure_days('raw_bodies', (now() at time zone 'utc')::date - 1, 16);

-- Where a document points, as it was last stored: one row a page, written whole.
create table outlinks (
    bucket         smallint not null,
    url_hash       bytea not null,
    target_buckets smallint[] not null,
    target_hashes  bytea[] not null,
    target_urls    text[] not null,
    primary key (bucket, url_hash)
);

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
    primary key (bucket, canonical_hash),
    constraint deleted_by_somebody check ((status = 'deleted') = (deleted_at is not null)),
    constraint document_as_a_whole check ((document_bucket is null) = (document_hash is null))
) with (fillfactor = 80, toast_tuple_target = 512);

comment on column jobs.is_detailed is 'Its own page was read, which knows more than a list.';
comment on column jobs.listed_at is 'When its channel last named it; last_seen_at also moves with its own page.';
comment on column jobs.fetched_at is 'When what stands here was read.';

create index jobs_search on jobs using gin (search_tsv) with (gin_pending_list_limit = 1024);
create index jobs_by_time on jobs (created_at desc, bucket, canonical_hash);
create index jobs_of_source on jobs (source_id, created_at desc, bucket, canonical_hash);
create index jobs_language on jobs (language) where status = 'active';
create index jobs_deadline on jobs (deadline) where status = 'active';
create index jobs_of_channel on jobs (channel_id) where status = 'active';

-- What sinks have not been told yet. Transactions end in another order than they took their numbers, so rows are taken
-- away when they are done; whoever remembered the last number instead would miss some.
create table outbox (
    seq     bigint generated always as identity primary key,
    kind    text not null check (kind in ('document', 'job')),
    bucket  smallint not null,
    hash    bytea not null,
    version integer not null,
    op      text not null check (op in ('upsert', 'delete')),
    at      timestamptz not null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);
