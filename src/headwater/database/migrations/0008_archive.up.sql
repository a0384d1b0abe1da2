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
return regexp_replace(replace(replace(left(p_text, p_most), '<', ' '), '>', ' '), '[^ \n\r\t]{100}', '\& ', 'g');

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
    page_bucket       smallint,
    page_hash         bytea,
    deleted_at        timestamptz,
    deleted_reason    text,
    search            tsvector,
    primary key (bucket, url_hash),
    constraint duplicate_of_a_whole_key check ((duplicate_bucket is null) = (duplicate_of is null)),
    constraint near_a_whole_key check ((near_bucket is null) = (near_duplicate_of is null)),
    constraint page_a_whole_key check ((page_bucket is null) = (page_hash is null)),
    constraint deleted_for_a_reason check ((deleted_at is null) = (deleted_reason is null)),
    constraint deleted_is_out_of_search check ((deleted_at is null) = (search is not null)),
    constraint deleted_is_nobodys_duplicate check (deleted_at is null or duplicate_of is null)
-- Long columns lie apart, so that a search looks through narrow rows.
) with (fillfactor = 85, toast_tuple_target = 512);

-- Words and their places hardly shrink.
alter table documents alter column search set storage external;

comment on column documents.updated_at is 'What the page says of itself.';
comment on column documents.version is 'Grows with every change, also with a deletion: what a sink has is never newer.';
comment on column documents.simhash is 'Null: too short to be compared.';
comment on column documents.page_hash is 'The address it was read from, where that calls another one canonical. Null: its own.';

-- Long pending lists are read by every search.
create index documents_search on documents using gin (search) with (gin_pending_list_limit = 1024);
create index documents_by_time on documents (first_seen_at desc, bucket, url_hash) where deleted_at is null;
create index documents_of_source on documents (source_id, first_seen_at desc, bucket, url_hash) where deleted_at is null;
create index documents_language on documents (language) where deleted_at is null;
create index documents_original on documents (content_hash) where duplicate_of is null and deleted_at is null;
create index documents_duplicates on documents (duplicate_bucket, duplicate_of, first_seen_at) where duplicate_of is not null;
create index documents_of_page on documents (page_bucket, page_hash) where page_hash is not null;

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
alter table raw_bodies alter column body set storage external;
comment on column raw_bodies.body is 'Compressed with zstd; body_bytes is its length before.';

select ensure_days('raw_bodies', (now() at time zone 'utc')::date - 1, 16);

-- Where a document points, as it was last stored: one row a page, written whole.
create table outlinks (
    bucket   smallint not null,
    url_hash bytea not null,
    targets  bytea not null,
    primary key (bucket, url_hash)
);
alter table outlinks alter column targets set storage external;
comment on column outlinks.targets is 'One URL a line, compressed with zstd: a third of what an array takes to write.';

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

-- A document on its way in; in the order of the fields of NewDocument. What is JSON comes as text: inside a row the driver
-- writes binary only.
create type new_document as (
    bucket smallint, url_hash bytea, source_id uuid, url text, canonical_url text, title text, text text, word_count integer,
    content_hash bytea, summary text, author text, published_at timestamptz, updated_at timestamptz, language text, section text,
    keywords text[], images text[], page_type text, quality smallint, quality_parts text, simhash bigint, produced_by text,
    metadata text, page_bucket smallint, page_hash bytea
);

create type new_body as (
    bucket smallint, url_hash bytea, source_id uuid, url text, status smallint, headers text, body bytea, body_bytes integer
);

-- Shorter texts are alike by chance: "Page not found", a cookie notice.
create function is_comparable(p_words integer) returns boolean
    language sql immutable parallel safe
return p_words >= 50;

create function lock_number(p_hash bytea) returns bigint
    language sql immutable strict parallel safe
return ('x' || encode(substr(p_hash, 1, 8), 'hex'))::bit(64)::bigint;

-- Documents and contents are locked by their hashes, one after the other in one order, until the transaction ends.
-- Always the documents' own first, then the contents they leave and take. A row is written only under the lock of its
-- contents, so that whoever holds that can make an heir of it; nobody waits in a circle. Hosts and entries are locked before.
create function lock_hashes(p_hashes bytea[]) returns void
    language plpgsql
as $$
begin
    -- Nearly always it is one, and then there is nothing to put in order.
    if cardinality(p_hashes) = 1 then
        perform pg_advisory_xact_lock(lock_number(p_hashes[1]));
        return;
    end if;
    perform pg_advisory_xact_lock(wanted.number)
    from (select distinct lock_number(h) as number from unnest(p_hashes) as h where h is not null order by 1) as wanted;
end $$;

-- Whether a document says the same as one on its way in. What pages shuffle at every visit is not compared: dates of
-- modification, signed addresses of images, metadata of the kind that carries a nonce.
create function says_the_same(d documents, n new_document) returns boolean
    language sql immutable parallel safe
return (d.content_hash, d.canonical_url, d.title, d.summary, d.author, d.published_at, d.language, d.section, d.keywords,
        d.page_type)
    is not distinct from
       (n.content_hash, n.canonical_url, n.title, n.summary, n.author, n.published_at, n.language, n.section, n.keywords,
        n.page_type);

-- The oldest document whose likeness differs in at most three bits; of each piece only so many are looked at.
-- Between, not equal: only the index of the piece has this order then. Asked for one value, a plan made while the archive was
-- small would walk through all documents by age, and sessions keep their plans.
create function near_duplicate_of(p_bucket smallint, p_url_hash bytea, p_simhash bigint)
    returns table (bucket smallint, url_hash bytea)
    language plpgsql stable
    set plan_cache_mode = force_generic_plan set enable_seqscan = off
as $$
begin
    return query
    select candidate.bucket, candidate.url_hash
    from (
        (select d.bucket, d.url_hash, d.simhash, d.first_seen_at from documents d
         where likeness_piece(d.simhash, 0) between likeness_piece(p_simhash, 0) and likeness_piece(p_simhash, 0)
           and d.simhash is not null and d.duplicate_of is null and d.deleted_at is null
         order by likeness_piece(d.simhash, 0), d.first_seen_at limit 500)
        union all
        (select d.bucket, d.url_hash, d.simhash, d.first_seen_at from documents d
         where likeness_piece(d.simhash, 1) between likeness_piece(p_simhash, 1) and likeness_piece(p_simhash, 1)
           and d.simhash is not null and d.duplicate_of is null and d.deleted_at is null
         order by likeness_piece(d.simhash, 1), d.first_seen_at limit 500)
        union all
        (select d.bucket, d.url_hash, d.simhash, d.first_seen_at from documents d
         where likeness_piece(d.simhash, 2) between likeness_piece(p_simhash, 2) and likeness_piece(p_simhash, 2)
           and d.simhash is not null and d.duplicate_of is null and d.deleted_at is null
         order by likeness_piece(d.simhash, 2), d.first_seen_at limit 500)
        union all
        (select d.bucket, d.url_hash, d.simhash, d.first_seen_at from documents d
         where likeness_piece(d.simhash, 3) between likeness_piece(p_simhash, 3) and likeness_piece(p_simhash, 3)
           and d.simhash is not null and d.duplicate_of is null and d.deleted_at is null
         order by likeness_piece(d.simhash, 3), d.first_seen_at limit 500)
    ) as candidate
    where bit_count((candidate.simhash # p_simhash)::bit(64)) <= 3
      and (candidate.bucket, candidate.url_hash) <> (p_bucket, p_url_hash)
    order by candidate.first_seen_at, candidate.bucket, candidate.url_hash limit 1;
end $$;

-- The oldest duplicate takes the place of a document that no longer says this, and the others point at it from now on.
create function crown_heir(p_bucket smallint, p_url_hash bytea, p_now timestamptz) returns void
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off set enable_incremental_sort = off
as $$
declare
    v_heir record;
begin
    update documents d
    set duplicate_bucket = null, duplicate_of = null, version = d.version + 1, changed_at = p_now
    from (select o.bucket, o.url_hash from documents o
          where o.duplicate_bucket = p_bucket and o.duplicate_of = p_url_hash
          order by o.first_seen_at, o.bucket, o.url_hash limit 1) as oldest
    where d.bucket = oldest.bucket and d.url_hash = oldest.url_hash
    returning d.bucket, d.url_hash, d.version into v_heir;
    if found then
        update documents set duplicate_bucket = v_heir.bucket, duplicate_of = v_heir.url_hash
        where duplicate_bucket = p_bucket and duplicate_of = p_url_hash;
        insert into outbox (kind, bucket, hash, version, op, at)
        values ('document', v_heir.bucket, v_heir.url_hash, v_heir.version, 'upsert', p_now);
    end if;
end $$;

-- Stores a document if it says anything new: what it was before goes to its versions, a copy of another is kept and not
-- delivered, sinks are told. One call instead of ten questions: each would cost a round trip.
-- `other` is the original of a duplicate, or the older document that a stored one is near to.
create function keep_document(
    n new_document, p_now timestamptz,
    out outcome text, out version integer, out is_new boolean, out other_bucket smallint, out other_hash bytea
)
    language plpgsql
    set plan_cache_mode = force_generic_plan set enable_seqscan = off
as $$
declare
    v_old         record;
    v_is_changed  boolean;
    v_bucket      smallint;
    v_original    bytea;
    v_near_bucket smallint;
    v_near        bytea;
begin
    perform lock_hashes(array[n.url_hash]);
    select d.version, d.content_hash, d.word_count, d.page_hash, d.deleted_at is null as stands, says_the_same(d, n) as is_same,
           null::boolean as is_delivered
    into v_old from documents d where d.bucket = n.bucket and d.url_hash = n.url_hash;
    is_new := not found;
    if v_old.stands and v_old.is_same then
        if v_old.page_hash is not null and n.page_hash is null then
            -- Its own address speaks for it from now on, and no longer another page that calls it canonical.
            update documents d set url = n.url, page_bucket = null, page_hash = null
            where d.bucket = n.bucket and d.url_hash = n.url_hash;
        end if;
        outcome := 'unchanged';
        version := v_old.version;
        return;
    end if;
    v_is_changed := not is_new and not v_old.is_same;
    perform lock_hashes(array_remove(array[v_old.content_hash, n.content_hash], null));
    if not is_new then
        -- Again: until now somebody else may have made it the heir of its contents.
        select d.version, d.content_hash, d.word_count, d.deleted_at is null and d.duplicate_of is null as is_delivered
        into v_old from documents d where d.bucket = n.bucket and d.url_hash = n.url_hash;
    end if;
    if is_comparable(n.word_count) then
        -- At most one, as all of this sees to.
        select d.bucket, d.url_hash into v_bucket, v_original from documents d
        where d.content_hash = n.content_hash and d.duplicate_of is null and d.deleted_at is null and is_comparable(d.word_count)
          and (d.bucket, d.url_hash) <> (n.bucket, n.url_hash);
        if not found and n.simhash is not null then
            select o.bucket, o.url_hash into v_near_bucket, v_near from near_duplicate_of(n.bucket, n.url_hash, n.simhash) as o;
        end if;
    end if;
    if v_is_changed then
        insert into document_versions (bucket, url_hash, version, title, text, summary, author, published_at, updated_at,
                                       word_count, content_hash, simhash, produced_by, crawled_at, changed_at, replaced_at)
        select d.bucket, d.url_hash, d.version, d.title, d.text, d.summary, d.author, d.published_at, d.updated_at,
               d.word_count, d.content_hash, d.simhash, d.produced_by, d.crawled_at, d.changed_at, p_now
        from documents d where d.bucket = n.bucket and d.url_hash = n.url_hash;
    end if;
    version := coalesce(v_old.version, 0) + 1;
    outcome := case when v_original is null then 'stored' else 'duplicate' end;
    other_bucket := coalesce(v_bucket, v_near_bucket);
    other_hash := coalesce(v_original, v_near);
    perform write_document(n, v_bucket, v_original, v_near_bucket, v_near, version, p_now);
    if v_original is null or v_old.is_delivered then
        insert into outbox (kind, bucket, hash, version, op, at)
        values ('document', n.bucket, n.url_hash, version, case outcome when 'stored' then 'upsert' else 'delete' end, p_now);
    end if;
    if v_old.is_delivered and is_comparable(v_old.word_count) and v_old.content_hash <> n.content_hash then
        perform crown_heir(n.bucket, n.url_hash, p_now);
    end if;
end $$;

-- A new document, or all of one anew; one that was deleted lives again.
create function write_document(
    n new_document, p_duplicate_bucket smallint, p_duplicate_of bytea, p_near_bucket smallint, p_near_of bytea,
    p_version integer, p_now timestamptz
) returns void
    language plpgsql
    set plan_cache_mode = force_generic_plan
as $$
begin
    insert into documents (
        bucket, url_hash, source_id, url, canonical_url, title, text, word_count, content_hash, summary, author, published_at,
        updated_at, language, section, keywords, images, page_type, quality, quality_parts, simhash, produced_by, metadata,
        page_bucket, page_hash, duplicate_bucket, duplicate_of, near_bucket, near_duplicate_of, version, crawled_at,
        first_seen_at, changed_at, search)
    values (
        n.bucket, n.url_hash, n.source_id, n.url, n.canonical_url, n.title, n.text, n.word_count, n.content_hash, n.summary,
        n.author, n.published_at, n.updated_at, n.language, n.section, n.keywords, n.images, n.page_type, n.quality,
        n.quality_parts::jsonb, case when is_comparable(n.word_count) then n.simhash end, n.produced_by, n.metadata::jsonb,
        n.page_bucket, n.page_hash, p_duplicate_bucket, p_duplicate_of, p_near_bucket, p_near_of, p_version, p_now, p_now,
        p_now,
        search_vector(n.language, n.title, n.summary, array_to_string(n.keywords, ' ') || ' ' || n.author, n.text))
    on conflict (bucket, url_hash) do update
    set source_id = excluded.source_id, url = excluded.url, canonical_url = excluded.canonical_url, title = excluded.title,
        text = excluded.text, word_count = excluded.word_count, content_hash = excluded.content_hash,
        summary = excluded.summary, author = excluded.author, published_at = excluded.published_at,
        updated_at = excluded.updated_at, language = excluded.language, section = excluded.section,
        keywords = excluded.keywords, images = excluded.images, page_type = excluded.page_type, quality = excluded.quality,
        quality_parts = excluded.quality_parts, simhash = excluded.simhash, produced_by = excluded.produced_by,
        metadata = excluded.metadata, page_bucket = excluded.page_bucket, page_hash = excluded.page_hash,
        duplicate_bucket = excluded.duplicate_bucket, duplicate_of = excluded.duplicate_of, near_bucket = excluded.near_bucket,
        near_duplicate_of = excluded.near_duplicate_of, version = excluded.version, crawled_at = excluded.crawled_at,
        changed_at = excluded.changed_at, search = excluded.search, deleted_at = null, deleted_reason = null;
end $$;

-- Takes documents from search and sinks; what they were stays readable. Answers with how many there were to take.
create function tombstone_documents(p_buckets smallint[], p_hashes bytea[], p_reason text, p_now timestamptz) returns integer
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off
as $$
declare
    v_key   record;
    v_old   record;
    v_count integer := 0;
begin
    perform lock_hashes(p_hashes);
    perform lock_hashes(array(select d.content_hash from unnest(p_buckets, p_hashes) as g (bucket, url_hash)
                              join documents d on d.bucket = g.bucket and d.url_hash = g.url_hash));
    for v_key in select g.bucket, g.url_hash from unnest(p_buckets, p_hashes) as g (bucket, url_hash) order by 1, 2 loop
        -- Each anew: it may be the heir of the one before.
        select d.duplicate_of is null as is_delivered, d.word_count, d.deleted_at into v_old
        from documents d where d.bucket = v_key.bucket and d.url_hash = v_key.url_hash;
        continue when not found or v_old.deleted_at is not null;
        v_count := v_count + 1;
        with gone as (
            update documents d
            set deleted_at = p_now, deleted_reason = p_reason, changed_at = p_now, version = d.version + 1, search = null,
                duplicate_bucket = null, duplicate_of = null
            where d.bucket = v_key.bucket and d.url_hash = v_key.url_hash
            returning d.version
        )
        insert into outbox (kind, bucket, hash, version, op, at)
        select 'document', v_key.bucket, v_key.url_hash, g.version, 'delete', p_now from gone g where v_old.is_delivered;
        if v_old.is_delivered and is_comparable(v_old.word_count) then
            perform crown_heir(v_key.bucket, v_key.url_hash, p_now);
        end if;
    end loop;
    return v_count;
end $$;

-- An address is gone, and with it every document that was read from it last; not one that another page speaks for.
create function withdraw_page(p_bucket smallint, p_url_hash bytea, p_reason text, p_now timestamptz) returns integer
    language plpgsql
    set plan_cache_mode = force_generic_plan set enable_seqscan = off
as $$
declare
    v_buckets smallint[];
    v_hashes  bytea[];
begin
    -- Twice: between the first look and the locks another page may have begun to speak for one.
    for turn in 1..2 loop
        select array_agg(d.bucket), array_agg(d.url_hash) into v_buckets, v_hashes
        from (select o.bucket, o.url_hash from documents o
              where o.bucket = p_bucket and o.url_hash = p_url_hash and o.page_hash is null
              union all
              select o.bucket, o.url_hash from documents o
              where o.page_bucket = p_bucket and o.page_hash = p_url_hash) as d
        where turn = 1 or d.url_hash = any (v_hashes);
        perform lock_hashes(v_hashes);
    end loop;
    return tombstone_documents(v_buckets, v_hashes, p_reason, p_now);
end $$;

create function keep_body(b new_body, p_now timestamptz) returns void
    language plpgsql
as $$
begin
    insert into raw_bodies (at, bucket, url_hash, source_id, url, status, headers, body, body_bytes)
    values (p_now, b.bucket, b.url_hash, b.source_id, b.url, b.status, b.headers::jsonb, b.body, b.body_bytes);
end $$;

-- Where a document points now.
create function keep_outlinks(p_bucket smallint, p_url_hash bytea, p_targets bytea) returns void
    language plpgsql
as $$
begin
    insert into outlinks (bucket, url_hash, targets) values (p_bucket, p_url_hash, p_targets)
    on conflict (bucket, url_hash) do update set targets = excluded.targets
    where outlinks.targets is distinct from excluded.targets;
end $$;

-- The end of a journey: its request, and what it leaves. False if its lease was lost; then nothing is changed at all.
-- `p_withdrawn_by` says why the documents of this address have to go.
create function keep_page(
    p_settlement settlement, p_url_hash bytea, p_document new_document, p_outlinks bytea, p_body new_body, p_withdrawn_by text
) returns boolean
    language plpgsql
as $$
declare
    v_now timestamptz := clock_timestamp();
begin
    if cardinality(settle_requests(array[p_settlement])) = 0 then
        return false;
    end if;
    if p_body.url_hash is not null then
        perform keep_body(p_body, v_now);
    end if;
    if p_document.url_hash is not null then
        if (keep_document(p_document, v_now)).outcome <> 'unchanged' then
            perform keep_outlinks(p_document.bucket, p_document.url_hash, p_outlinks);
        end if;
    elsif p_withdrawn_by <> '' then
        perform withdraw_page(p_settlement.bucket, p_url_hash, p_withdrawn_by, v_now);
    end if;
    return true;
end $$;
