-- What a host's penalty becomes when it asks us to slow down.
create function scolded_penalty(delay_ms integer, penalty_ms integer) returns integer
    language sql immutable parallel safe
return least(300000, 2 * greatest(delay_ms, penalty_ms, 500));
