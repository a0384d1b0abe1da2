-- How many requests a host may have under way: one while it cannot be reached.
create function capacity_of(max_concurrency smallint, bad_in_a_row smallint) returns smallint
    language sql immutable parallel safe
return case when bad_in_a_row >= 5 then 1::smallint else max_concurrency end;
