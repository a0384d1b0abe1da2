-- Documents, their versions and what sinks have to be told are kept for as long as a person says; sizes are noted each day.

-- Nothing of it but its address, its hash and its version is left.
alter table documents add column is_emptied boolean not null default false;

create index documents_by_age on documents (changed_at, bucket, url_hash) where not is_emptied;
create index document_versions_by_age on document_versions (replaced_at);

-- One that was removed for its age comes back only with another text: a page that is read again as it was is nothing new.
select amend_function('keep_document', 'says_the_same(d, n) as is_same into v_old',
                      'says_the_same(d, n) as is_same, d.is_emptied,
           d.is_emptied and d.deleted_reason = ''too_old'' and d.content_hash = n.content_hash as is_past into v_old');
select amend_function('keep_document', 'is_new := not found;',
                      'is_new := not found;
    if v_old.is_past then
        outcome := ''unchanged'';
        version := v_old.version;
        return;
    end if;');
select amend_function('keep_document', 'v_is_changed := not is_new and not v_old.is_same;',
                      'v_is_changed := not is_new and not v_old.is_same and not v_old.is_emptied;');
select amend_function('write_document', 'deleted_at = null, deleted_reason = null;',
                      'deleted_at = null, deleted_reason = null, is_emptied = false;');

-- How large each part of the database was at the first look of a day.
create table sizes (
    day      date not null,
    part     text not null,
    noted_at timestamptz not null,
    bytes    bigint not null check (bytes >= 0),
    primary key (day, part)
);
