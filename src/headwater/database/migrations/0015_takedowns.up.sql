-- What was taken down stays down at every moment, and a vacancy is told by whoever may speak for it.

alter table takedowns add column swept_at timestamptz;
comment on column takedowns.swept_at is 'When everything of it had been ended and withdrawn; null: still being applied.';
create index takedowns_unswept on takedowns (created_at) where swept_at is null;

-- The host of a URL or of a key as we spell them: without the port, an IPv6 address with its brackets.
create function url_host(p_url text) returns text
    language sql immutable strict parallel safe
return substring(p_url from '^https?://(\[[^]]*\]|[^/:?#]*)');

-- Backwards, so that a domain with all below it is one range of an index: from `gro.elpmaxe` up to `gro.elpmaxe/`.
create function host_backwards(p_url text) returns text
    language sql immutable strict parallel safe
return reverse(url_host(p_url));

-- The host itself and every domain it lies in.
create function domains_above(p_host text) returns text[]
    language sql immutable strict parallel safe
return (select array_agg(array_to_string(l.labels[n:], '.'))
        from (select string_to_array(p_host, '.') as labels) as l, generate_series(1, cardinality(l.labels)) as n);

-- A transaction that stores says so before it looks at the takedowns, until it ends. Whoever takes something down commits
-- its row and then waits for those that hold this lock: each of them may have looked before, all others see the row.
-- Nobody ever takes it exclusively, so nobody ever waits for it.
create function watch_takedowns() returns void
    language plpgsql
as $$
begin
    perform pg_advisory_xact_lock_shared('takedowns'::regclass::oid::integer, 0);
end $$;

-- The transactions that have looked at the takedowns and may still store.
create view takedown_watchers as
select virtualtransaction as transaction from pg_locks
where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())
  and classid = 'takedowns'::regclass::oid and objid = 0 and objsubid = 2 and granted;

-- Waits until every transaction has ended that had looked at the takedowns before. False: one of them took too long.
create function outlive_watchers(p_patience interval) returns boolean
    language plpgsql
as $$
declare
    v_until  timestamptz := clock_timestamp() + p_patience;
    v_before text[] := array(select w.transaction from takedown_watchers w);
begin
    while exists (select 1 from takedown_watchers w where w.transaction = any (v_before)) loop
        if clock_timestamp() > v_until then
            return false;
        end if;
        perform pg_sleep(0.01);
    end loop;
    return true;
end $$;

-- Takedowns of any of these domains, for a transaction that stores what they do not cover.
-- Two statements: the second sees what was committed before the lock was taken.
create function takedowns_over(p_domains text[]) returns table (domain_or_url text, domain text, key_prefix text)
    language plpgsql
as $$
begin
    perform watch_takedowns();
    return query select t.domain_or_url, t.domain, t.key_prefix from takedowns t where t.domain = any (p_domains);
end $$;

-- Whether one of these addresses, by their keys, was taken down; for a transaction that stores if not.
create function is_taken_down(p_keys text[]) returns boolean
    language plpgsql
    set plan_cache_mode = force_generic_plan set enable_seqscan = off
as $$
declare
    v_domains text[];
begin
    perform watch_takedowns();
    -- Nearly always: nothing at all is taken down.
    if not exists (select 1 from takedowns) then
        return false;
    end if;
    v_domains := array(select unnest(domains_above(url_host(k.key))) from unnest(p_keys) as k (key));
    return exists (
        select 1 from takedowns t
        where t.domain = any (v_domains)
          -- Whole segments and parameters: `/a` covers `/a`, `/a/b` and `/a?x`, not `/ab`; with or without `www.`.
          and (t.key_prefix is null
               or exists (select 1 from unnest(p_keys) as given (key)
                          cross join lateral (select regexp_replace(given.key, '^(https?://)www\.', '\1') as key) as k
                          where url_host(k.key) = t.domain
                            and (k.key = t.key_prefix or starts_with(k.key, rtrim(t.key_prefix, '/') || '/')
                                 or starts_with(k.key, rtrim(t.key_prefix, '/') || '?')
                                 or starts_with(k.key, rtrim(t.key_prefix, '/') || '&')))));
end $$;

-- Documents whose pages call another one canonical, by the host of that.
create index documents_claiming on documents (host_backwards(claimed_url) collate "C", bucket, url_hash)
    where claimed_url is not null and deleted_at is null;

-- The end of a journey: its request, and what it leaves. False if its lease was lost; then nothing is changed at all.
-- `p_withdrawn_by` says why the documents of this address have to go. `p_keys` are the addresses all of this came from: if
-- one of them was taken down, whatever was fetched, the entry ends and nothing is stored. `p_claimed` is the address that
-- the page calls canonical, where it is another one: if that was taken down, the claim is dropped.
drop function keep_page(settlement, bytea, new_document, bytea, new_body, text);
create function keep_page(
    p_settlement settlement, p_url_hash bytea, p_document new_document, p_outlinks bytea, p_body new_body, p_withdrawn_by text,
    p_keys text[], p_claimed text
) returns boolean
    language plpgsql
as $$
declare
    v_now           timestamptz := clock_timestamp();
    v_is_taken_down boolean := is_taken_down(p_keys);
begin
    if v_is_taken_down then
        p_settlement := ended_by_takedown(p_settlement);
    end if;
    if cardinality(settle_requests(array[p_settlement])) = 0 then
        return false;
    end if;
    if v_is_taken_down then
        perform withdraw_page(p_settlement.bucket, p_url_hash, 'takedown', v_now);
        return true;
    end if;
    if p_body.url_hash is not null then
        perform keep_body(p_body, v_now);
    end if;
    if p_document.url_hash is not null then
        if p_claimed is not null and is_taken_down(array[p_claimed]) then
            p_document := without_claim(p_document);
        end if;
        if (keep_document(p_document, v_now)).outcome <> 'unchanged' then
            perform keep_outlinks(p_document.bucket, p_document.url_hash, p_outlinks);
        end if;
    elsif p_withdrawn_by <> '' then
        perform withdraw_page(p_settlement.bucket, p_url_hash, p_withdrawn_by, v_now);
    end if;
    return true;
end $$;

-- Whatever a request brought: its entry is dead. What it says of the host still holds.
create function ended_by_takedown(s settlement) returns settlement
    language plpgsql immutable
as $$
begin
    s.verdict := 'dead';
    s.status := 'dead';
    s.reason := 'takedown';
    s.last_error := 'takedown';
    s.next_fetch_in := null;
    s.content_hash := null;
    s.fetch_url := null;
    s.resume_url := null;
    s.hops := null;
    s.moved_to := null;
    s.revisit_in := null;
    return s;
end $$;

-- A document that calls no other page canonical.
create function without_claim(n new_document) returns new_document
    language plpgsql immutable
as $$
begin
    n.canonical_url := n.url;
    n.claimed_bucket := null;
    n.claimed_hash := null;
    return n;
end $$;

-- The same for a document that stands. The page it claims is withdrawn, so nobody believes the claim, and sinks know nothing of it.
create function strip_claim(p_bucket smallint, p_url_hash bytea) returns void
    language plpgsql
    set plan_cache_mode = force_generic_plan set enable_seqscan = off
as $$
begin
    perform lock_hashes(array[p_url_hash]);
    perform lock_claims(array(select d.claimed_hash from documents d where d.bucket = p_bucket and d.url_hash = p_url_hash));
    update documents d set claimed_bucket = null, claimed_hash = null, claimed_url = null
    where d.bucket = p_bucket and d.url_hash = p_url_hash and not d.is_claim_believed;
end $$;

alter table jobs add column page_url text not null default '', add column is_spoken_for boolean not null default false;
comment on column jobs.page_url is 'The address its words were read from: its own page, or the list that named it.';
comment on column jobs.is_spoken_for is 'Whether its words come from whoever may speak for the host where one applies.';
comment on column jobs.source_id is 'The source that tells it. Others that see it, too, stand in job_sightings.';
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

-- Changes many entries that are waiting, dead or fetched at once: hold, release, kill, revive, hand to another source.
-- The caller names them; whatever changed in between, or is being fetched, is left alone.
create or replace function change_entries(
    p_buckets smallint[], p_hashes bytea[], p_from text[], p_status text, p_reason text, p_held text,
    p_now timestamptz default null
) returns integer
    language plpgsql
    set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off
as $$
declare
    v_now     timestamptz := coalesce(p_now, clock_timestamp());
    v_buckets smallint[];
    v_hosts   text[];
    v_changed integer;
begin
    select array_agg(e.bucket), array_agg(e.host) into v_buckets, v_hosts
    from unnest(p_buckets, p_hashes) as g (bucket, url_hash)
    join url_frontier e on e.bucket = g.bucket and e.url_hash = g.url_hash;
    if v_hosts is null then
        return 0;
    end if;
    perform lock_hosts(v_buckets, v_hosts);
    with before as materialized (
        select e.bucket, e.url_hash, e.status
        from unnest(p_buckets, p_hashes) as g (bucket, url_hash)
        join url_frontier e on e.bucket = g.bucket and e.url_hash = g.url_hash
        where e.status = any (p_from)
    ), moved as (
        update url_frontier e
        set status = coalesce(p_status, e.status),
            -- A suspect stays one, whatever happens to its source.
            held = case when p_status is null and e.held = 'suspect' then e.held else p_held end,
            reason = case when p_status = 'dead' then p_reason when p_status = 'pending' then null else e.reason end,
            last_error = case when p_status is null then e.last_error end,
            retry_count = case when p_status = 'pending' then 0 else e.retry_count end,
            next_fetch_at = case when p_status = 'pending' then v_now else e.next_fetch_at end,
            revisit_at = case when p_status is null then e.revisit_at end,
            -- One that was dead is read anew: what it left may have been withdrawn meanwhile.
            etag = case when p_status = 'pending' and e.status = 'dead' then null else e.etag end,
            last_modified = case when p_status = 'pending' and e.status = 'dead' then null else e.last_modified end,
            content_hash = case when p_status = 'pending' and e.status = 'dead' then null else e.content_hash end,
            updated_at = v_now
        from before b
        where e.bucket = b.bucket and e.url_hash = b.url_hash and e.status = b.status
        returning e.source_id, e.status, b.status as from_status
    ), counted as (
        insert into counter_deltas (source_id, status, entries)
        select c.source_id, c.status, sum(c.entries)
        from (select m.source_id, m.status, 1 as entries from moved m
              union all select m.source_id, m.from_status, -1 from moved m) as c
        group by 1, 2 having sum(c.entries) <> 0
    )
    select count(*) into v_changed from moved;
    perform refresh_hosts(v_buckets, v_hosts, v_now);
    return v_changed;
end $$;
