-- Levels that the new host number `rank` of its source, counted from 0, stands back.
create function steps_back_of(rank bigint) returns smallint
    language sql immutable parallel safe
return least(8, 2 * floor(ln(greatest(rank, 1)) / ln(4) + 1e-9))::smallint;
