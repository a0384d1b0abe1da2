-- The end of a journey: its request, and what it leaves. False if its lease was lost; then nothing is changed at all.
-- `p_withdrawn_by` says why the documents of this address have to go. `p_keys` are the addresses all of this came from: if
-- one of them was taken down, whatever was fetched, the entry ends and nothing is stored. `p_claimed` is the address that
-- the page calls canonical, where it is another one: if that was taken down, the claim is dropped.
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
        if p_body.object_id is not null then
            perform discard_bodies(p_body.stored_in, array[p_body.object_id]);
        end if;
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
