-- The host itself and every domain it lies in.
create function domains_above(p_host text) returns text[]
    language sql immutable strict parallel safe
return (select array_agg(array_to_string(l.labels[n:], '.'))
        from (select string_to_array(p_host, '.') as labels) as l, generate_series(1, cardinality(l.labels)) as n);
