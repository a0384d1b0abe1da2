-- A page that is as it was, about whose use something else is said now: a version of its own, which sinks are told.
create function restate_rights(p_one document_key, p_rights text[], p_statements jsonb, p_now timestamptz) returns boolean
    language plpgsql
    set plan_cache_mode = force_generic_plan set enable_seqscan = off
as $$
declare
    v_now record;
begin
    perform lock_hashes(array[p_one.url_hash]);
    if not exists (select 1 from documents d where d.bucket = p_one.bucket and d.url_hash = p_one.url_hash and d.deleted_at is null
                   and (d.rights, d.rights_statements) is distinct from (p_rights, p_statements)) then
        return false;
    end if;
    perform keep_version(p_one, p_now);
    update documents d
    set rights = p_rights, rights_statements = p_statements, version = d.version + 1, changed_at = p_now
    where d.bucket = p_one.bucket and d.url_hash = p_one.url_hash
    returning d.version, d.duplicate_of is null as is_delivered into v_now;
    if v_now.is_delivered then
        insert into outbox (kind, bucket, hash, version, op, at)
        values ('document', p_one.bucket, p_one.url_hash, v_now.version, 'upsert', p_now);
    end if;
    return true;
end $$;
