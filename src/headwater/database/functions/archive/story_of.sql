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
