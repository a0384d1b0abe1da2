-- Whether one of these addresses, by their keys, was taken down; for a transaction that stores if not.
create function is_taken_down(p_keys text[]) returns boolean
    language plpgsql
    set plan_cache_mode = force_generic_plan set enable_seqscan = off
as $$
declare
    v_domains text[];
begin
    perform watch_takedowns();
    -- Nearly always: nothing at all is taken down.
    if not exists (select 1 from takedowns) then
        return false;
    end if;
    v_domains := array(select unnest(domains_above(url_host(k.key))) from unnest(p_keys) as k (key));
    return exists (
        select 1 from takedowns t
        where t.domain = any (v_domains)
          -- Whole segments and parameters: `/a` covers `/a`, `/a/b` and `/a?x`, not `/ab`; with or without `www.`.
          and (t.key_prefix is null
               or exists (select 1 from unnest(p_keys) as given (key)
                          cross join lateral (select regexp_replace(given.key, '^(https?://)www\.', '\1') as key) as k
                          where url_host(k.key) = t.domain
                            and (k.key = t.key_prefix or starts_with(k.key, rtrim(t.key_prefix, '/') || '/')
                                 or starts_with(k.key, rtrim(t.key_prefix, '/') || '?')
                                 or starts_with(k.key, rtrim(t.key_prefix, '/') || '&')))));
end $$;
