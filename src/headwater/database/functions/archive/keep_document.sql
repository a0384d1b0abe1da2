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
    select d.version, d.url, d.deleted_at is null as stands, says_the_same(d, n) as is_same, d.is_emptied,
           d.is_emptied and d.deleted_reason = 'too_old' and d.content_hash = n.content_hash as is_past,
           d.blocks is null and n.blocks is not null or d.authors = '{}' and n.authors <> '{}' as gains_parts into v_old
    from documents d where d.bucket = n.bucket and d.url_hash = n.url_hash;
    is_new := not found;
    -- One that was removed for its age comes back only with another text: a page that is read again as it was is nothing
    -- new.
    if v_old.is_past then
        outcome := 'unchanged';
        version := v_old.version;
        return;
    end if;
    if v_old.stands and v_old.is_same then
        outcome := 'unchanged';
        version := case when v_old.url <> n.url then respell_document(n, p_now)
                        when v_old.gains_parts then gain_parts(n, p_now)
                        else v_old.version end;
        return;
    end if;
    v_is_changed := not is_new and not v_old.is_same and not v_old.is_emptied;
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
