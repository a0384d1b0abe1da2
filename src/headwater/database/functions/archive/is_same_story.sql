-- Whether a page goes on with its story. A text of which not even three quarters of the likeness are left is another one:
-- else an old address, filled with a copy, would be older than what it copies.
create function is_same_story(p_first bigint, p_simhash bigint) returns boolean
    language sql immutable parallel safe
return coalesce(bits_apart(p_first, p_simhash) <= 16, true);
