-- What lies between a grant and the next slot. A busy process needs a wider window to start in than the slack leaves it; the
-- next slot then waits for its end. Alone on a host nobody needs it: the next slot counts from the start that was.
create function spacing_after(space interval, slack interval, max_concurrency smallint) returns interval
    language sql immutable parallel safe
return case when max_concurrency = 1 or space = interval '0' then space
            else space + greatest(slack - interval '0.03 seconds', interval '0') end;
