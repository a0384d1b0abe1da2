-- Further ahead than this no host's slot lies by what its pace allows: its burst, one more, and the reach of a grant.
create function farthest_slot(burst smallint, delay_ms integer, penalty_ms integer) returns interval
    language sql immutable parallel safe
return (burst + 1) * spacing_of(delay_ms, penalty_ms) + interval '12 seconds';
