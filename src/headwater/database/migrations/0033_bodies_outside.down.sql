-- What lies outside cannot be read without its reference.
drop trigger raw_bodies_moved on raw_bodies;
drop trigger raw_bodies_deleted on raw_bodies;
drop function note_removed_body();
drop table body_sweeps;
drop table body_removals;
delete from raw_bodies where object_id is not null;
alter type new_body drop attribute stored_in, drop attribute object_id;
drop index raw_bodies_of_object;
alter table raw_bodies drop column stored_in, drop column object_id;
