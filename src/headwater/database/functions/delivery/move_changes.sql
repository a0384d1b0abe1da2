-- Moves what is committed in the outbox into the log, at most `p_most` rows, in the order of their numbers, the last version
-- of each key; answers with how many rows it took.
-- Invariants: no reader sees a position and later a smaller one, and versions of a key never go back. Therefore the counter is
-- locked first, and the outbox is read by a later statement, whose snapshot holds what movers before us took; no row is
-- skipped because another session has locked it. Numbers of one key grow with its versions: its document is locked before
-- a number is taken.
create function move_changes(p_most integer) returns integer
    language plpgsql
    set plan_cache_mode = force_custom_plan
as $$
declare
    v_counter change_counter;
    v_taken   integer;
    v_moved   integer;
begin
    select * into v_counter from change_counter for update;
    v_counter.moved_at := greatest(v_counter.moved_at, clock_timestamp());
    with taken as (
        delete from outbox o where o.seq in (select t.seq from outbox t order by t.seq limit p_most)
        returning o.seq, o.kind, o.bucket, o.hash, o.version, o.op, o.at
    ), last as (
        select distinct on (t.kind, t.bucket, t.hash) t.seq, t.kind, t.bucket, t.hash, t.version, t.op, t.at
        from taken t order by t.kind, t.bucket, t.hash, t.seq desc
    ), moved as (
        insert into changes (position, at, kind, bucket, hash, version, op, changed_at)
        select v_counter.position + row_number() over (order by l.seq), v_counter.moved_at, l.kind, l.bucket, l.hash, l.version,
               l.op, l.at
        from last l
        returning 1
    )
    select (select count(*) from taken), (select count(*) from moved) into v_taken, v_moved;
    if v_moved > 0 then
        update change_counter set position = v_counter.position + v_moved, moved_at = v_counter.moved_at;
    end if;
    return v_taken;
end $$;
