-- Where extracted pages are kept: documents and what they were before, raw bodies, and the list of changes that sinks work
-- off. Search stands in the same rows, so it can never say anything else than the archive.

-- Languages whose words PostgreSQL can bring to their stems. All others are searched word for word, as `simple`.
create view search_languages (language, config) as
values ('ar', 'arabic'::regconfig), ('ca', 'catalan'), ('da', 'danish'), ('de', 'german'), ('el', 'greek'), ('en', 'english'),
       ('es', 'spanish'), ('eu', 'basque'), ('fi', 'finnish'), ('fr', 'french'), ('ga', 'irish'), ('hi', 'hindi'),
       ('hu', 'hungarian'), ('hy', 'armenian'), ('id', 'indonesian'), ('it', 'italian'), ('lt', 'lithuanian'),
       ('nb', 'norwegian'), ('ne', 'nepali'), ('nl', 'dutch'), ('nn', 'norwegian'), ('no', 'norwegian'), ('pt', 'portuguese'),
       ('ro', 'romanian'), ('ru', 'russian'), ('sr', 'serbian'), ('sv', 'swedish'), ('ta', 'tamil'), ('tr', 'turkish'),
       ('yi', 'yiddish');

-- One current document per address it was read from; its id is the hash of that. No foreign key to sources, as in the queue.
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
    claimed_bucket    smallint,
    claimed_hash      bytea,
    deleted_at        timestamptz,
    deleted_reason    text,
    search            tsvector,
    -- A document stands under the address it was read from, and only its own page changes or withdraws it. Which page it
    -- calls canonical is a claim, and which of several documents with one text is the original depends on who told it first.
    claimed_url       text,
    is_claim_believed boolean not null default false,
    told_since        timestamptz,
    told_first        bigint,
    -- Nothing of it but its address, its hash and its version is left.
    is_emptied        boolean not null default false,
    primary key (bucket, url_hash),
    constraint duplicate_of_a_whole_key check ((duplicate_bucket is null) = (duplicate_of is null)),
    constraint near_a_whole_key check ((near_bucket is null) = (near_duplicate_of is null)),
    constraint claim_as_a_whole
        check ((claimed_bucket is null) = (claimed_hash is null) and (claimed_url is null) = (claimed_hash is null)),
    constraint believed_is_a_duplicate
        check (not is_claim_believed or (claimed_hash is not null and duplicate_of is not null)),
    constraint deleted_for_a_reason check ((deleted_at is null) = (deleted_reason is null)),
    constraint deleted_is_out_of_search check ((deleted_at is null) = (search is not null)),
    constraint deleted_is_nobodys_duplicate check (deleted_at is null or duplicate_of is null)
-- Long columns lie apart, so that a search looks through narrow rows.
) with (fillfactor = 85, toast_tuple_target = 512);
-- Words and their places hardly shrink.
alter table documents alter column search set storage external;
comment on column documents.canonical_url is 'Its own address, or the one it claims while that is believed.';
comment on column documents.updated_at is 'What the page says of itself.';
comment on column documents.version is 'Grows with every change, also with a deletion: what a sink has is never newer.';
comment on column documents.simhash is 'Null: too short to be compared.';
comment on column documents.claimed_hash is 'The other page that its own page calls canonical. Null: it names none.';
comment on column documents.told_since is 'Since when its page tells this story: its discovery, or a new beginning. Null: first_seen_at.';
comment on column documents.told_first is 'The simhash of the text with which this story began.';

-- Long pending lists are read by every search.
create index documents_search on documents using gin (search) with (gin_pending_list_limit = 1024);
create index documents_by_time on documents (first_seen_at desc, bucket, url_hash) where deleted_at is null;
create index documents_of_source on documents (source_id, first_seen_at desc, bucket, url_hash) where deleted_at is null;
create index documents_language on documents (language) where deleted_at is null;
create index documents_original on documents (content_hash) where duplicate_of is null and deleted_at is null;
create index documents_duplicates on documents (duplicate_bucket, duplicate_of, coalesce(told_since, first_seen_at))
    where duplicate_of is not null;
create index documents_claims on documents (claimed_bucket, claimed_hash, is_claim_believed, url_hash)
    where claimed_hash is not null;
-- Documents whose pages call another one canonical, by the host of that.
create index documents_claiming on documents (host_backwards(claimed_url) collate "C", bucket, url_hash)
    where claimed_url is not null and deleted_at is null;
-- What was read while there was no time to look at whole pages.
create index documents_hurried on documents (changed_at) where produced_by = 'trafilatura_cropped' and deleted_at is null;
-- Kept for as long as a person says.
create index documents_by_age on documents (changed_at, bucket, url_hash) where not is_emptied;

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
create index document_versions_by_age on document_versions (replaced_at);

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
    body_bytes integer not null check (body_bytes >= 0),
    -- A body that came packed well enough is kept as it came: packing it again took a tenth of a worker's time.
    coding     text not null default 'zstd'
) partition by range (at);
alter table raw_bodies alter column body set storage external;
comment on column raw_bodies.body is 'Packed, in the coding that is named; body_bytes is its length before.';
create index raw_bodies_of_document on raw_bodies (bucket, url_hash, at desc);
create index raw_bodies_of_source on raw_bodies (source_id, bucket, url_hash, at desc);

-- Rows of a day that has no partition are kept here, and nobody's work fails for want of one.
create table raw_bodies_default partition of raw_bodies default;
create index raw_bodies_default_at on raw_bodies_default (at);
-- The first days; maintenance makes the next ones, with `ensure_days`.
do $$
declare
    v_day date;
begin
    for v_day in select (now() at time zone 'utc')::date + n from generate_series(-1, 14) as n loop
        execute format('create table %I partition of raw_bodies for values from (%L) to (%L)',
                       'raw_bodies_' || to_char(v_day, 'YYYYMMDD'),
                       v_day::timestamp at time zone 'utc', (v_day + 1)::timestamp at time zone 'utc');
    end loop;
end $$;

-- Where a document points, as it was last stored: one row a page, written whole.
create table outlinks (
    bucket   smallint not null,
    url_hash bytea not null,
    targets  bytea not null,
    primary key (bucket, url_hash)
);
alter table outlinks alter column targets set storage external;
comment on column outlinks.targets is 'One URL a line, compressed with zstd: a third of what an array takes to write.';

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
-- The oldest changes, wherever their numbers stand.
create index outbox_by_time on outbox (at);

-- A document on its way in; in the order of the fields of NewDocument. What is JSON comes as text: inside a row the driver
-- writes binary only.
create type new_document as (
    bucket smallint, url_hash bytea, source_id uuid, url text, canonical_url text, title text, text text, word_count integer,
    content_hash bytea, summary text, author text, published_at timestamptz, updated_at timestamptz, language text, section text,
    keywords text[], images text[], page_type text, quality smallint, quality_parts text, simhash bigint, produced_by text,
    metadata text, claimed_bucket smallint, claimed_hash bytea
);
create type new_body as (
    bucket smallint, url_hash bytea, source_id uuid, url text, status smallint, headers text, body bytea, body_bytes integer,
    coding text
);
create type document_key as (bucket smallint, url_hash bytea);
-- What decides which of two documents with one text is the original.
create type telling as (
    since timestamptz, published_at timestamptz, first_seen_at timestamptz, bucket smallint, url_hash bytea
);
