drop function says_the_same(documents, new_document);
drop function near_duplicate_of(telling, bigint);
drop function crown_heir(document_key, bytea, timestamptz);
drop function write_document(new_document, bigint, document_key, boolean, document_key, timestamptz, bigint, integer, timestamptz);
drop function lock_around(new_document);
drop function keep_version(document_key, timestamptz);
drop function story_of(new_document, bigint, boolean, timestamptz);
drop function grow_older(document_key, timestamptz, timestamptz);
drop function gather_claimants(new_document, bigint, document_key, timestamptz);
drop function believed_original(new_document, bigint);
drop function free_claimants(document_key, bytea, bigint);
drop function find_place(document_key, timestamptz);
drop function step_down(document_key, document_key, boolean, timestamptz);
drop function original_of(bytea, document_key);
drop function hand_over_duplicates(document_key, document_key);
drop function place_document(document_key, document_key, boolean, timestamptz);
drop function is_claim(document_key, document_key);
drop function claimants_of(smallint, bytea);
drop function lock_claims(bytea[]);
drop function tells_first(telling, telling);
drop function telling_of(document_key);
drop type telling;
drop type document_key;
drop function is_same_story(bigint, bigint);
drop function is_one_text(bytea, bigint, bytea, bigint);
drop function bits_apart(bigint, bigint);

alter type new_document rename attribute claimed_bucket to page_bucket;
alter type new_document rename attribute claimed_hash to page_hash;

drop index documents_claims;
drop index documents_duplicates;
create index documents_duplicates on documents (duplicate_bucket, duplicate_of, first_seen_at) where duplicate_of is not null;

-- Every document was read from its own address.
update documents set claimed_bucket = null, claimed_hash = null, claimed_url = null, is_claim_believed = false, canonical_url = url
where claimed_hash is not null;
alter table documents
    drop constraint believed_is_a_duplicate,
    drop constraint claim_as_a_whole,
    drop column told_first,
    drop column told_since,
    drop column is_claim_believed,
    drop column claimed_url;
alter table documents rename column claimed_bucket to page_bucket;
alter table documents rename column claimed_hash to page_hash;
alter table documents add constraint page_a_whole_key check ((page_bucket is null) = (page_hash is null));
create index documents_of_page on documents (page_bucket, page_hash) where page_hash is not null;
comment on column documents.canonical_url is null;
comment on column documents.page_hash is 'The address it was read from, where that calls another one canonical. Null: its own.';

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
create or replace function keep_document(
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
create or replace function tombstone_documents(p_buckets smallint[], p_hashes bytea[], p_reason text, p_now timestamptz) returns integer
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
create or replace function withdraw_page(p_bucket smallint, p_url_hash bytea, p_reason text, p_now timestamptz) returns integer
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
