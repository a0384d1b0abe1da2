-- The advisory lock of a hash.
create function lock_number(p_hash bytea) returns bigint
    language sql immutable strict parallel safe
return ('x' || encode(substr(p_hash, 1, 8), 'hex'))::bit(64)::bigint;
