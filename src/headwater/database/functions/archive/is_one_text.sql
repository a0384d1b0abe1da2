-- Whether a page and the one it calls canonical are two forms of one text.
create function is_one_text(p_content bytea, p_simhash bigint, p_other_content bytea, p_other_simhash bigint) returns boolean
    language sql immutable parallel safe
return p_content = p_other_content or coalesce(bits_apart(p_simhash, p_other_simhash) <= 3, false);
