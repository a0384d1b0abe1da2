drop table sizes;
select amend_function('write_document', 'deleted_at = null, deleted_reason = null, is_emptied = false;',
                      'deleted_at = null, deleted_reason = null;');
select amend_function('keep_document', 'v_is_changed := not is_new and not v_old.is_same and not v_old.is_emptied;',
                      'v_is_changed := not is_new and not v_old.is_same;');
select amend_function('keep_document', 'is_new := not found;
    if v_old.is_past then
        outcome := ''unchanged'';
        version := v_old.version;
        return;
    end if;',
                      'is_new := not found;');
select amend_function('keep_document', 'says_the_same(d, n) as is_same, d.is_emptied,
           d.is_emptied and d.deleted_reason = ''too_old'' and d.content_hash = n.content_hash as is_past into v_old',
                      'says_the_same(d, n) as is_same into v_old');
drop index document_versions_by_age;
alter table documents drop column is_emptied;
