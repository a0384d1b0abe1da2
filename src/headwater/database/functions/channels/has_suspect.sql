-- Whether a poller has a suspect under way.
-- By the time of the statement: one that changes within it is asked for each row anew, and answered by no index.
create function has_suspect(p_owner text) returns boolean
language sql stable as $$
    select exists (select 1 from channels
                   where lease_until > statement_timestamp() and leased_by = p_owner and coalesce(lost_count, 0) > 0);
$$;
