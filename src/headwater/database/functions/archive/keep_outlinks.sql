-- Where a document points now.
create function keep_outlinks(p_bucket smallint, p_url_hash bytea, p_targets bytea) returns void
    language plpgsql
as $$
begin
    insert into outlinks (bucket, url_hash, targets) values (p_bucket, p_url_hash, p_targets)
    on conflict (bucket, url_hash) do update set targets = excluded.targets
    where outlinks.targets is distinct from excluded.targets;
end $$;
