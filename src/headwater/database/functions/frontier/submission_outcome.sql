-- What a submission means for an entry that exists. `failed` may rise but its time is never advanced: a 429 or a backoff
-- is not undone by a feed that still lists the page.
-- Another source with a better claim to the page than its owner has left (p_owner_rank) takes it over.
create function submission_outcome(
    e url_frontier, i submission, p_source uuid, p_owner_rank smallint, p_now timestamptz
) returns text
    language sql stable
return case
    when e.source_id <> p_source and i.rank > p_owner_rank then 'taken_over'
    -- Whoever submits has asked: it is taken down no more.
    when e.status = 'dead' and e.reason = 'takedown' then 'revisit'
    when e.status = 'pending' and (i.priority > e.priority or p_now + coalesce(i.due_in, interval '0') < e.next_fetch_at)
        then 'raised'
    when e.status = 'failed' and i.priority > e.priority then 'raised'
    when e.status in ('fetched', 'fetching') and i.changed_at is not null
         and i.changed_at > coalesce(e.changed_at, '-infinity')
         and (e.status = 'fetching' or i.changed_at > e.last_fetched_at) then 'revisit'
    else 'duplicate' end;
