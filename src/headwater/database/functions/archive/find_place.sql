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
