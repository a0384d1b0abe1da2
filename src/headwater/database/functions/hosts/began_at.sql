-- When a request began, by the clock that holds now. One whose end lies where no request could have ended began under another
-- clock: then it counts as begun just now, so that a whole spacing follows it.
create function began_at(granted timestamptz, duration_ms integer, p_now timestamptz) returns timestamptz
    language sql immutable parallel safe
return case when granted is null then null
            when granted + make_interval(secs => coalesce(duration_ms, 0) / 1000.0)
                 between p_now - interval '2 minutes' and p_now + interval '1 second' then granted
            else p_now end;
