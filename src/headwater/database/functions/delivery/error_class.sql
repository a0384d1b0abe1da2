-- What a sink said of a record, on one line and without what is of that record alone: numbers and ids.
create function error_class(p_error text) returns text
    language sql immutable parallel safe
return btrim(left(regexp_replace(regexp_replace(left(p_error, 500), '[0-9a-fA-F-]{16,}|[0-9]+', '…', 'g'), '\s+', ' ', 'g'), 160));
