-- Claims are locked by the address that is claimed, which has another number as a claim than as a document: after documents
-- and before contents, each level in one order. Whoever changes a document holds the claims on it and its own claim, so the
-- pages that claim it, and the page it claims, keep their texts meanwhile, and their contents can be locked in one step.
create function lock_claims(p_hashes bytea[]) returns void
    language plpgsql
as $$
begin
    perform lock_hashes(array(select substr(h, 9) from unnest(p_hashes) as h where h is not null));
end $$;
