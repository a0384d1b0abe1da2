-- Takedowns of any of these domains, for a transaction that stores what they do not cover.
-- Two statements: the second sees what was committed before the lock was taken.
create function takedowns_over(p_domains text[]) returns table (domain_or_url text, domain text, key_prefix text)
    language plpgsql
as $$
begin
    perform watch_takedowns();
    return query select t.domain_or_url, t.domain, t.key_prefix from takedowns t where t.domain = any (p_domains);
end $$;
