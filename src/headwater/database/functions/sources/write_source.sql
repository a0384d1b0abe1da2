-- A source as a person describes it, by column: stored where `p_id` is null, else changed. Answers with its id, or with null
-- where its address is taken or there is no such source. Invariant: columns that are not named keep what they have.
create function write_source(p_id uuid, p_profile jsonb) returns uuid language plpgsql as $$
declare
    v_columns text := (select string_agg(quote_ident(name), ', ') from jsonb_object_keys(p_profile) as name);
    v_id uuid;
begin
    if p_id is null then
        execute format('insert into sources (%1$s) select %1$s from jsonb_populate_record(null::sources, $1)
                        on conflict (url_hash) where status <> ''deleted'' do nothing returning id', v_columns)
        into v_id using p_profile;
    else
        execute format('update sources set (%1$s) = (select %1$s from jsonb_populate_record(null::sources, $1)), updated_at = now()
                        where id = $2 returning id', v_columns)
        into v_id using p_profile, p_id;
    end if;
    return v_id;
end $$;
