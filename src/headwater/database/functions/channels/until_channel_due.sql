-- How long until a channel falls due that nobody polls; nothing if there is none. Suspects do not count for a poller that
-- has one under way, nor while none is looked for: it would ask for them again and again.
create function until_channel_due(p_owner text, p_now timestamptz, p_marks timestamptz[]) returns interval
    language plpgsql stable
    set plan_cache_mode = force_generic_plan set enable_bitmapscan = off set enable_seqscan = off
as $$
declare
    v_first timestamptz;
begin
    select least((select c.next_poll_at from channels c
                  where c.is_active and c.is_unpolled = false and c.next_poll_at >= p_marks[1] and c.token is null and c.lost_count = 0
                  order by c.next_poll_at limit 1),
                 (select c.next_poll_at from channels c
                  where c.is_active and c.is_unpolled = true and c.next_poll_at >= p_marks[2] and c.token is null and c.lost_count = 0
                  order by c.next_poll_at limit 1)) into v_first;
    if p_marks[3] < 'infinity' and not has_suspect(p_owner) then
        v_first := least(v_first, (select c.next_poll_at from channels c
                                   where c.is_active and (c.token is not null or c.lost_count > 0)
                                     and (c.lease_until is null or c.lease_until <= statement_timestamp())
                                   order by c.next_poll_at limit 1));
    end if;
    return v_first - p_now;
end $$;
