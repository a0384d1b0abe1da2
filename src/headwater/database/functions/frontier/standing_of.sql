-- Which of two entries of one page is kept: the one that a person killed, else the one of which more is known.
create function standing_of(p_status text, p_reason text) returns integer
    language sql immutable parallel safe
return case when p_status = 'dead' and p_reason = 'killed' then 5
            else case p_status when 'fetched' then 4 when 'pending' then 3 when 'failed' then 2 else 1 end end;
