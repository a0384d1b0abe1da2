-- Request starts lie this far apart. The slack covers the way from a granted time to an actual start.
create function spacing_of(delay_ms integer, penalty_ms integer) returns interval
    language sql immutable parallel safe
return case when greatest(delay_ms, penalty_ms) = 0 then interval '0'
            else make_interval(secs => (greatest(delay_ms, penalty_ms) + 30) / 1000.0) end;
