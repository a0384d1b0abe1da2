-- How good the claim of an entry's owner to it still is. A removed owner has none; only what it has read of pages it could speak
-- for is not for strangers, who would change whose document it is. A person who names a page is no stranger.
create function claim_left(e url_frontier, p_is_removed boolean, p_found_by text) returns smallint
    language sql immutable parallel safe
return case when not p_is_removed then e.owner_rank
            when e.owner_rank > 0 and e.status not in ('pending', 'failed') and p_found_by <> 'manual' then 0::smallint
            else (-1)::smallint end;
