-- How far apart the channels of one host are put where they wait for each other: its delay, and a second in which pages of
-- the host may have their turn. Where pages wait, every second turn at the host is theirs.
create function poll_turn(p_delay_ms integer, p_has_pages boolean) returns interval
    language sql immutable parallel safe
return case when p_has_pages then greatest(2 * spacing_of(coalesce(p_delay_ms, 1000), 0), spacing_of(coalesce(p_delay_ms, 1000), 0) + interval '1 second')
            else spacing_of(coalesce(p_delay_ms, 1000), 0) + interval '1 second' end;
