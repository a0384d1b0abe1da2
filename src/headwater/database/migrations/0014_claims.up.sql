-- A document stands under the address it was read from, and only its own page changes or withdraws it. Which page it calls
-- canonical is a claim, and which of several documents with one text is the original depends on who told it first.

-- What came through another address gives way to its own page, which is asked for once more, and in full.
update url_frontier e
set etag = null, last_modified = null, content_hash = null,
    revisit_at = case e.status when 'fetched' then now() else e.revisit_at end
from documents d
where d.page_hash is not null and d.deleted_at is null and e.bucket = d.bucket and e.url_hash = d.url_hash;

alter table documents drop constraint page_a_whole_key;
drop index documents_of_page;
update documents set url = canonical_url, page_bucket = null, page_hash = null where page_hash is not null;
alter table documents rename column page_bucket to claimed_bucket;
alter table documents rename column page_hash to claimed_hash;
alter table documents
    add column claimed_url text,
    add column is_claim_believed boolean not null default false,
    add column told_since timestamptz,
    add column told_first bigint,
    add constraint claim_as_a_whole
        check ((claimed_bucket is null) = (claimed_hash is null) and (claimed_url is null) = (claimed_hash is null)),
    add constraint believed_is_a_duplicate
        check (not is_claim_believed or (claimed_hash is not null and duplicate_of is not null));
comment on column documents.canonical_url is 'Its own address, or the one it claims while that is believed.';
comment on column documents.claimed_hash is 'The other page that its own page calls canonical. Null: it names none.';
comment on column documents.told_since is 'Since when its page tells this story: its discovery, or a new beginning. Null: first_seen_at.';
comment on column documents.told_first is 'The simhash of the text with which this story began.';

create index documents_claims on documents (claimed_bucket, claimed_hash, is_claim_believed, url_hash)
    where claimed_hash is not null;
drop index documents_duplicates;
create index documents_duplicates on documents (duplicate_bucket, duplicate_of, coalesce(told_since, first_seen_at))
    where duplicate_of is not null;

alter type new_document rename attribute page_bucket to claimed_bucket;
alter type new_document rename attribute page_hash to claimed_hash;

drop function says_the_same(documents, new_document);
-- Whether a document says the same as one on its way in. What pages shuffle at every visit is not compared: dates of
-- modification, signed addresses of images, metadata of the kind that carries a nonce.
create function says_the_same(d documents, n new_document) returns boolean
    language sql immutable parallel safe
return (d.content_hash, d.claimed_url, d.source_id, d.title, d.summary, d.author, d.published_at, d.language, d.section,
        d.keywords, d.page_type)
    is not distinct from
       (n.content_hash, case when n.claimed_hash is not null then n.canonical_url end, n.source_id, n.title, n.summary, n.author,
        n.published_at, n.language, n.section, n.keywords, n.page_type);

-- How many bits of two likenesses differ: none for one text, around 32 for unrelated ones. Null if one cannot be compared.
create function bits_apart(p_one bigint, p_other bigint) returns integer
    language sql immutable parallel safe
return bit_count((p_one # p_other)::bit(64))::integer;

-- Whether a page and the one it calls canonical are two forms of one text.
create function is_one_text(p_content bytea, p_simhash bigint, p_other_content bytea, p_other_simhash bigint) returns boolean
    language sql immutable parallel safe
return p_content = p_other_content or coalesce(bits_apart(p_simhash, p_other_simhash) <= 3, false);

-- Whether a page goes on with its story. A text of which not even three quarters of the likeness are left is another one:
-- else an old address, filled with a copy, would be older than what it copies.
create function is_same_story(p_first bigint, p_simhash bigint) returns boolean
    language sql immutable parallel safe
return coalesce(bits_apart(p_first, p_simhash) <= 16, true);

create type document_key as (bucket smallint, url_hash bytea);

-- What decides which of two documents with one text is the original.
create type telling as (
    since timestamptz, published_at timestamptz, first_seen_at timestamptz, bucket smallint, url_hash bytea
);

create function telling_of(p_one document_key) returns telling
    language plpgsql stable
    set plan_cache_mode = force_generic_plan set enable_seqscan = off
as $$
declare
    v_told telling;
begin
    select coalesce(d.told_since, d.first_seen_at), d.published_at, d.first_seen_at, d.bucket, d.url_hash into v_told
    from documents d where d.bucket = p_one.bucket and d.url_hash = p_one.url_hash;
    return v_told;
end $$;

-- A date of publication is only its page's word, so it decides only what our own eyes cannot.
create function tells_first(p_one telling, p_other telling) returns boolean
    language plpgsql immutable parallel safe
as $$
begin
    if abs(extract(epoch from p_one.since - p_other.since)) >= 3600 then
        return p_one.since < p_other.since;
    end if;
    return (coalesce(p_one.published_at, 'infinity'), p_one.since, p_one.first_seen_at, p_one.bucket, p_one.url_hash)
         < (coalesce(p_other.published_at, 'infinity'), p_other.since, p_other.first_seen_at, p_other.bucket, p_other.url_hash);
end $$;

drop function near_duplicate_of(smallint, bytea, bigint);
-- The first teller of a text whose likeness differs in at most three bits, if it told before; of each piece only so many are
-- looked at.
-- Between, not equal: only the index of the piece has this order then. Asked for one value, a plan made while the archive was
-- small would walk through all documents by age, and sessions keep their plans.
create function near_duplicate_of(p_told telling, p_simhash bigint) returns document_key
    language plpgsql stable
    set plan_cache_mode = force_generic_plan set enable_seqscan = off
as $$
declare
    v_near document_key;
begin
    with near as materialized (
        -- Most agree in several pieces. Thousands of pages of one template may be alike: the first to be seen are enough.
        select distinct candidate.first_seen_at, candidate.bucket, candidate.url_hash
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
        where bits_apart(candidate.simhash, p_simhash) <= 3
          and (candidate.bucket, candidate.url_hash) <> (p_told.bucket, p_told.url_hash)
        order by 1, 2, 3 limit 10
    ), told as materialized (
        select telling_of((near.bucket, near.url_hash)::document_key) as told from near
    )
    select (t.told).bucket, (t.told).url_hash into v_near from told t
    where tells_first(t.told, p_told)
    order by (t.told).since, (t.told).first_seen_at, (t.told).bucket, (t.told).url_hash limit 1;
    return v_near;
end $$;

-- Claims are locked by the address that is claimed, which has another number as a claim than as a document: after documents
-- and before contents, each level in one order. Whoever changes a document holds the claims on it and its own claim, so the
-- pages that claim it, and the page it claims, keep their texts meanwhile, and their contents can be locked in one step.
create function lock_claims(p_hashes bytea[]) returns void
    language plpgsql
as $$
begin
    perform lock_hashes(array(select substr(h, 9) from unnest(p_hashes) as h where h is not null));
end $$;

-- Documents whose pages call this one canonical: all that are believed, none of which is deleted, and so many of the others.
create function claimants_of(p_bucket smallint, p_url_hash bytea)
    returns table (bucket smallint, url_hash bytea, content_hash bytea, simhash bigint, since timestamptz, is_believed boolean)
    language plpgsql stable
    set plan_cache_mode = force_generic_plan set enable_seqscan = off
as $$
begin
    return query
    select d.bucket, d.url_hash, d.content_hash, d.simhash, coalesce(d.told_since, d.first_seen_at), true from documents d
    where d.claimed_bucket = p_bucket and d.claimed_hash = p_url_hash and d.is_claim_believed
    union all
    (select d.bucket, d.url_hash, d.content_hash, d.simhash, coalesce(d.told_since, d.first_seen_at), false from documents d
     where d.claimed_bucket = p_bucket and d.claimed_hash = p_url_hash and not d.is_claim_believed and d.deleted_at is null
     order by d.url_hash limit 100);
end $$;

-- Whether one document's page calls another one canonical.
create function is_claim(p_one document_key, p_other document_key) returns boolean
    language plpgsql stable
    set plan_cache_mode = force_generic_plan set enable_seqscan = off
as $$
begin
    return exists (select 1 from documents d
                   where d.bucket = p_one.bucket and d.url_hash = p_one.url_hash
                     and d.claimed_bucket = p_other.bucket and d.claimed_hash = p_other.url_hash);
end $$;

-- Makes a document an original (of null) or a duplicate. Sinks hear of it where it begins or ceases to be delivered.
create function place_document(p_one document_key, p_of document_key, p_is_believed boolean, p_now timestamptz) returns void
    language plpgsql
    set plan_cache_mode = force_generic_plan set enable_seqscan = off
as $$
declare
    v_was     record;
    v_is_news boolean;
begin
    select d.duplicate_of, d.is_claim_believed, d.version into v_was
    from documents d where d.bucket = p_one.bucket and d.url_hash = p_one.url_hash;
    if v_was.duplicate_of is not distinct from p_of.url_hash and v_was.is_claim_believed = p_is_believed then
        return;
    end if;
    v_is_news := (v_was.duplicate_of is null) <> (p_of.url_hash is null);
    update documents d
    set duplicate_bucket = p_of.bucket, duplicate_of = p_of.url_hash, is_claim_believed = p_is_believed,
        canonical_url = case when p_is_believed then d.claimed_url else d.url end,
        version = d.version + v_is_news::integer, changed_at = case when v_is_news then p_now else d.changed_at end
    where d.bucket = p_one.bucket and d.url_hash = p_one.url_hash;
    if v_is_news then
        insert into outbox (kind, bucket, hash, version, op, at)
        values ('document', p_one.bucket, p_one.url_hash, v_was.version + 1,
                case when p_of.url_hash is null then 'upsert' else 'delete' end, p_now);
    end if;
end $$;

-- Duplicates of one document are those of another from now on.
create function hand_over_duplicates(p_one document_key, p_to document_key) returns void
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off
as $$
begin
    update documents set duplicate_bucket = p_to.bucket, duplicate_of = p_to.url_hash
    where duplicate_bucket = p_one.bucket and duplicate_of = p_one.url_hash;
end $$;

drop function crown_heir(smallint, bytea, timestamptz);
-- The first teller among its duplicates takes the place of a document that no longer says this, and the others point at it
-- from now on. One whose claim is believed is no heir: it says itself that it is only a form of another page.
create function crown_heir(p_one document_key, p_content bytea, p_now timestamptz) returns void
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off set enable_incremental_sort = off
as $$
declare
    v_heir document_key;
begin
    with early as (
        select o.bucket, o.url_hash, o.published_at, o.first_seen_at, coalesce(o.told_since, o.first_seen_at) as since
        from documents o
        where o.duplicate_bucket = p_one.bucket and o.duplicate_of = p_one.url_hash and o.content_hash = p_content
          and not o.is_claim_believed
        order by coalesce(o.told_since, o.first_seen_at) limit 100
    )
    select e.bucket, e.url_hash into v_heir from early e
    where e.since < (select min(since) from early) + interval '1 hour'
    order by coalesce(e.published_at, 'infinity'), e.since, e.first_seen_at, e.bucket, e.url_hash limit 1;
    if found then
        perform place_document(v_heir, null, false, p_now);
        perform hand_over_duplicates(p_one, v_heir);
    end if;
end $$;

-- The original among standing documents with this text, other than one of them. At most one, as all of this sees to.
create function original_of(p_content bytea, p_but document_key) returns document_key
    language plpgsql stable
    set plan_cache_mode = force_generic_plan set enable_seqscan = off
as $$
declare
    v_original document_key;
begin
    select d.bucket, d.url_hash into v_original from documents d
    where d.content_hash = p_content and d.duplicate_of is null and d.deleted_at is null and is_comparable(d.word_count)
      and (d.bucket, d.url_hash) <> (p_but.bucket, p_but.url_hash);
    return v_original;
end $$;

-- An original gives its place, and its duplicates, to another document with its text.
create function step_down(p_one document_key, p_for document_key, p_is_believed boolean, p_now timestamptz) returns void
    language plpgsql
as $$
begin
    perform place_document(p_one, p_for, p_is_believed, p_now);
    perform hand_over_duplicates(p_one, p_for);
end $$;

-- A document that stands for itself takes its place among those with its text: the original if it told first, else a duplicate.
create function find_place(p_one document_key, p_now timestamptz) returns void
    language plpgsql
    set plan_cache_mode = force_generic_plan set enable_seqscan = off
as $$
declare
    v_content bytea;
    v_rival   document_key;
begin
    select case when is_comparable(d.word_count) then d.content_hash end into v_content
    from documents d where d.bucket = p_one.bucket and d.url_hash = p_one.url_hash;
    v_rival := original_of(v_content, p_one);
    if v_rival.url_hash is not null and not tells_first(telling_of(p_one), telling_of(v_rival)) then
        perform place_document(p_one, v_rival, false, p_now);
        return;
    end if;
    perform place_document(p_one, null, false, p_now);
    if v_rival.url_hash is not null then
        perform step_down(v_rival, p_one, false, p_now);
    end if;
end $$;

-- The claims on a document that its new text (null: it is gone) does not bear out are believed no more. Answers with those
-- who made them; they have to find their places when the document has found its own.
create function free_claimants(p_one document_key, p_content bytea, p_simhash bigint) returns document_key[]
    language plpgsql
    set plan_cache_mode = force_generic_plan set enable_seqscan = off
as $$
declare
    v_freed document_key[];
begin
    with freed as (
        update documents d set is_claim_believed = false, canonical_url = d.url
        where d.claimed_bucket = p_one.bucket and d.claimed_hash = p_one.url_hash and d.is_claim_believed
          and (p_content is null or not is_one_text(d.content_hash, d.simhash, p_content, p_simhash))
        returning d.bucket, d.url_hash
    )
    select array_agg((f.bucket, f.url_hash)::document_key order by f.bucket, f.url_hash) into v_freed from freed f;
    return v_freed;
end $$;

-- The page that a document on its way in calls canonical is believed to be so if it stands, names no other page itself, and
-- has the same text or nearly so. Answers with the original of that text, which is that page or an older copy of it.
create function believed_original(n new_document, p_simhash bigint) returns document_key
    language plpgsql stable
    set plan_cache_mode = force_generic_plan set enable_seqscan = off
as $$
declare
    v_target record;
begin
    -- Asked for what stands, a plan made for an empty archive would take an index of all that does.
    select coalesce(d.duplicate_bucket, d.bucket) as bucket, coalesce(d.duplicate_of, d.url_hash) as url_hash,
           d.deleted_at is null and d.claimed_hash is null
           and is_one_text(d.content_hash, d.simhash, n.content_hash, p_simhash) as is_borne_out
    into v_target from documents d where d.bucket = n.claimed_bucket and d.url_hash = n.claimed_hash;
    return case when v_target.is_borne_out then (v_target.bucket, v_target.url_hash)::document_key end;
end $$;

-- Pages that call this one canonical, and have its text, become duplicates where it is, or of its original.
create function gather_claimants(n new_document, p_simhash bigint, p_original document_key, p_now timestamptz) returns void
    language plpgsql
    set plan_cache_mode = force_generic_plan set enable_seqscan = off
as $$
declare
    v_one record;
begin
    for v_one in select c.bucket, c.url_hash, c.content_hash from claimants_of(n.bucket, n.url_hash) as c
                 where is_one_text(c.content_hash, c.simhash, n.content_hash, p_simhash) loop
        if v_one.content_hash <> n.content_hash then
            perform crown_heir((v_one.bucket, v_one.url_hash)::document_key, v_one.content_hash, p_now);
        end if;
        perform place_document((v_one.bucket, v_one.url_hash)::document_key, p_original, true, p_now);
    end loop;
end $$;

-- A page's story is as old as the oldest form of it.
create function grow_older(p_one document_key, p_since timestamptz, p_now timestamptz) returns void
    language plpgsql
    set plan_cache_mode = force_generic_plan set enable_seqscan = off
as $$
begin
    update documents d set told_since = p_since
    where d.bucket = p_one.bucket and d.url_hash = p_one.url_hash and coalesce(d.told_since, d.first_seen_at) > p_since;
    if found then
        perform find_place(p_one, p_now);
    end if;
end $$;

-- Since when a page on its way in tells its story, and the likeness with which that began: it is discovered with it, or goes
-- on with it, or begins another one now. Forms of it that were seen before count.
create function story_of(
    n new_document, p_simhash bigint, p_is_claimed boolean, p_now timestamptz, out told telling, out first bigint
)
    language plpgsql stable
    set plan_cache_mode = force_generic_plan set enable_seqscan = off
as $$
declare
    v_old record;
begin
    select d.content_hash, is_comparable(d.word_count) as is_comparable, coalesce(d.told_first, d.simhash) as first, d.told_since,
           d.first_seen_at
    into v_old from documents d where d.bucket = n.bucket and d.url_hash = n.url_hash;
    if v_old.content_hash is null
       or v_old.content_hash = n.content_hash
       or (v_old.is_comparable or not is_comparable(n.word_count)) and is_same_story(v_old.first, p_simhash) then
        first := coalesce(v_old.first, p_simhash);
        told.since := coalesce(
            v_old.told_since,
            (select e.discovered_at from url_frontier e where e.bucket = n.bucket and e.url_hash = n.url_hash),
            v_old.first_seen_at, p_now);
    else
        first := p_simhash;
        told.since := p_now;
    end if;
    if p_is_claimed and n.claimed_hash is null then
        told.since := least(told.since, (select min(c.since) from claimants_of(n.bucket, n.url_hash) as c
                                         where is_one_text(c.content_hash, c.simhash, n.content_hash, p_simhash)));
    end if;
    told.published_at := n.published_at;
    told.first_seen_at := coalesce(v_old.first_seen_at, p_now);
    told.bucket := n.bucket;
    told.url_hash := n.url_hash;
end $$;

-- Locks what storing a document may change beside its own row: claims on it, its claim before and now, and their contents.
-- Answers with whether there are claims on it.
create function lock_around(n new_document) returns boolean
    language plpgsql
    set plan_cache_mode = force_generic_plan set enable_seqscan = off
as $$
declare
    v_old      record;
    v_claiming bytea[];
    v_contents bytea[];
begin
    select d.content_hash, d.claimed_bucket, d.claimed_hash into v_old
    from documents d where d.bucket = n.bucket and d.url_hash = n.url_hash;
    perform lock_claims(array[n.url_hash, v_old.claimed_hash, n.claimed_hash]);
    v_claiming := array(select c.content_hash from claimants_of(n.bucket, n.url_hash) as c);
    v_contents := array[v_old.content_hash, n.content_hash] || v_claiming;
    if v_old.claimed_hash is not null or n.claimed_hash is not null then
        v_contents := v_contents || array(
            select d.content_hash from documents d where d.bucket = n.claimed_bucket and d.url_hash = n.claimed_hash
            union all
            select d.content_hash from documents d where d.bucket = v_old.claimed_bucket and d.url_hash = v_old.claimed_hash);
    end if;
    perform lock_hashes(array_remove(v_contents, null));
    return cardinality(v_claiming) > 0;
end $$;

-- What a document says now is what it was before.
create function keep_version(p_one document_key, p_now timestamptz) returns void
    language plpgsql
    set plan_cache_mode = force_generic_plan set enable_seqscan = off
as $$
begin
    insert into document_versions (bucket, url_hash, version, title, text, summary, author, published_at, updated_at,
                                   word_count, content_hash, simhash, produced_by, crawled_at, changed_at, replaced_at)
    select d.bucket, d.url_hash, d.version, d.title, d.text, d.summary, d.author, d.published_at, d.updated_at,
           d.word_count, d.content_hash, d.simhash, d.produced_by, d.crawled_at, d.changed_at, p_now
    from documents d where d.bucket = p_one.bucket and d.url_hash = p_one.url_hash;
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
    v_key         document_key := (n.bucket, n.url_hash);
    v_simhash     bigint := case when is_comparable(n.word_count) then n.simhash end;
    v_old         record;
    v_is_changed  boolean;
    v_is_claimed  boolean;
    v_story       record;
    v_freed       document_key[];
    v_rival       document_key;
    v_is_our_form boolean := false;
    v_wins        boolean := false;
    v_original    document_key;
    v_is_believed boolean;
    v_near        document_key;
begin
    perform lock_hashes(array[n.url_hash]);
    select d.version, d.url, d.deleted_at is null as stands, says_the_same(d, n) as is_same into v_old
    from documents d where d.bucket = n.bucket and d.url_hash = n.url_hash;
    is_new := not found;
    if v_old.stands and v_old.is_same then
        if v_old.url <> n.url then
            update documents d
            set url = n.url, canonical_url = case when d.is_claim_believed then d.canonical_url else n.url end
            where d.bucket = n.bucket and d.url_hash = n.url_hash;
        end if;
        outcome := 'unchanged';
        version := v_old.version;
        return;
    end if;
    v_is_changed := not is_new and not v_old.is_same;
    v_is_claimed := lock_around(n);
    -- Again: until now somebody else may have made it the heir of its contents.
    select d.version, d.content_hash, is_comparable(d.word_count) as is_comparable,
           d.deleted_at is null and d.duplicate_of is null as is_delivered
    into v_old from documents d where d.bucket = n.bucket and d.url_hash = n.url_hash;
    v_story := story_of(n, v_simhash, v_is_claimed, p_now);
    if n.claimed_hash is not null then
        v_original := believed_original(n, v_simhash);
    end if;
    v_is_believed := v_original.url_hash is not null;

    -- What stood by its old text is left to others.
    if v_is_claimed then
        v_freed := free_claimants(v_key, case when n.claimed_hash is null then n.content_hash end, v_simhash);
    end if;
    if v_old.is_delivered and v_old.is_comparable and (v_is_believed or v_old.content_hash <> n.content_hash) then
        perform crown_heir(v_key, v_old.content_hash, p_now);
        v_original := case when v_is_believed then believed_original(n, v_simhash) end;
    end if;

    -- Its own place, by its new text.
    if is_comparable(n.word_count) and not v_is_believed then
        v_rival := original_of(n.content_hash, v_key);
        if v_rival.url_hash is not null then
            v_is_our_form := n.claimed_hash is null and is_claim(v_rival, v_key);
            v_wins := v_is_our_form or tells_first(v_story.told, telling_of(v_rival));
            v_original := case when not v_wins then v_rival end;
        elsif v_simhash is not null then
            v_near := near_duplicate_of(v_story.told, v_simhash);
        end if;
    end if;
    if v_is_changed then
        perform keep_version(v_key, p_now);
    end if;
    version := coalesce(v_old.version, 0) + 1;
    perform write_document(n, v_simhash, v_original, v_is_believed, v_near, (v_story.told).since, v_story.first, version, p_now);
    if v_original.url_hash is null or v_old.is_delivered then
        insert into outbox (kind, bucket, hash, version, op, at)
        values ('document', n.bucket, n.url_hash, version, case when v_original.url_hash is null then 'upsert' else 'delete' end,
                p_now);
    end if;

    -- What stands by its new text comes to it.
    if v_wins then
        perform step_down(v_rival, v_key, v_is_our_form, p_now);
    end if;
    perform find_place(f, p_now) from unnest(v_freed) as f;
    if v_is_claimed and n.claimed_hash is null then
        perform gather_claimants(n, v_simhash, case when v_original.url_hash is null then v_key else v_original end, p_now);
    elsif v_is_believed then
        perform grow_older((n.claimed_bucket, n.claimed_hash)::document_key, (v_story.told).since, p_now);
    end if;
    if v_is_believed or v_freed is not null then
        -- One of those may have told before it.
        select d.duplicate_bucket, d.duplicate_of, d.version into v_original.bucket, v_original.url_hash, version
        from documents d where d.bucket = n.bucket and d.url_hash = n.url_hash;
    end if;
    outcome := case when v_original.url_hash is null then 'stored' else 'duplicate' end;
    other_bucket := coalesce(v_original.bucket, v_near.bucket);
    other_hash := coalesce(v_original.url_hash, v_near.url_hash);
end $$;

drop function write_document(new_document, smallint, bytea, smallint, bytea, integer, timestamptz);
-- A new document, or all of one anew; one that was deleted lives again.
create function write_document(
    n new_document, p_simhash bigint, p_original document_key, p_is_believed boolean, p_near document_key,
    p_told_since timestamptz, p_told_first bigint, p_version integer, p_now timestamptz
) returns void
    language plpgsql
    set plan_cache_mode = force_generic_plan
as $$
begin
    insert into documents (
        bucket, url_hash, source_id, url, canonical_url, title, text, word_count, content_hash, summary, author, published_at,
        updated_at, language, section, keywords, images, page_type, quality, quality_parts, simhash, produced_by, metadata,
        claimed_bucket, claimed_hash, claimed_url, is_claim_believed, duplicate_bucket, duplicate_of, near_bucket,
        near_duplicate_of, told_since, told_first, version, crawled_at, first_seen_at, changed_at, search)
    values (
        n.bucket, n.url_hash, n.source_id, n.url, case when p_is_believed then n.canonical_url else n.url end, n.title, n.text,
        n.word_count, n.content_hash, n.summary, n.author, n.published_at, n.updated_at, n.language, n.section, n.keywords,
        n.images, n.page_type, n.quality, n.quality_parts::jsonb, p_simhash, n.produced_by, n.metadata::jsonb,
        n.claimed_bucket, n.claimed_hash, case when n.claimed_hash is not null then n.canonical_url end, p_is_believed,
        p_original.bucket, p_original.url_hash, p_near.bucket, p_near.url_hash, p_told_since, p_told_first, p_version, p_now,
        p_now, p_now,
        search_vector(n.language, n.title, n.summary, array_to_string(n.keywords, ' ') || ' ' || n.author, n.text))
    on conflict (bucket, url_hash) do update
    set source_id = excluded.source_id, url = excluded.url, canonical_url = excluded.canonical_url, title = excluded.title,
        text = excluded.text, word_count = excluded.word_count, content_hash = excluded.content_hash,
        summary = excluded.summary, author = excluded.author, published_at = excluded.published_at,
        updated_at = excluded.updated_at, language = excluded.language, section = excluded.section,
        keywords = excluded.keywords, images = excluded.images, page_type = excluded.page_type, quality = excluded.quality,
        quality_parts = excluded.quality_parts, simhash = excluded.simhash, produced_by = excluded.produced_by,
        metadata = excluded.metadata, claimed_bucket = excluded.claimed_bucket, claimed_hash = excluded.claimed_hash,
        claimed_url = excluded.claimed_url, is_claim_believed = excluded.is_claim_believed,
        duplicate_bucket = excluded.duplicate_bucket, duplicate_of = excluded.duplicate_of, near_bucket = excluded.near_bucket,
        near_duplicate_of = excluded.near_duplicate_of, told_since = excluded.told_since, told_first = excluded.told_first,
        version = excluded.version, crawled_at = excluded.crawled_at, changed_at = excluded.changed_at,
        search = excluded.search, deleted_at = null, deleted_reason = null;
end $$;

-- Takes documents from search and sinks; what they were stays readable. Answers with how many there were to take.
create or replace function tombstone_documents(p_buckets smallint[], p_hashes bytea[], p_reason text, p_now timestamptz)
    returns integer
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off
as $$
declare
    v_key   document_key;
    v_old   record;
    v_freed document_key[];
    v_count integer := 0;
begin
    perform lock_hashes(p_hashes);
    perform lock_claims(p_hashes || array(
        select d.claimed_hash from unnest(p_buckets, p_hashes) as g (bucket, url_hash)
        join documents d on d.bucket = g.bucket and d.url_hash = g.url_hash));
    perform lock_hashes(
        array(select d.content_hash from unnest(p_buckets, p_hashes) as g (bucket, url_hash)
              join documents d on d.bucket = g.bucket and d.url_hash = g.url_hash)
        || array(select c.content_hash from unnest(p_buckets, p_hashes) as g (bucket, url_hash)
                 cross join lateral claimants_of(g.bucket, g.url_hash) as c));
    for v_key in select g.bucket, g.url_hash from unnest(p_buckets, p_hashes) as g (bucket, url_hash) order by 1, 2 loop
        -- Each anew: it may be the heir of the one before.
        select d.duplicate_of is null as is_delivered, d.word_count, d.content_hash, d.deleted_at into v_old
        from documents d where d.bucket = v_key.bucket and d.url_hash = v_key.url_hash;
        continue when not found or v_old.deleted_at is not null;
        v_count := v_count + 1;
        with gone as (
            update documents d
            set deleted_at = p_now, deleted_reason = p_reason, changed_at = p_now, version = d.version + 1, search = null,
                duplicate_bucket = null, duplicate_of = null, is_claim_believed = false, canonical_url = d.url
            where d.bucket = v_key.bucket and d.url_hash = v_key.url_hash
            returning d.version
        )
        insert into outbox (kind, bucket, hash, version, op, at)
        select 'document', v_key.bucket, v_key.url_hash, g.version, 'delete', p_now from gone g where v_old.is_delivered;
        v_freed := free_claimants(v_key, null, null);
        if v_old.is_delivered and is_comparable(v_old.word_count) then
            perform crown_heir(v_key, v_old.content_hash, p_now);
        end if;
        perform find_place(f, p_now) from unnest(v_freed) as f;
    end loop;
    return v_count;
end $$;

-- An address is gone, and with it the document that was read from it: nobody else's.
create or replace function withdraw_page(p_bucket smallint, p_url_hash bytea, p_reason text, p_now timestamptz) returns integer
    language plpgsql
as $$
begin
    return tombstone_documents(array[p_bucket], array[p_url_hash], p_reason, p_now);
end $$;
