-- Raw bodies may lie outside: the row says where, and what is to be deleted there is written down in the transaction that
-- forgets it.

alter table raw_bodies add column stored_in text, add column object_id uuid;
comment on column raw_bodies.stored_in is 'folder or s3: where the body lies, under object_id; null: in this row.';
-- Whether what lies outside is referred to.
create index raw_bodies_of_object on raw_bodies (object_id) where object_id is not null;
alter type new_body add attribute stored_in text, add attribute object_id uuid;

create table body_removals (
    stored_in text not null check (stored_in in ('folder', 's3')),
    object_id uuid not null,
    noted_at  timestamptz not null default now(),
    primary key (stored_in, object_id)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
comment on table body_removals is 'Bodies outside that nothing refers to any more; a row goes when its body is gone.';

create table body_sweeps (
    stored_in text primary key check (stored_in in ('folder', 's3')),
    after     uuid,
    ended_at  timestamptz
);
comment on table body_sweeps is 'How far the search for bodies that nothing refers to has got; ended_at: when it was through last.';

create function note_removed_body() returns trigger
    language plpgsql
as $$
begin
    insert into body_removals (stored_in, object_id) values (old.stored_in, old.object_id) on conflict do nothing;
    return null;
end $$;
create trigger raw_bodies_deleted after delete on raw_bodies
    for each row when (old.object_id is not null) execute function note_removed_body();
create trigger raw_bodies_moved after update of object_id on raw_bodies
    for each row when (old.object_id is not null and old.object_id is distinct from new.object_id)
    execute function note_removed_body();
