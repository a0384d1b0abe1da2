-- A document on its way in that calls no other page canonical.
create function without_claim(n new_document) returns new_document
    language plpgsql immutable
as $$
begin
    n.canonical_url := n.url;
    n.claimed_bucket := null;
    n.claimed_hash := null;
    return n;
end $$;
