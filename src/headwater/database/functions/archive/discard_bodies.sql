-- Bodies outside that nothing refers to are to be deleted there; returns how many of these there are.
create function discard_bodies(p_stored_in text, p_ids uuid[]) returns integer
    language plpgsql
as $$
declare
    v_count integer;
begin
    insert into body_removals (stored_in, object_id)
    select p_stored_in, g.id from unnest(p_ids) as g (id)
    where not exists (select from raw_bodies r where r.object_id = g.id and r.stored_in = p_stored_in)
    on conflict do nothing;
    get diagnostics v_count = row_count;
    return v_count;
end $$;
