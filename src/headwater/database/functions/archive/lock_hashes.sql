-- Documents and contents are locked by their hashes, one after the other in one order, until the transaction ends.
-- Always the documents' own first, then the contents they leave and take. A row is written only under the lock of its
-- contents, so that whoever holds that can make an heir of it; nobody waits in a circle. Hosts and entries are locked before.
create function lock_hashes(p_hashes bytea[]) returns void
    language plpgsql
as $$
begin
    -- Nearly always it is one, and then there is nothing to put in order.
    if cardinality(p_hashes) = 1 then
        perform pg_advisory_xact_lock(lock_number(p_hashes[1]));
        return;
    end if;
    perform pg_advisory_xact_lock(wanted.number)
    from (select distinct lock_number(h) as number from unnest(p_hashes) as h where h is not null order by 1) as wanted;
end $$;
