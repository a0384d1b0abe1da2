-- Which of two entries of one page is kept: the one of which more is known.
create function standing_of(p_status text) returns integer
    language sql immutable parallel safe
return case p_status when 'fetched' then 4 when 'pending' then 3 when 'failed' then 2 else 1 end;
