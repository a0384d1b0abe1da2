-- An address is gone, and with it the document that was read from it and the vacancies that were offered there: nobody else's.
create function withdraw_page(p_bucket smallint, p_url_hash bytea, p_reason text, p_now timestamptz) returns integer
    language plpgsql
as $$
begin
    if p_reason in ('not_found', 'gone', 'legal') then
        perform expire_jobs_of_page(p_bucket, p_url_hash, p_now);
    end if;
    return tombstone_documents(array[p_bucket], array[p_url_hash], p_reason, p_now);
end $$;
