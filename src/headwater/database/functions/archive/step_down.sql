-- An original gives its place, and its duplicates, to another document with its text.
create function step_down(p_one document_key, p_for document_key, p_is_believed boolean, p_now timestamptz) returns void
    language plpgsql
as $$
begin
    perform place_document(p_one, p_for, p_is_believed, p_now);
    perform hand_over_duplicates(p_one, p_for);
end $$;
