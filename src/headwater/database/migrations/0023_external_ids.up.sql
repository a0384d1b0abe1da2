-- Names that other systems have for our sources. A table of its own: several systems may know one source.
create table external_ids (
    external_id text not null,
    source_id   uuid not null references sources on delete cascade,
    primary key (external_id, source_id)
);
create index external_ids_of_source on external_ids (source_id);

-- What a list names as deleted is looked for here, so that the same list again adds nothing.
create index sources_deleted on sources (url_hash) where status = 'deleted';
