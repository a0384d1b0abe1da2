-- The breaker: a host that could not be reached so many times in a row rests, longer each time, and then one request at
-- a time tries it.
create function rest_after(bad_in_a_row integer) returns interval
    language sql immutable parallel safe
return case when bad_in_a_row >= 5 then least(interval '1 hour', interval '30 seconds' * (2 ^ least(bad_in_a_row - 5, 10))) end;
