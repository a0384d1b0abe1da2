-- How many bits of two likenesses differ: none for one text, around 32 for unrelated ones. Null if one cannot be compared.
create function bits_apart(p_one bigint, p_other bigint) returns integer
    language sql immutable parallel safe
return bit_count((p_one # p_other)::bit(64))::integer;
