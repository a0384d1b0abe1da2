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
