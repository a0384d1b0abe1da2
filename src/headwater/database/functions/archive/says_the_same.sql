-- Whether a document says the same as one on its way in. What pages shuffle at every visit is not compared: dates of
-- modification, signed addresses of images, metadata of the kind that carries a nonce.
create function says_the_same(d documents, n new_document) returns boolean
    language sql immutable parallel safe
return (d.content_hash, d.claimed_url, d.source_id, d.title, d.summary, d.author, d.published_at, d.language, d.section,
        d.keywords, d.page_type, d.rights, d.rights_statements)
    is not distinct from
       (n.content_hash, case when n.claimed_hash is not null then n.canonical_url end, n.source_id, n.title, n.summary, n.author,
        n.published_at, n.language, n.section, n.keywords, n.page_type, n.rights, n.rights_statements::jsonb);
